//! The listings that grow with use walk an index and never sort, and errors have useful kinds: both
//! asked of SQLite itself.

use super::*;
use crate::ErrorKind;
use sqlx::{AssertSqlSafe, Row as _};

async fn plan(store: &SqliteStore, sql: &str) -> Vec<String> {
    let explain = format!("EXPLAIN QUERY PLAN {sql}");
    let rows = sqlx::query(AssertSqlSafe(explain)).fetch_all(&store.connections.readers).await.unwrap();
    rows.iter().map(|row| row.get("detail")).collect()
}

#[tokio::test]
async fn listings_use_their_indexes() {
    let directory = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(&directory.path().join("switchyard.db")).await.unwrap();
    for (sql, expected) in [
        (dispatch::RECENT, "SCAN dispatch USING INDEX dispatch_recent"),
        (dispatch::UNFINISHED, "SCAN dispatch USING INDEX dispatch_unfinished"),
        (session::STALE, "SEARCH session USING INDEX session_kept (home=? AND used_at<?)"),
        (session::SPENT, "SEARCH attempt USING INDEX attempt_session (session=?)"),
        (session::DOOMED, "SEARCH session USING INDEX session_doomed (home=?)"),
        (event::AFTER, "SEARCH event USING INTEGER PRIMARY KEY (rowid>?)"),
    ] {
        assert_eq!(plan(&store, sql).await, [expected], "{sql}");
    }
    let attempts = plan(&store, dispatch::ATTEMPTS).await;
    assert_eq!(attempts[0], "SEARCH attempt USING INDEX sqlite_autoindex_attempt_1 (dispatch=?)", "{attempts:?}");
    assert!(!attempts.iter().any(|step| step.contains("TEMP B-TREE FOR ORDER BY")), "{attempts:?}");
}

/// Each error is made by SQLite itself.
#[tokio::test]
async fn errors_have_the_kind_that_callers_act_on() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("switchyard.db");
    let store = SqliteStore::open(&path).await.unwrap();
    let note =
        "INSERT INTO event (at, kind, subject, data) VALUES (1, 'note', 'me', zeroblob(9) || hex(zeroblob(99999)))";

    let kind =
        |outcome: sqlx::Result<_>| fault::kind(&outcome.map(|_: sqlx::sqlite::SqliteQueryResult| ()).unwrap_err());
    let read_only = sqlx::query(note).execute(&store.connections.readers).await;
    assert_eq!(kind(read_only), ErrorKind::Unavailable, "read-only");

    let writer = &store.connections.writer;
    sqlx::query("PRAGMA max_page_count = 1").execute(writer).await.unwrap();
    assert_eq!(kind(sqlx::query(note).execute(writer).await), ErrorKind::Unavailable, "full");
    assert_eq!(kind(sqlx::query("SELECT * FROM nothing").execute(writer).await), ErrorKind::Corrupt, "no table");

    let held = store.write().await.unwrap();
    let impatient = sqlx::sqlite::SqliteConnectOptions::new().filename(&path).busy_timeout(std::time::Duration::ZERO);
    let mut other = sqlx::ConnectOptions::connect(&impatient).await.unwrap();
    assert_eq!(kind(sqlx::query("BEGIN IMMEDIATE").execute(&mut other).await), ErrorKind::Busy, "locked");
    held.rollback().await.unwrap();

    store.connections.close().await;
    assert_eq!(store.servers().await.unwrap_err().kind(), ErrorKind::Unavailable, "closed");
}
