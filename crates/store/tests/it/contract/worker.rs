//! Workers: one of each name, changed only by who has seen the newest, and stopped for good.

use super::{
    Backend,
    concurrency::stores,
    event::story,
    job_sample::{add, claim, claim_all, cut_off, done, everything, lost, new, paused, told, worker},
    sample::{kind, owner, server_id},
};
use serde_json::json;
use shuntyard_core::{
    values::{Backend as Home, ModelPolicy},
    work::job::JobState,
};
use shuntyard_store::{ErrorKind, JobRecord, Store, WorkerRecord};
use std::sync::Arc;
use tokio::task::JoinSet;

async fn stop(store: &dyn Store, name: &str, at: i64) -> WorkerRecord {
    let seen = store.worker(name).await.unwrap();
    store.change_worker(&WorkerRecord { stopped_at: Some(at), ..seen }, at).await.unwrap();
    store.worker(name).await.unwrap()
}

pub async fn a_worker_is_read_back_whole(backend: &dyn Backend) {
    let store = &*backend.fresh().await;
    let bare = WorkerRecord {
        backend: Home::Agent,
        policy: ModelPolicy::Dynamic,
        session: None,
        server: None,
        process: None,
        ..worker("b")
    };
    let whole = worker("a");
    store.add_worker(&bare).await.unwrap();
    store.add_worker(&whole).await.unwrap();
    let other = backend.reopen().await;
    assert_eq!(other.workers().await.unwrap(), [whole.clone(), bare.clone()]);
    assert_eq!(other.worker("b").await.unwrap(), bare);
    let next = WorkerRecord { policy: ModelPolicy::Next, ..worker("n") };
    store.add_worker(&next).await.unwrap();
    assert_eq!(other.worker("n").await.unwrap(), next);
    assert_eq!(kind(store.worker("c").await), ErrorKind::NotFound);
    let before = everything(store).await;
    for again in [whole, worker("")] {
        assert_eq!(kind(store.add_worker(&again).await), ErrorKind::Conflict);
    }
    assert_eq!(everything(store).await, before);
}

pub async fn a_worker_is_changed_by_who_has_seen_the_newest(backend: &dyn Backend) {
    let store = &*backend.fresh().await;
    let first = worker("coder");
    store.add_worker(&first).await.unwrap();
    let changed = WorkerRecord {
        name: "coder".into(),
        profile: "docs".into(),
        directory: "/else".into(),
        backend: Home::Agent,
        reference: "far/large".into(),
        model: "far/large".into(),
        policy: ModelPolicy::Dynamic,
        reason: "it was told".into(),
        fingerprint: "def".into(),
        session: Some("ses_2".into()),
        server: Some(server_id()),
        process: Some(owner(23)),
        stopped_at: None,
        created_at: 30,
        used_at: 99,
        version: 1,
    };
    store.change_worker(&changed, 500).await.unwrap();
    let expected = WorkerRecord { version: 2, ..changed.clone() };
    assert_eq!(backend.reopen().await.worker("coder").await.unwrap(), expected);
    let before = everything(store).await;
    for late in [first, changed, WorkerRecord { version: 3, ..expected.clone() }] {
        assert_eq!(kind(store.change_worker(&late, 501).await), ErrorKind::Conflict, "{late:?}");
    }
    let older = WorkerRecord { created_at: 29, ..expected.clone() };
    assert_eq!(kind(store.change_worker(&older, 501).await), ErrorKind::Conflict, "another of the same name");
    assert_eq!(kind(store.change_worker(&worker("docs"), 501).await), ErrorKind::NotFound);
    assert_eq!(everything(store).await, before);
    let stopped = stop(store, "coder", 600).await;
    let data = |profile, backend, model, version: i64| json!({ "profile": profile, "backend": backend, "model": model, "version": version });
    let expected = [
        (30, "worker.started", data("coder", "server", "local/small@low", 1)),
        (500, "worker.changed", data("docs", "agent", "far/large", 2)),
        (600, "worker.stopped", data("docs", "agent", "far/large", 3)),
    ];
    assert_eq!(story(store).await, expected.map(|(at, kind, data)| (at, kind.into(), "coder".to_owned(), data)));
    let revived = WorkerRecord { stopped_at: None, ..stopped.clone() };
    assert_eq!(kind(store.change_worker(&revived, 700).await), ErrorKind::Conflict);
    store.change_worker(&WorkerRecord { session: None, ..stopped }, 700).await.unwrap();
    assert_eq!(told(store, "coder").await[3..], ["worker.changed"], "it is stopped once");
}

pub async fn of_many_changes_of_a_worker_one_is_made(backend: &dyn Backend) {
    let stores = stores(backend).await;
    stores[0].add_worker(&worker("coder")).await.unwrap();
    for version in 1..6 {
        let seen = stores[0].worker("coder").await.unwrap();
        let mut calls = JoinSet::new();
        for (store, used_at) in stores.iter().chain(&stores).zip(100..) {
            let (store, change) = (Arc::clone(store), WorkerRecord { used_at, ..seen.clone() });
            calls.spawn(async move { store.change_worker(&change, 100).await.map_err(|error| error.kind()) });
        }
        let outcomes = calls.join_all().await;
        assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1, "{outcomes:?}");
        assert!(outcomes.iter().all(|outcome| matches!(outcome, Ok(()) | Err(ErrorKind::Conflict))), "{outcomes:?}");
        assert_eq!(stores[1].worker("coder").await.unwrap().version, version + 1);
    }
    assert_eq!(told(&*stores[2], "coder").await.len(), 6);
}

