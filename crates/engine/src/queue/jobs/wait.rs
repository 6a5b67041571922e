//! Waiting for jobs, for a bounded time. A wait that ends leaves them as they are.

use super::{JobError, JobNotifier, JobView, ensure::ensure_runner, show::peek};
use crate::Context;
use std::time::Duration;
use tokio::time::{Instant, sleep_until};

/// Of what happened since a cursor, so much is read.
const PAGES: usize = 10;
const PAGE: u32 = 500;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WaitFor {
    All,
    Any,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Waited {
    pub views: Vec<JobView>,
    /// The time was up before what was waited for. Everything goes on.
    pub timed_out: bool,
    /// What happened to them since the cursor that was given, in order: kind of event and id.
    pub news: Vec<(String, String)>,
    /// Where the next wait goes on.
    pub cursor: String,
}

/// Waits until the jobs are over or paused, at most for `patience`. Calls `heard` with every change, and now and then
/// when nothing has changed.
pub async fn wait(
    context: &Context,
    notifier: &JobNotifier,
    ids: &[String],
    wait_for: WaitFor,
    cursor: Option<&str>,
    patience: Duration,
    heard: &(dyn Fn(&JobView) + Send + Sync),
) -> Result<Waited, JobError> {
    let since = match cursor {
        Some(cursor) => Some(cursor.parse::<i64>().map_err(|_| {
            JobError::usage(format!("`{cursor}` is no cursor"), "give the cursor of an earlier task_await, or none")
        })?),
        None => None,
    };
    let deadline = Instant::now() + patience;
    // Before the first read: what happens from now on reaches the listener.
    let mut listener = notifier.listen();
    let mut seen: Vec<Option<JobView>> = vec![None; ids.len()];
    loop {
        let reached = context.store.newest_event().await?;
        let mut views = Vec::with_capacity(ids.len());
        for id in ids {
            views.push(peek(context, id).await?);
        }
        for (view, seen) in views.iter().zip(&mut seen) {
            if seen.as_ref() != Some(view) {
                heard(view);
                *seen = Some(view.clone());
            }
        }
        let rests = |view: &JobView| view.over || view.status == "paused";
        let enough = match wait_for {
            WaitFor::All => views.iter().all(rests),
            WaitFor::Any => views.iter().any(rests),
        };
        let timed_out = !enough && Instant::now() >= deadline;
        if enough || timed_out {
            let news = match since {
                Some(since) => news(context, ids, since).await?,
                None => Vec::new(),
            };
            return Ok(Waited { views, timed_out, news, cursor: reached.to_string() });
        }
        let quiet = context.config.jobs.progress_every.0.map_or(deadline, |every| Instant::now() + every);
        tokio::select! {
            () = listener.about(ids) => {}
            () = sleep_until(quiet.min(deadline)) => {
                for view in views.iter().filter(|view| !rests(view)) {
                    heard(view);
                }
                // The process that executed them may have died.
                ensure_runner(context)?;
            }
        }
    }
}

async fn news(context: &Context, ids: &[String], since: i64) -> Result<Vec<(String, String)>, JobError> {
    let mut position = since;
    let mut found = Vec::new();
    for _ in 0..PAGES {
        let events = context.store.events_after(position, PAGE).await?;
        let Some(last) = events.last() else { break };
        position = last.position;
        let whole = events.len() == PAGE as usize;
        let ours = events.into_iter().filter(|event| ids.contains(&event.subject) && event.kind != "job.progress");
        found.extend(ours.map(|event| (event.kind, event.subject)));
        if !whole {
            break;
        }
    }
    Ok(found)
}
