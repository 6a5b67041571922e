//! What the linter has to say about one line.

use crate::roles::pack::agent_file::AgentFile;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    Error,
    Warning,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LintRule {
    Unreadable,
    MissingKey,
    UnknownKey,
    InvalidValue,
    DeprecatedKey,
    NoCatchAll,
    NotDenyByDefault,
    CatchAllLast,
    UnreachableRule,
    GluedStar,
    WriteThroughShell,
    ProjectCode,
    ShellCannotBeClosed,
    AskWithoutHuman,
    UnknownAgent,
    NeverCalled,
    DuplicateName,
}

impl LintRule {
    /// The name of the rule, for people and for machines.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::Unreadable => "unreadable",
            Self::MissingKey => "missing-key",
            Self::UnknownKey => "unknown-key",
            Self::InvalidValue => "invalid-value",
            Self::DeprecatedKey => "deprecated-key",
            Self::NoCatchAll => "no-catch-all",
            Self::NotDenyByDefault => "not-deny-by-default",
            Self::CatchAllLast => "catch-all-last",
            Self::UnreachableRule => "unreachable-rule",
            Self::GluedStar => "glued-star",
            Self::WriteThroughShell => "write-through-shell",
            Self::ProjectCode => "project-code",
            Self::ShellCannotBeClosed => "shell-cannot-be-closed",
            Self::AskWithoutHuman => "ask-without-human",
            Self::UnknownAgent => "unknown-agent",
            Self::NeverCalled => "never-called",
            Self::DuplicateName => "duplicate-name",
        }
    }

    #[must_use]
    pub fn severity(self) -> Severity {
        match self {
            Self::Unreadable
            | Self::MissingKey
            | Self::InvalidValue
            | Self::NoCatchAll
            | Self::CatchAllLast
            | Self::UnreachableRule
            | Self::WriteThroughShell
            | Self::AskWithoutHuman
            | Self::UnknownAgent
            | Self::NeverCalled
            | Self::DuplicateName => Severity::Error,
            Self::UnknownKey
            | Self::DeprecatedKey
            | Self::NotDenyByDefault
            | Self::GluedStar
            | Self::ProjectCode
            | Self::ShellCannotBeClosed => Severity::Warning,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    pub file: String,
    /// From 1.
    pub line: usize,
    pub rule: LintRule,
    pub severity: Severity,
    pub message: String,
    pub hint: String,
}

impl Finding {
    pub(super) fn new(file: &str, line: usize, rule: LintRule, message: String, hint: impl Into<String>) -> Self {
        Self { file: file.into(), line, rule, severity: rule.severity(), message, hint: hint.into() }
    }

    pub(super) fn at(
        agent: &AgentFile,
        line: Option<usize>,
        rule: LintRule,
        message: String,
        hint: impl Into<String>,
    ) -> Self {
        // A rule of OpenCode's own has no line: what is missing is missing among the permissions.
        let line = line.unwrap_or_else(|| agent.line_of("permission"));
        Self::new(&agent.path, line, rule, message, hint)
    }
}
