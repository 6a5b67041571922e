//! The sections of a spec, and whether one has content.

use super::document::{Said, plain_title};
use std::fmt;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SectionKind {
    SourceArtifacts,
    Scope,
    Execution,
    NonGoals,
    TestableCriteria,
    InspectableCriteria,
    RelevantFiles,
    ValidationPlan,
    OpenQuestions,
}

impl SectionKind {
    /// In the order in which a template has them.
    pub const ALL: [Self; 9] = [
        Self::SourceArtifacts,
        Self::Scope,
        Self::Execution,
        Self::NonGoals,
        Self::TestableCriteria,
        Self::InspectableCriteria,
        Self::RelevantFiles,
        Self::ValidationPlan,
        Self::OpenQuestions,
    ];

    /// A manifest describes the whole; what is to be done is in its units.
    pub const OF_MANIFEST: [Self; 4] = [Self::SourceArtifacts, Self::Scope, Self::NonGoals, Self::OpenQuestions];

    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::SourceArtifacts => "Source Artifacts",
            Self::Scope => "Scope",
            Self::Execution => "Execution",
            Self::NonGoals => "Non-Goals",
            Self::TestableCriteria => "Testable Acceptance Criteria",
            Self::InspectableCriteria => "Inspectable Acceptance Criteria",
            Self::RelevantFiles => "Relevant Files",
            Self::ValidationPlan => "Validation Plan",
            Self::OpenQuestions => "Open Questions",
        }
    }

    #[must_use]
    pub fn of(title: &str) -> Option<Self> {
        let plain = plain_title(title);
        if matches!(plain.as_str(), "handoff context" | "source artifacts / handoff context") {
            return Some(Self::SourceArtifacts);
        }
        Self::ALL.into_iter().find(|kind| plain_title(kind.title()) == plain)
    }

    /// What its author has to write there.
    #[must_use]
    pub fn wanted(self) -> &'static str {
        match self {
            Self::SourceArtifacts => "name the documents and decisions that this rests on, or write None",
            Self::Scope => "say what will be different when the task is done",
            Self::Execution => "list who works, one name a line: `- test-writer`, `- implementer`, `- documentation`",
            Self::NonGoals => "say what is left alone, or write None",
            Self::TestableCriteria => "list what a test can prove, or write None",
            Self::InspectableCriteria => "list what a reader has to judge, or write None",
            Self::RelevantFiles => "list the files to read first, or write None",
            Self::ValidationPlan => "say which commands to run and what to look at",
            Self::OpenQuestions => "list what is undecided, or write None",
        }
    }

    /// Whether "None" is an answer.
    #[must_use]
    pub fn may_be_none(self) -> bool {
        match self {
            Self::Scope | Self::Execution | Self::ValidationPlan => false,
            Self::SourceArtifacts
            | Self::NonGoals
            | Self::TestableCriteria
            | Self::InspectableCriteria
            | Self::RelevantFiles
            | Self::OpenQuestions => true,
        }
    }
}

impl fmt::Display for SectionKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.title())
    }
}

/// The content of a part of a file, as far as it matters here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Says {
    Nothing,
    /// The word "None", and that alone.
    None,
    Something,
}

impl Says {
    #[must_use]
    pub fn of<'d>(said: impl IntoIterator<Item = Said<'d>>) -> Self {
        let mut said = said.into_iter();
        match (said.next(), said.next()) {
            (None, _) => Self::Nothing,
            (Some(only), None) if !only.is_code && is_none(only.text) => Self::None,
            (Some(_), _) => Self::Something,
        }
    }
}

/// "None", also as a list item, with emphasis or a full stop.
pub(super) fn is_none(text: &str) -> bool {
    let word = text.trim_matches(|letter: char| {
        letter.is_whitespace() || matches!(letter, '-' | '*' | '+' | '_' | '`' | '.' | '(' | ')')
    });
    word.eq_ignore_ascii_case("none")
}
