//! Claims. `assignee:` names the owner of a task, and only a person may take it from the owner, who may be at
//! work on another machine, invisible from here.

use super::{Checkbox, Document, EditError, Edited, Field, TaskId, TaskLine};

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ClaimError {
    #[error("{id} is claimed by {by}")]
    Refused { id: TaskId, by: String },
    #[error("{id} is not open, its box is {checkbox}")]
    NotOpen { id: TaskId, checkbox: Checkbox },
    #[error(transparent)]
    Edit(#[from] EditError),
}

/// Whether a foreign claim may be removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Force {
    Yes,
    No,
}

/// Writes `assignee:` and `started:`. A task that is already claimed by the same one stays as it is.
pub fn claim(document: &Document, id: &TaskId, who: &str, now: &str) -> Result<Edited, ClaimError> {
    let task = document.existing(id)?;
    if let Some(by) = claimed_by_another(task, who) {
        return Err(ClaimError::Refused { id: id.clone(), by: by.to_owned() });
    }
    if task.checkbox != Checkbox::Open {
        return Err(ClaimError::NotOpen { id: id.clone(), checkbox: task.checkbox });
    }
    if task.value(Field::Assignee).is_some() {
        return Ok(Edited::unchanged(document));
    }
    let claimed = document.set_field(id, Field::Assignee, who)?;
    Ok(claimed.then(|document| document.set_field(id, Field::Started, now))?)
}

/// Takes `assignee:` and `started:` away.
pub fn unclaim(document: &Document, id: &TaskId, who: &str, force: Force) -> Result<Edited, ClaimError> {
    let task = document.existing(id)?;
    match (claimed_by_another(task, who), force) {
        (Some(by), Force::No) => return Err(ClaimError::Refused { id: id.clone(), by: by.to_owned() }),
        (Some(_), Force::Yes) | (None, _) => {}
    }
    if task.value(Field::Assignee).is_none() {
        return Ok(Edited::unchanged(document));
    }
    let released = document.remove_field(id, Field::Assignee)?;
    Ok(released.then(|document| document.remove_field(id, Field::Started))?)
}

/// With two names in a line, one of them is another's.
pub(super) fn claimed_by_another<'t>(task: &'t TaskLine, who: &str) -> Option<&'t str> {
    task.values(Field::Assignee).find(|name| *name != who)
}
