//! A stored database of each version is read whole by today's code.

use super::{
    STORED_V1, STORED_V2, STORED_V3, STORED_V4, STORED_V5, STORED_V6, STORED_V7, STORED_V8, STORED_V9, Yard, raw,
};
use serde_json::{Value, json};
use shuntyard_core::{ErrorClass, Nano, Usage, routing::HealthStatus, values::Trigger};
use shuntyard_store::{
    AttemptRecord, CooldownRecord, DispatchRecord, ErrorKind, Event, HealthRecord, HealthSource, Lease, Owner,
    RunStatus, ServerRecord, ServerState, SessionRecord, SessionState, Store as _,
    sqlite::{MIGRATIONS, SqliteStore},
};

pub fn id<T: std::str::FromStr<Err: std::fmt::Debug>>(tail: &str) -> T {
    format!("01900000-0000-7000-8000-0000000000{tail}").parse().unwrap()
}

pub fn owner(pid: i64) -> Owner {
    Owner { host: "yard".into(), pid, start: 70_000 + pid }
}

fn attempts_of_the_first() -> Vec<AttemptRecord> {
    let first = AttemptRecord {
        ordinal: 1,
        began_at: 1_760_000_000_100_000,
        ended_at: Some(1_760_000_003_000_000),
        model: "local/small@low".into(),
        answered_by: Some("local/small-2".into()),
        server: Some(id("a1")),
        session: Some("ses_1".into()),
        status: RunStatus::Timeout,
        error_class: Some(ErrorClass::Timeout),
        message: Some("no answer in time".into()),
        usage: Usage { input: 100, output: 20, reasoning: 3, cache_read: 40, cache_write: 5 },
        cost: Nano(3_150_000),
        cost_known: true,
    };
    let second = AttemptRecord {
        ordinal: 2,
        began_at: 1_760_000_003_100_000,
        ended_at: Some(1_760_000_009_000_000),
        model: "far/large".into(),
        answered_by: None,
        server: None,
        session: None,
        status: RunStatus::Abandoned,
        error_class: Some(ErrorClass::RateLimited),
        message: None,
        usage: Usage { input: 9_007_199_254_740_993, ..Usage::default() },
        cost: Nano(i64::MAX),
        cost_known: false,
    };
    vec![first, second]
}

fn dispatches() -> [DispatchRecord; 2] {
    let first = DispatchRecord {
        id: id("01"),
        began_at: 1_760_000_000_000_001,
        ended_at: Some(1_760_000_009_000_002),
        owner: owner(11),
        mode: "single".into(),
        requested: json!({ "task_type": "code-review", "files": ["a.rs", 2.5, null] }),
        route: json!({ "chosen": "local/small", "trace": ["rule 1"] }),
        directory: "/project".into(),
        prompt_chars: 321,
        status: RunStatus::Error,
        error_class: Some(ErrorClass::RateLimited),
        warnings: vec!["slow".into(), "two \"words\"".into()],
        attempts: attempts_of_the_first(),
    };
    let running = AttemptRecord {
        ordinal: 1,
        began_at: 1_760_000_010_100_000,
        ended_at: None,
        model: "local/small".into(),
        answered_by: None,
        server: Some(id("a1")),
        session: Some("ses_2".into()),
        status: RunStatus::Running,
        error_class: None,
        message: None,
        usage: Usage::default(),
        cost: Nano::ZERO,
        cost_known: false,
    };
    let second = DispatchRecord {
        id: id("02"),
        began_at: 1_760_000_010_000_000,
        ended_at: None,
        owner: owner(12),
        mode: "race".into(),
        requested: json!({}),
        route: Value::Null,
        directory: "/prøject".into(),
        prompt_chars: 0,
        status: RunStatus::Running,
        error_class: None,
        warnings: vec![],
        attempts: vec![running],
    };
    [first, second]
}

