//! What a synchronisation found and did.

use super::super::write::Run;
use serde::Serialize;
use shuntyard_core::{
    todo::{Blocker, BlockerState, Difference, Obstacle, StoredPhase},
    work::task::TaskId,
};
use std::path::Path;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SyncReport {
    pub repository: String,
    /// Where the file is shared, such as `origin/main`.
    pub place: String,
    /// Nothing was changed: everything below is what would be.
    pub dry_run: bool,
    /// Why the remote could not be asked. Then nothing was compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offline: Option<String>,
    /// New in the store.
    pub added: Vec<Added>,
    /// Lines whose box was ticked, because the store has the task done.
    pub marked: Vec<TaskId>,
    /// Lines whose claim was given back, because the store has given the task up.
    pub released: Vec<TaskId>,
    /// Lines whose claim was left behind, and given back.
    pub freed: Vec<TaskId>,
    /// Tasks that were cancelled, because the file has them over.
    pub cancelled: Vec<TaskId>,
    /// Lines that are to be dispatched and cannot be.
    pub skipped: Vec<SyncNote>,
    pub differences: Vec<SyncNote>,
    /// Lines that wait for each other.
    pub cycles: Vec<Vec<TaskId>>,
    pub notes: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Added {
    pub id: TaskId,
    pub todo: TaskId,
    pub description: String,
    pub depends_on: Vec<TaskId>,
}

/// Something about a line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SyncNote {
    /// A word for scripts.
    pub kind: &'static str,
    pub todo: TaskId,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    pub detail: String,
    /// Whether it stays so until a person changes something; otherwise it is the ordinary course of things.
    #[serde(skip)]
    pub needs_person: bool,
}

impl SyncReport {
    pub(super) fn new(repository: &Path, place: &str, run: Run) -> Self {
        Self {
            repository: repository.display().to_string(),
            place: place.to_owned(),
            dry_run: run == Run::Dry,
            offline: None,
            added: Vec::new(),
            marked: Vec::new(),
            released: Vec::new(),
            freed: Vec::new(),
            cancelled: Vec::new(),
            skipped: Vec::new(),
            differences: Vec::new(),
            cycles: Vec::new(),
            notes: Vec::new(),
        }
    }
}

pub(super) fn told(difference: &Difference) -> SyncNote {
    let phase = |phase: StoredPhase| match phase {
        StoredPhase::Open => "open",
        StoredPhase::Done => "done",
        StoredPhase::Cancelled => "cancelled",
    };
    let name = |name: &Option<String>| name.clone().unwrap_or_else(|| "nobody".to_owned());
    let (kind, todo, line, detail) = match difference {
        Difference::OnlyInStore { id, phase: stored } => {
            ("only_in_store", id, None, format!("{} in the store, and no line has it", phase(*stored)))
        }
        Difference::OnlyInFile { id, line, checkbox } => {
            ("only_in_file", id, Some(*line), format!("{checkbox}, and the store does not know it"))
        }
        Difference::Ambiguous { id, lines } => ("ambiguous", id, lines.first().copied(), on_lines(lines)),
        Difference::FileEnded { id, line, checkbox } => {
            ("file_ended", id, Some(*line), format!("{checkbox} in the file, and open in the store"))
        }
        Difference::StoreEnded { id, line, checkbox, phase: stored } => {
            ("store_ended", id, Some(*line), format!("{} in the store, and {checkbox} in the file", phase(*stored)))
        }
        Difference::EndsDiffer { id, line, checkbox, phase: stored } => {
            ("ends_differ", id, Some(*line), format!("{checkbox} in the file, and {} in the store", phase(*stored)))
        }
        Difference::AssigneeDiffers { id, line, file, store } => {
            let detail = format!("claimed by {} in the file, and by {} in the store", name(file), name(store));
            ("assignee_differs", id, Some(*line), detail)
        }
    };
    let needs_person = match difference {
        Difference::OnlyInStore { phase, .. } => *phase == StoredPhase::Open,
        // Most lines of a TODO.md are for people.
        Difference::OnlyInFile { .. } => false,
        Difference::Ambiguous { .. } | Difference::FileEnded { .. } => true,
        // What is done is ticked, or a note says why not. What another store has done is cancelled in this one.
        Difference::StoreEnded { phase, .. } => *phase == StoredPhase::Cancelled,
        Difference::EndsDiffer { phase, .. } => *phase == StoredPhase::Done,
        // Without a claim of this store it is another's line, as it should be.
        Difference::AssigneeDiffers { store, .. } => store.is_some(),
    };
    SyncNote { kind, todo: todo.clone(), line, detail, needs_person }
}

/// Whether an obstacle stays until a person changes the file.
pub(super) fn is_stuck(obstacle: &Obstacle) -> bool {
    match obstacle {
        Obstacle::Ambiguous { .. } => true,
        Obstacle::Blocked(blockers) => blockers.iter().any(|blocker| match blocker.why {
            BlockerState::Missing | BlockerState::NotAnId | BlockerState::Ambiguous { .. } => true,
            BlockerState::Open | BlockerState::Marked(_) => false,
        }),
        Obstacle::NotOpen(_) | Obstacle::Claimed { .. } | Obstacle::Needs { .. } | Obstacle::OpenChildren(_) => false,
    }
}

/// A word for an obstacle, and a sentence.
pub(super) fn hindered(obstacle: &Obstacle) -> (&'static str, String) {
    match obstacle {
        Obstacle::Ambiguous { lines } => ("ambiguous", on_lines(lines)),
        Obstacle::NotOpen(checkbox) => ("not_open", format!("the box is {checkbox}")),
        Obstacle::Claimed { by } => ("claimed", format!("claimed by {by}")),
        Obstacle::Needs { tag } => ("needs", format!("#{tag}")),
        Obstacle::Blocked(blockers) => {
            let each: Vec<String> = blockers.iter().map(waits_for).collect();
            ("blocked", format!("waits for {}", each.join(", ")))
        }
        Obstacle::OpenChildren(parts) => {
            let parts: Vec<&str> = parts.iter().map(TaskId::as_str).collect();
            ("open_parts", format!("its parts are open: {}", parts.join(", ")))
        }
    }
}

fn waits_for(blocker: &Blocker) -> String {
    let id = &blocker.id;
    match &blocker.why {
        BlockerState::Open => id.clone(),
        BlockerState::Marked(mark) => format!("{id}, which is [{mark}]"),
        BlockerState::Missing => format!("{id}, which is not there"),
        BlockerState::NotAnId => format!("`{id}`, which is no id"),
        BlockerState::Ambiguous { .. } => format!("{id}, which is there more than once"),
    }
}

fn on_lines(lines: &[usize]) -> String {
    let lines: Vec<String> = lines.iter().map(usize::to_string).collect();
    format!("it stands on the lines {}", lines.join(", "))
}
