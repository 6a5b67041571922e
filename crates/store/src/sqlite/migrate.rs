//! Brings a database to the newest version, or leaves it exactly as it was.
//!
//! All pending migrations and the checks of their result are one transaction. It takes the write
//! lock first and checks the version again, so that of two processes one migrates and the other
//! finds the work done. A database with rows is copied before it is touched.

use super::{
    backup, check, fault,
    header::{self, APPLICATION_ID, Identity},
    open,
};
use crate::{ErrorKind, Result, StoreError};
use sqlx::{Connection as _, SqliteConnection, SqlitePool};
use std::path::{Path, PathBuf};

/// One step. Its SQL ends by setting `user_version` to `version`.
#[derive(Debug, Clone, Copy)]
pub struct Migration {
    pub version: i64,
    pub sql: &'static str,
}

/// In order, from version 1 without a gap. A released one never changes.
pub const MIGRATIONS: &[Migration] = &[
    Migration { version: 1, sql: include_str!("../../migrations/sqlite/0001_first.sql") },
    Migration { version: 2, sql: include_str!("../../migrations/sqlite/0002_availability.sql") },
    Migration { version: 3, sql: include_str!("../../migrations/sqlite/0003_budget.sql") },
    Migration { version: 4, sql: include_str!("../../migrations/sqlite/0004_patterns.sql") },
    Migration { version: 5, sql: include_str!("../../migrations/sqlite/0005_tasks.sql") },
    Migration { version: 6, sql: include_str!("../../migrations/sqlite/0006_jobs.sql") },
    Migration { version: 7, sql: include_str!("../../migrations/sqlite/0007_spend_sum.sql") },
    Migration { version: 8, sql: include_str!("../../migrations/sqlite/0008_effects_of_the_store.sql") },
    Migration { version: 9, sql: include_str!("../../migrations/sqlite/0009_contests.sql") },
];

pub(super) async fn migrate(
    connection: &mut SqliteConnection,
    readers: &SqlitePool,
    path: &Path,
    migrations: &[Migration],
) -> Result<()> {
    // Rebuilding a table drops the old one; with foreign keys on, that would delete rows which
    // point to it. They cannot be switched inside a transaction, and they are checked at its end.
    // Another process may be migrating a large database: that is worth a longer wait.
    sqlx::raw_sql("PRAGMA foreign_keys = OFF; PRAGMA busy_timeout = 60000;")
        .execute(&mut *connection)
        .await
        .map_err(open::unopened(path))?;
    let outcome = run(&mut *connection, readers, path, migrations).await;
    let restored = sqlx::raw_sql("PRAGMA foreign_keys = ON; PRAGMA busy_timeout = 5000;")
        .execute(&mut *connection)
        .await
        .map_err(open::unopened(path));
    // Folding in the log lets the file itself show its version; the last process to close does it too.
    let _ = sqlx::raw_sql("PRAGMA wal_checkpoint(PASSIVE)").execute(&mut *connection).await;
    outcome.and(restored.map(drop))
}

async fn run(
    connection: &mut SqliteConnection,
    readers: &SqlitePool,
    path: &Path,
    migrations: &[Migration],
) -> Result<()> {
    let newest = migrations.last().map_or(0, |migration| migration.version);
    let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await.map_err(open::unopened(path))?;
    let (_, found) = open::identify(&mut transaction).await.map_err(open::unopened(path))?;
    let rows = check::rows(&mut transaction).await.map_err(open::unopened(path))?;
    let unmarked = found.application == 0 && rows.is_empty();
    if !unmarked {
        header::check(path, found, newest)?;
    }
    let pending: Vec<&Migration> = migrations.iter().filter(|step| unmarked || step.version > found.version).collect();
    if pending.is_empty() {
        return Ok(());
    }
    let copy = if unmarked { None } else { Some(backup::take(readers, path, found.version).await?) };
    let applied = async {
        apply(&mut transaction, &pending).await?;
        check::verify(&mut transaction, &rows).await
    };
    if let Err(error) = applied.await {
        // The error counts, not whether SQLite had rolled back by itself already.
        let _ = transaction.rollback().await;
        return Err(unmigrated(path, copy, newest, error));
    }
    transaction
        .commit()
        .await
        .map_err(|error| unmigrated(path, copy, newest, fault::failed("commit the migration")(error)))
}

async fn apply(connection: &mut SqliteConnection, pending: &[&Migration]) -> Result<()> {
    for step in pending {
        sqlx::raw_sql(step.sql).execute(&mut *connection).await.map_err(fault::failed("run a migration"))?;
        let (_, reached) = open::identify(connection).await.map_err(fault::failed("read the version"))?;
        if reached != (Identity { application: APPLICATION_ID, version: step.version }) {
            let what = format!("the migration to version {} ended at {reached:?}", step.version);
            return Err(StoreError::new(ErrorKind::Corrupt, what));
        }
    }
    Ok(())
}

fn unmigrated(path: &Path, copy: Option<PathBuf>, newest: i64, cause: StoreError) -> StoreError {
    let copy = copy.map_or(String::new(), |copy| format!(", and a backup is at {}", copy.display()));
    let what = format!("failed to bring {} to version {newest}; it is unchanged{copy}", path.display());
    StoreError::new(cause.kind(), what).because(cause)
}