pub async fn a_worker_that_stops_leaves_nobody_in_its_line(backend: &dyn Backend) {
    let store = &*backend.fresh().await;
    for name in ["coder", "docs"] {
        store.add_worker(&worker(name)).await.unwrap();
    }
    let resting = add(store, Some("coder")).await;
    assert!(store.end_job(resting, claim(store).await.unwrap().epoch, &paused(), 1_500).await.unwrap());
    let running = add(store, Some("coder")).await;
    assert_eq!(claim(store).await.unwrap().id, running);
    let queued = [add(store, Some("coder")).await, add(store, Some("coder")).await];
    let others = [add(store, Some("docs")).await, add(store, None).await];
    let mut before = vec![];
    for id in queued.into_iter().chain([running]).chain(others) {
        before.push(store.job(id).await.unwrap());
    }
    stop(store, "coder", 5_000).await;
    for (place, before) in before.into_iter().enumerate() {
        let cancelled = JobRecord {
            state: JobState::Cancelled,
            result: Some(json!({ "why": "worker coder was stopped" })),
            ended_at: Some(5_000),
            changed_at: 5_000,
            ..before.clone()
        };
        let expected = if place < queued.len() { cancelled } else { before };
        assert_eq!(store.job(expected.id).await.unwrap(), expected);
    }
    for id in queued {
        assert_eq!(told(store, &id.to_string()).await, ["job.queued", "job.cancelled"]);
    }
    assert_eq!(kind(store.add_job(&new(Some("coder"), 5_001)).await), ErrorKind::Conflict);
    assert_eq!(kind(store.add_job(&new(Some("nobody"), 5_001)).await), ErrorKind::Conflict);
    assert_eq!(kind(store.continue_job(resting, 5_001).await), ErrorKind::Conflict);
    assert_eq!(claim_all(store).await, others);
}

pub async fn nothing_is_done_again_by_a_stopped_worker(backend: &dyn Backend) {
    let store = &*backend.fresh().await;
    for (name, end, deaths) in [("lost", lost(), 1), ("cut", cut_off(), 0)] {
        store.add_worker(&worker(name)).await.unwrap();
        let id = add(store, Some(name)).await;
        let before = claim(store).await.unwrap();
        stop(store, name, 5_000).await;
        assert!(store.end_job(id, 1, &end, 6_000).await.unwrap());
        let expected = JobRecord {
            state: JobState::Cancelled,
            owner: None,
            deaths,
            result: Some(json!({ "why": format!("worker {name} was stopped") })),
            ended_at: Some(6_000),
            changed_at: 6_000,
            ..before
        };
        assert_eq!(store.job(id).await.unwrap(), expected, "nobody would ever take it");
    }
}

pub async fn a_stopped_worker_makes_room_for_another(backend: &dyn Backend) {
    let store = &*backend.fresh().await;
    store.add_worker(&worker("coder")).await.unwrap();
    let job = add(store, Some("coder")).await;
    let claimed = claim(store).await.unwrap();
    let old = stop(store, "coder", 5_000).await;
    let next = WorkerRecord { created_at: 6_000, used_at: 6_000, version: old.version, ..worker("coder") };
    store.add_worker(&next).await.unwrap();
    assert_eq!(store.workers().await.unwrap(), std::slice::from_ref(&next));
    assert_eq!(kind(store.change_worker(&old, 6_001).await), ErrorKind::Conflict, "the old one is gone");
    assert_eq!(store.worker("coder").await.unwrap(), next);
    let second = add(store, Some("coder")).await;
    assert_eq!(claim(store).await, None, "the name is still busy");
    assert!(store.end_job(job, claimed.epoch, &done(), 6_002).await.unwrap());
    assert_eq!(claim_all(store).await, [second]);
    assert_eq!(told(store, "coder").await, ["worker.started", "worker.stopped", "worker.started"]);
}

pub async fn stopped_workers_are_forgotten_after_a_while(backend: &dyn Backend) {
    let store = &*backend.fresh().await;
    for name in ["alive", "busy", "early", "late"] {
        store.add_worker(&worker(name)).await.unwrap();
    }
    let (ended, running) = (add(store, Some("early")).await, add(store, Some("busy")).await);
    assert_eq!(claim_all(store).await, [ended, running]);
    assert!(store.end_job(ended, 1, &done(), 3_000).await.unwrap());
    for (name, at) in [("busy", 10), ("early", 20), ("late", 30)] {
        stop(store, name, at).await;
    }
    let told = story(store).await;
    let names = async || store.workers().await.unwrap().into_iter().map(|worker| worker.name).collect::<Vec<_>>();
    assert_eq!(store.prune_workers(30).await.unwrap(), 1);
    assert_eq!(names().await, ["alive", "busy", "late"]);
    assert_eq!(store.job(ended).await.unwrap().worker.as_deref(), Some("early"), "its jobs stay");
    assert!(store.end_job(running, 1, &done(), 3_000).await.unwrap());
    let after = told.len() + 1;
    assert_eq!(store.prune_workers(i64::MAX).await.unwrap(), 2);
    assert_eq!(store.prune_workers(i64::MAX).await.unwrap(), 0);
    assert_eq!(names().await, ["alive"]);
    assert_eq!(story(store).await.len(), after);
}
