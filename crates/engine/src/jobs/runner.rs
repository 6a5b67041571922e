//! The process that carries out all jobs of a store. It ends when it has had nothing to do for a while.
//!
//! Invariant: a job is written only by the holder of its newest claim. The runner may die at any moment; the next one
//! takes back what it left, and ends what still ran for it.

use super::{
    bell::Bell,
    carry_out::{Carried, carry_out},
    ensure::{ensure_runner, take_lock},
    lost::take_back,
    supervised::HANDED_OVER,
};
use crate::{Context, owner::this_process, supervise};
use std::{collections::HashMap, path::PathBuf, sync::Arc, time::Duration};
use switchyard_core::{
    job::{JobId, JobState},
    task::Phase,
};
use switchyard_host::{ProcessIdentity, clock::now_micros};
use switchyard_store::{JobEnd, JobFilter, JobRecord, StoreError};
use tokio::{
    task::JoinSet,
    time::{Instant, sleep},
};
use tokio_util::sync::CancellationToken;

/// How often it looks although nothing was told: clocks are set, and a change can be missed.
const LOOK_EVERY: Duration = Duration::from_secs(5);
/// How long those that run may take to end when the runner is told to.
const ENDING: Duration = Duration::from_secs(20);
/// Jobs whose texts are forgotten in one go.
const FORGET_AT_ONCE: u32 = 200;

/// Runs until there is nothing to do any more, or until it is told to end. Ends at once when another is there.
pub async fn run_jobs(context: &Context, stop: &CancellationToken) -> Result<(), RunnerError> {
    let stamp = settings_stamp(context);
    loop {
        let Some(lock) = take_lock(context)? else { return Ok(()) };
        Runner::new(context, stamp.clone()).run(stop).await?;
        drop(lock);
        // Whoever added a job just now saw the lock, and started nobody.
        if stop.is_cancelled() || !has_queued(context).await? {
            return Ok(());
        }
        if stamp != settings_stamp(context) {
            // Another process reads the settings as they are now.
            drop(ensure_runner(context));
            return Ok(());
        }
    }
}

/// The files with the user's settings, as they are: who has read older ones takes no more jobs.
fn settings_stamp(context: &Context) -> Vec<Option<(u64, std::time::SystemTime)>> {
    let own = context.paths.config_dir.join("config.toml");
    let named = context.variable("SWITCHYARD_CONFIG").map(PathBuf::from);
    let stamp = |path: PathBuf| std::fs::metadata(path).ok().and_then(|meta| Some((meta.len(), meta.modified().ok()?)));
    [Some(own), named].into_iter().flatten().map(stamp).collect()
}

#[derive(Debug, thiserror::Error)]
pub enum RunnerError {
    #[error("the lock of the runner cannot be taken: {0}")]
    Lock(#[from] std::io::Error),
    #[error(transparent)]
    Store(#[from] StoreError),
}

async fn has_queued(context: &Context) -> Result<bool, StoreError> {
    let filter = JobFilter { states: vec![JobState::Queued], limit: 1, ..JobFilter::default() };
    Ok(!context.store.jobs(&filter).await?.is_empty())
}

struct Runner<'a> {
    context: &'a Context,
    /// Those at work, each with what ends it.
    running: HashMap<JobId, (i64, CancellationToken)>,
    tasks: JoinSet<JobId>,
    /// The settings that it runs with.
    stamp: Vec<Option<(u64, std::time::SystemTime)>>,
}

impl<'a> Runner<'a> {
    fn new(context: &'a Context, stamp: Vec<Option<(u64, std::time::SystemTime)>>) -> Self {
        Self { context, running: HashMap::new(), tasks: JoinSet::new(), stamp }
    }

    async fn run(mut self, stop: &CancellationToken) -> Result<(), StoreError> {
        let ended = stop.child_token();
        let bell = Bell::start(self.context, ended.clone());
        let mut heard = bell.listen();
        let watching = tokio::spawn(see_tasks_through(self.context.clone(), ended.clone()));
        let idle_limit = self.context.config.jobs.idle_timeout.0;
        let mut busy_at = Instant::now();
        take_back(self.context).await?;
        let result = loop {
            if let Err(error) = self.pass().await {
                break Err(error);
            }
            if self.running.is_empty() && self.is_outdated() {
                break Ok(());
            }
            if !self.running.is_empty() || has_tasks(self.context).await {
                busy_at = Instant::now();
            } else if idle_limit.is_some_and(|limit| busy_at.elapsed() >= limit) {
                break Ok(());
            }
            let pause = idle_limit.map_or(LOOK_EVERY, |limit| limit.min(LOOK_EVERY));
            tokio::select! {
                _ = heard.about_jobs() => {}
                Some(joined) = self.tasks.join_next() => {
                    if let Ok(id) = joined { self.running.remove(&id); }
                }
                () = sleep(pause) => {
                    if owner_is_gone(self.context) {
                        break Ok(());
                    }
                    if let Err(error) = take_back(self.context).await {
                        break Err(error);
                    }
                }
                () = stop.cancelled() => break Ok(()),
            }
        };
        self.wind_up().await;
        ended.cancel();
        drop(watching.await);
        forget_old(self.context).await;
        result
    }

