//! The listings that grow with use walk an index and never sort, and errors have useful kinds: both
//! asked of SQLite itself.

use super::*;
use crate::{ErrorKind, OutcomeFilter, OutcomeOrder, Store as _};
use shuntyard_core::DispatchId;
use sqlx::{AssertSqlSafe, Row as _};

async fn plan(store: &SqliteStore, sql: &str) -> Vec<String> {
    let explain = format!("EXPLAIN QUERY PLAN {sql}");
    let rows = sqlx::query(AssertSqlSafe(explain)).fetch_all(&store.connections.readers).await.unwrap();
    rows.iter().map(|row| row.get("detail")).collect()
}

#[tokio::test]
async fn listings_use_their_indexes() {
    let directory = shuntyard_testkit::Scratch::of_test();
    let store = SqliteStore::open(&directory.path().join("shuntyard.db")).await.unwrap();
    for (sql, expected) in [
        (dispatch::RECENT, "SCAN dispatch USING INDEX dispatch_recent"),
        (dispatch::UNFINISHED, "SCAN dispatch USING INDEX dispatch_unfinished"),
        (session::STALE, "SEARCH session USING INDEX session_kept (home=? AND used_at<?)"),
        (session::ATTEMPTS, "SEARCH attempt USING INDEX attempt_session (session=?)"),
        (session::DOOMED, "SEARCH session USING INDEX session_doomed (home=?)"),
        (event::AFTER, "SEARCH event USING INTEGER PRIMARY KEY (rowid>?)"),
    ] {
        assert_eq!(plan(&store, sql).await, [expected], "{sql}");
    }
    let attempts = plan(&store, dispatch::ATTEMPTS).await;
    assert_eq!(attempts[0], "SEARCH attempt USING INDEX sqlite_autoindex_attempt_1 (dispatch=?)", "{attempts:?}");
    assert!(!attempts.iter().any(|step| step.contains("TEMP B-TREE FOR ORDER BY")), "{attempts:?}");
}

/// A window over one provider or tier must not cost more with every other one that there is.
#[tokio::test]
async fn sums_use_their_indexes() {
    let directory = shuntyard_testkit::Scratch::of_test();
    let store = SqliteStore::open(&directory.path().join("shuntyard.db")).await.unwrap();
    let window = "SEARCH spend USING PRIMARY KEY (bucket>? AND bucket<?)";
    for (sql, expected) in [
        (spend_window::TOTAL, "SEARCH spend_total USING PRIMARY KEY (kind=? AND name=?)"),
        (spend::TOTALS, "SEARCH spend_total USING PRIMARY KEY (kind=?)"),
        (reservation::OF_PROVIDER, "SEARCH reservation USING INDEX reservation_provider (provider=?)"),
        (reservation::OF_TIER, "SEARCH reservation USING INDEX reservation_tier (tier=?)"),
        (reservation::OF_TASK, "SEARCH reservation USING INDEX reservation_task (task=?)"),
        (reservation::OF_BATCH, "SEARCH reservation USING INDEX reservation_batch (batch=?)"),
    ] {
        assert_eq!(plan(&store, sql).await, [expected], "{sql}");
    }
    assert_eq!(plan(&store, spend::BY_MODEL).await, [window, "USE TEMP B-TREE FOR GROUP BY"]);
    let one = "SEARCH spend_sum USING PRIMARY KEY (kind=? AND name=? AND span=? AND start>? AND start<?)";
    assert_eq!(plan(&store, spend_window::BY_BUCKET).await, [one]);
    for sql in [
        spend_window::OVERALL,
        spend_window::OF_PROVIDER,
        spend_window::OF_TIER,
        spend_window::BY_PROVIDER,
        spend_window::BY_TIER,
    ] {
        let steps = plan(&store, sql).await;
        let reads = steps.iter().filter(|step| step.contains("spend") && !step.contains("(kind=? AND name>?)"));
        let reads: Vec<&str> = reads.map(String::as_str).filter(|step| !step.ends_with("(kind=?)")).collect();
        assert_eq!(reads, [one, one, one], "{steps:?}");
    }
    let stale = plan(&store, reservation::STALE).await;
    assert!(stale.iter().any(|step| step.starts_with("SEARCH attempt USING INDEX")), "{stale:?}");
}