fn sessions() -> [SessionRecord; 4] {
    [
        ("ses_1", "slot-1", "local/small@low", SessionState::Kept, 1_760_000_003_000_000),
        ("ses_2", "http://127.0.0.1:4096", "local/small", SessionState::Open, 1_760_000_010_100_000),
        ("ses_3", "slot-1", "local/small", SessionState::Archived, 1_750_000_000_000_000),
        ("ses_4", "slot-1", "local/small", SessionState::Deleted, 1_750_000_000_000_000),
    ]
    .map(|(id, home, model, state, used_at)| SessionRecord {
        id: id.into(),
        home: home.into(),
        directory: "/project".into(),
        model: model.into(),
        state,
        used_at,
    })
}

fn servers() -> [ServerRecord; 4] {
    let at = |second: i64| 1_759_999_900_000_000 + second * 1_000_000;
    let server = |tail, slot: &str, state, keeper, started| ServerRecord {
        id: id(tail),
        slot: slot.into(),
        state,
        url: String::new(),
        version: String::new(),
        fingerprint: "def".into(),
        keeper: owner(keeper),
        process: None,
        started_at: at(started),
        changed_at: at(started + 5),
        problem: None,
    };
    [
        ServerRecord {
            url: "http://127.0.0.1:4101".into(),
            version: "1.2.3".into(),
            fingerprint: "abc".into(),
            process: Some(owner(22)),
            ..server("a1", "slot-1", ServerState::Ready, 21, 90)
        },
        ServerRecord {
            problem: Some("the port was taken".into()),
            ..server("a2", "slot-2", ServerState::Failed, 23, 91)
        },
        ServerRecord { changed_at: at(92), ..server("a3", "slot-3", ServerState::Starting, 24, 92) },
        ServerRecord {
            url: "http://127.0.0.1:4104".into(),
            version: "1.2.2".into(),
            fingerprint: "old".into(),
            process: Some(owner(26)),
            ..server("a4", "slot-4", ServerState::Draining, 25, 93)
        },
    ]
}

fn events() -> [Event; 2] {
    [
        (4, 1_760_000_000_000_001, "dispatch.started", "01", json!({ "mode": "single" })),
        (7, 1_759_999_995_000_000, "server.ready", "a1", json!({ "slot": "slot-1" })),
    ]
    .map(|(position, at, kind, tail, data)| Event {
        position,
        at,
        kind: kind.into(),
        subject: format!("01900000-0000-7000-8000-0000000000{tail}"),
        data,
    })
}

pub fn health() -> [HealthRecord; 2] {
    [
        HealthRecord {
            provider: "far".into(),
            status: HealthStatus::RateLimited,
            class: Some(ErrorClass::QuotaExhausted),
            message: Some("the week is used up".into()),
            source: HealthSource::Dispatch,
            latency_ms: None,
            checked_at: 1_760_000_009_000_000,
            expires_at: 1_760_000_309_000_000,
        },
        HealthRecord {
            provider: "local".into(),
            status: HealthStatus::Available,
            class: None,
            message: None,
            source: HealthSource::Probe,
            latency_ms: Some(12),
            checked_at: 1_760_000_008_000_000,
            expires_at: 1_760_000_068_000_000,
        },
    ]
}

pub fn cooldowns() -> [CooldownRecord; 2] {
    [
        CooldownRecord {
            target: "far".into(),
            trigger: Trigger::Quota,
            class: ErrorClass::QuotaExhausted,
            message: "the week is used up".into(),
            since: 1_760_000_009_000_000,
            until: 1_760_003_609_000_000,
        },
        CooldownRecord {
            target: "local/small".into(),
            trigger: Trigger::Timeout,
            class: ErrorClass::Timeout,
            message: "no answer in time".into(),
            since: 1_760_000_003_000_000,
            until: 1_760_000_033_000_000,
        },
    ]
}

