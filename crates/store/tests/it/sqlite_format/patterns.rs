//! What was learned, in stored databases: read whole, absent where there was none, and found by its words after
//! every change of the tables.

use super::{STORED_V1, STORED_V2, STORED_V3, STORED_V4, Yard, ledger::assert_ledger, stored::id};
use serde_json::{Value, json};
use shuntyard_core::{
    ErrorClass, Nano,
    experience::{Evidence, FailureMode, Move, Past, Tally, Verdict},
};
use shuntyard_store::{
    ErrorKind, Judgement, NewOutcome, OutcomeFilter, OutcomeOrder, OutcomeRecord, Store as _, WEEK_MICROS,
    sqlite::{MIGRATIONS, Migration, SqliteStore},
};

const WEEK: i64 = 1_759_968_000_000_000;

fn filter() -> OutcomeFilter {
    OutcomeFilter { limit: 99, ..OutcomeFilter::default() }
}

async fn outcomes(store: &SqliteStore) -> Vec<OutcomeRecord> {
    store.outcomes(&filter(), OutcomeOrder::Oldest).await.unwrap()
}

async fn similar(store: &SqliteStore, word: &str) -> Vec<i64> {
    let found = store.similar_outcomes(&[word.to_owned()], 9).await.unwrap();
    found.into_iter().map(|record| record.id).collect()
}

fn stored() -> [OutcomeRecord; 4] {
    let first = NewOutcome {
        at: 1_760_000_003_000_000,
        attempt: Some((id("01"), 1)),
        task: Some("task-7".into()),
        batch: Some("batch-3".into()),
        task_type: "code-review".into(),
        requested: json!({ "task_type": "code-review" }),
        asked_tier: Some("quick".into()),
        tier: Some("quick".into()),
        model: "local/small@low".into(),
        strategy: "single".into(),
        verdict: Verdict::Failure,
        failure_mode: Some(FailureMode::Logic),
        error_class: Some(ErrorClass::Timeout),
        evidence: Evidence::Answered,
        quality: Some(0),
        tokens: 168,
        cost: Nano(3_150_000),
        cost_known: true,
        duration_ms: 2_900,
        retries: 1,
        repository: "/project".into(),
        propensity: Some(250_000),
        text: "Review the parser of dépêches".into(),
    };
    let second = NewOutcome {
        at: 1_760_000_009_000_000,
        attempt: Some((id("01"), 2)),
        task: None,
        batch: None,
        tier: Some("deep".into()),
        model: "far/large".into(),
        failure_mode: Some(FailureMode::Transient),
        error_class: Some(ErrorClass::RateLimited),
        quality: None,
        tokens: 9_007_199_254_740_993,
        cost: Nano(i64::MAX),
        cost_known: false,
        duration_ms: 5_900,
        retries: u32::MAX,
        propensity: None,
        ..first.clone()
    };
    let bare = NewOutcome {
        at: -1,
        attempt: None,
        task: None,
        batch: None,
        task_type: String::new(),
        requested: Value::Null,
        asked_tier: None,
        tier: None,
        model: "far/large".into(),
        strategy: String::new(),
        verdict: Verdict::Success,
        failure_mode: None,
        error_class: None,
        evidence: Evidence::Reported,
        quality: Some(2),
        tokens: 0,
        cost: Nano::ZERO,
        cost_known: true,
        duration_ms: 0,
        retries: 0,
        repository: String::new(),
        propensity: None,
        text: String::new(),
    };
    let last = NewOutcome {
        at: 1_760_000_009_000_001,
        attempt: Some((id("02"), 1)),
        task_type: "code-review".into(),
        requested: json!({ "task_type": "code-review" }),
        tier: Some("deep".into()),
        strategy: "race".into(),
        evidence: Evidence::Verified,
        quality: None,
        tokens: 7,
        cost: Nano(500),
        duration_ms: 900,
        repository: "/prøject".into(),
        propensity: Some(1_000_000),
        text: "Mend the parsers".into(),
        ..bare.clone()
    };
    [(2, first), (3, second), (5, bare), (6, last)].map(|(id, outcome)| OutcomeRecord { id, outcome })
}

