//! Whether what was written since the last pass can give the next one something to do.
//!
//! Invariant: what is not known to be of no use is of use. A pass too many costs a moment, one too few a task its
//! start.

use crate::Context;
use shuntyard_store::StoreError;

/// Events that are read in one go.
const PAGE: u32 = 200;

/// A worker that gets on with its task holds the same slots as before, and has no pending effects yet.
const PROGRESS: [&str; 4] = ["task.starting", "task.running", "task.evaluating", "task.delivering"];
/// What these report is asked for when a task is claimed, and a task that waits for it has a moment of its own.
const ASKED_FOR: [&str; 7] = ["attempt.", "cooldown.", "dispatch.", "outcome.", "provider.", "server.", "spend."];

#[derive(Debug, Default)]
pub(super) struct News {
    /// Of the newest event that was taken note of.
    position: i64,
}

impl News {
    /// To be called before a pass: all that is there by now is for that pass.
    pub(super) async fn catch_up(&mut self, context: &Context) {
        if let Err(error) = self.read(context).await {
            tracing::debug!(%error, "the events could not be read");
        }
    }

    /// Whether anything came since that a pass could act on.
    pub(super) async fn look(&mut self, context: &Context) -> bool {
        self.read(context).await.unwrap_or(true)
    }

    async fn read(&mut self, context: &Context) -> Result<bool, StoreError> {
        let events = context.store.events_after(self.position, PAGE).await?;
        let found = events.iter().any(|event| is_of_use(&event.kind));
        self.position = events.last().map_or(self.position, |event| event.position);
        if events.len() < PAGE as usize {
            return Ok(found);
        }
        self.position = newest(context, self.position).await?;
        Ok(true)
    }
}

fn is_of_use(kind: &str) -> bool {
    !PROGRESS.contains(&kind) && !ASKED_FOR.iter().any(|prefix| kind.starts_with(prefix))
}

/// The newest position, when that is far away: found by halving, so that a long history is not read.
async fn newest(context: &Context, from: i64) -> Result<i64, StoreError> {
    let (mut low, mut high, mut step) = (from, from, 1_i64);
    while !context.store.events_after(high, 1).await?.is_empty() {
        low = high;
        high = high.saturating_add(step);
        step = step.saturating_mul(2);
    }
    // After `high` there is nothing, and after `low` there is something, or it is where this began.
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if context.store.events_after(middle, 1).await?.is_empty() {
            high = middle;
        } else {
            low = middle;
        }
    }
    Ok(high)
}

#[cfg(test)]
mod tests {
    use super::is_of_use;

    #[test]
    fn only_what_a_pass_could_act_on_is_of_use() {
        for (kind, wanted) in [
            ("task.queued", true),
            ("task.done", true),
            ("task.blocked", true),
            ("task.stopping", true),
            ("task.waiting", true),
            ("batch.resumed", true),
            ("breaker.cleared", true),
            ("something.new", true),
            ("task.running", false),
            ("task.delivering", false),
            ("attempt.finished", false),
            ("server.ready", false),
        ] {
            assert_eq!(is_of_use(kind), wanted, "{kind}");
        }
    }
}
