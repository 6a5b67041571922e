//! Reservations: no attempt starts past a ceiling, and what is set aside is given back.

use super::{Backend, concurrency::stores, event::story, sample};
use shuntyard_core::{Nano, Usage};
use shuntyard_store::{
    AttemptEnd, BUCKET_MICROS, Begun, Ceiling, ErrorKind, Measure, NewAttempt, Reserve, SpendKey, SpendKind, Spent,
    Store,
};
use std::sync::Arc;
use tokio::task::JoinSet;

fn ceiling(key: SpendKey, measure: Measure, limit: i64) -> Ceiling {
    Ceiling { key, measure, from: 0, until: BUCKET_MICROS, limit }
}

fn overall(limit: i64) -> Ceiling {
    ceiling(SpendKey::overall(), Measure::Cost, limit)
}

/// An attempt of a dispatch of its own that sets aside this cost and 7 tokens.
async fn new(store: &dyn Store, cost: i64, ceilings: Vec<Ceiling>) -> NewAttempt {
    let dispatch = sample::dispatch(1);
    store.begin_dispatch(&dispatch).await.unwrap();
    NewAttempt { reserve: Some(Reserve { cost: Nano(cost), tokens: 7, ceilings }), ..sample::attempt(dispatch.id, 1) }
}

/// Settles 30 nano-dollars and 5 tokens, and leaves 20 and 7 reserved.
async fn thirty_and_twenty(store: &dyn Store) -> NewAttempt {
    let [settled, running] = [new(store, 999, vec![]).await, new(store, 20, vec![]).await];
    for attempt in [&settled, &running] {
        sample::start(store, attempt).await;
    }
    let usage = Usage { output: 5, ..Usage::default() };
    let end = AttemptEnd { usage, ..sample::attempt_end(30) };
    store.finish_attempt(settled.dispatch, 1, &end).await.unwrap();
    running
}

async fn reserved(store: &dyn Store) -> Spent {
    let alone = store.reserved(&SpendKey::overall()).await.unwrap();
    let settled = store.spent(&SpendKey::overall(), 0, i64::MAX).await.unwrap();
    let together = store.standings(&[(SpendKey::overall(), 0, i64::MAX)]).await.unwrap();
    assert_eq!(together, [(settled, alone)]);
    alone
}

pub async fn a_ceiling_is_reached_but_not_passed(backend: &dyn Backend) {
    let store = &*backend.fresh().await;
    thirty_and_twenty(store).await;
    for (measure, settled, reserved, share) in
        [(Measure::Cost, 30, 20, 50), (Measure::Attempts, 1, 1, 1), (Measure::Tokens, 5, 7, 7)]
    {
        for (kind, name) in [
            (SpendKind::Overall, ""),
            (SpendKind::Provider, "local"),
            (SpendKind::Tier, "quick"),
            (SpendKind::Batch, "batch-3"),
            (SpendKind::Task, "task-7"),
        ] {
            let line = settled + reserved + share;
            let at = |limit| vec![ceiling(SpendKey::new(kind, name), measure, limit)];
            let attempt = new(store, 50, at(line - 1)).await;
            let refused = Begun::Refused { ceiling: 0, settled, reserved };
            assert_eq!(store.begin_attempt(&attempt).await.unwrap(), refused, "{measure:?} {kind:?}");
            let reserve = Reserve { cost: Nano(50), tokens: 7, ceilings: at(line) };
            sample::start(store, &NewAttempt { reserve: Some(reserve), ..attempt.clone() }).await;
            store.drop_reservation(attempt.dispatch, 1).await.unwrap();
        }
    }
}

pub async fn a_ceiling_counts_its_own_key_and_measure(backend: &dyn Backend) {
    let store = &*backend.fresh().await;
    thirty_and_twenty(store).await;
    for kind in [SpendKind::Provider, SpendKind::Tier, SpendKind::Batch, SpendKind::Task] {
        let key = SpendKey::new(kind, "another");
        assert_eq!(store.reserved(&key).await.unwrap(), Spent::default(), "{kind:?}");
        let attempt = new(store, 50, vec![ceiling(key.clone(), Measure::Cost, 50)]).await;
        sample::start(store, &attempt).await;
        store.drop_reservation(attempt.dispatch, 1).await.unwrap();
    }
    // What is settled in another window is another's; what is reserved counts in every window.
    let next = Ceiling { from: BUCKET_MICROS, until: 2 * BUCKET_MICROS, ..overall(69) };
    let attempt = new(store, 50, vec![next]).await;
    let refused = Begun::Refused { ceiling: 0, settled: 0, reserved: 20 };
    assert_eq!(store.begin_attempt(&attempt).await.unwrap(), refused);
}

