//! How far tasks are, read from their files alone.

use super::{
    load::{Loaded, children},
    place::Place,
    read::{Listing, ReadError, Target, TaskDirectory, find, list, units},
};
use serde::Serialize;
use shuntyard_core::{
    roles::spec::{self, Role, Spec, Standing, State, UnitName, standing_of_units, waves},
    values::clean_line,
};
use std::path::Path;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Overview {
    /// Whether `.ai/context.md` is there.
    pub context: bool,
    /// How many notes are in `.ai/decisions`.
    pub decisions: usize,
    pub tasks: Vec<TaskStatus>,
    /// What could not be looked into.
    pub troubles: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TaskStatus {
    pub id: String,
    pub path: String,
    pub title: Option<String>,
    pub state: State,
    pub reason: Option<String>,
    /// Who would work next.
    pub next: Option<&'static str>,
    pub units: Vec<UnitStatus>,
    /// Which units may run at the same time, in their order; none when there are no units or no order.
    pub waves: Vec<Vec<String>>,
    /// The tasks that were made of it, as the store has them; none for a caller that asks only for the files.
    pub stored: Vec<StoredTask>,
}

/// A step of a spec as a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StoredTask {
    pub task: String,
    /// None for a spec without units, and for the delivery of the whole.
    pub unit: Option<String>,
    pub role: &'static str,
    pub cycle: u32,
    pub state: &'static str,
    /// How often it was begun.
    pub attempt: i64,
    pub reason: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UnitStatus {
    pub id: String,
    pub title: Option<String>,
    pub state: State,
    pub reason: Option<String>,
    pub next: Option<&'static str>,
}

/// Of one task, or of all.
pub fn status(place: &Place, here: &Path, wanted: Option<&str>) -> Result<Overview, ReadError> {
    let target = wanted.map_or(Ok(Target::All), |wanted| find(place, here, wanted))?;
    let Listing { found: tasks, troubles } = match target {
        Target::All => list(place)?,
        Target::Task(task) | Target::Unit { task, .. } => Listing { found: vec![task], troubles: Vec::new() },
        Target::File(path) => {
            let argument = wanted.map_or_else(|| place.shown(&path), str::to_owned);
            return Err(ReadError::NotFound { argument, near: Vec::new() });
        }
    };
    let mut overview = Overview {
        context: place.inside(&place.root().join(".ai/context.md")).is_ok(),
        decisions: decisions(place),
        tasks: Vec::new(),
        troubles: troubles.iter().map(ToString::to_string).collect(),
    };
    for task in &tasks {
        let (task, troubles) = task_status(place, task)?;
        overview.tasks.push(task);
        overview.troubles.extend(troubles);
    }
    Ok(overview)
}

fn task_status(place: &Place, task: &TaskDirectory) -> Result<(TaskStatus, Vec<String>), ReadError> {
    let Listing { found, troubles } = units(place, &task.path)?;
    let children = children(&found);
    let loaded = Loaded::read(place, &task.path);
    let spec = loaded.parsed_spec();
    let is_manifest = spec.as_ref().is_some_and(Spec::is_manifest);
    let parts: Vec<(String, Option<String>, Standing)> = found
        .iter()
        .filter(|_| is_manifest)
        .map(|(unit, _)| {
            let loaded = Loaded::read(place, &unit.path);
            (unit.name.clone(), title(loaded.parsed_spec().as_ref()), loaded.standing(place, spec::Place::Unit))
        })
        .collect();
    let within = spec::Place::Task { children: &children };
    let standing = match &spec {
        Some(spec) if is_manifest => manifest(spec, within, &parts),
        Some(_) | None => loaded.standing(place, within),
    };
    let table = spec.as_ref().and_then(Spec::units);
    let status = TaskStatus {
        id: task.name.clone(),
        path: place.shown(&task.path),
        title: title(spec.as_ref()),
        state: standing.state,
        reason: standing.reason,
        next: standing.next.map(Role::as_str),
        units: parts.into_iter().map(|(id, title, standing)| unit(id, title, standing)).collect(),
        waves: table.and_then(|table| waves(&table.units).ok()).unwrap_or_default(),
        stored: Vec::new(),
    };
    Ok((status, troubles.iter().map(ToString::to_string).collect()))
}

/// A table with faults says nothing of what would run, so it comes before the units, unless they are all done with.
fn manifest(spec: &Spec, within: spec::Place<'_>, parts: &[(String, Option<String>, Standing)]) -> Standing {
    let units: Vec<(String, Standing)> = parts
        .iter()
        .map(|(name, _, standing)| {
            let short = UnitName::parse(name).map_or_else(|| name.clone(), |unit| unit.slug.to_string());
            (short, standing.clone())
        })
        .collect();
    let standing = standing_of_units(&units);
    let faults = spec::check_spec(spec, within).len();
    if faults == 0 || matches!(standing.state, State::Failed | State::Blocked) {
        return standing;
    }
    let many = if faults == 1 { "a fault".to_owned() } else { format!("{faults} faults") };
    Standing { state: State::Draft, reason: Some(format!("the manifest has {many}")), next: None }
}

fn unit(id: String, title: Option<String>, standing: Standing) -> UnitStatus {
    UnitStatus { id, title, state: standing.state, reason: standing.reason, next: standing.next.map(Role::as_str) }
}

/// Files come from untrusted authors, and this is shown on a terminal.
fn title(spec: Option<&Spec>) -> Option<String> {
    spec.and_then(Spec::title).map(|title| clean_line(title, 120))
}

fn decisions(place: &Place) -> usize {
    let Ok(directory) = place.inside(&place.root().join(".ai/decisions")) else { return 0 };
    let Ok(entries) = std::fs::read_dir(directory) else { return 0 };
    entries.flatten().filter(|entry| entry.path().extension().is_some_and(|end| end == "md")).count()
}
