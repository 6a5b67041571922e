//! Claims: slots and money are taken together or not at all, and never more than there are.

use super::{
    Backend,
    concurrency::stores,
    sample::{self, kind},
    task_sample::{self as tasks, add, bare, claim_of, happen, id, make, read, stepped, total},
};
use shuntyard_core::{
    Nano,
    work::task::{Event, Slot, SlotKind, Task, TaskSpec},
};
use shuntyard_store::{
    BatchRecord, Begun, Ceiling, Changed, ErrorKind, Measure, NewAttempt, NewRun, Reserve, RunChange, RunNote,
    SpendKey, SpendKind, Spent, Store, TaskChange,
};
use std::sync::Arc;
use tokio::task::JoinSet;

fn slot(kind: SlotKind, name: &str, limit: u32) -> Slot {
    Slot { kind, name: name.into(), limit }
}

fn money(cost: i64, limit: i64) -> Reserve {
    let ceiling = Ceiling { key: SpendKey::overall(), measure: Measure::Cost, from: 0, until: 900_000_000, limit };
    Reserve { cost: Nano(cost), tokens: 7, ceilings: vec![ceiling] }
}

async fn reserved(store: &dyn Store, key: &SpendKey) -> i64 {
    store.reserved(key).await.unwrap().cost.0
}

pub async fn a_slot_is_counted_by_what_it_is_about(backend: &dyn Backend) {
    let store = &*backend.fresh().await;
    for name in ["nightly", "other"] {
        let batch = BatchRecord { name: name.into(), concurrency: 0, paused: false, created_at: 1 };
        store.create_batch(&batch).await.unwrap();
    }
    let held = Task { batch: Some("nightly".into()), parent: Some(id("t001")), ..bare("t001.1") };
    add(store, [held, bare("t002")]).await;
    happen(store, "t001.1", Event::Claim).await;
    for (kind, taken, free) in [
        (SlotKind::Total, &[""][..], &[][..]),
        (SlotKind::Repository, &["/project"], &["/elsewhere", ""]),
        (SlotKind::Batch, &["nightly"], &["other", ""]),
        (SlotKind::Siblings, &["t001"], &["t001.1", ""]),
        (SlotKind::Provider, &["local"], &["loca", "local/small@low", ""]),
        (SlotKind::Model, &["local/small@low"], &["local/small", "local"]),
    ] {
        for (name, limit, full) in taken
            .iter()
            .flat_map(|name| [(name, 0, true), (name, 1, true), (name, 2, false)])
            .chain(free.iter().flat_map(|name| [(name, 0, true), (name, 1, false)]))
        {
            let wanted = slot(kind, name, limit);
            let slots = vec![total(9), wanted.clone(), total(0)];
            let changed = store.change_task(&claim_of(store, "t002", NewRun { slots, ..tasks::run() }).await).await;
            let expected = if full { wanted } else { total(0) };
            assert_eq!(changed.unwrap(), Changed::NoSlot(expected), "{kind:?} {name} {limit}");
        }
    }
}

/// A model without a slash is its own provider.
pub async fn a_run_without_a_provider_or_a_model_takes_no_such_slot(backend: &dyn Backend) {
    let store = &*backend.fresh().await;
    add(store, ["t001", "t002", "t003"].map(bare)).await;
    make(store, &claim_of(store, "t001", NewRun { model: None, ..tasks::run() }).await).await;
    make(store, &claim_of(store, "t002", NewRun { model: Some("plain".into()), ..tasks::run() }).await).await;
    for (wanted, full) in [
        (slot(SlotKind::Provider, "plain", 1), true),
        (slot(SlotKind::Provider, "", 1), false),
        (slot(SlotKind::Model, "plain", 1), true),
        (slot(SlotKind::Model, "", 1), false),
    ] {
        let slots = vec![wanted.clone(), total(2)];
        let changed = store.change_task(&claim_of(store, "t003", NewRun { slots, ..tasks::run() }).await).await;
        assert_eq!(changed.unwrap(), Changed::NoSlot(if full { wanted } else { total(2) }));
    }
}