fn tally(at: i64, task_type: &str, tier: &str, model: &str, counts: Tally) -> Tally {
    Tally { at, task_type: task_type.into(), tier: tier.into(), model: model.into(), ..counts }
}

fn failed_here() -> Tally {
    let counts = Tally {
        failures: 1,
        cost: Nano(3_150_000),
        priced: 1,
        tokens: 168,
        duration_ms: 2_900,
        retries: 1,
        rated: 1,
        ..Tally::default()
    };
    tally(WEEK, "code-review", "quick", "local/small@low", counts)
}

pub async fn assert_patterns(store: &SqliteStore) {
    assert_eq!(outcomes(store).await, stored());
    let newest = store.outcomes(&OutcomeFilter { limit: 1, ..filter() }, OutcomeOrder::Newest).await.unwrap();
    assert_eq!(newest, stored()[3..]);
    let bare = Tally { successes: 1, proven: 1, priced: 1, quality: 2, rated: 1, ..Tally::default() };
    let far = Tally {
        successes: 1,
        proven: 1,
        uncounted: 1,
        cost: Nano(500),
        priced: 1,
        tokens: 9_007_199_254_741_000,
        duration_ms: 6_800,
        retries: u64::from(u32::MAX),
        ..Tally::default()
    };
    let everywhere = [
        tally(-WEEK_MICROS, "", "", "far/large", bare),
        tally(WEEK, "code-review", "deep", "far/large", far),
        failed_here(),
    ];
    assert_eq!(store.outcome_tallies(None, None, i64::MIN).await.unwrap(), everywhere);
    let here = store.outcome_tallies(Some("code-review"), Some("/project"), WEEK).await.unwrap();
    assert_eq!((here.len(), &here[1]), (2, &failed_here()));
    assert_eq!(similar(store, "parsers").await, [6, 3, 2]);
    assert_eq!(similar(store, "depeche").await, [3, 2]);
    let moved = |tier: &str| Move { asked: "quick".into(), tier: tier.into(), runs: 1 };
    assert_eq!(store.tier_moves(WEEK, i64::MAX).await.unwrap(), [moved("deep"), moved("quick")]);
    let past = store.outcome_history(i64::MIN, 0).await.unwrap();
    let expected = Past {
        requested: "null".into(),
        task_type: String::new(),
        model: "far/large".into(),
        runs: 1,
        successes: 1,
        failures: 0,
        cost: Nano::ZERO,
        priced: 1,
    };
    assert_eq!(past, [expected]);
}

#[tokio::test]
async fn version_4_is_read_whole() {
    let yard = Yard::stored(STORED_V4).await;
    let store = SqliteStore::open_existing(&yard.path).await.unwrap();
    assert_ledger(&store).await;
    assert_patterns(&store).await;
    // It goes on from there.
    let [first, ..] = stored();
    assert_eq!(store.record_outcomes(std::slice::from_ref(&first.outcome)).await.unwrap(), 0, "it is there");
    store.record_outcomes(&[NewOutcome { attempt: None, ..first.outcome }]).await.unwrap();
    assert_eq!(outcomes(&store).await[4].id, 7);
    let judgement =
        Judgement { verdict: Verdict::Success, failure_mode: None, evidence: Evidence::Verified, quality: Some(2) };
    let judged = store.judge_outcome(id("01"), Some(1), 1, &judgement).await.unwrap().unwrap();
    assert_eq!((judged.id, judged.outcome.quality), (2, Some(2)));
    let here = store.outcome_tallies(Some("code-review"), Some("/project"), WEEK).await.unwrap();
    assert_eq!((here[1].successes, here[1].failures, here[1].quality, here[1].rated), (1, 1, 2, 2));
    assert_eq!(similar(&store, "parsers").await, [6, 7, 3, 2]);
}

