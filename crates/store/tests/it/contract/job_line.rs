//! Lines of jobs: who is next, and never more at work than may be.

use super::{
    Backend,
    concurrency::stores,
    job_sample::{add, bring, claim, claim_all, cut_off, done, everything, lost, new, note, paused, told, worker},
    sample::{kind, owner},
};
use shuntyard_core::work::job::{JobId, JobState};
use shuntyard_store::{ErrorKind, JobFilter, JobRecord, Store};
use std::{
    collections::BTreeSet,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};
use tokio::task::JoinSet;

pub async fn a_worker_does_one_job_at_a_time_in_order(backend: &dyn Backend) {
    let store = &*backend.fresh().await;
    for name in ["coder", "docs"] {
        store.add_worker(&worker(name)).await.unwrap();
    }
    let mut ids = vec![];
    for line in [Some("coder"), Some("coder"), Some("docs"), None, Some("coder"), None] {
        ids.push(add(store, line).await);
    }
    let [first, second, docs, free, third, last] = ids[..] else { unreachable!() };
    assert_eq!(claim_all(store).await, [first, docs, free, last], "one of each worker, and all without one");
    assert_eq!(store.job_position(second).await.unwrap(), Some(1), "behind the one at work");
    assert_eq!(store.job_position(third).await.unwrap(), Some(2));
    assert_eq!(store.job_position(first).await.unwrap(), None);
    assert!(store.end_job(first, 1, &done(), 3_000).await.unwrap());
    assert_eq!(store.job_position(second).await.unwrap(), Some(0));
    assert_eq!(claim_all(store).await, [second]);
    assert!(store.end_job(second, 1, &done(), 3_000).await.unwrap());
    assert_eq!(claim_all(store).await, [third]);
    let running: Vec<JobId> = store.running_jobs().await.unwrap().iter().map(|job| job.id).collect();
    assert_eq!(running, [docs, free, third, last]);
}

pub async fn a_job_knows_how_many_stand_before_it(backend: &dyn Backend) {
    let store = &*backend.fresh().await;
    store.add_worker(&worker("coder")).await.unwrap();
    let lines = [None, Some("coder"), None, Some("coder"), None];
    let mut ids = vec![];
    for line in lines {
        ids.push(add(store, line).await);
    }
    let positions = async || {
        let mut positions = vec![];
        for &id in &ids {
            positions.push(store.job_position(id).await.unwrap());
        }
        positions
    };
    assert_eq!(positions().await, [Some(0), Some(0), Some(1), Some(1), Some(2)]);
    store.cancel_job(ids[2], 1_500).await.unwrap();
    assert_eq!(positions().await, [Some(0), Some(0), None, Some(1), Some(1)]);
    assert_eq!(claim(store).await.unwrap().id, ids[0]);
    assert_eq!(positions().await, [None, Some(0), None, Some(1), Some(1)]);
    assert!(store.end_job(ids[0], 1, &paused(), 3_000).await.unwrap());
    assert_eq!(positions().await, [None, Some(0), None, Some(1), Some(0)]);
}

pub async fn what_has_to_be_done_again_is_next_in_its_line(backend: &dyn Backend) {
    let store = &*backend.fresh().await;
    for (name, end, deaths) in [("lost", lost(), 1), ("cut", cut_off(), 0)] {
        store.add_worker(&worker(name)).await.unwrap();
        let first = add(store, Some(name)).await;
        let before = claim(store).await.unwrap();
        store.note_job(first, 1, &note(), 2_100).await.unwrap();
        // All that came while it was at work, in its line and in the other.
        let (free, second) = (add(store, None).await, add(store, Some(name)).await);
        let noted = store.job(first).await.unwrap();
        assert!(store.end_job(first, 1, &end, 3_000).await.unwrap());
        let expected = JobRecord { state: JobState::Queued, owner: None, deaths, changed_at: 3_000, ..noted };
        assert_eq!(store.job(first).await.unwrap(), expected);
        assert_eq!(store.job_position(first).await.unwrap(), Some(0));
        assert_eq!(store.job_position(second).await.unwrap(), Some(1));
        let claimed = store.claim_job(&owner(12), 9, 4_000).await.unwrap().unwrap();
        let expected =
            JobRecord { state: JobState::Running, epoch: 2, owner: Some(owner(12)), changed_at: 4_000, ..expected };
        assert_eq!(claimed, expected);
        assert_eq!(claimed.started_at, before.started_at, "the first time counts");
        assert_eq!(claim_all(store).await, [free]);
        // The next round has the lines for itself.
        store.cancel_job(second, 5_000).await.unwrap();
    }
}

pub async fn only_a_loss_counts_as_a_death(backend: &dyn Backend) {
    let store = &*backend.fresh().await;
    let id = add(store, None).await;
    for (end, deaths) in [(lost(), 1), (cut_off(), 1), (lost(), 2), (paused(), 2), (lost(), 3), (done(), 3)] {
        let claimed = claim(store).await.unwrap();
        assert!(store.end_job(id, claimed.epoch, &end, 3_000).await.unwrap());
        assert_eq!(store.job(id).await.unwrap().deaths, deaths, "{end:?}");
        if end == paused() {
            store.continue_job(id, 4_000).await.unwrap();
        }
    }
}