    /// Ends what is to be ended, and begins what may begin.
    async fn pass(&mut self) -> Result<(), StoreError> {
        while let Some(joined) = self.tasks.try_join_next() {
            match joined {
                Ok(id) => drop(self.running.remove(&id)),
                Err(error) => tracing::error!(%error, "a job broke off"),
            }
        }
        for job in self.context.store.running_jobs().await? {
            if let Some((epoch, cancel)) = self.running.get(&job.id)
                && (job.cancel_asked_at.is_some() || job.epoch != *epoch)
            {
                cancel.cancel();
            }
        }
        if self.is_outdated() {
            return Ok(());
        }
        let owner = match this_process() {
            Ok(owner) => owner,
            Err(error) => {
                tracing::error!(%error, "this process cannot be named");
                return Ok(());
            }
        };
        let at_once = self.context.config.jobs.at_once;
        while let Some(job) = self.context.store.claim_job(&owner, at_once, now_micros()).await? {
            self.begin(job);
        }
        Ok(())
    }

    fn is_outdated(&self) -> bool {
        self.stamp != settings_stamp(self.context)
    }

    fn begin(&mut self, job: JobRecord) {
        let cancel = CancellationToken::new();
        self.running.insert(job.id, (job.epoch, cancel.clone()));
        let context = self.context.clone();
        self.tasks.spawn(async move {
            let (id, epoch) = (job.id, job.epoch);
            let Carried { end, leftovers } = carry_out(&context, job, &cancel).await;
            let end = unless_stopped(&context, id, end).await;
            close(&context, id, epoch, &end).await;
            drop(leftovers);
            id
        });
    }

    /// What still runs is ended and put back, so that the next runner goes on with it.
    async fn wind_up(&mut self) {
        for (_, cancel) in self.running.values() {
            cancel.cancel();
        }
        let ending = async { while self.tasks.join_next().await.is_some() {} };
        if tokio::time::timeout(ENDING, ending).await.is_err() {
            tracing::warn!("some jobs did not end in time");
        }
    }
}

/// A runner that ends tells its jobs to end too. What nobody wanted to be cancelled is carried on by the next one.
async fn unless_stopped(context: &Context, id: JobId, end: JobEnd) -> JobEnd {
    if !matches!(end, JobEnd::Over { state: JobState::Cancelled, .. }) {
        return end;
    }
    match context.store.job(id).await {
        Ok(job) if job.cancel_asked_at.is_none() => {
            JobEnd::Again { why: "the process that carried it out was ended".to_owned() }
        }
        _ => end,
    }
}

/// Where somebody is named whom everything ends with: the demo and tests must leave nothing behind.
fn owner_is_gone(context: &Context) -> bool {
    let owner = context.variable("SWITCHYARD_SERVER_OWNER_PID").and_then(|pid| pid.parse().ok());
    owner.is_some_and(|pid| ProcessIdentity::of(pid).is_none_or(|owner| !owner.is_alive()))
}

/// Writes how a claim ended. A store that is busy is asked again: the answer was paid for.
async fn close(context: &Context, id: JobId, epoch: i64, end: &JobEnd) {
    for pause in [0, 100, 1000, 5000] {
        sleep(Duration::from_millis(pause)).await;
        match context.store.end_job(id, epoch, end, now_micros()).await {
            Ok(true) => return,
            Ok(false) => {
                tracing::info!(%id, epoch, "a late result is dropped");
                return;
            }
            Err(error) => tracing::warn!(%id, %error, "the end of a job could not be written"),
        }
    }
}

/// Supervised tasks that were handed over are seen through here, so that nobody has to start a supervisor for them.
async fn see_tasks_through(context: Context, stop: CancellationToken) {
    let silent: supervise::Watcher = Arc::new(|_| {});
    while !stop.is_cancelled() {
        if has_tasks(&context).await {
            let done = stop.child_token();
            tokio::select! {
                () = supervise::supervise(&context, Some(HANDED_OVER), &silent, &done) => {}
                () = supervise::until_idle(&context, Some(HANDED_OVER)) => {}
            }
        }
        tokio::select! {
            () = sleep(Duration::from_millis(500)) => {}
            () = stop.cancelled() => {}
        }
    }
}

async fn has_tasks(context: &Context) -> bool {
    let counts = context.store.task_counts(Some(HANDED_OVER)).await.unwrap_or_default();
    let open = [Phase::Queued, Phase::Waiting, Phase::Running];
    counts.iter().any(|(phase, count)| open.contains(phase) && *count > 0)
}

/// What is over for long keeps its end and loses its texts.
async fn forget_old(context: &Context) {
    let Some(keep) = context.config.jobs.keep.0 else { return };
    let before = now_micros().saturating_sub(i64::try_from(keep.as_micros()).unwrap_or(i64::MAX));
    match context.store.forget_jobs(before, FORGET_AT_ONCE).await {
        Ok(forgotten) if !forgotten.is_empty() => tracing::info!(count = forgotten.len(), "old jobs were forgotten"),
        Ok(_) => {}
        Err(error) => tracing::warn!(%error, "old jobs could not be forgotten"),
    }
    drop(context.store.prune_workers(before).await);
}
