//! Tasks in stored databases: read whole, absent where there were none, and gone on with.

use super::{
    STORED_V1, STORED_V2, STORED_V3, STORED_V4, STORED_V5, Yard,
    ledger::assert_ledger,
    patterns::assert_patterns,
    stored::{id, owner},
};
use serde_json::json;
use shuntyard_core::{
    Nano,
    experience::FailureMode,
    values::{Deliver, Urgency},
    work::task::{
        Agent, Delivered, Effect, Gate, Notice, Phase, Place, State, Tally, Task, TaskId, TaskSpec, Verification, Wait,
    },
};
use shuntyard_store::{
    BatchRecord, ErrorKind, NewTask, RunNote, RunRecord, SpendKey, SpendKind, Store as _, TaskFilter, TaskRecord,
    Tasks as _, sqlite::SqliteStore,
};

/// The beginning of the stored times.
const T: i64 = 1_760_000_000_000_000;

fn task_id(text: &str) -> TaskId {
    text.parse().unwrap()
}

fn spec(description: &str) -> TaskSpec {
    TaskSpec {
        description: description.into(),
        repository: "/project".into(),
        base: "main".into(),
        agent: Agent::Opencode { agent: None },
        place: Place::Worktree,
        model: None,
        tier: None,
        task_type: None,
        needs: vec![],
        verify: vec![],
        allow_paths: vec![],
        max_cost: None,
        urgency: Urgency::Normal,
        estimate_seconds: None,
        attempts: None,
        labels: vec![],
        deliver: Deliver::Branch,
        gate: Gate::Closed,
        verification: Verification::default(),
        diagnoses: None,
        strategy: None,
        contest: None,
        entry_of: None,
        todo: None,
        deadline: None,
        with_issue: false,
    }
}

fn tasks() -> [TaskRecord; 4] {
    let task = |name: &str, description: &str, created: i64| Task {
        id: task_id(name),
        batch: None,
        parent: None,
        priority: 0,
        depends_on: vec![],
        spec: spec(description),
        state: State::Queued,
        tally: Tally::default(),
        epoch: 0,
        created_at: T + created,
        changed_at: T + created,
    };
    let record =
        |number, version, task| TaskRecord { task, number, version, open_blockers: 0, paused: false, receipt: None };
    let delivered = Delivered::Branch { branch: "switchyard/t001".into(), head: "abc".into() };
    let done = Task {
        state: State::Done { delivered },
        tally: Tally { tries: 1, ..Tally::default() },
        epoch: 2,
        changed_at: T + 9_000_000,
        ..task("t001", "mend the \"parser\"", 10)
    };
    let running = Task {
        batch: Some("nightly".into()),
        parent: Some(task_id("t002")),
        priority: -3,
        spec: TaskSpec {
            repository: "/prøject".into(),
            agent: Agent::Command { command: "make".into() },
            place: Place::Directory,
            verify: vec!["make test".into()],
            attempts: Some(4),
            deliver: Deliver::Merge,
            gate: Gate::Open,
            verification: Verification::default(),
            diagnoses: Some(task_id("t001")),
            ..spec("run it")
        },
        state: State::Running,
        epoch: 1,
        changed_at: T + 10_000_000,
        ..task("t002.1", "", 11)
    };
    let queued = Task {
        priority: 9,
        depends_on: ["t002.1", "t001", "later"].map(task_id).into(),
        tally: Tally { losses: 1, lessons: vec!["look at line 9".into()], ..Tally::default() },
        ..task("docs", "describe it", 12)
    };
    let detail = "the week is used up".to_owned();
    let waiting = Task {
        batch: Some("wide".into()),
        state: State::Waiting { until: T + 300_000_000, wait: Wait::Limit, detail },
        changed_at: T + 14,
        ..task("t0998", "wait", 13)
    };
    [
        TaskRecord { receipt: Some(json!({ "good": true, "cost": i64::MAX })), ..record(2, 7, done) },
        TaskRecord { paused: true, ..record(3, 3, running) },
        TaskRecord { open_blockers: 2, ..record(5, 1, queued) },
        record(6, 2, waiting),
    ]
}

