//! Makes the directory of a new task, with a number that no other task gets, however many are made at the same moment.
//!
//! Invariant: the directory `.NNN` is the right to the number, since it can be made only once. The files are written in
//! it, and it becomes `NNN-<id>` in one step: no process ever sees a task without its spec, and a process that dies
//! leaves a draft that keeps its number and nothing else.

use super::{
    SPEC_FILE,
    place::{Place, PlaceError},
    template,
};
use shuntyard_core::roles::spec::{MOST_UNITS, Slug, TaskName, UnitName, next_number, number_of};
use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// Each try that fails means that another process has got a number, so this is only reached when something is odd.
const MOST_TRIES: usize = 10_000;

#[derive(Debug, thiserror::Error)]
pub enum NewError {
    #[error(transparent)]
    Place(#[from] PlaceError),
    #[error("the unit {0} is named twice")]
    UnitTwice(Slug),
    #[error("{0} units are named, and {MOST_UNITS} is the most")]
    TooManyUnits(usize),
    #[error("there is no number left for a task")]
    NoNumber,
    #[error("others have taken {MOST_TRIES} numbers in the meantime")]
    Contended,
    #[error("{} cannot be written: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewTask {
    pub id: Slug,
    /// Made of the id when there is none.
    pub title: Option<String>,
    pub units: Vec<Slug>,
}

/// Whether the change is made, or only reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Run {
    Real,
    Dry,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Created {
    pub name: TaskName,
    /// From the top of the repository.
    pub directory: String,
    pub files: Vec<String>,
}

pub fn create(place: &Place, new: &NewTask, run: Run) -> Result<Created, NewError> {
    let units = numbered(&new.units)?;
    match run {
        Run::Dry => {
            let tasks = match place.tasks() {
                Ok(tasks) => tasks,
                Err(error) if error.is_missing() => place.root().join(".ai/tasks"),
                Err(error) => return Err(error.into()),
            };
            let taken = if tasks.is_dir() { names(&tasks)? } else { Vec::new() };
            let number = next(&taken)?;
            Ok(created(place, &tasks, TaskName { number, id: new.id.clone() }, &units))
        }
        Run::Real => {
            let tasks = place.make_tasks()?;
            let reserved = Reserved::take(&tasks)?;
            let name = TaskName { number: reserved.number, id: new.id.clone() };
            write(&reserved.draft, new, &units)?;
            reserved.become_task(&tasks.join(name.to_string()))?;
            Ok(created(place, &tasks, name, &units))
        }
    }
}

/// A draft that no other process can have. It is removed again unless it becomes a task.
struct Reserved {
    number: u32,
    draft: PathBuf,
    is_task: bool,
}

impl Reserved {
    fn take(tasks: &Path) -> Result<Self, NewError> {
        for _ in 0..MOST_TRIES {
            let number = next(&names(tasks)?)?;
            let draft = tasks.join(format!(".{number:03}"));
            match fs::create_dir(&draft) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                Err(source) => return Err(NewError::Io { path: draft, source }),
            }
            let reserved = Self { number, draft, is_task: false };
            // Between the listing and now, another draft of this number may have become a task. From now on none can.
            let taken = names(tasks)?.iter().any(|name| !name.starts_with('.') && number_of(name) == Some(number));
            if !taken {
                return Ok(reserved);
            }
        }
        Err(NewError::Contended)
    }

    fn become_task(mut self, path: &Path) -> Result<(), NewError> {
        fs::rename(&self.draft, path).map_err(|source| NewError::Io { path: path.to_owned(), source })?;
        self.is_task = true;
        Ok(())
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        if !self.is_task {
            // If it cannot be removed, the number stays unused; nothing else depends on it.
            drop(fs::remove_dir_all(&self.draft));
        }
    }
}

fn names(tasks: &Path) -> Result<Vec<String>, NewError> {
    let broken = |source| NewError::Io { path: tasks.to_owned(), source };
    let entries = fs::read_dir(tasks).map_err(broken)?;
    entries.map(|entry| Ok(entry.map_err(broken)?.file_name().to_string_lossy().into_owned())).collect()
}

fn next(names: &[String]) -> Result<u32, NewError> {
    next_number(names.iter().map(String::as_str)).ok_or(NewError::NoNumber)
}

fn numbered(units: &[Slug]) -> Result<Vec<UnitName>, NewError> {
    if units.len() > MOST_UNITS {
        return Err(NewError::TooManyUnits(units.len()));
    }
    if let Some((_, twice)) = units.iter().enumerate().find(|(place, unit)| units[..*place].contains(unit)) {
        return Err(NewError::UnitTwice(twice.clone()));
    }
    Ok((1..).zip(units).map(|(number, slug)| UnitName { number, slug: slug.clone() }).collect())
}

fn write(draft: &Path, new: &NewTask, units: &[UnitName]) -> Result<(), NewError> {
    let title = new.title.clone().unwrap_or_else(|| template::title_of(&new.id));
    let put = |path: PathBuf, text: String| fs::write(&path, text).map_err(|source| NewError::Io { path, source });
    if units.is_empty() {
        return put(draft.join(SPEC_FILE), template::spec(&title));
    }
    put(draft.join(SPEC_FILE), template::manifest(&title, units))?;
    for unit in units {
        let directory = draft.join(unit.to_string());
        fs::create_dir(&directory).map_err(|source| NewError::Io { path: directory.clone(), source })?;
        put(directory.join(SPEC_FILE), template::unit(&title, &unit.slug))?;
    }
    Ok(())
}

fn created(place: &Place, tasks: &Path, name: TaskName, units: &[UnitName]) -> Created {
    let directory = tasks.join(name.to_string());
    let below = units.iter().map(|unit| directory.join(unit.to_string()).join(SPEC_FILE));
    let files = std::iter::once(directory.join(SPEC_FILE)).chain(below);
    Created { files: files.map(|file| place.shown(&file)).collect(), directory: place.shown(&directory), name }
}
