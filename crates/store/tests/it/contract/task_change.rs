//! A change is made whole or not at all, and only by who has seen the newest.

use super::{
    Backend,
    concurrency::stores,
    sample::kind,
    task_sample::{self as sample, add, all, bare, happen, id, make, read, stepped},
};
use shuntyard_core::{
    experience::FailureMode,
    work::task::{Delivered, Effect, Event, Failure, Lift, Notice, Phase, State, Task},
};
use shuntyard_store::{Changed, ErrorKind, RunChange, RunNote, TaskChange, TaskRecord};
use std::{future::poll_fn, pin::pin, sync::Arc, task::Poll};
use tokio::task::JoinSet;

pub async fn a_change_is_written_with_all_that_follows(backend: &dyn Backend) {
    let store = &*backend.fresh().await;
    add(store, [bare("t001")]).await;
    happen(store, "t001", Event::Claim).await;
    happen(store, "t001", Event::Start).await;
    let evaluating = happen(store, "t001", Event::Worked).await;
    assert_eq!((evaluating.version, &evaluating.task.state), (4, &State::Evaluating));
    let delivering = happen(store, "t001", Event::Approve { head: "abc".into() }).await;
    let note = RunNote { outcome: Some("approved".into()), ..RunNote::default() };
    let delivered = Delivered::Branch { branch: "shuntyard/t001".into(), head: "abc".into() };
    let change = TaskChange {
        run: RunChange::End(note),
        receipt: Some(sample::receipt(7)),
        ..stepped(&delivering, Event::Deliver { delivered: delivered.clone() })
    };
    let done = make(store, &change).await;
    let expected = TaskRecord {
        task: Task { state: State::Done { delivered }, epoch: 1, changed_at: 2_000, ..bare("t001") },
        number: 1,
        version: 6,
        open_blockers: 0,
        paused: false,
        receipt: Some(sample::receipt(7)),
    };
    assert_eq!(done, expected);
    assert_eq!(backend.reopen().await.task(&id("t001")).await.unwrap(), expected);
    let run = &store.runs(&id("t001")).await.unwrap()[0];
    assert_eq!((run.ended_at, run.outcome.as_deref()), (Some(2_000), Some("approved")));
    let effects: Vec<Effect> =
        store.take_effects(2_000, 10, 9).await.unwrap().into_iter().map(|taken| taken.effect).collect();
    assert_eq!(effects[1..], change.effects, "after what the approval left");
    assert!(
        matches!(effects[..], [Effect::Learn { .. }, Effect::Notify { notice: Notice::Done, .. }, Effect::Tidy]),
        "{effects:?}"
    );
    // Another change without one leaves the receipt.
    assert_eq!(happen(store, "t001", Event::Reset).await.receipt, Some(sample::receipt(7)));
}

pub async fn every_effect_is_read_back_whole(backend: &dyn Backend) {
    let store = &*backend.fresh().await;
    add(store, [bare("t001")]).await;
    let failure = Failure {
        mode: FailureMode::Logic,
        class: Some(shuntyard_core::ErrorClass::Timeout),
        signature: "verify:make".into(),
        detail: "line 1\nline \"2\" ü".into(),
        until: Some(i64::MAX),
        lift: Lift::Allowed,
    };
    let effects = vec![
        Effect::Learn { good: false, failure: Some(failure) },
        Effect::Notify { notice: Notice::Blocked, detail: String::new() },
        Effect::Mark { done: false },
        Effect::WakeContest,
        Effect::CancelEntries,
    ];
    let change = stepped(&read(store, "t001").await, sample::cancel());
    make(store, &TaskChange { effects: effects.clone(), at: 2_500, ..change }).await;
    let taken = store.take_effects(2_500, 10, 9).await.unwrap();
    let expected = (Some(id("t001")), 0, 2_500);
    assert!(taken.iter().all(|taken| (taken.task.clone(), taken.epoch, taken.at) == expected), "{taken:?}");
    assert_eq!(taken.into_iter().map(|taken| taken.effect).collect::<Vec<_>>(), effects);
}

pub async fn who_has_not_seen_the_newest_changes_nothing(backend: &dyn Backend) {
    let store = &*backend.fresh().await;
    add(store, [bare("t001")]).await;
    let seen = read(store, "t001").await;
    let late = stepped(&seen, sample::cancel());
    happen(store, "t001", Event::Claim).await;
    let before = sample::everything(store).await;
    assert_eq!(store.change_task(&late).await.unwrap(), Changed::Stale);
    let early = TaskChange { version: seen.version + 7, ..late.clone() };
    assert_eq!(store.change_task(&early).await.unwrap(), Changed::Stale);
    let nobody = TaskChange { task: bare("t009"), ..late };
    assert_eq!(kind(store.change_task(&nobody).await), ErrorKind::NotFound);
    assert_eq!(sample::everything(store).await, before);
    assert_eq!(store.take_effects(i64::MAX, 1, 9).await.unwrap(), []);
}