fn runs() -> [RunRecord; 3] {
    let lost = RunRecord {
        task: task_id("t001"),
        epoch: 1,
        dispatch: None,
        repository: "/project".into(),
        batch: None,
        parent: None,
        model: Some("local/small@low".into()),
        answered: None,
        tier: Some("quick".into()),
        host: "yard".into(),
        worker: None,
        claimed_at: T + 20,
        started_at: None,
        progress_at: T + 20,
        lease_until: T + 60_000_000,
        ended_at: Some(T + 3_000_000),
        worktree: None,
        branch: None,
        base: None,
        outcome: Some("lost".into()),
        failure_mode: None,
        detail: Some("gone".into()),
        cost: Nano::ZERO,
        cost_known: false,
    };
    let approved = RunRecord {
        epoch: 2,
        dispatch: Some(id("01")),
        answered: Some("local/small-2".into()),
        worker: Some(owner(31)),
        claimed_at: T + 3_000_001,
        started_at: Some(T + 3_000_002),
        progress_at: T + 8_000_000,
        lease_until: T + 68_000_000,
        ended_at: Some(T + 9_000_000),
        worktree: Some("/trees/t001".into()),
        branch: Some("switchyard/t001".into()),
        base: Some("0123".into()),
        outcome: Some("approved".into()),
        failure_mode: Some(FailureMode::Logic),
        detail: Some("at last".into()),
        cost: Nano(3_150_000),
        cost_known: true,
        ..lost.clone()
    };
    let live = RunRecord {
        task: task_id("t002.1"),
        dispatch: Some(id("03")),
        repository: "/prøject".into(),
        batch: Some("nightly".into()),
        parent: Some(task_id("t002")),
        model: Some("far/large".into()),
        tier: None,
        claimed_at: T + 10_000_000,
        progress_at: T + 10_000_001,
        lease_until: T + 70_000_000,
        ended_at: None,
        outcome: None,
        detail: None,
        ..lost.clone()
    };
    [lost, approved, live]
}

async fn all(store: &SqliteStore) -> Vec<TaskRecord> {
    store.tasks(&TaskFilter { limit: 99, ..TaskFilter::default() }).await.unwrap()
}

/// What was there from version 5 on, and is the same in every stored database since.
pub async fn assert_tasks(store: &SqliteStore) {
    assert_ledger(store).await;
    assert_patterns(store).await;
    assert_eq!(all(store).await, tasks());
    let [lost, approved, live] = runs();
    assert_eq!(store.runs(&task_id("t001")).await.unwrap(), [lost.clone(), approved.clone()]);
    assert_eq!(store.live_runs().await.unwrap(), [live]);
    assert_eq!(store.ended_runs(9).await.unwrap(), [approved, lost]);
    let batch = |name: &str, concurrency, paused, created| BatchRecord {
        name: name.into(),
        concurrency,
        paused,
        created_at: T + created,
    };
    assert_eq!(store.batches().await.unwrap(), [batch("nightly", 2, true, 0), batch("wide", 0, false, 1)]);
    let blockers = [("t002.1", Some(Phase::Running)), ("t001", Some(Phase::Done)), ("later", None)];
    assert_eq!(store.blockers(&task_id("docs")).await.unwrap(), blockers.map(|(name, phase)| (task_id(name), phase)));
    assert_eq!(store.next_due().await.unwrap(), Some(T + 300_000_000));
    assert_eq!(store.mark("breaker").await.unwrap(), Some(T + 1_000_000));
    let reserved = store.reserved(&SpendKey::new(SpendKind::Task, "t002.1")).await.unwrap();
    assert_eq!((reserved.cost.0, reserved.tokens), (90, 70));
}

