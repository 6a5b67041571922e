//! Something wrong with a file, at a line, with what to do about it.

use serde::{Serialize, Serializer};

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Fault {
    /// Counted from one; what is missing is told at the first line.
    pub line: usize,
    pub rule: Rule,
    pub message: String,
    pub hint: String,
}

impl Fault {
    pub fn new(line: usize, rule: Rule, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { line, rule, message: message.into(), hint: hint.into() }
    }
}

/// The rules, by the names that scripts see.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rule {
    /// The file is there, and cannot be read.
    Unreadable,
    /// A comment or a block of code hides the rest.
    Unclosed,
    SectionMissing,
    SectionTwice,
    SectionEmpty,
    /// The execution is missing or empty.
    NothingWouldRun,
    ExecutionAgent,
    ExecutionValidator,
    ExecutionOrder,
    ExecutionText,
    ExecutionInManifest,
    NothingToTest,
    NothingToValidate,
    TestPathsMissing,
    TestPath,
    UnitTable,
    UnitName,
    UnitTwice,
    UnitParallel,
    UnitFile,
    UnitFilesShared,
    UnitDependency,
    UnitCycle,
    UnitDirectoryMissing,
    UnitDirectoryUnlisted,
    UnitDirectoryTwice,
    UnitsNested,
    HandoffField,
    HandoffFieldTwice,
    PlanningBlocked,
    ReportUnclear,
    TaskName,
    NumberTwice,
    SpecMissing,
}

impl Rule {
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Unreadable => "unreadable",
            Self::Unclosed => "unclosed",
            Self::SectionMissing => "section-missing",
            Self::SectionTwice => "section-twice",
            Self::SectionEmpty => "section-empty",
            Self::NothingWouldRun => "nothing-would-run",
            Self::ExecutionAgent => "execution-agent",
            Self::ExecutionValidator => "execution-validator",
            Self::ExecutionOrder => "execution-order",
            Self::ExecutionText => "execution-text",
            Self::ExecutionInManifest => "execution-in-manifest",
            Self::NothingToTest => "nothing-to-test",
            Self::NothingToValidate => "nothing-to-validate",
            Self::TestPathsMissing => "test-paths-missing",
            Self::TestPath => "test-path",
            Self::UnitTable => "unit-table",
            Self::UnitName => "unit-name",
            Self::UnitTwice => "unit-twice",
            Self::UnitParallel => "unit-parallel",
            Self::UnitFile => "unit-file",
            Self::UnitFilesShared => "unit-files-shared",
            Self::UnitDependency => "unit-dependency",
            Self::UnitCycle => "unit-cycle",
            Self::UnitDirectoryMissing => "unit-directory-missing",
            Self::UnitDirectoryUnlisted => "unit-directory-unlisted",
            Self::UnitDirectoryTwice => "unit-directory-twice",
            Self::UnitsNested => "units-nested",
            Self::HandoffField => "handoff-field",
            Self::HandoffFieldTwice => "handoff-field-twice",
            Self::PlanningBlocked => "planning-blocked",
            Self::ReportUnclear => "report-unclear",
            Self::TaskName => "task-name",
            Self::NumberTwice => "number-twice",
            Self::SpecMissing => "spec-missing",
        }
    }
}

impl Serialize for Rule {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}