pub async fn a_claim_that_is_refused_leaves_nothing(backend: &dyn Backend) {
    let store = &*backend.fresh().await;
    let other = backend.reopen().await;
    add(store, ["t001", "t002"].map(bare)).await;
    let dispatch = Some(sample::dispatch_id());
    let first = NewRun { dispatch, slots: vec![total(1)], reserve: Some(money(60, 100)), ..tasks::run() };
    make(store, &claim_of(store, "t001", first.clone()).await).await;
    let (before, version) = (tasks::everything(store).await, other.data_version().await.unwrap());
    let fresh = NewRun { dispatch: Some(sample::dispatch_id()), slots: vec![], ..first.clone() };
    let too_many = NewRun { slots: vec![total(1)], ..fresh.clone() };
    let too_much = NewRun { reserve: Some(money(41, 100)), ..fresh.clone() };
    for (run, expected) in
        [(too_many, Changed::NoSlot(total(1))), (too_much, Changed::NoMoney { ceiling: 0, settled: 0, reserved: 60 })]
    {
        assert_eq!(store.change_task(&claim_of(store, "t002", run).await).await.unwrap(), expected);
        assert_eq!(tasks::everything(store).await, before);
    }
    let nobodys = NewRun { dispatch: None, reserve: Some(money(1, 100)), ..fresh.clone() };
    let anothers = NewRun { dispatch, reserve: Some(money(1, 100)), ..fresh.clone() };
    for run in [nobodys, anothers] {
        assert_eq!(kind(store.change_task(&claim_of(store, "t002", run).await).await), ErrorKind::Conflict);
        assert_eq!(tasks::everything(store).await, before);
    }
    assert_eq!(other.data_version().await.unwrap(), version);
    let fits = NewRun { reserve: Some(money(40, 100)), ..fresh };
    make(store, &claim_of(store, "t002", fits).await).await;
    assert_eq!(reserved(store, &SpendKey::overall()).await, 100);
}

pub async fn the_money_of_a_claim_is_taken_over_by_its_attempt(backend: &dyn Backend) {
    let store = &*backend.fresh().await;
    add(store, [bare("t001")]).await;
    let dispatch = sample::dispatch(2_000);
    let run = NewRun { dispatch: Some(dispatch.id), reserve: Some(money(60, 100)), ..tasks::run() };
    make(store, &claim_of(store, "t001", run).await).await;
    for key in [SpendKey::new(SpendKind::Provider, "local"), SpendKey::new(SpendKind::Task, "t001")] {
        assert_eq!(reserved(store, &key).await, 60, "{key:?}");
    }
    // It is not left over, and is not dropped as such.
    assert_eq!(store.stale_reservations(i64::MAX).await.unwrap(), []);
    store.drop_reservation(dispatch.id, 1).await.unwrap();
    assert_eq!(reserved(store, &SpendKey::overall()).await, 60);
    store.begin_dispatch(&dispatch).await.unwrap();
    let attempt = |cost| NewAttempt { reserve: Some(money(cost, 100)), ..sample::attempt(dispatch.id, 1) };
    let refused = Begun::Refused { ceiling: 0, settled: 0, reserved: 0 };
    assert_eq!(store.begin_attempt(&attempt(101)).await.unwrap(), refused);
    assert_eq!(reserved(store, &SpendKey::overall()).await, 60, "a refusal leaves what was there");
    sample::start(store, &attempt(100)).await;
    let one = Spent { cost: Nano(100), attempts: 1, unknown: 0, tokens: 7 };
    assert_eq!(store.reserved(&SpendKey::overall()).await.unwrap(), one);
    // The run ends, and its attempt is still to be settled.
    happen(store, "t001", Event::Lose { detail: "gone".into() }).await;
    assert_eq!(store.reserved(&SpendKey::overall()).await.unwrap(), one);
    store.finish_attempt(dispatch.id, 1, &sample::attempt_end(3)).await.unwrap();
    assert_eq!(reserved(store, &SpendKey::overall()).await, 0);
}

pub async fn entries_of_a_contest_stay_below_its_limit_together(backend: &dyn Backend) {
    let store = &*backend.fresh().await;
    let entry = |name: &str| Task { spec: TaskSpec { entry_of: Some(id("t001")), ..bare(name).spec }, ..bare(name) };
    add(store, [bare("t001"), entry("t001.1"), entry("t001.2")]).await;
    let contest = SpendKey::new(SpendKind::Task, "t001");
    let limit = Ceiling { key: contest.clone(), measure: Measure::Cost, from: 0, until: i64::MAX, limit: 100 };
    let claim = async |name: &str| {
        let reserve = Some(Reserve { cost: Nano(60), tokens: 7, ceilings: vec![limit.clone()] });
        let run = NewRun { dispatch: Some(sample::dispatch_id()), reserve, ..tasks::run() };
        store.change_task(&claim_of(store, name, run).await).await.unwrap()
    };
    assert!(matches!(claim("t001.1").await, Changed::Done(_)));
    assert_eq!(reserved(store, &contest).await, 60, "it counts for the contest");
    assert_eq!(claim("t001.2").await, Changed::NoMoney { ceiling: 0, settled: 0, reserved: 60 });
}

