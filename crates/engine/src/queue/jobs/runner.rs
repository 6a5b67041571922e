//! The process that executes all jobs of a store. It ends when it has had nothing to do for a while.
//!
//! Invariant: a job is written only by the holder of its newest claim. The runner may die at any moment; the next one
//! reclaims its jobs, and ends what still ran for them.

use super::{
    ensure::{start_another, take_lock_soon},
    execute::{broken, execute},
    notifier::JobNotifier,
    reclaim::reclaim_lost_jobs,
    stamp::Stamp,
    task_supervisor::{has_tasks, supervise_tasks},
    tidy::tidy,
};
use crate::{Context, base::owner::this_process};
use shuntyard_core::work::job::{JobId, JobState};
use shuntyard_host::{ProcessIdentity, clock::now_micros};
use shuntyard_store::{JobEnd, JobFilter, JobRecord, StoreError};
use std::{collections::HashMap, fs::File, time::Duration};
use tokio::{
    task::JoinSet,
    time::{Instant, sleep},
};
use tokio_util::sync::CancellationToken;

/// How often it checks without an event: clocks are set, and a change can be missed.
const LOOK_EVERY: Duration = Duration::from_secs(5);
/// How long the running jobs may take to end when the runner is to stop.
const ENDING: Duration = Duration::from_secs(20);
/// A store that cannot be used is tried again after this, and given up after so many times in a row.
const AFTER_TROUBLE: Duration = Duration::from_secs(2);
const MOST_TROUBLES: u32 = 60;
/// How often it removes what is of no use any more.
const TIDY_EVERY: Duration = Duration::from_secs(3600);

#[derive(Debug, thiserror::Error)]
pub enum RunnerError {
    #[error("the lock of the runner cannot be taken: {0}")]
    Lock(#[from] std::io::Error),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Runs until there is nothing to do any more, or until `stop`. Ends at once when another runner is there.
pub async fn run_jobs(context: &Context, stop: &CancellationToken) -> Result<(), RunnerError> {
    let stamp = Stamp::now(context);
    loop {
        let Some(lock) = take_lock_soon(context).await? else { return Ok(()) };
        let runner =
            Runner { context, stamp: stamp.clone(), lock: Some(lock), running: HashMap::new(), tasks: JoinSet::new() };
        let standing = runner.run(stop).await?;
        // A process that added a job just now saw the lock, and started no runner.
        if standing == Standing::Replaced
            || stop.is_cancelled()
            || !(has_queued(context).await? || has_tasks(context).await)
        {
            return Ok(());
        }
    }
}

async fn has_queued(context: &Context) -> Result<bool, StoreError> {
    let filter = JobFilter { states: vec![JobState::Queued], limit: 1, ..JobFilter::default() };
    Ok(!context.store.jobs(&filter).await?.is_empty())
}

/// How a runner ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    Idle,
    /// Another reads the settings as they are now, and takes what is new.
    Replaced,
}

struct Runner<'a> {
    context: &'a Context,
    /// The settings that it runs with.
    stamp: Stamp,
    /// Held as long as it takes jobs.
    lock: Option<File>,
    /// Those at work, each with what ends it.
    running: HashMap<JobId, (i64, CancellationToken)>,
    tasks: JoinSet<JobId>,
}