/// What was there from version 1 on, and is the same in every stored database.
pub async fn assert_first_tables(store: &SqliteStore) {
    let [first, second] = dispatches();
    assert_eq!(store.recent_dispatches(9).await.unwrap(), [second.clone(), first]);
    assert_eq!(store.unfinished_dispatches(9).await.unwrap(), [second]);
    for session in sessions() {
        assert_eq!(store.session(&session.id).await.unwrap(), session);
    }
    assert_eq!(store.stale_sessions("slot-1", i64::MAX, 9).await.unwrap(), sessions()[..1]);
    assert_eq!(store.servers().await.unwrap(), servers());
    let lease = Lease { server: id("a1"), holder: id("02"), owner: owner(12), at: 1_760_000_010_050_000 };
    assert_eq!(store.leases(id("a1")).await.unwrap(), [lease]);
    assert_eq!(store.events_after(0, 9).await.unwrap(), events());
    assert_eq!(store.append_event(1, "note", "me", &json!({})).await.unwrap(), 8, "positions go on");
}

#[tokio::test]
async fn version_1_is_read_whole() {
    let yard = Yard::v1().await;
    let store = SqliteStore::open_existing(&yard.path).await.unwrap();
    assert_first_tables(&store).await;
    assert_eq!(store.health().await.unwrap(), []);
    assert_eq!(store.cooldowns(0).await.unwrap(), []);
    // What came later is there to be used.
    for (health, cooldown) in health().iter().zip(&cooldowns()) {
        store.put_health(health).await.unwrap();
        store.put_cooldown(cooldown).await.unwrap();
    }
    assert_eq!(store.health().await.unwrap(), health());
    assert_eq!(store.cooldowns(0).await.unwrap(), cooldowns());
    assert!(yard.beside(".backup-v1-1").exists());
}

#[tokio::test]
async fn version_2_is_read_whole() {
    let yard = Yard::stored(STORED_V2).await;
    let store = SqliteStore::open_existing(&yard.path).await.unwrap();
    assert_first_tables(&store).await;
    assert_eq!(store.health().await.unwrap(), health());
    assert_eq!(store.cooldowns(0).await.unwrap(), cooldowns());
}

/// A released migration that is edited would leave two kinds of its version in the world.
#[tokio::test]
async fn the_migrations_still_make_the_stored_tables() {
    async fn tables(yard: &Yard) -> Vec<(String, String)> {
        let mut connection = raw(&yard.path).await;
        sqlx::query_as("SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name")
            .fetch_all(&mut connection)
            .await
            .unwrap()
    }
    let stored = [STORED_V1, STORED_V2, STORED_V3, STORED_V4, STORED_V5, STORED_V6, STORED_V7, STORED_V8, STORED_V9];
    assert_eq!(stored.len(), MIGRATIONS.len(), "every version has its stored database");
    for (version, sql) in (1..).zip(stored) {
        let (made, stored) = (Yard::empty(), Yard::stored(sql).await);
        SqliteStore::open_with(&made.path, &MIGRATIONS[..version]).await.unwrap().close().await;
        assert_eq!(tables(&made).await, tables(&stored).await, "version {version}");
        assert_eq!(made.version().await, stored.version().await, "version {version}");
    }
}

#[tokio::test]
async fn unknown_words_are_damage() {
    for sql in [
        "UPDATE health SET status = 'poorly'",
        "UPDATE health SET class = 'poorly'",
        "UPDATE health SET source = 'hearsay'",
        "UPDATE cooldown SET trigger = 'whim'",
        "UPDATE cooldown SET class = 'poorly'",
    ] {
        let yard = Yard::stored(STORED_V2).await;
        yard.execute(sql).await;
        let store = SqliteStore::open_existing(&yard.path).await.unwrap();
        let errors = [store.health().await.map(drop), store.cooldowns(0).await.map(drop)].map(Result::err);
        let kinds: Vec<ErrorKind> = errors.iter().flatten().map(|error| error.kind()).collect();
        assert_eq!(kinds, [ErrorKind::Corrupt], "{sql}: {errors:?}");
    }
}
