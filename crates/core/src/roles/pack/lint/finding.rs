//! A finding of the linter about one line.

use crate::roles::pack::agent_file::AgentFile;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    Error,
    Warning,
}

word_enum! {
    #[derive(PartialOrd, Ord, Hash)]
    pub enum LintRule {
        Unreadable = "unreadable",
        MissingKey = "missing-key",
        UnknownKey = "unknown-key",
        InvalidValue = "invalid-value",
        DeprecatedKey = "deprecated-key",
        NoCatchAll = "no-catch-all",
        NotDenyByDefault = "not-deny-by-default",
        CatchAllLast = "catch-all-last",
        UnreachableRule = "unreachable-rule",
        GluedStar = "glued-star",
        WriteThroughShell = "write-through-shell",
        ProjectCode = "project-code",
        ShellCannotBeClosed = "shell-cannot-be-closed",
        AskWithoutHuman = "ask-without-human",
        UnknownAgent = "unknown-agent",
        NeverCalled = "never-called",
        DuplicateName = "duplicate-name",
    }
}

impl LintRule {
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
