//! Workers: they execute jobs one after the other, under a name that only one of them has at a time.

use super::{SqliteStore, event, fault::failed, job_end, job_told::told, row, script::Script};
use crate::{ErrorKind, Owner, Result, StoreError, WorkerRecord};
use serde_json::json;
use shuntyard_core::values::{Backend, ModelPolicy};
use sqlx::{
    Sqlite, query,
    sqlite::{SqliteArguments, SqliteRow},
};

/// A stopped worker frees its name for another.
const ADD: &str = "
    INSERT INTO worker (name, profile, directory, backend, reference, model, policy, reason, fingerprint, session,
                        server, process_host, process_pid, process_start, stopped_at, used_at, version, created_at)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18)
    ON CONFLICT (name) DO UPDATE SET
        profile = excluded.profile, directory = excluded.directory, backend = excluded.backend,
        reference = excluded.reference, model = excluded.model, policy = excluded.policy, reason = excluded.reason,
        fingerprint = excluded.fingerprint, session = excluded.session, server = excluded.server,
        process_host = excluded.process_host, process_pid = excluded.process_pid,
        process_start = excluded.process_start, stopped_at = excluded.stopped_at, used_at = excluded.used_at,
        version = excluded.version, created_at = excluded.created_at
    WHERE worker.stopped_at IS NOT NULL";

const CHANGE: &str = "
    UPDATE worker SET profile = ?2, directory = ?3, backend = ?4, reference = ?5, model = ?6, policy = ?7, reason = ?8,
                      fingerprint = ?9, session = ?10, server = ?11, process_host = ?12, process_pid = ?13,
                      process_start = ?14, stopped_at = ?15, used_at = ?16, version = ?17 + 1
    WHERE name = ?1";

pub(super) const ONE: &str = "SELECT * FROM worker WHERE name = ?1";

pub(super) const ALL: &str = "SELECT * FROM worker ORDER BY name";

pub(super) const QUEUED: &str =
    concat!("SELECT ", told!(), " FROM job WHERE state = 'queued' AND worker = ?1 ORDER BY place");

/// A process that still works for one may ask about it.
pub(super) const PRUNE: &str = "
    DELETE FROM worker
    WHERE stopped_at < ?1
        AND NOT EXISTS (SELECT 1 FROM job WHERE job.state = 'running' AND job.worker = worker.name)";

pub(super) async fn add(store: &SqliteStore, worker: &WorkerRecord) -> Result<()> {
    let mut transaction = store.write().await?;
    let added = written(ADD, worker).bind(worker.created_at).execute(&mut *transaction).await;
    if added.map_err(failed("add the worker"))?.rows_affected() == 0 {
        return Err(StoreError::new(ErrorKind::Conflict, format!("there is a worker {} already", worker.name)));
    }
    let mut script = Script::default();
    tell(&mut script, worker.created_at, "worker.started", worker);
    script.run(&mut transaction).await.map_err(failed("add the worker"))?;
    transaction.commit().await.map_err(failed("add the worker"))
}

pub(super) async fn one(store: &SqliteStore, name: &str) -> Result<WorkerRecord> {
    let found = query(ONE).bind(name).fetch_optional(&store.connections.readers).await;
    record(&found.map_err(failed("read the worker"))?.ok_or_else(|| missing(name))?)
}

pub(super) async fn all(store: &SqliteStore) -> Result<Vec<WorkerRecord>> {
    let rows = query(ALL).fetch_all(&store.connections.readers).await;
    rows.map_err(failed("read the workers"))?.iter().map(record).collect()
}

