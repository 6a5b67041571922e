//! Finds tasks by listing `.ai/tasks`, and what a user means by a number, a name or a path.

use super::{
    SPEC_FILE,
    place::{Place, PlaceError},
};
use shuntyard_core::{
    roles::spec::{Child, TaskName, UnitName, number_of},
    values::nearest::nearest,
};
use std::{
    fs,
    path::{Path, PathBuf},
};

#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    #[error(transparent)]
    Place(#[from] PlaceError),
    #[error("there is no task and no file `{argument}`")]
    NotFound { argument: String, near: Vec<String> },
    #[error("`{argument}` may be {}", names.join(" or "))]
    Ambiguous { argument: String, names: Vec<String> },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskDirectory {
    pub name: String,
    /// Without links.
    pub path: PathBuf,
}

/// What a directory holds, and what in it could not be looked into.
#[derive(Debug)]
pub struct Listing<T> {
    pub found: Vec<T>,
    pub troubles: Vec<PlaceError>,
}

/// A directory in that of a task, and what a check has to know of it.
pub type UnitDirectory = (TaskDirectory, Child);

/// What an argument names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    All,
    Task(TaskDirectory),
    Unit {
        task: TaskDirectory,
        unit: TaskDirectory,
    },
    /// One file, with the directory that it is in.
    File(PathBuf),
}

/// All tasks, by number and then by name.
pub fn list(place: &Place) -> Result<Listing<TaskDirectory>, PlaceError> {
    let mut listing = directories(place, &place.tasks()?)?;
    let has_spec = |task: &TaskDirectory| task.path.join(SPEC_FILE).symlink_metadata().is_ok();
    listing.found.retain(|task| number_of(&task.name).is_some() || has_spec(task));
    listing
        .found
        .sort_by(|left, right| (number_of(&left.name), &left.name).cmp(&(number_of(&right.name), &right.name)));
    Ok(listing)
}

/// The directories in that of a task which are units of it, or look like it.
pub fn units(place: &Place, task: &Path) -> Result<Listing<UnitDirectory>, PlaceError> {
    let Listing { found, troubles } = directories(place, task)?;
    let with_child = |unit: TaskDirectory| {
        let has_spec = unit.path.join(SPEC_FILE).symlink_metadata().is_ok();
        let child = Child { name: unit.name.clone(), has_spec };
        (child.has_spec || UnitName::parse(&child.name).is_some()).then_some((unit, child))
    };
    let mut found: Vec<UnitDirectory> = found.into_iter().filter_map(with_child).collect();
    found.sort_by(|(left, _), (right, _)| left.name.cmp(&right.name));
    Ok(Listing { found, troubles })
}

/// Hidden names are drafts, or belong to others.
fn directories(place: &Place, above: &Path) -> Result<Listing<TaskDirectory>, PlaceError> {
    let broken = |source| PlaceError::Io { path: above.to_owned(), source };
    let (mut found, mut troubles) = (Vec::new(), Vec::new());
    for entry in fs::read_dir(above).map_err(broken)? {
        let entry = entry.map_err(broken)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with('.') || entry.file_type().is_ok_and(|kind| kind.is_file()) {
            continue;
        }
        match place.inside(&entry.path()) {
            Ok(path) if path.is_dir() => found.push(TaskDirectory { name, path }),
            Ok(_) => {}
            // It was removed since the listing began.
            Err(PlaceError::Missing { .. }) => {}
            Err(trouble) if would_be_task(&entry.path(), &name) => troubles.push(trouble),
            Err(_) => {}
        }
    }
    Ok(Listing { found, troubles })
}

/// A link to a file is looked at when the file is wanted; one that leads nowhere may have been a task.
fn would_be_task(path: &Path, name: &str) -> bool {
    fs::metadata(path).map_or_else(|_| number_of(name).is_some(), |kind| kind.is_dir())
}

