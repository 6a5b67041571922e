//! Values for the tests, different in every field that could be mixed up.

use serde_json::json;
use shuntyard_core::{
    DispatchId, ErrorClass, Nano, ServerId, Usage,
    experience::{Evidence, Verdict},
    routing::HealthStatus,
    values::Trigger,
};
use shuntyard_store::{
    AttemptEnd, AttemptRecord, Begun, CooldownRecord, DispatchEnd, DispatchRecord, ErrorKind, HealthRecord,
    HealthSource, Lease, NewAttempt, NewDispatch, NewOutcome, OutcomeFilter, OutcomeOrder, Owner, Result, RunStatus,
    ServerRecord, ServerState, SessionRecord, SessionState, Store,
};
use std::sync::atomic::{AtomicU64, Ordering};
use uuid::Uuid;

fn unique() -> Uuid {
    static COUNT: AtomicU64 = AtomicU64::new(1);
    Uuid::from_u64_pair(0x0190_0000_0000_7000, COUNT.fetch_add(1, Ordering::Relaxed))
}

pub fn dispatch_id() -> DispatchId {
    DispatchId(unique())
}

pub fn server_id() -> ServerId {
    ServerId(unique())
}

pub fn owner(pid: i64) -> Owner {
    Owner { host: "yard".into(), pid, start: 70_000 + pid }
}

pub fn dispatch(at: i64) -> NewDispatch {
    NewDispatch {
        id: dispatch_id(),
        at,
        owner: owner(11),
        mode: "single".into(),
        requested: json!({ "task_type": "code-review", "nested": [1, 2.5, null, "ü"] }),
        route: json!({ "chosen": "local/small", "trace": ["rule 1"] }),
        directory: "/project".into(),
        prompt_chars: 321,
    }
}

/// The row of a dispatch that has only begun.
pub fn begun(dispatch: &NewDispatch) -> DispatchRecord {
    DispatchRecord {
        id: dispatch.id,
        began_at: dispatch.at,
        ended_at: None,
        owner: dispatch.owner.clone(),
        mode: dispatch.mode.clone(),
        requested: dispatch.requested.clone(),
        route: dispatch.route.clone(),
        directory: dispatch.directory.clone(),
        prompt_chars: dispatch.prompt_chars,
        status: RunStatus::Running,
        error_class: None,
        warnings: vec![],
        attempts: vec![],
    }
}

pub fn attempt(dispatch: DispatchId, ordinal: u32) -> NewAttempt {
    NewAttempt {
        dispatch,
        ordinal,
        at: 1_000 + i64::from(ordinal),
        model: "local/small@low".into(),
        server: Some(server_id()),
        tier: Some("quick".into()),
        task: Some("task-7".into()),
        batch: Some("batch-3".into()),
        reserve: None,
    }
}

/// Begins an attempt that nothing is in the way of.
pub async fn start(store: &dyn Store, attempt: &NewAttempt) {
    assert_eq!(store.begin_attempt(attempt).await.unwrap(), Begun::Started, "{attempt:?}");
}

/// The row of an attempt that has only begun.
pub fn attempt_begun(attempt: &NewAttempt) -> AttemptRecord {
    AttemptRecord {
        ordinal: attempt.ordinal,
        began_at: attempt.at,
        ended_at: None,
        model: attempt.model.clone(),
        answered_by: None,
        server: attempt.server,
        session: None,
        status: RunStatus::Running,
        error_class: None,
        message: None,
        usage: Usage::default(),
        cost: Nano::ZERO,
        cost_known: false,
    }
}

/// The row of an attempt after its first end.
pub fn attempt_ended(attempt: &NewAttempt, end: &AttemptEnd) -> AttemptRecord {
    AttemptRecord {
        ended_at: Some(end.at),
        status: end.status,
        error_class: end.error_class,
        message: end.message.clone(),
        answered_by: end.answered_by.clone(),
        usage: end.usage,
        cost: end.cost,
        cost_known: end.cost_known,
        ..attempt_begun(attempt)
    }
}

pub fn attempt_end(cost: i64) -> AttemptEnd {
    AttemptEnd {
        at: 5_000,
        status: RunStatus::Ok,
        error_class: None,
        message: None,
        answered_by: Some("local/small-2".into()),
        usage: Usage { input: 100, output: 20, reasoning: 3, cache_read: 40, cache_write: 5 },
        usage_known: true,
        cost: Nano(cost),
        cost_known: true,
    }
}