impl Runner<'_> {
    async fn run(mut self, stop: &CancellationToken) -> Result<Standing, StoreError> {
        let ended = stop.child_token();
        let notifier = JobNotifier::start(self.context, ended.clone());
        let mut heard = notifier.listen();
        let watching = tokio::spawn(supervise_tasks(self.context.clone(), ended.clone()));
        let idle_limit = self.context.config.jobs.idle_timeout.0;
        let mut busy_at = Instant::now();
        let mut troubles = 0;
        let mut lost_looked_for = None;
        let mut tidied = None;
        let result = loop {
            let looked = async {
                if lost_looked_for.is_none_or(|at: Instant| at.elapsed() >= LOOK_EVERY) {
                    reclaim_lost_jobs(self.context).await?;
                    lost_looked_for = Some(Instant::now());
                }
                self.pass().await
            };
            match looked.await {
                Ok(()) => troubles = 0,
                Err(error) if troubles >= MOST_TROUBLES => break Err(error),
                Err(error) => {
                    tracing::warn!(%error, "the store cannot be used and is tried again");
                    troubles += 1;
                    sleep(AFTER_TROUBLE).await;
                }
            }
            if tidied.is_none_or(|at: Instant| at.elapsed() >= TIDY_EVERY) {
                tidy(self.context).await;
                tidied = Some(Instant::now());
            }
            if self.running.is_empty() && self.lock.is_none() {
                break Ok(Standing::Replaced);
            }
            if !self.running.is_empty() || has_tasks(self.context).await {
                busy_at = Instant::now();
            } else if idle_limit.is_some_and(|limit| busy_at.elapsed() >= limit) {
                break Ok(Standing::Idle);
            }
            let pause = idle_limit.map_or(LOOK_EVERY, |limit| limit.min(LOOK_EVERY));
            tokio::select! {
                () = heard.about_jobs() => {}
                Some(joined) = self.tasks.join_next() => self.forget(joined),
                () = sleep(pause) => {}
                () = stop.cancelled() => break Ok(Standing::Idle),
            }
            if owner_is_gone(self.context) {
                break Ok(Standing::Idle);
            }
        };
        self.wind_up().await;
        ended.cancel();
        drop(watching.await);
        result
    }

    /// Ends what is to be ended, and begins what may begin.
    async fn pass(&mut self) -> Result<(), StoreError> {
        while let Some(joined) = self.tasks.try_join_next() {
            self.forget(joined);
        }
        for job in self.context.store.running_jobs().await? {
            if let Some((epoch, cancel)) = self.running.get(&job.id)
                && (job.cancel_asked_at.is_some() || job.epoch != *epoch)
            {
                cancel.cancel();
            }
        }
        if self.lock.is_some() && self.stamp != Stamp::now(self.context) {
            // This runner finishes what runs; new jobs are for one that has read the settings as they are.
            self.lock = None;
            if let Err(error) = start_another(self.context) {
                // A process that waits for a job, or starts one, tries it again.
                tracing::warn!(%error, "another runner could not be started");
            }
        }
        if self.lock.is_none() {
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

    fn begin(&mut self, job: JobRecord) {
        let cancel = CancellationToken::new();
        self.running.insert(job.id, (job.epoch, cancel.clone()));
        let context = self.context.clone();
        self.tasks.spawn(async move {
            let (id, epoch) = (job.id, job.epoch);
            let inner = context.clone();
            // Apart, so that a fault of ours ends this job and not its row's whole future.
            let carried = tokio::spawn(async move { execute(&inner, job, &cancel).await }).await;
            let end = carried.unwrap_or_else(|error| broken(&error));
            close(&context, id, epoch, &end).await;
            id
        });
    }

    fn forget(&mut self, joined: Result<JobId, tokio::task::JoinError>) {
        match joined {
            Ok(id) => drop(self.running.remove(&id)),
            Err(error) => tracing::error!(%error, "a job broke off"),
        }
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

/// Whether the owner process, if one is given, is gone. Everything ends with it: the demo and tests leave nothing
/// behind.
fn owner_is_gone(context: &Context) -> bool {
    let owner = context.variable("SHUNTYARD_SERVER_OWNER_PID").and_then(|pid| pid.parse().ok());
    owner.is_some_and(|pid| ProcessIdentity::of(pid).is_none_or(|owner| !owner.is_alive()))
}

/// Writes how a claim ended. A store that is busy is asked until it answers: the answer was paid for, and as long as it
/// is not written, the queue of its worker is blocked.
async fn close(context: &Context, id: JobId, epoch: i64, end: &JobEnd) {
    let mut pause = Duration::from_millis(100);
    loop {
        match context.store.end_job(id, epoch, end, now_micros()).await {
            Ok(true) => return,
            Ok(false) => {
                tracing::info!(%id, epoch, "a late result is dropped");
                return;
            }
            Err(error) => tracing::warn!(%id, %error, "the end of a job could not be written"),
        }
        sleep(pause).await;
        pause = (pause * 2).min(Duration::from_secs(20));
    }
}
