//! Checks the files of tasks: all of them, or those that were named.

use super::{
    HANDOFF_FILE, SPEC_FILE,
    load::{Artifact, Loaded, children},
    place::Place,
    read::{Listing, ReadError, Target, TaskDirectory, find, list, units},
};
use serde::Serialize;
use shuntyard_core::{
    roles::spec::{
        self, BadSlug, Fault, Handoff, Report, Rule, Spec, TaskName, check_handoff, check_report, check_spec, number_of,
    },
    values::clean_line,
};
use std::{collections::BTreeSet, path::Path};

/// Of a message, in characters.
const LONGEST: usize = 600;

/// A fault with the file that it is in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FoundFault {
    pub path: String,
    #[serde(flatten)]
    pub fault: Fault,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Checked {
    /// The files that were read.
    pub files: BTreeSet<String>,
    pub faults: Vec<FoundFault>,
}

/// Checks what the arguments name, or everything when there are none.
pub fn check(place: &Place, here: &Path, arguments: &[String]) -> Result<Checked, ReadError> {
    let targets: Result<Vec<Target>, ReadError> =
        arguments.iter().map(|argument| find(place, here, argument)).collect();
    let targets = if arguments.is_empty() { vec![Target::All] } else { targets? };
    let mut check = Check { place, checked: Checked::default() };
    for target in targets {
        match target {
            Target::All => check.all()?,
            Target::Task(task) => check.task(&task)?,
            Target::Unit { unit, .. } => check.directory(&unit.path, spec::Place::Unit),
            Target::File(path) => check.file(&path)?,
        }
    }
    let mut checked = check.checked;
    // The same may have been named in two ways.
    checked.faults.sort_by(|left, right| {
        (&left.path, left.fault.line, left.fault.rule).cmp(&(&right.path, right.fault.line, right.fault.rule))
    });
    checked.faults.dedup();
    Ok(checked)
}

struct Check<'p> {
    place: &'p Place,
    checked: Checked,
}

impl Check<'_> {
    fn all(&mut self) -> Result<(), ReadError> {
        let Listing { found: tasks, troubles } = list(self.place)?;
        let root = self.place.tasks()?;
        for trouble in troubles {
            let hint = "make it a directory in the repository, or remove it";
            self.fault(&root, Fault::new(1, Rule::Unreadable, trouble.to_string(), hint));
        }
        for (place, task) in tasks.iter().enumerate() {
            let same = tasks[..place]
                .iter()
                .rfind(|other| number_of(&other.name).is_some_and(|number| number_of(&task.name) == Some(number)));
            if let Some(other) = same {
                let message = format!("{} has this number already", other.name);
                self.fault(
                    &task.path,
                    Fault::new(1, Rule::NumberTwice, message, "give one of them the next free number"),
                );
            }
            self.task(task)?;
        }
        Ok(())
    }

    fn task(&mut self, task: &TaskDirectory) -> Result<(), ReadError> {
        let is_task = self.place.tasks().is_ok_and(|tasks| task.path.parent() == Some(&tasks));
        if is_task && TaskName::parse(&task.name).is_none() {
            let hint = format!("call it <NNN>-<id>, as in 007-add-export; for the id {}", BadSlug::RULE);
            self.fault(&task.path, Fault::new(1, Rule::TaskName, "this is no name for the directory of a task", hint));
        }
        let Listing { found: units, troubles } = units(self.place, &task.path)?;
        for trouble in troubles {
            let hint = "make it a directory in the repository, or remove it";
            self.fault(&task.path, Fault::new(1, Rule::Unreadable, trouble.to_string(), hint));
        }
        self.directory(&task.path, spec::Place::Task { children: &children(&units) });
        for (unit, child) in &units {
            // Without a spec it is a fault of the task above.
            if child.has_spec {
                self.directory(&unit.path, spec::Place::Unit);
            }
        }
        Ok(())
    }

    fn directory(&mut self, directory: &Path, within: spec::Place<'_>) {
        let loaded = Loaded::read(self.place, directory);
        if loaded.spec.is_none() && loaded.handoff.is_none() {
            let message = format!("there is no {SPEC_FILE} and no {HANDOFF_FILE}");
            self.fault(directory, Fault::new(1, Rule::SpecMissing, message, "write a spec, or remove the directory"));
        }
        self.artifact(loaded.spec, |text| check_spec(&Spec::parse(text), within));
        self.artifact(loaded.handoff, |text| check_handoff(&Handoff::parse(text)));
        for (report, artifact) in loaded.reports {
            self.artifact(Some(artifact), |text| check_report(report, text));
        }
    }

    fn file(&mut self, path: &Path) -> Result<(), ReadError> {
        let name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        let artifact = Artifact::read(self.place, path);
        if let Some(report) = Report::ALL.into_iter().find(|report| report.file() == name) {
            self.artifact(artifact, |text| check_report(report, text));
        } else if name == HANDOFF_FILE {
            self.artifact(artifact, |text| check_handoff(&Handoff::parse(text)));
        } else {
            self.spec_file(path, &name, artifact)?;
        }
        Ok(())
    }

    /// A spec in its place among the tasks is checked together with what is beside it.
    fn spec_file(&mut self, path: &Path, name: &str, artifact: Option<Artifact>) -> Result<(), ReadError> {
        let tasks = self.place.tasks().ok().filter(|_| name == SPEC_FILE);
        let directory = path.parent();
        let above = |steps: usize| directory.and_then(|directory| directory.ancestors().nth(steps));
        let units = match directory {
            Some(directory) if tasks.is_some() && tasks.as_deref() == above(1) => {
                Some(units(self.place, directory)?.found)
            }
            Some(_) | None => None,
        };
        let is_unit = tasks.is_some() && tasks.as_deref() == above(2);
        let beside = units.as_deref().map(children);
        let within = match &beside {
            Some(children) => spec::Place::Task { children },
            None if is_unit => spec::Place::Unit,
            None => spec::Place::Alone,
        };
        self.artifact(artifact, |text| check_spec(&Spec::parse(text), within));
        Ok(())
    }

    fn artifact(&mut self, artifact: Option<Artifact>, check: impl Fn(&str) -> Vec<Fault>) {
        let Some(artifact) = artifact else { return };
        self.checked.files.insert(self.place.shown(&artifact.path));
        let faults = match &artifact.text {
            Ok(text) => check(text),
            Err(_) => artifact.trouble().into_iter().collect(),
        };
        for fault in faults {
            self.fault(&artifact.path, fault);
        }
    }

    fn fault(&mut self, path: &Path, mut fault: Fault) {
        // Names of directories and words of a spec are in it, and are shown on a terminal.
        fault.message = clean_line(&fault.message, LONGEST);
        fault.hint = clean_line(&fault.hint, LONGEST);
        self.checked.faults.push(FoundFault { path: self.place.shown(path), fault });
    }
}
