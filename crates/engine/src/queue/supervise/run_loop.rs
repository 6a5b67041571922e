//! The supervisor: a pass whenever something has changed, and now and then although nothing has.

use super::{
    change::ChangeError,
    news::News,
    presence::Presence,
    pulse::{Pulse, pass},
    reaper::worker_died,
    reviews,
    todo::{self, LastLooks, TodoPass},
};
use crate::Context;
use shuntyard_core::work::task::Phase;
use shuntyard_host::{clock::now_micros, watch::FileWatch};
use std::{path::PathBuf, sync::Arc, time::Duration};
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

/// How long a supervisor waits after a failed pass: the store may be locked, or the disk full.
const AFTER_TROUBLE: Duration = Duration::from_secs(2);
/// Passes in a row without a pause, at most: so that a fault of ours cannot take a whole processor.
const IN_A_ROW: u32 = 50;
/// The pause after that many.
const BREATH: Duration = Duration::from_millis(20);
/// The pause while a pull request is due.
const OVERDUE: Duration = Duration::from_millis(100);

/// Checks for what was written before the first pause.
const AT_ONCE: u32 = 8;
/// How long after it was written a change can be read, on a busy disk.
const READABLE_WITHIN: Duration = Duration::from_secs(2);

/// What the supervisor reports.
#[derive(Debug)]
pub enum SupervisorReport<'a> {
    Pulse(&'a Pulse),
    Trouble(&'a ChangeError),
    /// A synchronisation of a TODO.md that changed something or went wrong.
    Todo(&'a TodoPass),
}

pub type Watcher = Arc<dyn Fn(SupervisorReport<'_>) + Send + Sync>;

/// Runs until it is cancelled. What was started goes on without it.
pub async fn supervise(context: &Context, batch: Option<&str>, watcher: &Watcher, cancel: &CancellationToken) {
    // Only `status` needs it.
    let _presence =
        Presence::announce(context).inspect_err(|error| tracing::warn!(%error, "status cannot see this supervisor"));
    // Side by side: a remote that does not answer keeps no task from starting.
    tokio::join!(
        passes(context, batch, watcher, cancel),
        todo::keep(context, batch, |done| watcher(SupervisorReport::Todo(done)), cancel),
        reviews::keep(context, cancel)
    );
}

async fn passes(context: &Context, batch: Option<&str>, watcher: &Watcher, cancel: &CancellationToken) {
    // Without it there is still the regular check.
    let mut changes = FileWatch::new(&written_files(context)).ok();
    let mut news = News::default();
    let mut heard = None;
    let mut in_a_row = 0;
    while !cancel.is_cancelled() {
        let seen = match heard.take() {
            Some(seen) => seen,
            None => {
                let seen = context.store.data_version().await.ok();
                news.catch_up(context).await;
                seen
            }
        };
        let pause = match pass(context, batch).await {
            Ok(done) => {
                watcher(SupervisorReport::Pulse(&done));
                in_a_row = if done.is_final() { 0 } else { in_a_row + 1 };
                match in_a_row {
                    0 => until_next(context).await,
                    in_a_row if in_a_row % IN_A_ROW == 0 => BREATH,
                    _ => continue,
                }
            }
            Err(error) => {
                watcher(SupervisorReport::Trouble(&error));
                AFTER_TROUBLE
            }
        };
        tokio::select! {
            seen = something_to_do(context, &mut changes, seen, &mut news) => heard = Some(seen),
            () = worker_died() => {}
            () = sleep(pause) => {}
            () = cancel.cancelled() => return,
        }
    }
}

/// Waits until something was written that a pass could act on, and returns the version that has it. Every worker writes
/// all the time, and a pass has no use for most of that.
async fn something_to_do(
    context: &Context,
    changes: &mut Option<FileWatch>,
    mut seen: Option<i64>,
    news: &mut News,
) -> Option<i64> {
    loop {
        seen = changed(context, changes, seen).await;
        if news.look(context).await {
            return seen;
        }
    }
}

/// Waits until something was written and can be read, and returns the version that has it. SQLite writes its file first
/// and shows the change to others only when it is safe on the disk: a pass in between would see nothing, and nothing
/// would wake the supervisor again.
async fn changed(context: &Context, changes: &mut Option<FileWatch>, seen: Option<i64>) -> Option<i64> {
    let told = async {
        match changes {
            Some(changes) => changes.changed().await,
            None => std::future::pending().await,
        }
    };
    // No event reports what was written just before the last check and could not be read then.
    let late = async {
        sleep(BREATH).await;
        match context.store.data_version().await.ok() {
            same if same == seen => std::future::pending().await,
            version => version,
        }
    };
    tokio::select! {
        () = told => {}
        version = late => return version,
    }
    let deadline = Instant::now() + READABLE_WITHIN;
    let mut looks = 0;
    loop {
        let version = context.store.data_version().await.ok();
        if version != seen || seen.is_none() || Instant::now() >= deadline {
            return version;
        }
        // To ask takes a moment, and most often that is enough.
        looks += 1;
        if looks > AT_ONCE {
            sleep(Duration::from_millis(1 << (looks - AT_ONCE).min(4))).await;
        }
    }
}

/// The files that SQLite writes.
fn written_files(context: &Context) -> Vec<PathBuf> {
    let with = |ending: &str| {
        let mut path = context.store_path.clone().into_os_string();
        path.push(ending);
        PathBuf::from(path)
    };
    vec![context.store_path.clone(), with("-wal")]
}

/// Until the next moment that a task waits for, and never longer than the regular check: clocks are set, machines
/// sleep, and a change can be missed.
async fn until_next(context: &Context) -> Duration {
    let regular = context.config.supervise.look_every.0.unwrap_or(Duration::from_secs(15));
    let due = context.store.next_due().await.ok().flatten();
    let ahead = due.map(|due| Duration::from_micros(u64::try_from(due.saturating_sub(now_micros())).unwrap_or(0)));
    match ahead {
        // The pass has woken what was due; a pull request is looked at beside the passes.
        Some(Duration::ZERO) => OVERDUE.min(regular),
        ahead => ahead.unwrap_or(regular).min(regular),
    }
}

/// Waits until nothing is queued, waiting or at work, and no effect is pending. What depends on something that needs a
/// person never will be.
pub async fn until_idle(context: &Context, batch: Option<&str>) {
    let mut idle: Option<(i64, LastLooks)> = None;
    loop {
        sleep(Duration::from_millis(200)).await;
        // Before it is known that nothing is left, so that a check from then on has missed nothing.
        let now = now_micros();
        if !is_idle(context, batch).await.unwrap_or(false) {
            idle = None;
            continue;
        }
        let (since, looks) = idle.get_or_insert_with(|| (now, LastLooks::default()));
        // What the last task has left to be done is not in its phase.
        if looks.are_over(context, batch, *since).await
            && is_idle(context, batch).await.unwrap_or(false)
            && pass(context, batch).await.is_ok_and(|done| done.is_idle())
        {
            return;
        }
    }
}

/// Several reads of the store agree only while nothing happens: a task that is claimed between two of them is in
/// neither.
async fn is_idle(context: &Context, batch: Option<&str>) -> Result<bool, ChangeError> {
    let before = context.store.newest_event().await?;
    Ok(has_nothing_to_do(context, batch).await? && context.store.newest_event().await? == before)
}

async fn has_nothing_to_do(context: &Context, batch: Option<&str>) -> Result<bool, ChangeError> {
    let counts = context.store.task_counts(batch).await?;
    let of = |wanted: Phase| counts.iter().find(|(phase, _)| *phase == wanted).map_or(0, |(_, count)| *count);
    if of(Phase::Running) > 0 || of(Phase::Waiting) > 0 {
        return Ok(false);
    }
    Ok(of(Phase::Queued) == 0 || context.store.ready_tasks(batch, 0, 1).await?.candidates.is_empty())
}