/// What is meant: `7`, `007`, `add-export`, `007-add-export`, `007-add-export/01-parser`, or a path from `here`.
pub fn find(place: &Place, here: &Path, argument: &str) -> Result<Target, ReadError> {
    let path = here.join(argument);
    let is_there = path.symlink_metadata().is_ok();
    let looks_like_path = argument.contains('/') || argument.starts_with('.') || argument.ends_with(".md");
    if looks_like_path && is_there {
        return at_path(place, &path);
    }
    let tasks = match list(place) {
        Ok(listing) => listing.found,
        Err(error) if error.is_missing() && is_there => return at_path(place, &path),
        Err(error) if error.is_missing() && looks_like_path => Vec::new(),
        Err(error) => return Err(error.into()),
    };
    let (wanted, within) =
        argument.trim_end_matches('/').split_once('/').map_or((argument, None), |(task, unit)| (task, Some(unit)));
    let meant: Vec<&TaskDirectory> = tasks.iter().filter(|task| means(wanted, &task.name)).collect();
    match (meant.as_slice(), within) {
        ([task], None) => Ok(Target::Task((*task).clone())),
        ([task], Some(within)) => unit_of(place, task, within, argument),
        ([], _) if is_there => at_path(place, &path),
        ([], _) => Err(not_found(argument, tasks.iter().map(|task| task.name.as_str()))),
        (several, _) => {
            let names = several.iter().map(|task| task.name.clone()).collect();
            Err(ReadError::Ambiguous { argument: argument.to_owned(), names })
        }
    }
}

fn means(wanted: &str, name: &str) -> bool {
    let by_number = wanted.bytes().all(|byte| byte.is_ascii_digit()) && number_of(name) == wanted.parse().ok();
    let by_id = TaskName::parse(name).is_some_and(|task| task.id.as_str() == wanted);
    wanted == name || by_id || (by_number && !wanted.is_empty())
}

fn unit_of(place: &Place, task: &TaskDirectory, wanted: &str, argument: &str) -> Result<Target, ReadError> {
    let found = units(place, &task.path)?.found;
    let is_it = |name: &str| name == wanted || UnitName::parse(name).is_some_and(|unit| unit.slug.as_str() == wanted);
    match found.iter().find(|(unit, _)| is_it(&unit.name)) {
        Some((unit, _)) => Ok(Target::Unit { task: task.clone(), unit: unit.clone() }),
        None => Err(not_found(argument, found.iter().map(|(unit, _)| unit.name.as_str()))),
    }
}

fn at_path(place: &Place, path: &Path) -> Result<Target, ReadError> {
    let found = place.inside(path)?;
    if !found.is_dir() {
        return Ok(Target::File(found));
    }
    let directory = |path: &Path| TaskDirectory {
        name: path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned()),
        path: path.to_owned(),
    };
    let tasks = place.tasks().ok();
    if tasks.as_ref().is_some_and(|tasks| tasks.starts_with(&found)) {
        return Ok(Target::All);
    }
    match found.parent() {
        Some(above) if tasks.is_some() && above.parent() == tasks.as_deref() => {
            Ok(Target::Unit { task: directory(above), unit: directory(&found) })
        }
        Some(_) | None => Ok(Target::Task(directory(&found))),
    }
}

/// People leave the number out, so a name is also compared without it.
fn not_found<'n>(argument: &str, names: impl Iterator<Item = &'n str>) -> ReadError {
    let names: Vec<&str> = names.collect();
    let without = |name: &'n str| name.trim_start_matches(|letter: char| letter.is_ascii_digit() || letter == '-');
    let keys = names.iter().flat_map(|name| [*name, without(name)]).filter(|key| !key.is_empty());
    let mut near: Vec<String> = Vec::new();
    for key in nearest(argument, keys, 6) {
        let meant = names.iter().find(|name| **name == key || without(name) == key);
        near.extend(meant.map(|name| (*name).to_owned()).filter(|name| !near.contains(name)));
    }
    near.truncate(3);
    ReadError::NotFound { argument: argument.to_owned(), near }
}