pub(super) async fn change(store: &SqliteStore, worker: &WorkerRecord, now: i64) -> Result<()> {
    let mut transaction = store.write().await?;
    let before = query(ONE).bind(&worker.name).fetch_optional(&mut *transaction).await;
    let before = record(&before.map_err(failed("change the worker"))?.ok_or_else(|| missing(&worker.name))?)?;
    // Another one of the same name may have come to the same version.
    if (before.version, before.created_at) != (worker.version, worker.created_at) {
        return Err(refused(worker, "it was changed by somebody else"));
    }
    if before.stopped_at.is_some() && worker.stopped_at.is_none() {
        return Err(refused(worker, "it was stopped"));
    }
    written(CHANGE, worker).execute(&mut *transaction).await.map_err(failed("change the worker"))?;
    let mut script = Script::default();
    let after = WorkerRecord { version: worker.version + 1, ..worker.clone() };
    if before.stopped_at.is_none() && worker.stopped_at.is_some() {
        let queued = query(QUEUED).bind(&worker.name).fetch_all(&mut *transaction).await;
        tell(&mut script, now, "worker.stopped", &after);
        job_end::abandon(&mut script, &queued.map_err(failed("change the worker"))?, &worker.name, now)?;
    } else {
        tell(&mut script, now, "worker.changed", &after);
    }
    script.run(&mut transaction).await.map_err(failed("change the worker"))?;
    transaction.commit().await.map_err(failed("change the worker"))
}

pub(super) async fn prune(store: &SqliteStore, before: i64) -> Result<u64> {
    let mut transaction = store.write().await?;
    let gone = query(PRUNE).bind(before).execute(&mut *transaction).await;
    let gone = gone.map_err(failed("forget workers"))?.rows_affected();
    transaction.commit().await.map_err(failed("forget workers"))?;
    Ok(gone)
}

fn tell(script: &mut Script, at: i64, kind: &str, worker: &WorkerRecord) {
    let data = json!({
        "profile": worker.profile, "backend": worker.backend.as_str(), "model": worker.model,
        "version": worker.version,
    });
    event::tell(script, at, kind, &worker.name, &data);
}

/// The parameters that adding and changing share.
fn written<'worker>(
    sql: &'static str,
    worker: &'worker WorkerRecord,
) -> sqlx::query::Query<'worker, Sqlite, SqliteArguments> {
    let process = worker.process.as_ref();
    query(sql)
        .bind(&worker.name)
        .bind(&worker.profile)
        .bind(&worker.directory)
        .bind(worker.backend.as_str())
        .bind(&worker.reference)
        .bind(&worker.model)
        .bind(match worker.policy {
            ModelPolicy::Dynamic => DYNAMIC,
            ModelPolicy::Sticky => STICKY,
            ModelPolicy::Next => NEXT,
        })
        .bind(&worker.reason)
        .bind(&worker.fingerprint)
        .bind(&worker.session)
        .bind(worker.server.map(|server| server.to_string()))
        .bind(process.map(|process| process.host.as_str()))
        .bind(process.map(|process| process.pid))
        .bind(process.map(|process| process.start))
        .bind(worker.stopped_at)
        .bind(worker.used_at)
        .bind(worker.version)
}

const DYNAMIC: &str = "dynamic";
const STICKY: &str = "sticky";
const NEXT: &str = "next";

fn record(row: &SqliteRow) -> Result<WorkerRecord> {
    let policy = |text: &str| match text {
        DYNAMIC => Some(ModelPolicy::Dynamic),
        STICKY => Some(ModelPolicy::Sticky),
        NEXT => Some(ModelPolicy::Next),
        _ => None,
    };
    let process = match row::get::<Option<String>>(row, "process_host")? {
        Some(host) => Some(Owner { host, pid: row::get(row, "process_pid")?, start: row::get(row, "process_start")? }),
        None => None,
    };
    Ok(WorkerRecord {
        name: row::get(row, "name")?,
        profile: row::get(row, "profile")?,
        directory: row::get(row, "directory")?,
        backend: row::word(row, "backend", Backend::parse)?,
        reference: row::get(row, "reference")?,
        model: row::get(row, "model")?,
        policy: row::word(row, "policy", policy)?,
        reason: row::get(row, "reason")?,
        fingerprint: row::get(row, "fingerprint")?,
        session: row::get(row, "session")?,
        server: row::optional_word(row, "server", |text| text.parse().ok())?,
        process,
        stopped_at: row::get(row, "stopped_at")?,
        created_at: row::get(row, "created_at")?,
        used_at: row::get(row, "used_at")?,
        version: row::get(row, "version")?,
    })
}

fn missing(name: &str) -> StoreError {
    StoreError::new(ErrorKind::NotFound, format!("there is no worker {name}"))
}

fn refused(worker: &WorkerRecord, why: &str) -> StoreError {
    StoreError::new(ErrorKind::Conflict, format!("failed to change worker {}: {why}", worker.name))
}
