//! The store in one SQLite file that all processes of a user share.
//!
//! Reads run beside the writer; every write is one transaction that takes the write lock at its
//! start, because one that asks for it later is refused at once when another was faster.

mod attempt;
mod backup;
mod check;
mod cooldown;
mod dispatch;
mod event;
mod fault;
mod header;
mod health;
mod lease;
mod migrate;
mod open;
mod row;
mod server;
mod session;
#[cfg(test)]
mod tests;

pub use header::APPLICATION_ID;
pub use migrate::{MIGRATIONS, Migration};

use crate::{
    AttemptEnd, CooldownRecord, DispatchEnd, DispatchRecord, Event, HealthRecord, Lease, NewAttempt, NewDispatch,
    Result, ServerRecord, ServerState, SessionRecord, Store,
};
use async_trait::async_trait;
use fault::failed;
use open::{Connections, Missing};
use serde_json::Value;
use sqlx::{Sqlite, Transaction};
use std::path::Path;
use switchyard_core::{DispatchId, Nano, ServerId, Usage};

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

    async fn write(&self) -> Result<Transaction<'static, Sqlite>> {
        self.connections.writer.begin_with("BEGIN IMMEDIATE").await.map_err(failed("begin to write"))
    }
}

#[async_trait]
impl Store for SqliteStore {
    async fn begin_dispatch(&self, dispatch: &NewDispatch) -> Result<()> {
        dispatch::begin(self, dispatch).await
    }

    async fn begin_attempt(&self, attempt: &NewAttempt) -> Result<()> {
        attempt::begin(self, attempt).await
    }

    async fn set_attempt_session(&self, dispatch: DispatchId, ordinal: u32, session: &str) -> Result<()> {
        attempt::set_session(self, dispatch, ordinal, session).await
    }

    async fn finish_attempt(&self, dispatch: DispatchId, ordinal: u32, end: &AttemptEnd) -> Result<()> {
        attempt::finish(self, dispatch, ordinal, end).await
    }

    async fn finish_dispatch(&self, dispatch: DispatchId, end: &DispatchEnd) -> Result<()> {
        dispatch::finish(self, dispatch, end).await
    }

    async fn dispatch(&self, dispatch: DispatchId) -> Result<DispatchRecord> {
        dispatch::one(self, dispatch).await
    }

    async fn recent_dispatches(&self, limit: u32) -> Result<Vec<DispatchRecord>> {
        dispatch::recent(self, limit).await
    }

    async fn unfinished_dispatches(&self, limit: u32) -> Result<Vec<DispatchRecord>> {
        dispatch::unfinished(self, limit).await
    }

    async fn put_session(&self, session: &SessionRecord) -> Result<()> {
        session::put(self, session).await
    }

    async fn session(&self, session: &str) -> Result<SessionRecord> {
        session::one(self, session).await
    }

    async fn claim_session(&self, session: &str, now: i64) -> Result<()> {
        session::claim(self, session, now).await
    }

    async fn spent_in_session(&self, session: &str) -> Result<(Usage, Nano)> {
        session::spent(self, session).await
    }

    async fn stale_sessions(&self, home: &str, before: i64, limit: u32) -> Result<Vec<SessionRecord>> {
        session::stale(self, home, before, limit).await
    }

    async fn doomed_sessions(&self, home: &str, limit: u32) -> Result<Vec<SessionRecord>> {
        session::doomed(self, home, limit).await
    }

    async fn put_server(&self, server: &ServerRecord) -> Result<()> {
        server::put(self, server).await
    }

    async fn set_server_state(&self, server: ServerId, state: ServerState, now: i64) -> Result<()> {
        server::set_state(self, server, state, now).await
    }

    async fn servers(&self) -> Result<Vec<ServerRecord>> {
        server::all(self).await
    }

    async fn remove_server(&self, server: ServerId, now: i64) -> Result<()> {
        server::remove(self, server, now).await
    }

    async fn take_lease(&self, lease: &Lease) -> Result<()> {
        lease::take(self, lease).await
    }

    async fn release_lease(&self, server: ServerId, holder: DispatchId) -> Result<()> {
        lease::release(self, server, holder).await
    }

    async fn leases(&self, server: ServerId) -> Result<Vec<Lease>> {
        lease::of_server(self, server).await
    }

    async fn put_health(&self, health: &HealthRecord) -> Result<()> {
        health::put(self, health).await
    }

    async fn health(&self) -> Result<Vec<HealthRecord>> {
        health::all(self).await
    }

    async fn forget_health(&self, provider: Option<&str>) -> Result<()> {
        health::forget(self, provider).await
    }

    async fn put_cooldown(&self, cooldown: &CooldownRecord) -> Result<()> {
        cooldown::put(self, cooldown).await
    }

    async fn cooldowns(&self, now: i64) -> Result<Vec<CooldownRecord>> {
        cooldown::active(self, now).await
    }

    async fn end_cooldowns(&self, targets: &[&str], now: i64) -> Result<u64> {
        cooldown::end(self, targets, now).await
    }

    async fn append_event(&self, at: i64, kind: &str, subject: &str, data: &Value) -> Result<i64> {
        event::append_alone(self, at, kind, subject, data).await
    }

    async fn events_after(&self, after: i64, limit: u32) -> Result<Vec<Event>> {
        event::after(self, after, limit).await
    }

    async fn data_version(&self) -> Result<i64> {
        event::data_version(self).await
    }
}
