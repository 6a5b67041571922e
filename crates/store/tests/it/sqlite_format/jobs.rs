//! Jobs and workers in stored databases: read whole, absent where there were none, and gone on with.

use super::{
    STORED_V1, STORED_V2, STORED_V3, STORED_V4, STORED_V5, STORED_V6, Yard,
    stored::{id, owner},
    tasks::assert_tasks,
};
use serde_json::{Value, json};
use shuntyard_core::{
    Nano,
    values::{Backend, Mode, ModelPolicy, WorkflowStep},
    work::job::{Choice, JobId, JobKind, JobOrder, JobState, Pause},
};
use shuntyard_store::{
    ErrorKind, JobEnd, JobFilter, JobNote, JobRecord, Jobs as _, NewJob, Store as _, WorkerRecord, sqlite::SqliteStore,
};

/// The beginning of the stored times.
const T: i64 = 1_760_000_000_000_000;

fn job(number: i64, kind: JobKind, state: JobState, order: Option<JobOrder>) -> JobRecord {
    JobRecord {
        id: JobId(number),
        kind,
        state,
        order,
        choice: None,
        worker: None,
        epoch: 1,
        deaths: 0,
        owner: None,
        dispatch: None,
        progress: Value::Null,
        result: None,
        cancel_asked_at: None,
        created_at: T + 40,
        started_at: None,
        ended_at: None,
        changed_at: T + 40,
    }
}

/// The newest first.
fn jobs() -> [JobRecord; 5] {
    let order = |prompt: &str, directory: &str| JobOrder::plain(prompt, Mode::Agent, directory);
    let choice = Choice {
        reference: "fast".into(),
        model: "local/small@low".parse().unwrap(),
        policy: ModelPolicy::Dynamic,
        reason: "asked for".into(),
        warnings: vec!["slow".into()],
        named: false,
        tier: None,
    };
    let forgotten = JobRecord {
        choice: Some(choice.clone()),
        dispatch: Some(id("01")),
        started_at: Some(T + 41),
        ended_at: Some(T + 3_000_000),
        changed_at: T + 3_000_000,
        ..job(2, JobKind::Dispatch, JobState::Done, None)
    };
    let running = JobRecord {
        worker: Some("coder".into()),
        epoch: 2,
        deaths: 1,
        owner: Some(owner(12)),
        dispatch: Some(id("02")),
        progress: json!({ "heard": "a tool" }),
        cancel_asked_at: Some(T + 11_000_000),
        created_at: T + 42,
        started_at: Some(T + 43),
        changed_at: T + 11_000_000,
        ..job(3, JobKind::Worker, JobState::Running, Some(order("mend the \"parser\"", "/prøject")))
    };
    let queued = JobRecord {
        worker: Some("coder".into()),
        epoch: 0,
        created_at: T + 44,
        changed_at: T + 44,
        ..job(5, JobKind::Worker, JobState::Queued, Some(order("and test it", "/prøject")))
    };
    let step = WorkflowStep {
        name: "plan".into(),
        profile: "coder".into(),
        prompt: "plan it".into(),
        model: None,
        judges: false,
        unless_approved_by: None,
    };
    let whole = JobOrder {
        policy: ModelPolicy::Sticky,
        task_type: Some("code-review".into()),
        system: Some("be brief".into()),
        schema: Some(json!({ "type": "object" })),
        attachments: vec!["/files/j6/one.png".into()],
        timeout_ms: Some(60_000),
        max_cost: Some(Nano(i64::MAX)),
        session: Some("ses_1".into()),
        keep: true,
        models: vec!["fast".into()],
        workflow: Some("review".into()),
        steps: vec![step],
        choices: vec![Choice { named: true, ..choice }],
        server: Some("http://127.0.0.1:4096".into()),
        pause: Pause::EachStep,
        ..order("plan it", "/project")
    };
    let paused = JobRecord {
        progress: json!([{ "name": "plan", "text": "first this" }]),
        created_at: T + 45,
        started_at: Some(T + 46),
        changed_at: T + 5_000_000,
        ..job(6, JobKind::Workflow, JobState::Paused, Some(whole))
    };
    let compare = JobOrder { models: vec!["fast".into(), "far/large".into()], ..order("compare", "/project") };
    let failed = JobRecord {
        worker: Some("gone".into()),
        deaths: 2,
        result: Some(json!({ "problem": "nobody answered" })),
        created_at: T + 47,
        started_at: Some(T + 48),
        ended_at: Some(T + 6_000_000),
        changed_at: T + 6_000_000,
        ..job(7, JobKind::Batch, JobState::Failed, Some(compare))
    };
    [failed, paused, queued, running, forgotten]
}

fn workers() -> [WorkerRecord; 2] {
    let coder = WorkerRecord {
        name: "coder".into(),
        profile: "coder".into(),
        directory: "/prøject".into(),
        backend: Backend::Agent,
        reference: "fast".into(),
        model: "local/small@low".into(),
        policy: ModelPolicy::Dynamic,
        reason: "the tag says so".into(),
        fingerprint: "abc".into(),
        session: Some("ses_1".into()),
        server: Some(id("a1")),
        process: Some(owner(22)),
        stopped_at: None,
        created_at: T + 30,
        used_at: T + 2_000_000,
        version: 4,
    };
    let second = WorkerRecord {
        name: "coder-2".into(),
        directory: "/project".into(),
        backend: Backend::Server,
        reference: "far/large".into(),
        model: "far/large".into(),
        policy: ModelPolicy::Sticky,
        reason: String::new(),
        fingerprint: "def".into(),
        session: None,
        server: None,
        process: None,
        stopped_at: Some(T + 9_000_000),
        created_at: T + 31,
        used_at: T + 31,
        version: 1,
        ..coder.clone()
    };
    [coder, second]
}