pub async fn what_is_continued_stands_at_the_end(backend: &dyn Backend) {
    let store = &*backend.fresh().await;
    let stopped = bring(store, JobState::Paused).await;
    let waiting = add(store, None).await;
    store.continue_job(stopped.id, 5_000).await.unwrap();
    let expected = JobRecord { state: JobState::Queued, changed_at: 5_000, ..stopped.clone() };
    assert_eq!(store.job(stopped.id).await.unwrap(), expected);
    assert_eq!(store.job_position(stopped.id).await.unwrap(), Some(1));
    let later = add(store, None).await;
    assert_eq!(claim_all(store).await, [waiting, stopped.id, later]);
    for &state in JobState::ALL.iter().filter(|state| **state != JobState::Paused && **state != JobState::Queued) {
        let job = bring(store, state).await;
        let before = everything(store).await;
        assert_eq!(kind(store.continue_job(job.id, 6_000).await), ErrorKind::Conflict, "{state:?}");
        assert_eq!(everything(store).await, before);
    }
    let queued = add(store, None).await;
    assert_eq!(kind(store.continue_job(queued, 6_000).await), ErrorKind::Conflict);
    assert_eq!(kind(store.continue_job(JobId(99), 6_000).await), ErrorKind::NotFound);
}

pub async fn no_more_jobs_are_claimed_than_may_be_at_work(backend: &dyn Backend) {
    let store = &*backend.fresh().await;
    let ids = [add(store, None).await, add(store, None).await, add(store, None).await];
    let claim = async |at_once| store.claim_job(&owner(11), at_once, 2_000).await.unwrap().map(|job| job.id);
    assert_eq!(claim(0).await, None);
    assert_eq!(claim(1).await, Some(ids[0]));
    assert_eq!(claim(1).await, None);
    assert_eq!(claim(2).await, Some(ids[1]));
    let before = everything(store).await;
    assert_eq!(claim(2).await, None);
    assert_eq!(everything(store).await, before);
    assert!(store.end_job(ids[0], 1, &paused(), 3_000).await.unwrap());
    assert_eq!(claim(2).await, Some(ids[2]), "a paused one is not at work");
}

/// Sixteen claimers in several stores, and a count of those at work that only they keep.
pub async fn of_many_claimers_each_job_has_one_and_the_limit_holds(backend: &dyn Backend) {
    const JOBS: usize = 60;
    const AT_ONCE: usize = 3;
    let stores = stores(backend).await;
    for name in ["coder", "docs"] {
        stores[0].add_worker(&worker(name)).await.unwrap();
    }
    for number in 0..JOBS {
        let line = [Some("coder"), None, Some("docs")][number % 3];
        stores[number % stores.len()].add_job(&new(line, 1_000)).await.unwrap();
    }
    let (busy, left) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(JOBS)));
    let mut calls = JoinSet::new();
    for (store, pid) in stores.iter().cycle().zip(0..16) {
        let (store, busy, left): (Arc<dyn Store>, _, _) = (Arc::clone(store), Arc::clone(&busy), Arc::clone(&left));
        calls.spawn(async move {
            let mut held = vec![];
            while left.load(Ordering::SeqCst) > 0 {
                let claimed = store.claim_job(&owner(pid), u32::try_from(AT_ONCE).unwrap(), 2_000).await.unwrap();
                let Some(job) = claimed else { continue };
                // It was counted by the store before, and is given up only after this counts it no more.
                assert!(busy.fetch_add(1, Ordering::SeqCst) < AT_ONCE);
                assert_eq!(job.owner, Some(owner(pid)));
                let running = store.running_jobs().await.unwrap();
                assert!(running.len() <= AT_ONCE && running.iter().any(|one| one.id == job.id), "{running:?}");
                let of_workers: Vec<&str> = running.iter().filter_map(|job| job.worker.as_deref()).collect();
                assert_eq!(of_workers.len(), of_workers.iter().collect::<BTreeSet<_>>().len(), "{of_workers:?}");
                busy.fetch_sub(1, Ordering::SeqCst);
                assert!(store.end_job(job.id, job.epoch, &done(), 3_000).await.unwrap());
                left.fetch_sub(1, Ordering::SeqCst);
                held.push(job.id);
            }
            held
        });
    }
    let held: Vec<JobId> = calls.join_all().await.into_iter().flatten().collect();
    assert_eq!((held.len(), held.iter().collect::<BTreeSet<_>>().len()), (JOBS, JOBS));
    let filter = JobFilter { states: vec![JobState::Done], limit: 99, ..JobFilter::default() };
    let ended = stores[1].jobs(&filter).await.unwrap();
    assert_eq!(ended.len(), JOBS);
    for job in ended {
        assert_eq!(told(&*stores[2], &job.id.to_string()).await, ["job.queued", "job.running", "job.done"]);
    }
}
