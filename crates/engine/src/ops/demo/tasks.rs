//! The tasks are queued, supervised with ordinary workers, and reported as it happens.
//!
//! Invariant: whichever way this ends, no worker is left at work.

use super::{
    DemoError, DemoEvent, Errand, TaskNews, TaskReport,
    errand::answer,
    models::{CAREFUL, SWIFT},
    play::Play,
};
use crate::{
    Context,
    base::owner::{identity_of, this_process},
    queue::supervise::{SupervisorReport, Watcher, add, cancel, supervise, until_idle},
};
use shuntyard_host::{ProcessIdentity, Signal};
use shuntyard_store::{Event, StoreError};
use std::{
    pin::pin,
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::time::sleep;

/// How often the events are read.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// Rows of the audit that are read at once.
const PAGE: u32 = 100;
/// What takes longer than this has gone wrong.
const LONGEST: Duration = Duration::from_secs(120);
/// How long a worker may take to end by itself.
const PATIENCE: Duration = Duration::from_secs(8);

impl Play<'_> {
    pub(super) async fn perform_tasks(&self) -> Result<Vec<TaskReport>, DemoError> {
        let seen = self.see_through().await;
        // A worker that is done may still be tidying up, and what a task has cost is settled when it has ended.
        end_workers(self.context).await;
        if self.cancel.is_cancelled() {
            return Err(DemoError::Cancelled);
        }
        seen?;
        let mut reports = Vec::new();
        for errand in Errand::ALL {
            reports.push(TaskReport::gather(self.context, errand).await?);
        }
        Ok(reports)
    }

    async fn see_through(&self) -> Result<(), DemoError> {
        for name in [SWIFT, CAREFUL] {
            self.provider.act(name, move |said| answer(name, said));
        }
        (self.watcher)(DemoEvent::Queued);
        add(self.context, Errand::ALL.map(|errand| errand.order(self.scratch)).into()).await?;
        let halt = self.cancel.child_token();
        let listener: Watcher = Arc::new(|told| {
            if let SupervisorReport::Trouble(error) = told {
                tracing::warn!(%error, "a pass failed");
            }
        });
        let following = async {
            let followed = tokio::select! {
                followed = self.follow() => followed,
                () = halt.cancelled() => Ok(()),
                () = sleep(LONGEST) => Ok(()),
            };
            halt.cancel();
            followed
        };
        // The supervisor ends its pass before it stops: a worker that it has just started is then known.
        let ((), followed) = tokio::join!(supervise(self.context, None, &listener, &halt), following);
        Ok(followed?)
    }

    /// Reports what happens, until nothing more does.
    async fn follow(&self) -> Result<(), StoreError> {
        let mut idle = pin!(until_idle(self.context, None));
        let mut after = 0;
        loop {
            let over = tokio::select! {
                () = &mut idle => true,
                () = sleep(LOOK_EVERY) => false,
            };
            for news in self.news(&mut after).await? {
                (self.watcher)(DemoEvent::Task(news));
            }
            if over {
                return Ok(());
            }
        }
    }

    /// The events since the last call, in their order.
    async fn news(&self, after: &mut i64) -> Result<Vec<TaskNews>, StoreError> {
        let mut events: Vec<(Errand, Event)> = Vec::new();
        for errand in Errand::ALL {
            let page = self.context.store.task_events(&errand.id(), *after, PAGE).await?;
            events.extend(page.into_iter().map(|event| (errand, event)));
        }
        events.sort_by_key(|(_, event)| event.position);
        let mut news = Vec::new();
        for (errand, event) in events {
            *after = event.position;
            let runs = self.context.store.runs(&errand.id()).await?;
            news.extend(TaskNews::of(&errand.id(), &event, &runs));
        }
        Ok(news)
    }
}

/// Asks what is at work to stop, waits for the workers, and ends those that do not end by themselves.
async fn end_workers(context: &Context) {
    for errand in Errand::ALL {
        let at_work = context.store.task(&errand.id()).await.is_ok_and(|record| record.task.state.is_held());
        if at_work && let Err(error) = cancel(context, &errand.id(), "the end of the demo").await {
            tracing::debug!(%error, "a task could not be cancelled");
        }
    }
    let deadline = Instant::now() + PATIENCE;
    loop {
        let workers = living_workers(context).await;
        if workers.is_empty() {
            return;
        }
        if Instant::now() >= deadline {
            for worker in workers {
                worker.signal(Signal::KILL);
            }
        }
        if Instant::now() >= deadline + PATIENCE {
            return;
        }
        sleep(LOOK_EVERY).await;
    }
}

async fn living_workers(context: &Context) -> Vec<ProcessIdentity> {
    let mut living = Vec::new();
    for errand in Errand::ALL {
        let runs = context.store.runs(&errand.id()).await.unwrap_or_default();
        // Until there is a worker, the run names the process that claimed the task: this one.
        let workers = runs.iter().filter_map(|run| run.worker.as_ref());
        let others = workers.filter(|worker| this_process().ok().as_ref() != Some(*worker));
        living.extend(others.filter_map(identity_of).filter(ProcessIdentity::is_alive));
    }
    living
}
