//! What each role may touch. What may be changed at all is for the supervisor to see to; what must not be changed is
//! looked at here when the role is done, because a shell can write what an edit may not.

use super::plan::Part;
use shuntyard_core::{
    roles::spec::{Agent, Document, Report, Role, SectionKind, section_text},
    work::task::{covers, outside},
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Borders {
    /// Patterns of what may be changed; empty: everything.
    pub allow: Vec<String>,
    /// Patterns of what may not, although it would be allowed.
    pub deny: Vec<String>,
    /// The report of the role, which is its own wherever it lies.
    pub report: Option<String>,
}

/// The report that a role leaves; tests leave none.
pub(super) fn report_of(role: Role) -> Option<Report> {
    match role {
        Role::Agent(Agent::TestWriter) => None,
        Role::Agent(Agent::Implementer) => Some(Report::Implementation),
        Role::Agent(Agent::Documentation) => Some(Report::Documentation),
        Role::Validator => Some(Report::Validation),
    }
}

/// Their author instructs the roles that come next, and the validator in how to judge.
const INSTRUCTIONS: [&str; 5] =
    ["**/.opencode/**", "**/opencode.json", "**/opencode.jsonc", "**/AGENTS.md", "**/CLAUDE.md"];

pub(super) const CONTEXT: &str = ".ai/context.md";

/// Whether the spec asks for a change of the project's context: its scope names the file.
fn may_edit_context(part: &Part) -> bool {
    let document = Document::parse(&part.text);
    section_text(&document, SectionKind::Scope.title()).is_ok_and(|scope| scope.contains(CONTEXT))
}

/// `closed`: what is no implementer's besides the tests of its own part.
pub(super) fn borders(part: &Part, role: Role, closed: &[String]) -> Borders {
    let report = report_of(role).map(|report| part.report(report));
    let with_report = |patterns: &[&str]| {
        let patterns = patterns.iter().map(|pattern| (*pattern).to_owned());
        patterns.chain(report.clone()).collect::<Vec<String>>()
    };
    let (allow, deny) = match role {
        Role::Agent(Agent::TestWriter) => (part.tests.clone(), Vec::new()),
        Role::Agent(Agent::Implementer) => {
            let mut deny: Vec<String> = part.tests.clone();
            for pattern in closed.iter().map(String::as_str).chain(INSTRUCTIONS) {
                if !deny.iter().any(|known| known == pattern) {
                    deny.push(pattern.to_owned());
                }
            }
            (Vec::new(), deny)
        }
        Role::Agent(Agent::Documentation) => {
            let context = may_edit_context(part).then(|| CONTEXT.to_owned());
            let own = with_report(&["docs/**", "README*", "CHANGELOG.md", ".ai/decisions/**"]);
            (own.into_iter().chain(context).collect(), Vec::new())
        }
        Role::Validator => (with_report(&[]), Vec::new()),
    };
    Borders { allow, deny, report }
}

impl Borders {
    /// What was changed beyond them.
    #[must_use]
    pub fn trespass(&self, changed: &[String]) -> Vec<String> {
        let beyond = outside(&self.allow, changed);
        let is_own = |path: &String| self.report.as_ref() == Some(path);
        let denied = |path: &String| self.deny.iter().any(|pattern| covers(pattern, path)) && !is_own(path);
        changed.iter().filter(|path| beyond.contains(path) || denied(path)).cloned().collect()
    }
}