pub async fn an_end_frees_the_money_of_an_attempt_that_never_began(backend: &dyn Backend) {
    let store = &*backend.fresh().await;
    add(store, [bare("t001"), bare("t002")]).await;
    let claim = async |name: &str| {
        let dispatch = Some(sample::dispatch_id());
        let run = NewRun { dispatch, reserve: Some(money(60, 100)), slots: vec![total(1)], ..tasks::run() };
        store.change_task(&claim_of(store, name, run).await).await.unwrap()
    };
    for _ in 0..2 {
        assert!(matches!(claim("t001").await, Changed::Done(_)));
        assert!(matches!(claim("t002").await, Changed::NoSlot(_)));
        happen(store, "t001", Event::Lose { detail: "gone".into() }).await;
        assert_eq!(reserved(store, &SpendKey::overall()).await, 0);
    }
    assert!(matches!(claim("t002").await, Changed::Done(_)));
    // What was noted as its dispatch later is what it is freed under, too.
    let (other, lost) =
        (sample::dispatch_id(), stepped(&read(store, "t002").await, Event::Lose { detail: "x".into() }));
    let note = RunNote { dispatch: Some(other), ..RunNote::default() };
    make(store, &TaskChange { run: RunChange::End(note), ..lost }).await;
    assert_eq!(reserved(store, &SpendKey::overall()).await, 0);
    assert_eq!(store.runs(&id("t002")).await.unwrap()[0].dispatch, Some(other));
}

pub async fn of_many_claims_at_once_no_more_than_the_limit_are_made(backend: &dyn Backend) {
    const MANY: usize = 20;
    const LIMIT: u32 = 3;
    let stores = stores(backend).await;
    let names: Vec<String> = (0..MANY).map(|number| format!("t{number}")).collect();
    add(&*stores[0], names.iter().map(|name| bare(name))).await;
    for _ in 0..3 {
        let mut calls = JoinSet::new();
        for (name, store) in names.iter().zip(stores.iter().cycle()) {
            let (name, store): (String, Arc<dyn Store>) = (name.clone(), Arc::clone(store));
            calls.spawn(async move {
                let run = NewRun { slots: vec![total(LIMIT)], ..tasks::run() };
                let changed = store.change_task(&claim_of(&*store, &name, run).await).await.unwrap();
                assert!(store.live_runs().await.unwrap().len() <= 3);
                (name, changed)
            });
        }
        let outcomes = calls.join_all().await;
        let (made, refused): (Vec<_>, Vec<_>) =
            outcomes.into_iter().partition(|(_, changed)| matches!(changed, Changed::Done(_)));
        assert_eq!(made.len(), 3, "{made:?}");
        assert!(refused.iter().all(|(_, changed)| *changed == Changed::NoSlot(total(LIMIT))), "{refused:?}");
        assert_eq!(stores[1].live_runs().await.unwrap().len(), 3);
        for (name, _) in made {
            happen(&*stores[2], &name, Event::Lose { detail: "gone".into() }).await;
        }
        assert_eq!(stores[3].live_runs().await.unwrap(), []);
    }
}

/// What was seen as ready need not be when it is claimed.
pub async fn what_is_paused_or_blocked_by_then_is_not_claimed(backend: &dyn Backend) {
    let store = &*backend.fresh().await;
    let batch = BatchRecord { name: "nightly".into(), concurrency: 0, paused: false, created_at: 1 };
    store.create_batch(&batch).await.unwrap();
    let spec = TaskSpec { repository: "/other".into(), ..bare("x").spec };
    let waits = Task { depends_on: vec![id("t001")], spec, ..bare("t003") };
    add(store, [bare("t001"), Task { batch: Some("nightly".into()), ..bare("t002") }, waits]).await;
    tasks::finish(store, "t001").await;
    let (of_batch, waiting) =
        (claim_of(store, "t002", tasks::run()).await, claim_of(store, "t003", tasks::run()).await);
    store.pause_batch("nightly", true, 2_000).await.unwrap();
    happen(store, "t001", Event::Reset).await;
    let before = tasks::everything(store).await;
    for claim in [of_batch, waiting] {
        assert_eq!(store.change_task(&claim).await.unwrap(), Changed::Stale);
    }
    assert_eq!(tasks::everything(store).await, before);
}
