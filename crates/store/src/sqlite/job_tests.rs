//! What is asked about jobs again and again does not grow with those that are over: asked of SQLite itself.

use super::*;
use crate::JobFilter;
use shuntyard_core::work::job::JobState;
use sqlx::{AssertSqlSafe, Row as _};

async fn plan(store: &SqliteStore, sql: &str) -> Vec<String> {
    let explain = format!("EXPLAIN QUERY PLAN {sql}");
    let rows = sqlx::query(AssertSqlSafe(explain)).fetch_all(&store.connections.readers).await.unwrap();
    // Whether the row itself is read, too, is of no matter here.
    rows.iter().map(|row| row.get::<String, _>("detail").replace(" COVERING INDEX ", " INDEX ")).collect()
}

async fn store() -> (shuntyard_testkit::Scratch, SqliteStore) {
    let directory = shuntyard_testkit::Scratch::of_test();
    let store = SqliteStore::open(&directory.path().join("shuntyard.db")).await.unwrap();
    (directory, store)
}

#[tokio::test]
async fn questions_about_jobs_use_their_indexes() {
    const BY_NUMBER: &str = "SEARCH job USING INTEGER PRIMARY KEY (rowid=?)";
    let (_directory, store) = store().await;
    for (sql, expected) in [
        (job::ONE, &[BY_NUMBER][..]),
        (job::RUNNING, &["SCAN job USING INDEX job_running"]),
        (
            job::POSITION,
            &[
                "SEARCH mine USING INTEGER PRIMARY KEY (rowid=?)",
                "SEARCH job USING INDEX job_line (worker=? AND place<?)",
                "SEARCH job USING INDEX job_running (worker=?)",
            ],
        ),
        (
            job::COUNTS,
            &["SCAN job USING INDEX job_queued", "SCAN job USING INDEX job_running", "SCAN job USING INDEX job_paused"],
        ),
        (
            job_claim::NEXT,
            &[
                "SCAN job USING INDEX job_queued",
                "SCAN busy USING INDEX job_running",
                "SEARCH busy USING INDEX job_running (worker=?)",
                "SEARCH worker USING INDEX sqlite_autoindex_worker_1 (name=?)",
            ],
        ),
        (job_claim::CLAIM, &[BY_NUMBER, "SCAN job USING INDEX job_queued"]),
        (job_claim::NOTE, &[BY_NUMBER]),
        (job_line::ADD, &["SEARCH job USING INDEX job_place"]),
        (job_line::REJOIN, &[BY_NUMBER, "SEARCH job USING INDEX job_place"]),
        (job_end::HELD, &[BY_NUMBER]),
        (job_end::FIND, &[BY_NUMBER]),
        (job_end::LEAVE, &[BY_NUMBER]),
        (job_end::SETTLE, &["SEARCH event USING INDEX event_job_progress (subject=?)"]),
        (job_end::FORGET, &[BY_NUMBER, "SEARCH job USING INDEX job_ended (ended_at<?)"]),
        (worker::ONE, &["SEARCH worker USING INDEX sqlite_autoindex_worker_1 (name=?)"]),
        (worker::ALL, &["SCAN worker USING INDEX sqlite_autoindex_worker_1"]),
        (worker::QUEUED, &["SEARCH job USING INDEX job_line (worker=?)"]),
        (
            worker::PRUNE,
            &[
                "SEARCH worker USING INDEX worker_stopped (stopped_at<?)",
                "SEARCH job USING INDEX job_running (worker=?)",
            ],
        ),
    ] {
        let steps = plan(&store, sql).await;
        for step in expected {
            assert!(steps.iter().any(|found| found == step), "{step} is not in {steps:#?}");
        }
        let whole = ["SCAN job", "SCAN mine", "SCAN busy", "SCAN worker", "SCAN event"];
        assert!(!steps.iter().any(|step| whole.contains(&step.as_str())), "{sql}: {steps:#?}");
        let sorted = steps.iter().any(|step| step.contains("B-TREE FOR ORDER BY"));
        assert_eq!(sorted, sql == job::RUNNING, "only the few at work are sorted: {sql}: {steps:#?}");
    }
}

#[tokio::test]
async fn jobs_are_listed_from_the_newest_on_and_no_further_than_needed() {
    let (_directory, store) = store().await;
    let sort = "USE TEMP B-TREE FOR ORDER BY".to_owned();
    for (states, named, expected, sorted) in [
        (vec![], false, "SCAN job", false),
        (vec![JobState::Done], false, "SCAN job", false),
        (vec![JobState::Queued, JobState::Done], false, "SCAN job", false),
        // Few are not over, and only those are sorted.
        (vec![JobState::Queued, JobState::Running, JobState::Paused], false, "SCAN job USING INDEX job_place", true),
        (vec![], true, "SEARCH job USING INDEX job_of_worker (worker=?)", false),
        (vec![JobState::Queued], true, "SEARCH job USING INDEX job_of_worker (worker=?)", false),
    ] {
        let filter = JobFilter { states, worker: named.then(String::new), kind: None, limit: 9 };
        let steps = plan(&store, &job::sql(&filter)).await;
        assert_eq!(steps[0], expected, "{filter:?} {steps:?}");
        assert_eq!(steps.contains(&sort), sorted, "{filter:?} {steps:?}");
    }
}