pub async fn a_change_that_fails_halfway_leaves_nothing(backend: &dyn Backend) {
    let store = &*backend.fresh().await;
    let other = backend.reopen().await;
    add(store, [bare("t001"), Task { depends_on: vec![id("t001")], ..bare("t002") }]).await;
    happen(store, "t001", Event::Claim).await;
    let lost = happen(store, "t001", Event::Lose { detail: "gone".into() }).await;
    // An epoch that was there before, and the end of a run where there is none.
    let claim = stepped(&lost, Event::Claim);
    let again = TaskChange { task: Task { epoch: 1, ..claim.task.clone() }, ..claim };
    let cancel = TaskChange { run: RunChange::End(RunNote::default()), ..stepped(&lost, sample::cancel()) };
    let (before, version) = (sample::everything(store).await, other.data_version().await.unwrap());
    for change in [again, cancel] {
        assert_eq!(kind(store.change_task(&change).await), ErrorKind::Conflict, "{change:?}");
        assert_eq!(sample::everything(store).await, before);
        assert_eq!(other.data_version().await.unwrap(), version);
    }
    assert_eq!(store.take_effects(i64::MAX, 1, 9).await.unwrap(), []);
}

/// As a process that is killed: the change stops at some point of its way, each time at a later one.
pub async fn a_change_that_is_cut_off_is_made_whole_or_not_at_all(backend: &dyn Backend) {
    let store = &*backend.fresh().await;
    let mut cut = 0;
    for round in 0..200 {
        let name = format!("t{round}");
        add(store, [bare(&name), Task { depends_on: vec![id(&name)], ..bare(&format!("after-{round}")) }]).await;
        happen(store, &name, Event::Claim).await;
        happen(store, &name, Event::Start).await;
        happen(store, &name, Event::Worked).await;
        happen(store, &name, Event::Approve { head: "abc".into() }).await;
        let delivered = Delivered::Branch { branch: "shuntyard/t001".into(), head: "abc".into() };
        let change = stepped(&read(store, &name).await, Event::Deliver { delivered });
        let came = {
            let mut call = pin!(store.change_task(&change));
            let mut polls = 0;
            poll_fn(|context| match call.as_mut().poll(context) {
                Poll::Ready(changed) => Poll::Ready(Some(changed)),
                Poll::Pending if polls == cut => Poll::Ready(None),
                Poll::Pending => {
                    polls += 1;
                    Poll::Pending
                }
            })
            .await
        };
        // The next writer comes after all that is left of the call.
        store.set_mark("cut", round).await.unwrap();
        let done = read(store, &name).await.task.state.phase() == Phase::Done;
        let after = read(store, &format!("after-{round}")).await;
        let run = store.runs(&id(&name)).await.unwrap()[0].clone();
        let told = store.task_events(&id(&name), 0, 9).await.unwrap().len();
        let effects = store.take_effects(i64::MAX, 0, 99).await.unwrap();
        for effect in &effects {
            store.finish_effect(effect.id, 3_000, "told").await.unwrap();
        }
        let whole = (done, after.open_blockers == 0, run.ended_at.is_some(), told == 6, effects.len() == 3);
        assert!(whole == (true, true, true, true, true) || whole == (false, false, false, false, false), "{whole:?}");
        match came {
            Some(changed) => {
                assert!(matches!(changed.unwrap(), Changed::Done(_)) && done);
                // On a busy machine an answer can be there before it is awaited.
                if cut > 0 {
                    break;
                }
            }
            None => cut += 1,
        }
    }
    assert!((1..200).contains(&cut), "it was cut off {cut} times, and then came to its end");
}

pub async fn of_many_changes_at_once_one_is_made(backend: &dyn Backend) {
    let stores = stores(backend).await;
    add(&*stores[0], [bare("t001")]).await;
    for round in 0..10 {
        let seen = read(&*stores[0], "t001").await;
        let mut calls = JoinSet::new();
        for store in stores.iter().chain(&stores) {
            let (store, change) = (Arc::clone(store), stepped(&seen, Event::Claim));
            calls.spawn(async move { store.change_task(&change).await.unwrap() });
        }
        let outcomes = calls.join_all().await;
        let made = outcomes.iter().filter(|changed| matches!(changed, Changed::Done(_))).count();
        assert_eq!(made, 1, "{outcomes:?}");
        assert!(outcomes.iter().all(|changed| matches!(changed, Changed::Done(_) | Changed::Stale)), "{outcomes:?}");
        assert_eq!(stores[1].live_runs().await.unwrap().len(), 1);
        happen(&*stores[2], "t001", Event::Start).await;
        happen(&*stores[2], "t001", sample::cancel()).await;
        happen(&*stores[3], "t001", Event::Stopped).await;
        happen(&*stores[3], "t001", Event::Retry).await;
        assert_eq!(all(&*stores[1]).await[0].task.epoch, round + 1);
    }
}
