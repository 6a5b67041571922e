//! Jobs and workers for the tests, and short ways to bring them somewhere.

use super::sample::{dispatch_id, owner, server_id};
use serde_json::{Value, json};
use shuntyard_core::{
    Nano,
    routing::Rule,
    values::{Backend, Mode, ModelPolicy, WorkflowStep},
    work::job::{Choice, JobId, JobKind, JobOrder, JobState, Pause, TierPart},
};
use shuntyard_store::{Event, JobEnd, JobFilter, JobNote, JobRecord, NewJob, Store, WorkerRecord};

pub const SECRET: &str = "the secret prompt";

/// Different in every field that could be mixed up.
pub fn order() -> JobOrder {
    JobOrder {
        prompt: format!("{SECRET} \"ü\""),
        mode: Mode::Agent,
        directory: "/project".into(),
        reference: Some("fast".into()),
        policy: ModelPolicy::Sticky,
        task_type: Some("code-review".into()),
        system: Some("be brief".into()),
        schema: Some(json!({ "type": "object" })),
        attachments: vec!["/files/one.png".into()],
        timeout_ms: Some(60_000),
        max_cost: Some(Nano(i64::MAX)),
        session: Some("ses_1".into()),
        keep: true,
        models: vec!["far/large".into()],
        workflow: Some("review".into()),
        steps: vec![step()],
        choices: vec![choice()],
        server: Some("http://127.0.0.1:4096".into()),
        pause: Pause::EachStep,
    }
}

fn step() -> WorkflowStep {
    WorkflowStep {
        name: "judge".into(),
        profile: "coder".into(),
        prompt: SECRET.into(),
        model: Some("far/large".into()),
        judges: true,
        unless_approved_by: Some("plan".into()),
    }
}

pub fn choice() -> Choice {
    Choice {
        reference: "fast".into(),
        model: "local/small@low".parse().unwrap(),
        policy: ModelPolicy::Dynamic,
        reason: "asked for".into(),
        warnings: vec!["slow".into()],
        named: true,
        tier: Some(TierPart { rule: Rule::TaskType, taken: Some("haiku".into()), requested: Some("opus".into()) }),
    }
}

pub fn new(worker: Option<&str>, at: i64) -> NewJob {
    NewJob {
        kind: if worker.is_some() { JobKind::Worker } else { JobKind::Dispatch },
        order: order(),
        choice: Some(choice()),
        worker: worker.map(Into::into),
        at,
    }
}

/// The record of a job that was only added.
pub fn added(id: JobId, new: &NewJob) -> JobRecord {
    JobRecord {
        id,
        kind: new.kind,
        state: JobState::Queued,
        order: Some(new.order.clone()),
        choice: new.choice.clone(),
        worker: new.worker.clone(),
        epoch: 0,
        deaths: 0,
        owner: None,
        dispatch: None,
        progress: Value::Null,
        result: None,
        cancel_asked_at: None,
        created_at: new.at,
        started_at: None,
        ended_at: None,
        changed_at: new.at,
    }
}

pub fn worker(name: &str) -> WorkerRecord {
    WorkerRecord {
        name: name.into(),
        profile: "coder".into(),
        directory: "/project".into(),
        backend: Backend::Server,
        reference: "fast".into(),
        model: "local/small@low".into(),
        policy: ModelPolicy::Sticky,
        reason: "the tag says so".into(),
        fingerprint: "abc".into(),
        session: Some("ses_1".into()),
        server: Some(server_id()),
        process: Some(owner(22)),
        stopped_at: None,
        created_at: 30,
        used_at: 31,
        version: 1,
    }
}

pub fn note() -> JobNote {
    JobNote { dispatch: Some(dispatch_id()), choice: None, progress: Some(json!({ "heard": "a tool" })) }
}

pub fn done() -> JobEnd {
    JobEnd::Over { state: JobState::Done, result: json!({ "answer": SECRET }) }
}

pub fn paused() -> JobEnd {
    JobEnd::Paused { progress: json!([{ "name": "plan", "text": SECRET }]) }
}

pub fn lost() -> JobEnd {
    JobEnd::Lost { why: "it was killed".into() }
}

pub fn cut_off() -> JobEnd {
    JobEnd::CutOff { why: "there was no time left".into(), result: json!({ "answer": SECRET }) }
}

pub async fn add(store: &dyn Store, worker: Option<&str>) -> JobId {
    store.add_job(&new(worker, 1_000)).await.unwrap()
}

/// Claims with a limit that fits all.
pub async fn claim(store: &dyn Store) -> Option<JobRecord> {
    store.claim_job(&owner(11), u32::MAX, 2_000).await.unwrap()
}

/// The numbers of the jobs that can be claimed one after the other, and stay at work.
pub async fn claim_all(store: &dyn Store) -> Vec<JobId> {
    let mut claimed = vec![];
    while let Some(job) = claim(store).await {
        claimed.push(job.id);
    }
    claimed
}

/// A new job in a state, with the epoch that it was claimed under.
pub async fn bring(store: &dyn Store, state: JobState) -> JobRecord {
    let id = add(store, None).await;
    let end = match state {
        JobState::Queued => return store.job(id).await.unwrap(),
        JobState::Running => None,
        JobState::Paused => Some(paused()),
        over @ (JobState::Done | JobState::Failed | JobState::Cancelled) => {
            Some(JobEnd::Over { state: over, result: json!({ "answer": SECRET }) })
        }
    };
    let claimed = claim(store).await.unwrap();
    assert_eq!(claimed.id, id);
    if let Some(end) = end {
        assert!(store.end_job(id, claimed.epoch, &end, 3_000).await.unwrap());
    }
    store.job(id).await.unwrap()
}

pub async fn jobs(store: &dyn Store) -> Vec<JobRecord> {
    store.jobs(&JobFilter { limit: 10_000, ..JobFilter::default() }).await.unwrap()
}

/// All that can be read of jobs, workers and events: for comparing before and after.
pub async fn everything(store: &dyn Store) -> (Vec<JobRecord>, Vec<WorkerRecord>, Vec<Event>) {
    (jobs(store).await, store.workers().await.unwrap(), store.events_after(0, 10_000).await.unwrap())
}

/// The kinds of the events about one job or worker.
pub async fn told(store: &dyn Store, subject: &str) -> Vec<String> {
    let events = store.events_after(0, 10_000).await.unwrap();
    events.into_iter().filter(|event| event.subject == subject).map(|event| event.kind).collect()
}
