//! Rows into values. What cannot be read back is reported as damage, never guessed.

use super::fault::failed;
use crate::{
    AttemptRecord, CooldownRecord, DispatchRecord, ErrorKind, Event, HealthRecord, HealthSource, Lease, Owner, Result,
    RunStatus, ServerRecord, ServerState, SessionRecord, SessionState, StoreError,
};
use shuntyard_core::{ErrorClass, Nano, Usage, routing::HealthStatus, values::Trigger};
use sqlx::{Decode, Row as _, Sqlite, Type, sqlite::SqliteRow};
use std::str::FromStr;

/// A dispatch without its attempts, which are rows of their own.
pub(super) fn dispatch(row: &SqliteRow) -> Result<DispatchRecord> {
    Ok(DispatchRecord {
        id: parsed(row, "id")?,
        began_at: get(row, "began_at")?,
        ended_at: get(row, "ended_at")?,
        owner: Owner { host: get(row, "owner_host")?, pid: get(row, "owner_pid")?, start: get(row, "owner_start")? },
        mode: get(row, "mode")?,
        requested: parsed(row, "requested")?,
        route: parsed(row, "route")?,
        directory: get(row, "directory")?,
        prompt_chars: count(row, "prompt_chars")?,
        status: word(row, "status", RunStatus::parse)?,
        error_class: optional_word(row, "error_class", ErrorClass::parse)?,
        warnings: word(row, "warnings", |text| serde_json::from_str(text).ok())?,
        attempts: Vec::new(),
    })
}

pub(super) fn attempt(row: &SqliteRow) -> Result<AttemptRecord> {
    Ok(AttemptRecord {
        ordinal: ordinal(row)?,
        began_at: get(row, "began_at")?,
        ended_at: get(row, "ended_at")?,
        model: get(row, "model")?,
        answered_by: get(row, "answered_by")?,
        server: optional_word(row, "server", |text| text.parse().ok())?,
        session: get(row, "session")?,
        status: word(row, "status", RunStatus::parse)?,
        error_class: optional_word(row, "error_class", ErrorClass::parse)?,
        message: get(row, "message")?,
        usage: Usage {
            input: count(row, "input_tokens")?,
            output: count(row, "output_tokens")?,
            reasoning: count(row, "reasoning_tokens")?,
            cache_read: count(row, "cache_read_tokens")?,
            cache_write: count(row, "cache_write_tokens")?,
        },
        cost: Nano(get(row, "cost_nano")?),
        cost_known: get(row, "cost_known")?,
    })
}

pub(super) fn session(row: &SqliteRow) -> Result<SessionRecord> {
    Ok(SessionRecord {
        id: get(row, "id")?,
        home: get(row, "home")?,
        directory: get(row, "directory")?,
        model: get(row, "model")?,
        state: word(row, "state", SessionState::parse)?,
        used_at: get(row, "used_at")?,
    })
}

pub(super) fn server(row: &SqliteRow) -> Result<ServerRecord> {
    let process = match get::<Option<String>>(row, "process_host")? {
        Some(host) => Some(Owner { host, pid: get(row, "process_pid")?, start: get(row, "process_start")? }),
        None => None,
    };
    Ok(ServerRecord {
        id: parsed(row, "id")?,
        slot: get(row, "slot")?,
        state: word(row, "state", ServerState::parse)?,
        url: get(row, "url")?,
        version: get(row, "version")?,
        fingerprint: get(row, "fingerprint")?,
        keeper: Owner {
            host: get(row, "keeper_host")?,
            pid: get(row, "keeper_pid")?,
            start: get(row, "keeper_start")?,
        },
        process,
        started_at: get(row, "started_at")?,
        changed_at: get(row, "changed_at")?,
        problem: get(row, "problem")?,
    })
}

pub(super) fn lease(row: &SqliteRow) -> Result<Lease> {
    Ok(Lease {
        server: parsed(row, "server")?,
        holder: parsed(row, "holder")?,
        owner: Owner { host: get(row, "owner_host")?, pid: get(row, "owner_pid")?, start: get(row, "owner_start")? },
        at: get(row, "at")?,
    })
}

pub(super) fn health(row: &SqliteRow) -> Result<HealthRecord> {
    Ok(HealthRecord {
        provider: get(row, "provider")?,
        status: word(row, "status", HealthStatus::parse)?,
        class: optional_word(row, "class", ErrorClass::parse)?,
        message: get(row, "message")?,
        source: word(row, "source", HealthSource::parse)?,
        latency_ms: optional_count(row, "latency_ms")?,
        checked_at: get(row, "checked_at")?,
        expires_at: get(row, "expires_at")?,
    })
}

pub(super) fn cooldown(row: &SqliteRow) -> Result<CooldownRecord> {
    Ok(CooldownRecord {
        target: get(row, "target")?,
        trigger: word(row, "trigger", Trigger::parse)?,
        class: word(row, "class", ErrorClass::parse)?,
        message: get(row, "message")?,
        since: get(row, "since")?,
        until: get(row, "until")?,
    })
}

pub(super) fn event(row: &SqliteRow) -> Result<Event> {
    Ok(Event {
        position: get(row, "position")?,
        at: get(row, "at")?,
        kind: get(row, "kind")?,
        subject: get(row, "subject")?,
        data: parsed(row, "data")?,
    })
}

/// A column as SQLite holds it.
pub(super) fn get<'row, T>(row: &'row SqliteRow, column: &'static str) -> Result<T>
where
    T: Decode<'row, Sqlite> + Type<Sqlite>,
{
    row.try_get(column).map_err(failed("read a row"))
}

/// A column whose text has a form of its own: an id, or JSON.
pub(super) fn parsed<T: FromStr>(row: &SqliteRow, column: &'static str) -> Result<T> {
    word(row, column, |text| text.parse().ok())
}

pub(super) fn ordinal(row: &SqliteRow) -> Result<u32> {
    u32::try_from(get::<i64>(row, "ordinal")?).map_err(|_| unreadable("ordinal"))
}

/// The provider in a model's full name, which ends at the first slash; none when there is no slash.
pub(super) fn provider(model: &str) -> &str {
    model.split_once('/').map_or("", |(provider, _)| provider)
}

/// A number for SQLite, which has no unsigned ones. No real count is near the limit.
pub(super) fn signed(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

pub(super) fn count(row: &SqliteRow, column: &'static str) -> Result<u64> {
    u64::try_from(get::<i64>(row, column)?).map_err(|_| unreadable(column))
}

fn optional_count(row: &SqliteRow, column: &'static str) -> Result<Option<u64>> {
    get::<Option<i64>>(row, column)?.map(u64::try_from).transpose().map_err(|_| unreadable(column))
}

pub(super) fn word<T>(row: &SqliteRow, column: &'static str, parse: impl Fn(&str) -> Option<T>) -> Result<T> {
    parse(get(row, column)?).ok_or_else(|| unreadable(column))
}

pub(super) fn optional_word<T>(
    row: &SqliteRow,
    column: &'static str,
    parse: impl Fn(&str) -> Option<T>,
) -> Result<Option<T>> {
    match get::<Option<&str>>(row, column)? {
        Some(text) => parse(text).map(Some).ok_or_else(|| unreadable(column)),
        None => Ok(None),
    }
}

fn unreadable(column: &'static str) -> StoreError {
    StoreError::new(ErrorKind::Corrupt, format!("failed to read column {column}: it holds something unknown"))
}
