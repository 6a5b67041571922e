//! The store in one SQLite file that all processes of a user share.
//!
//! Reads run beside the writer; every write is one transaction that takes the write lock at its
//! start, because one that asks for it later is refused at once when another was faster.

mod alert;
mod attempt;
mod backup;
mod batch;
mod calls;
mod calls_jobs;
mod calls_tasks;
mod charged;
mod check;
mod claim;
mod contest;
mod cooldown;
mod dependency;
mod dispatch;
mod effect;
mod event;
mod fault;
mod header;
mod health;
mod job;
mod job_claim;
mod job_end;
mod job_line;
#[cfg(test)]
mod job_tests;
mod job_told;
mod lease;
mod listing;
mod mark;
mod migrate;
mod open;
mod outcome;
mod period;
mod ready;
mod reservation;
mod row;
mod rule;
mod run;
mod run_list;
mod script;
mod server;
mod session;
mod settle;
mod similar;
mod spend;
mod spend_window;
mod tally;
mod task;
mod task_add;
mod task_change;
#[cfg(test)]
mod task_scale_tests;
#[cfg(test)]
mod task_tests;
#[cfg(test)]
mod tests;
mod worker;

pub use header::APPLICATION_ID;
pub use migrate::{MIGRATIONS, Migration};

use crate::{ErrorKind, Result, StoreError};
use fault::failed;
use open::{Connections, Missing};
use sqlx::{Sqlite, Transaction};
use std::path::Path;

#[derive(Debug)]
pub struct SqliteStore {
    connections: Connections,
}

impl SqliteStore {
    /// Opens the database, creating it with its directory or bringing it up to date as needed.
    pub async fn open(path: &Path) -> Result<Self> {
        Self::open_with(path, MIGRATIONS).await
    }

    /// The same for a database that must be there already; otherwise `NotFound`.
    pub async fn open_existing(path: &Path) -> Result<Self> {
        Ok(Self { connections: open::open(path, Missing::Refuse, MIGRATIONS).await? })
    }

    /// Opens with another history than ours: a test's way to reach versions that do not exist yet.
    #[doc(hidden)]
    pub async fn open_with(path: &Path, migrations: &[Migration]) -> Result<Self> {
        Ok(Self { connections: open::open(path, Missing::Create, migrations).await? })
    }

    /// Waits for the calls under way and folds the log into the database.
    pub async fn close(self) {
        self.connections.close().await;
    }

    /// Has all that was committed survive a power cut. Other commits are synced from time to time only: what they lose
    /// is found out again, but money that was spent without a reservation is not.
    async fn sync(&self) -> Result<()> {
        let log = self.connections.log.clone();
        let sync = move || match std::fs::File::open(&log) {
            Ok(log) => log.sync_data(),
            // Without a log all is in the database.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error),
        };
        let synced = tokio::task::spawn_blocking(sync).await.map_err(std::io::Error::other);
        synced.flatten().map_err(|error| {
            StoreError::new(ErrorKind::Unavailable, format!("failed to write the reservation to the disk: {error}"))
        })
    }

    async fn write(&self) -> Result<Transaction<'static, Sqlite>> {
        self.connections.writer.begin_with("BEGIN IMMEDIATE").await.map_err(failed("begin to write"))
    }
}
