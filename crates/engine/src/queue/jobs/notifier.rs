//! Notifies waiters of changes in the store: one reader for any number of waiters.

use crate::{Context, queue::changes::Changes};
use std::{sync::Arc, time::Duration};
use tokio::{
    sync::broadcast::{self, error::RecvError},
    time::sleep,
};
use tokio_util::sync::CancellationToken;

/// Events that are read in one go.
const PAGE: u32 = 500;
/// Events that a waiter may be behind before it only learns that it missed some.
const BACKLOG: usize = 4096;
/// How often the store is looked at although no file has changed.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// An event: its kind, and the job or task that it is about.
#[derive(Debug)]
pub struct JobEvent {
    pub kind: String,
    pub subject: String,
}

#[derive(Debug, Clone)]
pub struct JobNotifier {
    sender: broadcast::Sender<Arc<JobEvent>>,
}

impl JobNotifier {
    /// Starts the reader. Events from now on reach the listeners, until `stop`.
    #[must_use]
    pub fn start(context: &Context, stop: CancellationToken) -> Self {
        let (sender, _) = broadcast::channel(BACKLOG);
        let notifier = Self { sender };
        tokio::spawn(hear(context.clone(), notifier.sender.clone(), stop));
        notifier
    }

    pub(super) fn listen(&self) -> Listener {
        Listener { receiver: self.sender.subscribe() }
    }
}

#[derive(Debug)]
pub(super) struct Listener {
    receiver: broadcast::Receiver<Arc<JobEvent>>,
}

impl Listener {
    /// Returns when one of these has changed, or when that cannot be ruled out.
    pub(super) async fn about(&mut self, subjects: &[String]) {
        self.until(|rung| subjects.contains(&rung.subject)).await;
    }

    /// Returns when a job or a task may have to be looked at.
    pub(super) async fn about_jobs(&mut self) {
        let of_use = [
            "job.queued",
            "job.requeued",
            "job.cancelling",
            // A place is free.
            "job.done",
            "job.failed",
            "job.cancelled",
            "job.paused",
            "task.queued",
        ];
        self.until(|rung| of_use.iter().any(|start| rung.kind.starts_with(start))).await;
    }

    async fn until(&mut self, wanted: impl Fn(&JobEvent) -> bool) {
        loop {
            match self.receiver.recv().await {
                Ok(rung) if wanted(&rung) => return,
                Ok(_) => {}
                Err(RecvError::Lagged(_)) => return,
                // No more events will come: a waiter has a clock besides.
                Err(RecvError::Closed) => std::future::pending().await,
            }
        }
    }
}

async fn hear(context: Context, sender: broadcast::Sender<Arc<JobEvent>>, stop: CancellationToken) {
    let mut position = context.store.newest_event().await.unwrap_or(0);
    let mut changes = Changes::of(&context);
    loop {
        tokio::select! {
            () = changes.next(LOOK_EVERY) => {}
            () = stop.cancelled() => return,
        }
        for pause in [0, 2, 4, 8] {
            sleep(Duration::from_millis(pause)).await;
            let before = position;
            read_on(&context, &sender, &mut position).await;
            if position != before {
                break;
            }
        }
    }
}

async fn read_on(context: &Context, sender: &broadcast::Sender<Arc<JobEvent>>, position: &mut i64) {
    loop {
        let events = match context.store.events_after(*position, PAGE).await {
            Ok(events) => events,
            Err(error) => {
                tracing::debug!(%error, "the events could not be read");
                return;
            }
        };
        let whole = events.len() == PAGE as usize;
        for event in events {
            *position = event.position;
            drop(sender.send(Arc::new(JobEvent { kind: event.kind, subject: event.subject })));
        }
        if !whole {
            return;
        }
    }
}
