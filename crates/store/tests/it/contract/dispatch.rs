//! Dispatches, their attempts, and what was spent.

use super::{Backend, sample};
use shuntyard_core::{ErrorClass, Nano, Usage};
use shuntyard_store::{AttemptEnd, DispatchEnd, DispatchRecord, ErrorKind, NewAttempt, RunStatus, Settled};

pub async fn a_dispatch_is_read_back_whole(backend: &dyn Backend) {
    let store = backend.fresh().await;
    let new = sample::dispatch(900);
    store.begin_dispatch(&new).await.unwrap();
    assert_eq!(store.dispatch(new.id).await.unwrap(), sample::begun(&new));

    let first = sample::attempt(new.id, 1);
    let second = NewAttempt { server: None, ..sample::attempt(new.id, 2) };
    // Reported in another order than they are numbered.
    sample::start(&*store, &second).await;
    sample::start(&*store, &first).await;
    store.set_attempt_session(new.id, 1, "ses_1").await.unwrap();
    let failed = AttemptEnd {
        status: RunStatus::Error,
        error_class: Some(ErrorClass::Overloaded),
        message: Some("try later".into()),
        answered_by: None,
        cost_known: false,
        ..sample::attempt_end(0)
    };
    store.finish_attempt(new.id, 1, &failed).await.unwrap();
    let end = DispatchEnd {
        status: RunStatus::Timeout,
        error_class: Some(ErrorClass::Timeout),
        route: Some(serde_json::json!({"rule": "tier", "reason": "moved"})),
        ..sample::dispatch_end(9_000)
    };
    store.finish_dispatch(new.id, &end).await.unwrap();

    let mut ended = sample::attempt_ended(&first, &failed);
    ended.session = Some("ses_1".into());
    let expected = DispatchRecord {
        ended_at: Some(9_000),
        status: RunStatus::Timeout,
        error_class: Some(ErrorClass::Timeout),
        warnings: end.warnings,
        route: serde_json::json!({"rule": "tier", "reason": "moved"}),
        attempts: vec![ended, sample::attempt_begun(&second)],
        ..sample::begun(&new)
    };
    assert_eq!(backend.reopen().await.dispatch(new.id).await.unwrap(), expected);
}

pub async fn the_same_dispatch_or_attempt_again_is_a_conflict(backend: &dyn Backend) {
    let store = backend.fresh().await;
    let new = sample::dispatch(900);
    let attempt = sample::attempt(new.id, 1);
    store.begin_dispatch(&new).await.unwrap();
    sample::start(&*store, &attempt).await;
    assert_eq!(sample::kind(store.begin_dispatch(&new).await), ErrorKind::Conflict);
    assert_eq!(sample::kind(store.begin_attempt(&attempt).await), ErrorKind::Conflict);
}

pub async fn what_never_began_is_not_found(backend: &dyn Backend) {
    let store = backend.fresh().await;
    let (id, end) = (sample::dispatch_id(), sample::attempt_end(1));
    assert_eq!(sample::kind(store.dispatch(id).await), ErrorKind::NotFound);
    assert_eq!(sample::kind(store.begin_attempt(&sample::attempt(id, 1)).await), ErrorKind::NotFound);
    assert_eq!(sample::kind(store.set_attempt_session(id, 1, "ses_1").await), ErrorKind::NotFound);
    assert_eq!(sample::kind(store.finish_attempt(id, 1, &end).await), ErrorKind::NotFound);
    assert_eq!(sample::kind(store.finish_dispatch(id, &sample::dispatch_end(1)).await), ErrorKind::NotFound);
}

pub async fn an_end_is_never_running(backend: &dyn Backend) {
    let store = backend.fresh().await;
    let new = sample::dispatch(900);
    let attempt = sample::attempt(new.id, 1);
    store.begin_dispatch(&new).await.unwrap();
    sample::start(&*store, &attempt).await;
    let end = AttemptEnd { status: RunStatus::Running, ..sample::attempt_end(1) };
    assert_eq!(sample::kind(store.finish_attempt(new.id, 1, &end).await), ErrorKind::Conflict);
    let end = DispatchEnd { status: RunStatus::Running, ..sample::dispatch_end(1) };
    assert_eq!(sample::kind(store.finish_dispatch(new.id, &end).await), ErrorKind::Conflict);
    let expected = DispatchRecord { attempts: vec![sample::attempt_begun(&attempt)], ..sample::begun(&new) };
    assert_eq!(store.dispatch(new.id).await.unwrap(), expected);
}

