//! A dispatch that begins together with its first attempt: both are there, or the dispatch alone, or neither. And
//! a caller that goes away in the middle of a call leaves nothing half done.

use super::{Backend, event::story, sample};
use serde_json::json;
use shuntyard_core::Nano;
use shuntyard_store::{
    BUCKET_MICROS, Begun, Ceiling, DispatchEnd, DispatchRecord, ErrorKind, Measure, NewAttempt, NewOutcome, Reserve,
    RunStatus, SpendKey, Spent, Store,
};
use std::{
    future::poll_fn,
    pin::pin,
    task::Poll::{Pending, Ready},
};

fn reserving(attempt: NewAttempt, cost: i64, limit: i64) -> NewAttempt {
    let ceiling = Ceiling { key: SpendKey::overall(), measure: Measure::Cost, from: 0, until: BUCKET_MICROS, limit };
    NewAttempt { reserve: Some(Reserve { cost: Nano(cost), tokens: 7, ceilings: vec![ceiling] }), ..attempt }
}

async fn reserved(store: &dyn Store) -> Spent {
    store.reserved(&SpendKey::overall()).await.unwrap()
}

pub async fn a_dispatch_begins_with_its_first_attempt(backend: &dyn Backend) {
    let store = &*backend.fresh().await;
    let other = backend.reopen().await;
    let mut expected = Spent::default();
    for reserves in [false, true] {
        let new = sample::dispatch(900);
        let mut attempt = sample::attempt(new.id, 1);
        if reserves {
            attempt = reserving(attempt, 20, 20);
            expected = Spent { cost: Nano(20), attempts: 1, unknown: 0, tokens: 7 };
        }
        let before = story(store).await.len();
        assert_eq!(store.begin_dispatch_with(&new, &attempt).await.unwrap(), Begun::Started);
        let row = DispatchRecord { attempts: vec![sample::attempt_begun(&attempt)], ..sample::begun(&new) };
        assert_eq!(other.dispatch(new.id).await.unwrap(), row);
        let told = (900, "dispatch.started".to_owned(), new.id.to_string(), json!({ "mode": "single" }));
        assert_eq!(story(store).await[before..], [told]);
        assert_eq!(reserved(&*other).await, expected);
    }
}

pub async fn a_refused_first_attempt_leaves_its_dispatch_alone(backend: &dyn Backend) {
    let store = &*backend.fresh().await;
    let running = sample::dispatch(900);
    let attempt = reserving(sample::attempt(running.id, 1), 20, 20);
    assert_eq!(store.begin_dispatch_with(&running, &attempt).await.unwrap(), Begun::Started);
    let before = (reserved(store).await, story(store).await.len());

    let new = sample::dispatch(900);
    let attempt = sample::attempt(new.id, 1);
    let refused = Begun::Refused { ceiling: 0, settled: 0, reserved: 20 };
    let begun = store.begin_dispatch_with(&new, &reserving(attempt.clone(), 1, 20)).await.unwrap();
    assert_eq!(begun, refused);
    assert_eq!(store.dispatch(new.id).await.unwrap(), sample::begun(&new));
    assert_eq!((reserved(store).await, story(store).await.len()), (before.0, before.1 + 1));
    // It goes on with another model, under the same number.
    sample::start(store, &attempt).await;
    let ended = DispatchEnd { status: RunStatus::Error, ..sample::dispatch_end(2_000) };
    store.finish_dispatch(new.id, &ended).await.unwrap();
}

pub async fn a_beginning_that_fails_writes_neither(backend: &dyn Backend) {
    let store = &*backend.fresh().await;
    let other = backend.reopen().await;
    let known = sample::dispatch(900);
    let first = sample::attempt(known.id, 1);
    assert_eq!(store.begin_dispatch_with(&known, &first).await.unwrap(), Begun::Started);
    let new = sample::dispatch(900);
    let (version, told) = (other.data_version().await.unwrap(), story(store).await);
    for (dispatch, attempt) in [
        (&known, sample::attempt(known.id, 2)),
        (&known, reserving(sample::attempt(known.id, 2), 1, 0)),
        (&new, sample::attempt(known.id, 2)),
        (&new, sample::attempt(new.id, 0)),
        (&new, reserving(sample::attempt(new.id, 1), -1, 20)),
    ] {
        assert_eq!(
            sample::kind(store.begin_dispatch_with(dispatch, &attempt).await),
            ErrorKind::Conflict,
            "{attempt:?}"
        );
    }
    assert_eq!((other.data_version().await.unwrap(), story(store).await), (version, told));
    assert_eq!(store.dispatch(known.id).await.unwrap().attempts, [sample::attempt_begun(&first)]);
    assert_eq!(sample::kind(store.dispatch(new.id).await), ErrorKind::NotFound);
    assert_eq!(reserved(store).await, Spent::default());
    assert_eq!(store.begin_dispatch_with(&new, &sample::attempt(new.id, 1)).await.unwrap(), Begun::Started);
}

pub async fn who_goes_away_leaves_nothing_half_done(backend: &dyn Backend) {
    let store = &*backend.fresh().await;
    let other = backend.reopen().await;
    for looks in 0..40 {
        let new = sample::dispatch(900);
        let attempt = sample::attempt(new.id, 1);
        after(looks, store.begin_dispatch_with(&new, &attempt)).await;
        // Other writers are not blocked, and what is read now is final.
        other.append_event(1, "note", "other", &json!({})).await.unwrap();
        store.append_event(1, "note", "own", &json!({})).await.unwrap();
        let begun = match other.dispatch(new.id).await {
            Ok(begun) => begun,
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::NotFound);
                assert_eq!(store.begin_dispatch_with(&new, &attempt).await.unwrap(), Begun::Started);
                other.dispatch(new.id).await.unwrap()
            }
        };
        assert_eq!(begun.attempts, [sample::attempt_begun(&attempt)], "after {looks} looks");

        let outcome = NewOutcome { attempt: Some((new.id, 1)), ..sample::outcome(2_000) };
        let end = DispatchEnd { outcomes: vec![outcome.clone()], ..sample::dispatch_end(2_000) };
        after(looks, store.finish_dispatch(new.id, &end)).await;
        other.append_event(1, "note", "other", &json!({})).await.unwrap();
        store.append_event(1, "note", "own", &json!({})).await.unwrap();
        let ended = other.dispatch(new.id).await.unwrap().status == RunStatus::Ok;
        let learned = sample::outcomes(&*other).await.contains(&outcome);
        assert_eq!(ended, learned, "after {looks} looks");
    }
}

/// Looks so often whether it is done, and then goes away.
async fn after(looks: usize, call: impl Future) {
    let mut call = pin!(call);
    let mut left = looks;
    poll_fn(|context| {
        if left == 0 {
            return Ready(());
        }
        left -= 1;
        match call.as_mut().poll(context) {
            Ready(_) => Ready(()),
            Pending => Pending,
        }
    })
    .await;
}
