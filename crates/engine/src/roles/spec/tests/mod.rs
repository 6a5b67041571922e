//! Real directories: what is made, found, refused and reported.

mod finding;
mod making;
mod telling;

use super::*;
use shuntyard_core::roles::spec::Slug;
use shuntyard_testkit::Scratch;
use std::{fs, path::PathBuf};

/// A spec that has nothing wrong with it, and no role for tests.
pub(super) const GOOD: &str = "# Export\n\n## Source Artifacts\nNone\n## Scope\nCSV\n## Execution\n- implementer\n\
    ## Non-Goals\nNone\n## Testable Acceptance Criteria\nIt is quoted\n## Inspectable Acceptance Criteria\nNone\n\
    ## Relevant Files\nNone\n## Validation Plan\ncargo test\n## Open Questions\nNone\n";

/// A repository with nothing in it.
pub(super) struct Yard {
    scratch: Scratch,
}

impl Yard {
    pub fn new() -> Self {
        let yard = Self { scratch: shuntyard_testkit::Scratch::of_test() };
        fs::create_dir_all(yard.path("repo/.git")).unwrap();
        yard
    }

    pub fn path(&self, path: &str) -> PathBuf {
        self.scratch.path().canonicalize().unwrap().join(path)
    }

    /// A file in the repository, with the directories above it.
    pub fn write(&self, path: &str, text: &str) {
        let path = self.path("repo").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub fn place(&self) -> Place {
        Place::of(&self.path("repo")).unwrap()
    }

    pub fn create(&self, id: &str, units: &[&str]) -> Result<Created, NewError> {
        create(&self.place(), &new_task(id, units), Run::Real)
    }

    pub fn check(&self, arguments: &[&str]) -> Result<Vec<String>, ReadError> {
        let arguments: Vec<String> = arguments.iter().map(|argument| (*argument).to_owned()).collect();
        let checked = check(&self.place(), &self.path("repo"), &arguments)?;
        let told = checked.faults.iter().map(|found| {
            format!("{}:{}: {}: {}", found.path, found.fault.line, found.fault.rule.as_str(), found.fault.message)
        });
        Ok(told.collect())
    }
}

pub(super) fn new_task(id: &str, units: &[&str]) -> NewTask {
    let units: Vec<Slug> = units.iter().map(|unit| unit.parse().unwrap()).collect();
    NewTask { id: id.parse().unwrap(), title: None, units }
}
