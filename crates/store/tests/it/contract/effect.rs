//! What is to be done outside is done once: by one of many, and by another when that one has died.

use super::{
    Backend,
    concurrency::stores,
    sample::kind,
    task_sample::{add, bare, cancel, happen, make, read, stepped},
};
use shuntyard_core::work::task::{Effect, Notice, TaskId};
use shuntyard_store::{EffectRecord, ErrorKind, Store, TaskChange};
use std::{collections::BTreeSet, sync::Arc};
use tokio::task::JoinSet;

/// One effect for each name, from 2 000 on.
async fn cancelled(store: &dyn Store, names: &[&str]) {
    add(store, names.iter().map(|name| bare(name))).await;
    for name in names {
        happen(store, name, cancel()).await;
    }
}

fn named(effects: &[EffectRecord]) -> Vec<(&str, u32)> {
    effects.iter().map(|effect| (effect.task.as_ref().map_or("", TaskId::as_str), effect.tries)).collect()
}

pub async fn an_effect_is_taken_once_and_again_after_the_lease(backend: &dyn Backend) {
    let store = &*backend.fresh().await;
    assert_eq!(store.take_effects(i64::MAX, 1, 9).await.unwrap(), []);
    cancelled(store, &["t001", "t002", "t003"]).await;
    assert_eq!(store.take_effects(1_999, 100, 9).await.unwrap(), [], "not before it was asked for");
    let taken = store.take_effects(3_000, 100, 2).await.unwrap();
    assert_eq!(named(&taken), [("t001", 1), ("t002", 1)], "the oldest first");
    let detail = "cancelled by me".to_owned();
    assert_eq!(taken[0].effect, Effect::Notify { notice: Notice::Cancelled, detail });
    assert_eq!((taken[0].at, taken[0].epoch), (2_000, 0));
    let other = backend.reopen().await;
    assert_eq!(named(&other.take_effects(3_099, 100, 9).await.unwrap()), [("t003", 1)]);
    assert_eq!(named(&other.take_effects(3_100, 100, 9).await.unwrap()), [("t001", 2), ("t002", 2)]);
    let last = other.take_effects(i64::MAX, i64::MAX, 9).await.unwrap();
    assert_eq!(named(&last), [("t001", 3), ("t002", 3), ("t003", 2)]);
}

pub async fn what_is_finished_stays_finished(backend: &dyn Backend) {
    let store = &*backend.fresh().await;
    cancelled(store, &["t001", "t002"]).await;
    let taken = store.take_effects(3_000, 100, 9).await.unwrap();
    store.finish_effect(taken[0].id, 3_010, "told").await.unwrap();
    store.finish_effect(taken[0].id, 3_020, "told twice").await.unwrap();
    store.defer_effect(taken[0].id, 3_030, "too late", Some(3_040)).await.unwrap();
    assert_eq!(named(&store.take_effects(9_000, 100, 9).await.unwrap()), [("t002", 2)]);
    for outcome in [store.finish_effect(99, 1, "x").await, store.defer_effect(99, 1, "x", None).await] {
        assert_eq!(kind(outcome), ErrorKind::NotFound);
    }
}

pub async fn what_could_not_be_done_is_tried_later_or_never(backend: &dyn Backend) {
    let store = &*backend.fresh().await;
    cancelled(store, &["t001", "t002"]).await;
    let taken = store.take_effects(3_000, 1_000_000, 9).await.unwrap();
    store.defer_effect(taken[0].id, 3_010, "no network", Some(5_000)).await.unwrap();
    store.defer_effect(taken[1].id, 3_010, "nobody there", None).await.unwrap();
    assert_eq!(store.take_effects(4_999, 100, 9).await.unwrap(), []);
    assert_eq!(named(&store.take_effects(5_000, 100, 9).await.unwrap()), [("t001", 2)]);
    assert_eq!(named(&store.take_effects(i64::MAX, 0, 9).await.unwrap()), [("t001", 3)]);
}

pub async fn of_many_takers_each_effect_has_one(backend: &dyn Backend) {
    const MANY: usize = 60;
    let stores = stores(backend).await;
    add(&*stores[0], [bare("t001")]).await;
    let effects = (0..MANY).map(|_| Effect::Mark { done: true }).collect();
    let change = stepped(&read(&*stores[0], "t001").await, cancel());
    make(&*stores[0], &TaskChange { effects, ..change }).await;
    let mut calls = JoinSet::new();
    for store in stores.iter().cycle().take(12) {
        let store: Arc<dyn Store> = Arc::clone(store);
        calls.spawn(async move {
            let mut taken = vec![];
            loop {
                let more = store.take_effects(3_000, 1_000, 4).await.unwrap();
                if more.is_empty() {
                    return taken;
                }
                taken.extend(more.into_iter().map(|effect| effect.id));
            }
        });
    }
    let taken: Vec<i64> = calls.join_all().await.into_iter().flatten().collect();
    assert_eq!((taken.len(), taken.iter().collect::<BTreeSet<_>>().len()), (MANY, MANY));
}