async fn all(store: &SqliteStore) -> Vec<JobRecord> {
    store.jobs(&JobFilter { limit: 99, ..JobFilter::default() }).await.unwrap()
}

/// The kinds of what the log has about the job at work.
async fn told(store: &SqliteStore) -> Vec<String> {
    let events = store.events_after(0, 99).await.unwrap();
    events.into_iter().filter(|event| event.subject == "j3").map(|event| event.kind).collect()
}

#[tokio::test]
async fn version_6_is_read_whole() {
    let yard = Yard::stored(STORED_V6).await;
    let store = SqliteStore::open_existing(&yard.path).await.unwrap();
    assert_jobs(&store).await;
}

/// All that was there in version 6, and is the same in every later stored database.
pub async fn assert_jobs(store: &SqliteStore) {
    assert_tasks(store).await;
    assert_eq!(all(store).await, jobs());
    assert_eq!(store.running_jobs().await.unwrap(), jobs()[3..4]);
    assert_eq!(store.workers().await.unwrap(), workers());
    assert_eq!(store.job_position(JobId(5)).await.unwrap(), Some(1));
    let open = [JobState::Queued, JobState::Running, JobState::Paused];
    assert_eq!(store.job_counts().await.unwrap(), open.map(|state| (state, 1)));
}

#[tokio::test]
async fn version_6_is_gone_on_with() {
    let yard = Yard::stored(STORED_V6).await;
    let store = SqliteStore::open_existing(&yard.path).await.unwrap();
    let order = JobOrder::plain("go on", Mode::Agent, "/project");
    let new = NewJob { kind: JobKind::Dispatch, order, choice: None, worker: None, at: T + 99 };
    assert_eq!(store.add_job(&new).await.unwrap(), JobId(8));
    store.continue_job(JobId(6), T + 100).await.unwrap();
    assert_eq!(store.job_position(JobId(6)).await.unwrap(), Some(1), "behind the new one");
    let over = JobEnd::Over { state: JobState::Done, result: json!("good") };
    assert!(store.note_job(JobId(3), 2, &JobNote::default(), T + 101).await.unwrap());
    assert_eq!(told(&store).await, ["job.progress"]);
    assert!(store.end_job(JobId(3), 2, &over, T + 101).await.unwrap());
    assert_eq!(told(&store).await, ["job.done"]);
    let mut claimed = vec![];
    while let Some(job) = store.claim_job(&owner(13), 9, T + 102).await.unwrap() {
        claimed.push((job.id.0, job.epoch));
    }
    assert_eq!(claimed, [(5, 1), (8, 1), (6, 2)]);
    assert_eq!(store.forget_jobs(i64::MAX, 9).await.unwrap(), [JobId(3), JobId(7)]);
    assert_eq!(store.prune_workers(i64::MAX).await.unwrap(), 1);
}

#[tokio::test]
async fn older_versions_begin_to_have_jobs() {
    for (version, sql) in (1..).zip([STORED_V1, STORED_V2, STORED_V3, STORED_V4, STORED_V5]) {
        let yard = Yard::stored(sql).await;
        let store = SqliteStore::open_existing(&yard.path).await.unwrap();
        assert_eq!(all(&store).await, []);
        assert_eq!(store.workers().await.unwrap(), []);
        store.add_worker(&workers()[0]).await.unwrap();
        let order = JobOrder::plain("begin", Mode::Agent, "/project");
        let new = NewJob { kind: JobKind::Worker, order, choice: None, worker: Some("coder".into()), at: T };
        assert_eq!(store.add_job(&new).await.unwrap(), JobId(1));
        assert!(yard.beside(&format!(".backup-v{version}-1")).exists());
    }
}

#[tokio::test]
async fn jobs_that_nobody_can_read_are_damage() {
    for sql in [
        "UPDATE job SET kind = 'wish' WHERE number = 7",
        "UPDATE job SET state = 'lost' WHERE number = 7",
        "UPDATE job SET brief = '{}' WHERE number = 5",
        "UPDATE job SET deaths = -1 WHERE number = 5",
        "UPDATE job SET choice = '7' WHERE number = 5",
        "UPDATE job SET dispatch = 'nobody' WHERE number = 5",
        "UPDATE job SET progress = '{' WHERE number = 5",
        "UPDATE job SET result = '{' WHERE number = 7",
        "UPDATE worker SET backend = 'cloud'",
        "UPDATE worker SET policy = 'moody'",
        "UPDATE worker SET server = 'a1'",
    ] {
        let yard = Yard::stored(STORED_V6).await;
        yard.execute(sql).await;
        let store = SqliteStore::open_existing(&yard.path).await.unwrap();
        let filter = JobFilter { limit: 99, ..JobFilter::default() };
        let errors = [store.jobs(&filter).await.map(drop), store.workers().await.map(drop)].map(Result::err);
        let kinds: Vec<ErrorKind> = errors.iter().flatten().map(|error| error.kind()).collect();
        assert_eq!(kinds, [ErrorKind::Corrupt], "{sql}: {errors:?}");
    }
}