#[tokio::test]
async fn outcomes_are_found_without_sorting() {
    let directory = shuntyard_testkit::Scratch::of_test();
    let store = SqliteStore::open(&directory.path().join("shuntyard.db")).await.unwrap();
    for wanted in 0_usize..32 {
        let named = |bit| (wanted & bit != 0).then(String::new);
        let filter = OutcomeFilter {
            from: (wanted & 1 != 0).then_some(1),
            until: (wanted & 2 != 0).then_some(9),
            task_type: named(4),
            model: named(8),
            repository: named(16),
            ..OutcomeFilter::default()
        };
        let by_id = plan(&store, &listing::sql(&filter, OutcomeOrder::Oldest)).await;
        assert_eq!(by_id, ["SEARCH outcome USING INTEGER PRIMARY KEY (rowid>?)"], "{filter:?}");
        let by_time = plan(&store, &listing::sql(&filter, OutcomeOrder::Newest)).await;
        assert!(by_time[0].contains(" USING INDEX outcome_"), "{filter:?} {by_time:?}");
        // Without a name it walks the index of the moves, in which only those of the same moment are not in order.
        let same_moment: &[&str] = if wanted < 4 { &["USE TEMP B-TREE FOR LAST TERM OF ORDER BY"] } else { &[] };
        assert_eq!(by_time[1..], *same_moment, "{filter:?}");
        assert!(by_time[0].contains(["", "at>?", "at<?", "at>? AND at<?"][wanted & 3]), "{filter:?} {by_time:?}");
        assert_eq!(by_time[0].contains("=?"), wanted >= 4, "{filter:?} {by_time:?}");
    }
    let attempt = "SEARCH outcome USING INDEX outcome_attempt";
    assert_eq!(plan(&store, outcome::OF_ATTEMPT).await, [format!("{attempt} (dispatch=? AND ordinal=?)")]);
    assert_eq!(plan(&store, outcome::OF_LAST_ATTEMPT).await, [format!("{attempt} (dispatch=?)")]);
    let standing = plan(&store, dispatch::STANDING).await;
    let known = "SEARCH outcome USING COVERING INDEX outcome_attempt (dispatch=? AND ordinal=?)";
    assert!(standing.contains(&known.to_owned()), "{standing:?}");
    let last = plan(&store, outcome::ADD_TEXT).await;
    assert_eq!(last, ["SCAN outcome"], "from the end, and only one");
}

#[tokio::test]
async fn outcomes_are_counted_by_their_indexes() {
    let directory = shuntyard_testkit::Scratch::of_test();
    let store = SqliteStore::open(&directory.path().join("shuntyard.db")).await.unwrap();
    let weeks = "USING PRIMARY KEY (task_type=? AND repository=? AND week>?)";
    assert_eq!(plan(&store, tally::OF_ONE).await, [format!("SEARCH counted {weeks}")]);
    let of_all = plan(&store, tally::OF_ALL).await;
    assert!(of_all.contains(&format!("SEARCH counted {weeks}")), "{of_all:?}");
    assert!(!of_all.iter().any(|step| step.starts_with("SCAN outcome_week")), "{of_all:?}");
    let moves = "SEARCH outcome USING COVERING INDEX outcome_moves (at>? AND at<?)";
    assert_eq!(plan(&store, tally::MOVES).await, [moves, "USE TEMP B-TREE FOR GROUP BY"]);
    let history = "SEARCH outcome USING INDEX outcome_moves (at>? AND at<?)";
    assert_eq!(plan(&store, tally::HISTORY).await, [history, "USE TEMP B-TREE FOR GROUP BY"]);
    let usual = "SEARCH outcome USING INDEX outcome_model (model=? AND at>?)";
    assert!(plan(&store, charged::USUAL).await.contains(&usual.to_owned()));
    for sql in [similar::RANKED, similar::RECENT] {
        let steps = plan(&store, sql).await;
        assert!(steps.contains(&"SEARCH outcome USING INTEGER PRIMARY KEY (rowid=?)".to_owned()), "{steps:?}");
    }
}

