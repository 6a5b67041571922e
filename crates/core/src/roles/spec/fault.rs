//! Something wrong with a file, at a line, with what to do about it.

use serde::Serialize;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Fault {
    /// Counted from one; a missing part is reported at the first line.
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

word_enum! {
    /// The rules, by the names that scripts see.
    #[derive(PartialOrd, Ord, Hash)]
    pub enum Rule {
        /// The file is there, and cannot be read.
        Unreadable = "unreadable",
        /// A comment or a block of code hides the rest.
        Unclosed = "unclosed",
        SectionMissing = "section-missing",
        SectionTwice = "section-twice",
        SectionEmpty = "section-empty",
        /// The execution is missing or empty.
        NothingWouldRun = "nothing-would-run",
        ExecutionAgent = "execution-agent",
        ExecutionValidator = "execution-validator",
        ExecutionOrder = "execution-order",
        ExecutionText = "execution-text",
        ExecutionInManifest = "execution-in-manifest",
        NothingToTest = "nothing-to-test",
        NothingToValidate = "nothing-to-validate",
        TestPathsMissing = "test-paths-missing",
        TestPath = "test-path",
        UnitTable = "unit-table",
        UnitName = "unit-name",
        UnitTwice = "unit-twice",
        UnitParallel = "unit-parallel",
        UnitFile = "unit-file",
        UnitFilesShared = "unit-files-shared",
        UnitDependency = "unit-dependency",
        UnitCycle = "unit-cycle",
        UnitDirectoryMissing = "unit-directory-missing",
        UnitDirectoryUnlisted = "unit-directory-unlisted",
        UnitDirectoryTwice = "unit-directory-twice",
        UnitsNested = "units-nested",
        HandoffField = "handoff-field",
        HandoffFieldTwice = "handoff-field-twice",
        PlanningBlocked = "planning-blocked",
        ReportUnclear = "report-unclear",
        TaskName = "task-name",
        NumberTwice = "number-twice",
        SpecMissing = "spec-missing",
    }
}