pub async fn the_first_ceiling_that_would_be_passed_refuses(backend: &dyn Backend) {
    let store = &*backend.fresh().await;
    thirty_and_twenty(store).await;
    let attempts = ceiling(SpendKey::new(SpendKind::Task, "task-7"), Measure::Attempts, 2);
    let attempt = new(store, 50, vec![overall(100), attempts, overall(0)]).await;
    let refused = Begun::Refused { ceiling: 1, settled: 1, reserved: 1 };
    assert_eq!(store.begin_attempt(&attempt).await.unwrap(), refused);
}

pub async fn a_refusal_writes_nothing(backend: &dyn Backend) {
    let store = &*backend.fresh().await;
    let other = backend.reopen().await;
    thirty_and_twenty(store).await;
    let attempt = new(store, 50, vec![overall(99)]).await;
    let unsound = NewAttempt {
        reserve: Some(Reserve { cost: Nano(-1), tokens: 0, ceilings: vec![] }),
        ..sample::attempt(attempt.dispatch, 2)
    };
    let (before, told) = (other.data_version().await.unwrap(), story(store).await);
    assert_ne!(store.begin_attempt(&attempt).await.unwrap(), Begun::Started);
    assert_eq!(sample::kind(store.begin_attempt(&unsound).await), ErrorKind::Conflict);
    assert_eq!(other.data_version().await.unwrap(), before);
    assert_eq!(store.dispatch(attempt.dispatch).await.unwrap().attempts, []);
    assert_eq!(reserved(store).await, Spent { cost: Nano(20), attempts: 1, unknown: 0, tokens: 7 });
    assert_eq!(story(store).await, told);
}

pub async fn the_same_ordinal_is_a_conflict_even_without_room(backend: &dyn Backend) {
    let store = &*backend.fresh().await;
    let attempt = new(store, 50, vec![overall(60)]).await;
    sample::start(store, &attempt).await;
    assert_eq!(sample::kind(store.begin_attempt(&attempt).await), ErrorKind::Conflict);
    assert_eq!(reserved(store).await.cost, Nano(50));
}

pub async fn an_end_releases_the_reservation(backend: &dyn Backend) {
    let store = &*backend.fresh().await;
    let first = new(store, 100, vec![overall(100)]).await;
    sample::start(store, &first).await;
    let second = new(store, 60, vec![overall(100)]).await;
    assert_eq!(store.begin_attempt(&second).await.unwrap(), Begun::Refused { ceiling: 0, settled: 0, reserved: 100 });
    for _ in 0..2 {
        store.finish_attempt(first.dispatch, 1, &sample::attempt_end(40)).await.unwrap();
        assert_eq!(reserved(store).await, Spent::default());
    }
    sample::start(store, &second).await;
    assert_eq!(store.stale_reservations(i64::MAX).await.unwrap(), []);
    // A cost above the reservation counts in full; no other attempt starts.
    store.finish_attempt(second.dispatch, 1, &sample::attempt_end(70)).await.unwrap();
    let third = new(store, 0, vec![overall(100)]).await;
    let refused = Begun::Refused { ceiling: 0, settled: 110, reserved: 0 };
    assert_eq!(store.begin_attempt(&third).await.unwrap(), refused);
}

/// Every sum that an attempt counts for, settled and reserved.
async fn everywhere(store: &dyn Store) -> Vec<(Spent, Spent)> {
    let keys = [
        (SpendKind::Overall, ""),
        (SpendKind::Provider, "local"),
        (SpendKind::Tier, "quick"),
        (SpendKind::Batch, "batch-3"),
        (SpendKind::Task, "task-7"),
    ];
    let wanted = keys.map(|(kind, name)| (SpendKey::new(kind, name), i64::MIN, i64::MAX));
    store.standings(&wanted).await.unwrap()
}

