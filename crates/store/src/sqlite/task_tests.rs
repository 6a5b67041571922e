//! What is asked about tasks again and again walks an index: asked of SQLite itself.

use super::*;
use crate::TaskFilter;
use shuntyard_core::work::task::Phase;
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

/// Those steps that are about real tables.
fn of_tables(steps: &[String]) -> Vec<&str> {
    let tables = ["task ", "task_batch ", "dependency ", "run ", "effect ", "event ", "blocker ", "attempt "];
    let about =
        |step: &&str| tables.iter().any(|table| step.split_once(' ').is_some_and(|(_, of)| of.starts_with(table)));
    steps.iter().map(String::as_str).filter(about).collect()
}

#[tokio::test]
async fn what_could_start_is_found_by_its_lines() {
    let (_directory, store) = store().await;
    for (sql, lanes) in [(ready::OF_ALL, 2), (ready::OF_BATCH, 0)] {
        let steps = plan(&store, sql).await;
        let tables = of_tables(&steps);
        let starts = |with: &str| tables.iter().filter(|step| step.starts_with(with)).count();
        // The first repository is at the beginning of the index, of which one row is read.
        let first = starts("SCAN task USING INDEX task_ready");
        assert_eq!(first, 1, "{steps:#?}");
        let next = "SEARCH task USING INDEX task_ready (repository>?)";
        assert_eq!(starts(next), 1, "{steps:#?}");
        let of_line = tables.iter().filter(|step| step.contains("INDEX task_ready (repository=?")).count();
        assert_eq!(of_line, 1 + lanes, "{steps:#?}");
        assert_eq!(starts("SEARCH task USING INTEGER PRIMARY KEY (rowid=?)"), 1, "{steps:#?}");
        assert_eq!(starts("SCAN "), 1, "{steps:#?}");
    }
}

#[tokio::test]
async fn pages_of_tasks_are_read_without_sorting() {
    let (_directory, store) = store().await;
    for wanted in 0_usize..8 {
        let named = |bit| (wanted & bit != 0).then(String::new);
        let phase = (wanted & 1 != 0).then_some(Phase::Queued);
        let filter = TaskFilter { phase, batch: named(2), repository: named(4), after: 1, limit: 9 };
        let steps = plan(&store, &task::sql(&filter)).await;
        assert!(!steps.iter().any(|step| step.contains("B-TREE FOR ORDER BY") && !step.contains("json")), "{steps:?}");
        assert!(steps[0].starts_with("SEARCH task USING ") && steps[0].contains("rowid>?"), "{filter:?} {steps:?}");
        assert_eq!(steps[0].contains("=?"), wanted > 0, "{filter:?} {steps:?}");
    }
}

#[tokio::test]
async fn questions_about_tasks_use_their_indexes() {
    let (_directory, store) = store().await;
    for (sql, expected) in [
        (task::ONE, "SEARCH task USING INDEX sqlite_autoindex_task_1 (id=?)"),
        (task::DUE, "SEARCH task USING INDEX task_due (wakes_at<?)"),
        (task::NEXT_DUE, "SEARCH task USING INDEX task_due (wakes_at>?)"),
        (task::LATEST_CHANGE, "SEARCH task USING INDEX task_waiting"),
        (task::COUNTS, "SCAN task USING INDEX task_phase"),
        (task::COUNTS_OF_BATCH, "SEARCH task USING INDEX task_of_batch (batch=?)"),
        (task::EVENTS, "SEARCH event USING INDEX event_task (subject=? AND position>?)"),
        (task_add::HIGHEST, "SEARCH task USING INDEX task_numeral (numeral>?)"),
        (task_add::TAKEN, "SEARCH task USING INDEX sqlite_autoindex_task_1 (id=?)"),
        (batch::JOIN, "SEARCH task USING INDEX sqlite_autoindex_task_1 (id=?)"),
        (dependency::DEPENDENTS, "SEARCH dependency USING INDEX dependency_needs (needs=?)"),
        (dependency::BLOCKERS, "SEARCH dependency USING PRIMARY KEY (task=?)"),
        (dependency::RECOUNT, "SEARCH task USING INDEX sqlite_autoindex_task_1 (id=?)"),
        (run_list::OF_TASK, "SEARCH run USING INDEX sqlite_autoindex_run_1 (task=?)"),
        (run_list::LIVE, "SCAN run USING INDEX run_live"),
        (run_list::ENDED, "SEARCH run USING INDEX run_ended (ended_at>?)"),
        (claim::FULL, "SCAN run USING INDEX run_live"),
        (run::NOTE, "SEARCH run USING INDEX sqlite_autoindex_run_1 (task=? AND epoch=?)"),
        (run::RENEW, "SEARCH run USING INDEX sqlite_autoindex_run_1 (task=? AND epoch=?)"),
        (effect::WAITING, "SCAN effect USING INDEX effect_open"),
        (effect::TAKE, "SCAN effect USING INDEX effect_open"),
        (reservation::STALE, "SEARCH run USING INDEX run_dispatch (dispatch=?)"),
    ] {
        let steps = plan(&store, sql).await;
        assert!(steps.iter().any(|step| step == expected), "{sql}: {steps:#?}");
        let whole = ["SCAN task", "SCAN run", "SCAN effect", "SCAN event", "SCAN dependency", "SCAN attempt"];
        assert!(!steps.iter().any(|step| whole.contains(&step.as_str())), "{sql}: {steps:#?}");
    }
}