pub async fn the_first_status_stands_and_the_higher_amounts_count(backend: &dyn Backend) {
    let store = backend.fresh().await;
    let new = sample::dispatch(900);
    let attempt = sample::attempt(new.id, 1);
    store.begin_dispatch(&new).await.unwrap();
    sample::start(&*store, &attempt).await;
    let first = AttemptEnd { cost_known: false, ..sample::attempt_end(50) };
    let late = AttemptEnd {
        at: 6_000,
        status: RunStatus::Abandoned,
        error_class: Some(ErrorClass::Network),
        message: Some("too late".into()),
        answered_by: Some("other/model".into()),
        usage: Usage { input: 99, output: 21, reasoning: 3, cache_read: 0, cache_write: 6 },
        usage_known: true,
        cost: Nano(70),
        cost_known: true,
    };
    let smaller = AttemptEnd { usage: Usage::default(), cost: Nano(1), cost_known: false, ..late.clone() };
    let mut expected = sample::attempt_ended(&attempt, &first);
    let more = AttemptEnd { usage: Usage { input: 1, output: 30, ..Usage::default() }, cost: Nano(71), ..late.clone() };
    for (end, usage, cost, cost_known) in [
        (&first, first.usage, 50, false),
        (&first, first.usage, 50, false),
        (&late, late.usage, 70, true),
        (&smaller, late.usage, 70, true),
        (&more, Usage { output: 30, ..late.usage }, 71, true),
    ] {
        let settled = store.finish_attempt(new.id, 1, end).await.unwrap();
        assert_eq!(settled, Settled { usage, cost: Nano(cost), cost_known }, "after {end:?}");
        (expected.usage, expected.cost, expected.cost_known) = (usage, Nano(cost), cost_known);
        assert_eq!(store.dispatch(new.id).await.unwrap().attempts, [expected.clone()], "after {end:?}");
    }
}

pub async fn a_dispatch_ends_once(backend: &dyn Backend) {
    let store = backend.fresh().await;
    let new = sample::dispatch(900);
    store.begin_dispatch(&new).await.unwrap();
    let first = sample::dispatch_end(2_000);
    let again = DispatchEnd {
        at: 3_000,
        status: RunStatus::Error,
        error_class: Some(ErrorClass::Network),
        warnings: vec!["late".into()],
        route: Some(serde_json::json!({"rule": "late"})),
        outcomes: vec![],
    };
    store.finish_dispatch(new.id, &first).await.unwrap();
    store.finish_dispatch(new.id, &again).await.unwrap();
    let expected = DispatchRecord {
        ended_at: Some(2_000),
        status: RunStatus::Ok,
        warnings: first.warnings,
        ..sample::begun(&new)
    };
    assert_eq!(store.dispatch(new.id).await.unwrap(), expected);
}

pub async fn recent_ones_come_newest_first_and_unfinished_ones_oldest_first(backend: &dyn Backend) {
    let store = backend.fresh().await;
    let all = [30, 10, 20, 40].map(sample::dispatch);
    let mut rows = vec![];
    for new in &all {
        let attempt = sample::attempt(new.id, 1);
        store.begin_dispatch(new).await.unwrap();
        sample::start(&*store, &attempt).await;
        rows.push(DispatchRecord { attempts: vec![sample::attempt_begun(&attempt)], ..sample::begun(new) });
    }
    let [thirty, ten, twenty, forty] = rows.try_into().unwrap();
    assert_eq!(store.recent_dispatches(3).await.unwrap(), [forty.clone(), thirty.clone(), twenty.clone()]);
    assert_eq!(store.unfinished_dispatches(2).await.unwrap(), [ten, twenty.clone()]);

    store.finish_dispatch(all[1].id, &sample::dispatch_end(99)).await.unwrap();
    assert_eq!(store.unfinished_dispatches(9).await.unwrap(), [twenty, thirty, forty]);
    assert_eq!(store.recent_dispatches(9).await.unwrap().len(), 4);
    assert_eq!(store.recent_dispatches(0).await.unwrap(), []);
}
