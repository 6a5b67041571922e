//! Whether what was written since the last pass can give the next one something to do.
//!
//! Invariant: what is not known to be of no use is of use. A pass too many costs a moment, one too few a task its start.

use crate::Context;
use shuntyard_store::StoreError;

/// Events that are read in one go.
const PAGE: u32 = 200;

/// A worker that gets on with its task holds the same slots as before, and owes nothing to anybody yet.
const PROGRESS: [&str; 4] = ["task.starting", "task.running", "task.evaluating", "task.delivering"];
/// A slot is free, and somebody who waited for this task may begin.
const ENDED: [&str; 4] = ["task.done", "task.failed", "task.blocked", "task.cancelled"];
/// What these tell of is asked for when a task is claimed, and a task that waits for it has a moment of its own.
const ASKED_FOR: [&str; 7] = ["attempt.", "cooldown.", "dispatch.", "outcome.", "provider.", "server.", "spend."];

/// How soon a pass has to look at what came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Use {
    Never,
    /// Soon, when others look for what may begin as well.
    Later,
    /// So many tasks were queued, and nothing else came that a pass would have to look at at once.
    Queued(usize),
    Now,
}

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
    pub(super) async fn look(&mut self, context: &Context) -> Use {
        self.read(context).await.unwrap_or(Use::Now)
    }

    async fn read(&mut self, context: &Context) -> Result<Use, StoreError> {
        let events = context.store.events_after(self.position, PAGE).await?;
        let found = use_of_all(events.iter().map(|event| event.kind.as_str()));
        self.position = events.last().map_or(self.position, |event| event.position);
        if events.len() < PAGE as usize {
            return Ok(found);
        }
        self.position = newest(context, self.position).await?;
        Ok(Use::Now)
    }
}

fn use_of_all<'a>(kinds: impl Iterator<Item = &'a str>) -> Use {
    kinds.map(use_of).fold(Use::Never, |before, next| match (before, next) {
        (Use::Queued(before), Use::Queued(next)) => Use::Queued(before + next),
        (before, next) => before.max(next),
    })
}

fn use_of(kind: &str) -> Use {
    if kind == "task.queued" {
        return Use::Queued(1);
    }
    if PROGRESS.contains(&kind) || ASKED_FOR.iter().any(|prefix| kind.starts_with(prefix)) {
        return Use::Never;
    }
    if ENDED.contains(&kind) { Use::Later } else { Use::Now }
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
    use super::{Use, use_of, use_of_all};

    #[test]
    fn what_was_queued_is_counted_as_long_as_nothing_else_came() {
        for (kinds, of_use) in [
            (&[][..], Use::Never),
            (&["task.queued", "attempt.finished", "task.queued"], Use::Queued(2)),
            (&["task.done", "task.queued"], Use::Queued(1)),
            (&["task.queued", "task.waiting", "task.queued"], Use::Now),
            (&["task.running", "task.done"], Use::Later),
        ] {
            assert_eq!(use_of_all(kinds.iter().copied()), of_use, "{kinds:?}");
        }
    }

    #[test]
    fn only_what_a_pass_could_act_on_is_of_use() {
        for (kind, of_use) in [
            ("task.queued", Use::Queued(1)),
            ("task.done", Use::Later),
            ("task.blocked", Use::Later),
            ("task.stopping", Use::Now),
            ("task.waiting", Use::Now),
            ("batch.resumed", Use::Now),
            ("breaker.cleared", Use::Now),
            ("something.new", Use::Now),
            ("task.running", Use::Never),
            ("task.delivering", Use::Never),
            ("attempt.finished", Use::Never),
            ("server.ready", Use::Never),
        ] {
            assert_eq!(use_of(kind), of_use, "{kind}");
        }
    }
}