#[tokio::test]
async fn version_5_is_read_whole() {
    let yard = Yard::stored(STORED_V5).await;
    assert_tasks(&SqliteStore::open_existing(&yard.path).await.unwrap()).await;
}

#[tokio::test]
async fn version_5_is_gone_on_with() {
    let yard = Yard::stored(STORED_V5).await;
    let store = SqliteStore::open_existing(&yard.path).await.unwrap();
    assert_eq!(store.stale_reservations(i64::MAX).await.unwrap(), [], "a live run is to use it");
    let [task, ..] = tasks();
    let new = NewTask { id: None, task: Task { state: State::Queued, ..task.task } };
    assert_eq!(store.add_tasks(&[new]).await.unwrap(), [task_id("t999")]);
    assert_eq!(store.task(&task_id("t999")).await.unwrap().number, 7);
    let ready = store.ready_tasks(None, 0, 9).await.unwrap().candidates;
    assert_eq!(ready.into_iter().map(|candidate| candidate.number).collect::<Vec<_>>(), [7]);
    let taken = store.take_effects(T + 39_000_000, 1, 9).await.unwrap();
    let effects: Vec<(i64, u32, Effect)> =
        taken.into_iter().map(|taken| (taken.id, taken.tries, taken.effect)).collect();
    let notify = Effect::Notify { notice: Notice::Done, detail: "ready".into() };
    assert_eq!(effects, [(5, 3, notify), (7, 1, Effect::Mark { done: true })]);
    assert!(store.note_run(&task_id("t002.1"), 1, &RunNote::default()).await.unwrap());
    assert!(!store.renew_run(&task_id("t001"), 2, 1, 1).await.unwrap());
}

#[tokio::test]
async fn older_versions_begin_to_have_tasks() {
    for (version, sql) in (1..).zip([STORED_V1, STORED_V2, STORED_V3, STORED_V4]) {
        let yard = Yard::stored(sql).await;
        let store = SqliteStore::open_existing(&yard.path).await.unwrap();
        assert_eq!(all(&store).await, []);
        let [task, ..] = tasks();
        let new = NewTask { id: None, task: Task { state: State::Queued, ..task.task } };
        assert_eq!(store.add_tasks(&[new]).await.unwrap(), [task_id("t001")]);
        assert_eq!(store.task_events(&task_id("t001"), 0, 9).await.unwrap().len(), 1);
        assert!(yard.beside(&format!(".backup-v{version}-1")).exists());
    }
}

#[tokio::test]
async fn what_nobody_can_read_is_damage() {
    for sql in [
        "UPDATE task SET state = '{}' WHERE number = 5",
        "UPDATE task SET spec = '{' WHERE number = 5",
        "UPDATE task SET tally = '7' WHERE number = 5",
        "UPDATE task SET receipt = '{' WHERE number = 2",
        "UPDATE task SET id = 'two words' WHERE number = 6",
        "UPDATE task SET parent = '' WHERE number = 5",
        "UPDATE task SET phase = 'odd' WHERE number = 5",
        "UPDATE run SET dispatch = 'nobody' WHERE ended_at IS NULL",
        "UPDATE run SET failure_mode = 'mood' WHERE ended_at IS NULL",
        "UPDATE effect SET data = '{\"kind\":\"sing\"}'",
    ] {
        let yard = Yard::stored(STORED_V5).await;
        yard.execute(sql).await;
        let store = SqliteStore::open_existing(&yard.path).await.unwrap();
        let errors = [
            store.tasks(&TaskFilter { limit: 99, ..TaskFilter::default() }).await.map(drop),
            store.task_counts(None).await.map(drop),
            store.live_runs().await.map(drop),
            store.take_effects(i64::MAX, 1, 9).await.map(drop),
        ]
        .map(Result::err);
        let kinds: Vec<ErrorKind> = errors.iter().flatten().map(|error| error.kind()).collect();
        assert_eq!(kinds, [ErrorKind::Corrupt], "{sql}: {errors:?}");
    }
}
