//! What people say about a task: stop it, try again, begin again.

use super::change::{Became, ChangeError, With, change};
use crate::Context;
use switchyard_core::task::{Event, TaskId};
use switchyard_store::TaskRecord;

/// A task that is at work is stopped first; it says so until its worker has ended.
pub async fn cancel(context: &Context, id: &TaskId, by: &str) -> Result<TaskRecord, ChangeError> {
    order(context, id, Event::Cancel { by: by.to_owned() }).await
}

/// Another try, with all that was learned.
pub async fn retry(context: &Context, id: &TaskId) -> Result<TaskRecord, ChangeError> {
    order(context, id, Event::Retry).await
}

/// As if it had just been added. Its earlier work stays on a branch.
pub async fn reset(context: &Context, id: &TaskId) -> Result<TaskRecord, ChangeError> {
    order(context, id, Event::Reset).await
}

async fn order(context: &Context, id: &TaskId, event: Event) -> Result<TaskRecord, ChangeError> {
    match change(context, id, &event, &With::default()).await? {
        Became::Done(record) => Ok(*record),
        // Only a claim takes slots or money.
        Became::NoSlot(_) | Became::NoMoney { .. } => Err(ChangeError::Contended(id.clone())),
    }
}