/// With a limit of four candidates: what a store of millions does with words that very many outcomes have.
#[tokio::test]
async fn common_words_are_looked_for_among_the_newest() {
    let directory = shuntyard_testkit::Scratch::of_test();
    let store = SqliteStore::open(&directory.path().join("shuntyard.db")).await.unwrap();
    let texts = ["rare mend", "mend", "mend test", "mend test", "odd test", "mend", "test", "odd mend test", "mend"];
    for (id, text) in (1_i64..).zip(texts) {
        sqlx::query(
            "INSERT INTO outcome VALUES (?1, 1, NULL, NULL, NULL, NULL, '', '{}', NULL, NULL, 'far/large', '', 'success',
                 NULL, NULL, 'answered', NULL, 0, 0, 1, 0, 0, '', NULL, ?2)",
        )
        .bind(id)
        .bind(text)
        .execute(&store.connections.writer)
        .await
        .unwrap();
        let indexed = sqlx::query("INSERT INTO outcome_text (rowid, text) VALUES (?1, ?2)").bind(id).bind(text);
        indexed.execute(&store.connections.writer).await.unwrap();
    }
    for (words, limit, expected) in [
        // Only common ones: the newest four, and of those the one with both words first.
        (&["mend", "test"][..], 9, vec![8, 9, 7, 6]),
        (&["mend"], 2, vec![9, 8]),
        // A rare one goes first, however old it is, and leaves places for others.
        (&["mend", "rare", "test"], 9, vec![1, 8, 9, 7, 6]),
        (&["mend", "rare", "test"], 1, vec![1]),
        // Two that fit together are ranked; what is found in both ways is there once.
        (&["rare", "odd", "test"], 9, vec![1, 5, 8, 7]),
        (&["absent", "test"], 9, vec![8, 7]),
        (&["absent"], 9, vec![]),
    ] {
        let wanted: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let found = similar::among(&store, &wanted, limit, 4).await.unwrap();
        assert_eq!(found.iter().map(|record| record.id).collect::<Vec<_>>(), expected, "{words:?}");
    }
}

/// The store leaves none, so they are made past it.
#[tokio::test]
async fn a_reservation_without_a_running_attempt_is_stale() {
    let directory = shuntyard_testkit::Scratch::of_test();
    let store = SqliteStore::open(&directory.path().join("shuntyard.db")).await.unwrap();
    sqlx::raw_sql(
        "INSERT INTO dispatch VALUES
             ('01900000-0000-7000-8000-000000000001', 1, NULL, 'yard', 1, 1, 'single', '{}', '{}', '/', 0, 'running',
              NULL, '[]');
         INSERT INTO attempt (dispatch, ordinal, began_at, ended_at, model, status) VALUES
             ('01900000-0000-7000-8000-000000000001', 1, 1, NULL, 'far/large', 'running'),
             ('01900000-0000-7000-8000-000000000001', 2, 1, 9, 'far/large', 'ok');
         INSERT INTO reservation SELECT
             column1, column2, column3, 'far', 'far/large', '', NULL, NULL, 5, 7
         FROM (VALUES
             ('01900000-0000-7000-8000-000000000001', 1, 10), ('01900000-0000-7000-8000-000000000001', 2, 20),
             ('01900000-0000-7000-8000-000000000002', 1, 15), ('01900000-0000-7000-8000-000000000003', 3, 21));",
    )
    .execute(&store.connections.writer)
    .await
    .unwrap();
    let id = |tail: &str| format!("01900000-0000-7000-8000-00000000000{tail}").parse::<DispatchId>().unwrap();
    assert_eq!(store.stale_reservations(21).await.unwrap(), [(id("2"), 1), (id("1"), 2)]);
    for (dispatch, ordinal) in store.stale_reservations(i64::MAX).await.unwrap() {
        store.drop_reservation(dispatch, ordinal).await.unwrap();
    }
    assert_eq!(store.stale_reservations(i64::MAX).await.unwrap(), []);
    let left = store.reserved(&crate::SpendKey::overall()).await.unwrap();
    assert_eq!((left.attempts, left.cost.0), (1, 5), "the one that runs");
}

/// Each error is made by SQLite itself.
#[tokio::test]
async fn errors_have_the_kind_that_callers_act_on() {
    let directory = shuntyard_testkit::Scratch::of_test();
    let path = directory.path().join("shuntyard.db");
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
