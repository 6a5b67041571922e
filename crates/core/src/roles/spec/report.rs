//! The result that a report states: the first word below `## Outcome`, and the verdict of a validation.

use super::{
    document::{Document, Section, plain_title},
    fault::{Fault, Rule},
};
use crate::values::clean_line;

/// The files that report on work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Report {
    Implementation,
    Documentation,
    Validation,
}

impl Report {
    pub const ALL: [Self; 3] = [Self::Implementation, Self::Documentation, Self::Validation];

    #[must_use]
    pub fn file(self) -> &'static str {
        match self {
            Self::Implementation => "implementation-report.md",
            Self::Documentation => "documentation-report.md",
            Self::Validation => "validation-report.md",
        }
    }
}

/// How work ended, according to its report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    Done,
    Failed,
    Blocked,
    /// A person has to decide something first.
    NeedsDecision,
    /// The word that is there instead, if any.
    Unclear(Option<String>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    Pass,
    Fail,
    Blocked,
    /// There is no verdict, there are several that differ, or it is another word.
    Unclear(Option<String>),
}

/// The outcome of a report.
#[must_use]
pub fn outcome(document: &Document) -> Outcome {
    let mut sections = document.sections(2).filter(|section| plain_title(&section.heading.title) == "outcome");
    let first = sections.next().and_then(|section| Section::said(section).find(|said| !said.is_code));
    let Some(first) = first else { return Outcome::Unclear(None) };
    let word = first.text.trim_start_matches(|letter: char| !letter.is_alphanumeric());
    let word: String = word.chars().take_while(|letter| letter.is_alphanumeric() || *letter == '-').collect();
    match word.to_lowercase().as_str() {
        "done" => Outcome::Done,
        "failed" => Outcome::Failed,
        "blocked" => Outcome::Blocked,
        "needs-decision" => Outcome::NeedsDecision,
        _ => Outcome::Unclear(Some(clean_line(first.text, 40))),
    }
}

/// The verdict of a validation report.
#[must_use]
pub fn verdict(document: &Document) -> Verdict {
    let words: Vec<String> =
        document.said().filter(|said| !said.is_code).filter_map(|said| verdict_word(said.text)).collect();
    let Some((first, more)) = words.split_first() else { return Verdict::Unclear(None) };
    if more.iter().any(|word| word != first) {
        return Verdict::Unclear(Some(clean_line(&words.join(", then "), 60)));
    }
    match first.as_str() {
        "pass" => Verdict::Pass,
        "fail" => Verdict::Fail,
        "blocked" => Verdict::Blocked,
        _ => Verdict::Unclear(Some(clean_line(first, 40))),
    }
}

/// `Verdict: pass`, also as a list item or with emphasis.
fn verdict_word(text: &str) -> Option<String> {
    let plain: String = text.chars().filter(|letter| !matches!(letter, '*' | '`' | '_')).collect();
    let plain = plain.trim_start_matches(['-', '+', '#', ' ']).to_lowercase();
    let rest = plain.strip_prefix("verdict")?.trim_start().strip_prefix(':')?;
    Some(rest.trim().trim_end_matches('.').to_owned())
}

pub(super) fn report_fault(report: Report, document: &Document) -> Option<Fault> {
    let (found, wanted) = match report {
        Report::Validation => match verdict(document) {
            Verdict::Pass | Verdict::Fail | Verdict::Blocked => return None,
            Verdict::Unclear(word) => (word, "write one line `Verdict: pass`, `Verdict: fail` or `Verdict: blocked`"),
        },
        Report::Implementation | Report::Documentation => match outcome(document) {
            Outcome::Done | Outcome::Failed | Outcome::Blocked | Outcome::NeedsDecision => return None,
            Outcome::Unclear(word) => (word, "begin `## Outcome` with done, failed, blocked or needs-decision"),
        },
    };
    let message = match found {
        Some(word) => format!("the report does not say how it went: `{word}`"),
        None => "the report does not say how it went".to_owned(),
    };
    Some(Fault::new(1, Rule::ReportUnclear, message, wanted))
}