pub async fn an_unknown_end_counts_as_its_reservation_until_it_is_corrected(backend: &dyn Backend) {
    let store = &*backend.fresh().await;
    let nothing = AttemptEnd {
        usage: Usage::default(),
        usage_known: false,
        cost: Nano::ZERO,
        cost_known: false,
        ..sample::attempt_end(0)
    };
    let seen =
        |cost, output| AttemptEnd { cost: Nano(cost), usage: Usage { output, ..Usage::default() }, ..nothing.clone() };
    let exact = |cost, output| AttemptEnd { cost_known: true, usage_known: true, ..seen(cost, output) };
    let free = AttemptEnd { usage_known: true, ..seen(0, 3) };
    let spent = |cost, unknown, tokens| Spent { cost: Nano(cost), attempts: 1, unknown, tokens };
    for (what, reserve, reports) in [
        ("nothing was seen, and then all", 50, vec![(&nothing, spent(50, 1, 7)), (&exact(30, 4), spent(30, 0, 4))]),
        (
            "it cost more than it had reserved",
            50,
            vec![(&nothing, spent(50, 1, 7)), (&exact(80, 40), spent(80, 0, 40))],
        ),
        ("nothing was spent after all", 50, vec![(&nothing, spent(50, 1, 7)), (&exact(0, 0), spent(0, 0, 0))]),
        ("less was seen", 50, vec![(&seen(20, 2), spent(50, 1, 7)), (&seen(49, 1), spent(50, 1, 7))]),
        ("more was seen", 50, vec![(&seen(60, 9), spent(60, 1, 9)), (&seen(65, 9), spent(65, 1, 9))]),
        ("all was known at once", 50, vec![(&exact(30, 4), spent(30, 0, 4)), (&nothing, spent(30, 0, 4))]),
        ("a model without a price", 0, vec![(&free, spent(0, 1, 3)), (&free, spent(0, 1, 3))]),
    ] {
        let before = everywhere(store).await;
        let attempt = new(store, reserve, vec![]).await;
        sample::start(store, &attempt).await;
        for (report, expected) in reports {
            // However often it is repeated.
            for _ in 0..3 {
                store.finish_attempt(attempt.dispatch, 1, report).await.unwrap();
                let sums = before.iter().map(|(settled, _)| (*settled + expected, Spent::default()));
                assert_eq!(everywhere(store).await, sums.collect::<Vec<_>>(), "{what}: {report:?}");
            }
        }
    }
}

pub async fn crashes_use_up_a_limit(backend: &dyn Backend) {
    let store = &*backend.fresh().await;
    let died = AttemptEnd { usage_known: false, cost_known: false, usage: Usage::default(), ..sample::attempt_end(0) };
    for crash in 0..3 {
        let attempt = new(store, 30, vec![overall(100)]).await;
        sample::start(store, &attempt).await;
        store.finish_attempt(attempt.dispatch, 1, &died).await.unwrap();
        let settled = store.spent(&SpendKey::overall(), 0, i64::MAX).await.unwrap();
        assert_eq!(
            settled,
            Spent {
                cost: Nano(30 * (crash + 1)),
                attempts: 1 + crash.unsigned_abs(),
                unknown: 1 + crash.unsigned_abs(),
                tokens: 7 * (1 + crash.unsigned_abs())
            }
        );
    }
    let refused = store.begin_attempt(&new(store, 30, vec![overall(100)]).await).await.unwrap();
    assert_eq!(refused, Begun::Refused { ceiling: 0, settled: 90, reserved: 0 });
}

pub async fn a_dropped_reservation_makes_room(backend: &dyn Backend) {
    let store = &*backend.fresh().await;
    let running = thirty_and_twenty(store).await;
    assert_eq!(store.stale_reservations(i64::MAX).await.unwrap(), [], "one that runs is not stale");
    for _ in 0..2 {
        store.drop_reservation(running.dispatch, 1).await.unwrap();
        assert_eq!(backend.reopen().await.reserved(&SpendKey::overall()).await.unwrap(), Spent::default());
    }
    sample::start(store, &new(store, 70, vec![overall(100)]).await).await;
    store.finish_attempt(running.dispatch, 1, &sample::attempt_end(1)).await.unwrap();
}

pub async fn of_many_at_once_only_those_with_room_start(backend: &dyn Backend) {
    const MANY: usize = 32;
    const ROOM: usize = 10;
    let stores = stores(backend).await;
    let mut tasks = JoinSet::new();
    for (number, store) in (0..MANY).zip(stores.iter().cycle()) {
        let store: Arc<dyn Store> = Arc::clone(store);
        tasks.spawn(async move {
            let attempt = new(&*store, 3, vec![overall(32)]).await;
            (number, store.begin_attempt(&attempt).await.unwrap())
        });
    }
    let outcomes = tasks.join_all().await;
    let started = outcomes.iter().filter(|(_, begun)| *begun == Begun::Started).count();
    assert_eq!(started, ROOM, "{outcomes:?}");
    let full = Begun::Refused { ceiling: 0, settled: 0, reserved: 30 };
    assert!(outcomes.iter().all(|(_, begun)| *begun == Begun::Started || *begun == full), "{outcomes:?}");
    let expected = Spent { cost: Nano(30), attempts: 10, unknown: 0, tokens: 70 };
    assert_eq!(reserved(&*stores[1]).await, expected);
    let attempts = stores[2].recent_dispatches(100).await.unwrap().iter().map(|one| one.attempts.len()).sum::<usize>();
    assert_eq!(attempts, ROOM);
}
