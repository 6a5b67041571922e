//! What a model usually costs, and what was charged to a task or a batch, by the attempts themselves.

use super::{Backend, sample};
use shuntyard_core::Nano;
use shuntyard_store::{AttemptEnd, NewAttempt, NewOutcome, NewSpend, SpendKey, SpendKind, Spent};

pub async fn only_what_used_anything_tells_what_a_model_costs(backend: &dyn Backend) {
    let store = &*backend.fresh().await;
    let used =
        |at, cost, tokens| NewOutcome { cost: Nano(cost), tokens, strategy: "text".into(), ..sample::outcome(at) };
    let outcomes = [
        used(10, 100, 7),
        used(11, 300, 9),
        // Free, but used.
        used(12, 0, 5),
        // A refused key.
        used(13, 0, 0),
        NewOutcome { cost_known: false, ..used(14, 40, 4) },
        NewOutcome { strategy: "agent".into(), ..used(15, 5000, 900) },
        NewOutcome { model: "far/large".into(), ..used(16, 9, 9) },
        // By hand.
        NewOutcome { attempt: None, ..used(17, 8, 8) },
        used(9, 70, 70),
    ];
    store.record_outcomes(&outcomes).await.unwrap();
    let usual = async |mode, from| store.usual("local/small@low", mode, from).await.unwrap();
    let spent = |cost, attempts, tokens| Spent { cost: Nano(cost), attempts, unknown: 0, tokens };
    assert_eq!(usual("text", 10).await, spent(400, 3, 21));
    assert_eq!(usual("text", 0).await, spent(470, 4, 91));
    assert_eq!(usual("agent", 0).await, spent(5000, 1, 900));
    assert_eq!(usual("command", 0).await, Spent::default());
}

pub async fn what_is_charged_has_a_first_moment_and_a_window(backend: &dyn Backend) {
    let store = &*backend.fresh().await;
    let key = |kind, name: &str| SpendKey::new(kind, name);
    assert_eq!(store.charged(&key(SpendKind::Task, "t1"), 0, 100).await.unwrap(), (None, Spent::default()));
    for (at, cost) in [(30, 5), (20, 7), (90, 11)] {
        let dispatch = sample::dispatch(1);
        store.begin_dispatch(&dispatch).await.unwrap();
        let (task, batch) = (Some("t1".into()), Some("b1".into()));
        let attempt = NewAttempt { at: 1, task, batch, ..sample::attempt(dispatch.id, 1) };
        sample::start(store, &attempt).await;
        let end = AttemptEnd { at, ..sample::attempt_end(cost) };
        store.finish_attempt(dispatch.id, 1, &end).await.unwrap();
    }
    let by_hand = |at, task: Option<&str>, cost| NewSpend {
        at,
        provider: "far".into(),
        model: String::new(),
        tier: None,
        task: task.map(str::to_owned),
        batch: None,
        spent: Spent { cost: Nano(cost), attempts: 2, unknown: 0, tokens: 3 },
    };
    store.record_spend(&by_hand(10, Some("t1"), 100)).await.unwrap();
    store.record_spend(&by_hand(5, None, 1000)).await.unwrap();
    let (first, task) = store.charged(&key(SpendKind::Task, "t1"), 10, 90).await.unwrap();
    assert_eq!((first, task.cost, task.attempts), (Some(10), Nano(112), 4));
    let (first, batch) = store.charged(&key(SpendKind::Batch, "b1"), 21, 100).await.unwrap();
    assert_eq!((first, batch.cost, batch.attempts), (Some(20), Nano(16), 2));
    let (first, far) = store.charged(&key(SpendKind::Provider, "far"), i64::MIN, i64::MAX).await.unwrap();
    assert_eq!((first, far.cost), (None, Nano(1100)));
}
