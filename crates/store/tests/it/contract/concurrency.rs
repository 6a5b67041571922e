//! Many writers at once: tasks that share a store, and stores that share a database.

use super::{Backend, sample};
use serde_json::json;
use shuntyard_store::{ErrorKind, RunStatus, Store};
use std::{collections::BTreeSet, sync::Arc};
use tokio::task::JoinSet;

const STORES: usize = 4;
const TASKS: usize = 6;
const ROUNDS: usize = 5;

pub async fn stores(backend: &dyn Backend) -> Vec<Arc<dyn Store>> {
    let mut stores: Vec<Arc<dyn Store>> = vec![backend.fresh().await.into()];
    while stores.len() < STORES {
        stores.push(backend.reopen().await.into());
    }
    stores
}

pub async fn writers_in_many_stores_lose_nothing(backend: &dyn Backend) {
    let stores = stores(backend).await;
    let mut tasks = JoinSet::new();
    for store in &stores {
        for _ in 0..TASKS {
            let store = Arc::clone(store);
            tasks.spawn(async move {
                for _ in 0..ROUNDS {
                    let dispatch = sample::dispatch(1);
                    store.begin_dispatch(&dispatch).await.unwrap();
                    sample::start(&*store, &sample::attempt(dispatch.id, 1)).await;
                    store.append_event(2, "note", "task", &json!({})).await.unwrap();
                    assert_eq!(store.dispatch(dispatch.id).await.unwrap().attempts.len(), 1, "reads its own write");
                    store.finish_attempt(dispatch.id, 1, &sample::attempt_end(10)).await.unwrap();
                    store.finish_dispatch(dispatch.id, &sample::dispatch_end(3)).await.unwrap();
                }
            });
        }
    }
    while let Some(outcome) = tasks.join_next().await {
        outcome.unwrap();
    }
    let written = STORES * TASKS * ROUNDS;
    let dispatches = stores[0].recent_dispatches(10_000).await.unwrap();
    assert_eq!(dispatches.len(), written);
    assert!(dispatches.iter().all(|dispatch| dispatch.status == RunStatus::Ok && dispatch.attempts[0].cost.0 == 10));
    let events = stores[1].events_after(0, 10_000).await.unwrap();
    assert_eq!(events.len(), written * 4);
    assert_eq!(events.iter().map(|event| event.position).collect::<BTreeSet<_>>().len(), events.len());
}

pub async fn one_of_many_wins_the_same_row(backend: &dyn Backend) {
    let stores = stores(backend).await;
    let dispatch = sample::dispatch(1);
    let mut tasks = JoinSet::new();
    for store in &stores {
        let (store, dispatch) = (Arc::clone(store), dispatch.clone());
        tasks.spawn(async move { store.begin_dispatch(&dispatch).await.map_err(|error| error.kind()) });
    }
    let outcomes = tasks.join_all().await;
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1, "{outcomes:?}");
    assert!(outcomes.iter().all(|outcome| matches!(outcome, Ok(()) | Err(ErrorKind::Conflict))), "{outcomes:?}");
    assert_eq!(stores[0].events_after(0, 9).await.unwrap().len(), 1);
}