#[tokio::test]
async fn older_versions_begin_to_learn() {
    for (version, sql) in (1..).zip([STORED_V1, STORED_V2, STORED_V3]) {
        let yard = Yard::stored(sql).await;
        let store = SqliteStore::open_existing(&yard.path).await.unwrap();
        assert_eq!(outcomes(&store).await, []);
        assert_eq!(store.outcome_tallies(None, None, i64::MIN).await.unwrap(), []);
        assert_eq!(similar(&store, "parser").await, [0; 0]);
        let told = stored().map(|record| record.outcome);
        assert_eq!(store.record_outcomes(&told).await.unwrap(), 4);
        assert_eq!(outcomes(&store).await.into_iter().map(|record| record.outcome).collect::<Vec<_>>(), told);
        assert_eq!(similar(&store, "parser").await, [4, 2, 1]);
        assert!(yard.beside(&format!(".backup-v{version}-1")).exists());
    }
}

fn then(sql: &'static str) -> Vec<Migration> {
    MIGRATIONS.iter().copied().take(4).chain([Migration { version: 5, sql }]).collect()
}

/// The index of words is in fewer rows when it is made at once: no loss, as nothing is in it alone.
#[tokio::test]
async fn a_migration_may_make_the_index_again() {
    let again = "
        DROP TABLE outcome_text;
        CREATE VIRTUAL TABLE outcome_text USING fts5 (
            text, content = 'outcome', content_rowid = 'id', tokenize = 'porter unicode61');
        INSERT INTO outcome_text (rowid, text) SELECT id, text FROM outcome WHERE text <> '';
        PRAGMA user_version = 5;";
    let yard = Yard::stored(STORED_V4).await;
    let store = SqliteStore::open_with(&yard.path, &then(again)).await.unwrap();
    assert_patterns(&store).await;
    let copy = SqliteStore::open_existing(&yard.beside(".backup-v4-1")).await.unwrap();
    assert_patterns(&copy).await;
}

#[tokio::test]
async fn a_migration_may_not_lose_what_was_learned() {
    for (sql, reason) in [
        ("DELETE FROM outcome WHERE id = 5; PRAGMA user_version = 5;", "table outcome had 4 rows and would have 3"),
        ("DELETE FROM outcome_week; PRAGMA user_version = 5;", "table outcome_week had 6 rows and would have 0"),
        ("DELETE FROM outcome_text_data WHERE id > 100; PRAGMA user_version = 5;", "the tables are damaged: fts5"),
    ] {
        let yard = Yard::stored(STORED_V4).await;
        let error = SqliteStore::open_with(&yard.path, &then(sql)).await.unwrap_err();
        assert!(error.kind() == ErrorKind::Corrupt && error.to_string().contains(reason), "{error}");
        assert_patterns(&SqliteStore::open_existing(&yard.path).await.unwrap()).await;
    }
}

#[tokio::test]
async fn unknown_words_of_an_outcome_are_damage() {
    for sql in [
        "UPDATE outcome SET verdict = 'perhaps' WHERE id = 2",
        "UPDATE outcome SET failure_mode = 'mood' WHERE id = 2",
        "UPDATE outcome SET error_class = 'poorly' WHERE id = 2",
        "UPDATE outcome SET evidence = 'hearsay' WHERE id = 2",
        "UPDATE outcome SET requested = '{' WHERE id = 2",
        "UPDATE outcome SET dispatch = 'nobody' WHERE id = 2",
    ] {
        let yard = Yard::stored(STORED_V4).await;
        yard.execute(sql).await;
        let store = SqliteStore::open_existing(&yard.path).await.unwrap();
        let error = store.outcomes(&filter(), OutcomeOrder::Oldest).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{sql}");
    }
}
