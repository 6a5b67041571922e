//! The end of a task: its box is ticked with a date and evidence, and never before all that is below it.

use super::{Checkbox, Document, EditError, Edited, Field, TaskId};

/// Why a task may be called done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Evidence {
    PullRequest(u64),
    /// It was checked on the day of its completion.
    Verified,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenChild {
    pub line: usize,
    /// A box without an id is a step of the task above it.
    pub id: Option<TaskId>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CompleteError {
    #[error("{id} has open parts: {}", shown(children))]
    OpenChildren { id: TaskId, children: Vec<OpenChild> },
    #[error("{id} is not open, its box is {checkbox}")]
    NotOpen { id: TaskId, checkbox: Checkbox },
    #[error(transparent)]
    Edit(#[from] EditError),
}

/// Ticks the box and writes `completed:` with `pr:` or `verified:`. A task that is done gains evidence and keeps its
/// date.
pub fn complete(document: &Document, id: &TaskId, date: &str, evidence: Evidence) -> Result<Edited, CompleteError> {
    let task = document.existing(id)?;
    let keeps_date = match task.checkbox {
        Checkbox::Open => false,
        Checkbox::Done => task.value(Field::Completed).is_some(),
        Checkbox::Declined | Checkbox::Unknown(_) => {
            return Err(CompleteError::NotOpen { id: id.clone(), checkbox: task.checkbox });
        }
    };
    let children = open_children(document, id);
    if !children.is_empty() {
        return Err(CompleteError::OpenChildren { id: id.clone(), children });
    }
    let (field, value) = match evidence {
        Evidence::PullRequest(number) => (Field::PullRequest, format!("#{number}")),
        Evidence::Verified => (Field::Verified, date.to_owned()),
    };
    let mut edited = document.set_box(id, Checkbox::Done)?.then(|document| document.set_field(id, field, &value))?;
    if !keeps_date {
        edited = edited.then(|document| document.set_field(id, Field::Completed, date))?;
    }
    Ok(edited)
}

/// The tasks below a task, and the steps of all of them, that are still open.
pub(super) fn open_children(document: &Document, id: &TaskId) -> Vec<OpenChild> {
    let below = document.descendants(id);
    let open = below.iter().filter(|task| !task.checkbox.releases());
    let tasks = open.map(|task| OpenChild { line: task.line, id: Some(task.id.clone()) });
    let steps = document.named(id).chain(below.iter().copied()).flat_map(|task| &task.open_steps);
    let mut children: Vec<OpenChild> = tasks.chain(steps.map(|line| OpenChild { line: *line, id: None })).collect();
    children.sort_by_key(|child| child.line);
    children
}

fn shown(children: &[OpenChild]) -> String {
    let one = |child: &OpenChild| match &child.id {
        Some(id) => id.to_string(),
        None => format!("the box on line {}", child.line),
    };
    children.iter().map(one).collect::<Vec<_>>().join(", ")
}
