//! The claim in TODO.md, before the work of a task that came from there begins.

use crate::{
    Context,
    queue::claims::{self, Taken},
};
use shuntyard_core::work::task::{Event, Task, Wait};
use shuntyard_host::clock::now_micros;

/// How long a task rests that another store or a person has claimed, or that could not be claimed, in microseconds.
const CLAIMED: i64 = 600_000_000;
const UNREACHABLE: i64 = 120_000_000;

/// A task that was written down in TODO.md is claimed there as well, which is the lock between stores. When that
/// cannot be had, the claim here is given back.
pub(super) async fn elsewhere(context: &Context, task: &Task) -> Option<Event> {
    task.spec.todo.as_ref()?;
    let later = |rest: i64, wait, detail| Event::Postpone { until: now_micros().saturating_add(rest), wait, detail };
    match claims::take(context, task).await {
        Ok(Taken::Confirmed | Taken::Local | Taken::NotNeeded | Taken::Unconfirmed(_)) => None,
        Ok(Taken::Lost { by }) => Some(later(CLAIMED, Wait::Claim, format!("{by} has claimed it in TODO.md"))),
        Ok(Taken::Offline(why)) => {
            Some(later(UNREACHABLE, Wait::Trouble, format!("it could not be claimed in TODO.md: {why}")))
        }
        Err(fault) => Some(later(UNREACHABLE, Wait::Trouble, format!("it could not be claimed in TODO.md: {fault}"))),
    }
}
