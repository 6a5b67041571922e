//! The ledger that copies are made from, and the handle with which one request writes its entry.
//!
//! Invariant: an entry is written before the client can see what it describes, and an exchange
//! that is dropped without an ending is one whose client went away.

use crate::ledger::{Ending, Entry, Ledger};
use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Instant,
};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

#[derive(Debug)]
pub(crate) struct Book {
    pub started: Instant,
    ledger: Mutex<Ledger>,
    changes: watch::Sender<u64>,
}

impl Book {
    pub fn new() -> Self {
        Self { started: Instant::now(), ledger: Mutex::default(), changes: watch::Sender::new(0) }
    }

    pub fn ledger(&self) -> Ledger {
        self.lock().clone()
    }

    /// Wakes on every later change.
    pub fn subscribe(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// Reads the ledger without copying it.
    pub fn look<Answer>(&self, at: impl FnOnce(&Ledger) -> Answer) -> Answer {
        at(&self.lock())
    }

    /// Adds an entry, whose ordinal is set before any reader can see it.
    fn add<Plan>(&self, make: impl FnOnce(usize) -> (Entry, Plan)) -> (usize, Plan) {
        let added = {
            let mut ledger = self.lock();
            let ordinal = ledger.entries.len() + 1;
            let (entry, plan) = make(ordinal);
            ledger.entries.push(entry);
            (ordinal, plan)
        };
        self.announce();
        added
    }

    fn change(&self, ordinal: usize, change: impl FnOnce(&mut Entry)) {
        if let Some(entry) = self.lock().entries.get_mut(ordinal - 1) {
            change(entry);
        }
        self.announce();
    }

    fn announce(&self) {
        self.changes.send_modify(|version| *version += 1);
    }

    fn lock(&self) -> MutexGuard<'_, Ledger> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Debug)]
pub(crate) struct Exchange {
    book: Arc<Book>,
    stop: CancellationToken,
    ordinal: usize,
    open: bool,
}

impl Exchange {
    /// Enters a request. Its plan is made with it, since both need the ordinal and the entry needs the plan.
    pub fn open<Plan>(
        book: Arc<Book>,
        stop: CancellationToken,
        make: impl FnOnce(usize) -> (Entry, Plan),
    ) -> (Self, Plan) {
        let (ordinal, plan) = book.add(make);
        (Self { book, stop, ordinal, open: true }, plan)
    }

    /// Completes when the provider is stopped.
    pub async fn stopped(&self) {
        self.stop.cancelled().await;
    }

    pub fn sends_status(&self, status: u16) {
        self.book.change(self.ordinal, |entry| entry.status = Some(status));
    }

    pub fn sends_usage(&self) {
        self.book.change(self.ordinal, |entry| entry.usage_reported = true);
    }

    /// The first ending counts.
    pub fn end(&mut self, ending: Ending) {
        if self.open {
            self.open = false;
            let now = self.book.started.elapsed();
            self.book.change(self.ordinal, |entry| {
                entry.ending = ending;
                entry.finished_at = Some(now);
            });
        }
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        self.end(if self.stop.is_cancelled() { Ending::Broken } else { Ending::ClientClosed });
    }
}