pub fn dispatch_end(at: i64) -> DispatchEnd {
    DispatchEnd {
        at,
        status: RunStatus::Ok,
        error_class: None,
        warnings: vec!["slow".into(), "two \"words\"".into()],
        route: None,
        outcomes: vec![],
    }
}

/// A success in full: nothing of it is absent, and no two values are the same.
pub fn outcome(at: i64) -> NewOutcome {
    NewOutcome {
        at,
        attempt: Some((dispatch_id(), 3)),
        task: Some("task-7".into()),
        batch: Some("batch-3".into()),
        task_type: "code-review".into(),
        requested: json!({ "task_type": "code-review", "nested": [1, 2.5, null, "ü"] }),
        asked_tier: Some("quick".into()),
        tier: Some("deep".into()),
        model: "local/small@low".into(),
        strategy: "race".into(),
        verdict: Verdict::Success,
        failure_mode: None,
        error_class: None,
        evidence: Evidence::Answered,
        quality: Some(2),
        tokens: 168,
        cost: Nano(50),
        cost_known: true,
        duration_ms: 4_000,
        retries: 5,
        repository: "/project".into(),
        propensity: Some(250_000),
        text: "review the parser".into(),
    }
}

/// A failure of which only what must be known is known.
pub fn bare_outcome(at: i64) -> NewOutcome {
    NewOutcome {
        at,
        attempt: None,
        task: None,
        batch: None,
        task_type: String::new(),
        requested: json!({}),
        asked_tier: None,
        tier: None,
        model: "far/large".into(),
        strategy: String::new(),
        verdict: Verdict::Failure,
        failure_mode: None,
        error_class: None,
        evidence: Evidence::Reported,
        quality: None,
        tokens: 0,
        cost: Nano::ZERO,
        cost_known: false,
        duration_ms: 0,
        retries: 0,
        repository: String::new(),
        propensity: None,
        text: String::new(),
    }
}

/// All outcomes that there are, in the order in which they were recorded.
pub async fn outcomes(store: &dyn Store) -> Vec<NewOutcome> {
    let filter = OutcomeFilter { limit: 10_000, ..OutcomeFilter::default() };
    let records = store.outcomes(&filter, OutcomeOrder::Oldest).await.unwrap();
    records.into_iter().map(|record| record.outcome).collect()
}

pub fn session(id: &str, state: SessionState, used_at: i64) -> SessionRecord {
    SessionRecord {
        id: id.into(),
        home: "slot-1".into(),
        directory: "/project".into(),
        model: "local/small".into(),
        state,
        used_at,
    }
}

pub fn server(state: ServerState) -> ServerRecord {
    ServerRecord {
        id: server_id(),
        slot: "slot-1".into(),
        state,
        url: "http://127.0.0.1:4096".into(),
        version: "1.2.3".into(),
        fingerprint: "abc".into(),
        keeper: owner(21),
        process: Some(owner(22)),
        started_at: 100,
        changed_at: 200,
        problem: None,
    }
}

pub fn lease(server: ServerId) -> Lease {
    Lease { server, holder: dispatch_id(), owner: owner(31), at: 300 }
}

/// A health check that found nothing wrong.
pub fn healthy(provider: &str, checked_at: i64) -> HealthRecord {
    HealthRecord {
        provider: provider.into(),
        status: HealthStatus::Available,
        class: None,
        message: None,
        source: HealthSource::Probe,
        latency_ms: Some(12),
        checked_at,
        expires_at: checked_at + 500,
    }
}

/// A failure that is evidence about its provider.
pub fn limited(provider: &str, checked_at: i64) -> HealthRecord {
    HealthRecord {
        provider: provider.into(),
        status: HealthStatus::RateLimited,
        class: Some(ErrorClass::QuotaExhausted),
        message: Some("the week is used up".into()),
        source: HealthSource::Dispatch,
        latency_ms: None,
        checked_at,
        expires_at: checked_at + 900,
    }
}

pub fn cooldown(target: &str, since: i64, until: i64) -> CooldownRecord {
    CooldownRecord {
        target: target.into(),
        trigger: Trigger::Overloaded,
        class: ErrorClass::ServerError,
        message: format!("busy since {since}"),
        since,
        until,
    }
}

/// The kind of the error of a call that must fail.
pub fn kind<T: std::fmt::Debug>(result: Result<T>) -> ErrorKind {
    result.unwrap_err().kind()
}
