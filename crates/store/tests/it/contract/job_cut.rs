//! Calls about jobs and workers that are cut off, as by a process that is killed.

use super::{
    Backend,
    job_sample::{add, claim, cut_off, done, everything, jobs, lost, new, note, paused, told, worker},
};
use shuntyard_core::work::job::JobId;
use shuntyard_store::{JobEnd, Store, WorkerRecord};
use std::{future::poll_fn, pin::pin, task::Poll};

/// At how many points of its way each call is left.
const PLACES: usize = 12;

#[derive(Debug, Clone, PartialEq)]
enum Call {
    Add,
    Claim,
    Note,
    End(JobEnd),
    Cancel,
    Continue,
    Stop,
}

impl Call {
    /// Its events when it is made.
    fn events(&self) -> usize {
        if *self == Self::Stop { 2 } else { 1 }
    }

    /// Brings a job to where the call is about it.
    async fn prepare(&self, store: &dyn Store) -> JobId {
        if *self == Self::Stop && store.worker("coder").await.map_or(true, |worker| worker.stopped_at.is_some()) {
            store.add_worker(&worker("coder")).await.unwrap();
        }
        let id = add(store, (*self == Self::Stop).then_some("coder")).await;
        match self {
            Self::Add | Self::Claim | Self::Cancel | Self::Stop => {}
            Self::Note => assert_eq!(claim(store).await.unwrap().id, id),
            Self::End(_) => {
                assert_eq!(claim(store).await.unwrap().id, id);
                assert!(store.note_job(id, 1, &note(), 2_100).await.unwrap());
            }
            Self::Continue => {
                claim(store).await.unwrap();
                assert!(store.end_job(id, 1, &paused(), 2_200).await.unwrap());
            }
        }
        id
    }

    async fn make(&self, store: &dyn Store, id: JobId) {
        match self {
            Self::Add => drop(store.add_job(&new(None, 1_000)).await.unwrap()),
            Self::Claim => assert_eq!(claim(store).await.unwrap().id, id),
            Self::Note => assert!(store.note_job(id, 1, &note(), 2_500).await.unwrap()),
            Self::End(end) => assert!(store.end_job(id, 1, end, 3_000).await.unwrap()),
            Self::Cancel => drop(store.cancel_job(id, 3_000).await.unwrap()),
            Self::Continue => store.continue_job(id, 3_000).await.unwrap(),
            Self::Stop => {
                let seen = store.worker("coder").await.unwrap();
                store.change_worker(&WorkerRecord { stopped_at: Some(3_000), ..seen }, 3_000).await.unwrap();
            }
        }
    }
}

pub async fn a_call_about_jobs_that_is_cut_off_is_made_whole_or_not_at_all(backend: &dyn Backend) {
    let store = &*backend.fresh().await;
    let other = backend.reopen().await;
    let mut cut = 0;
    for call in [
        Call::Add,
        Call::Claim,
        Call::Note,
        Call::End(done()),
        Call::End(lost()),
        Call::End(cut_off()),
        Call::End(paused()),
        Call::Cancel,
        Call::Continue,
        Call::Stop,
    ] {
        for looks in 0..PLACES {
            let id = call.prepare(store).await;
            let (jobs_before, workers_before, _) = everything(store).await;
            let newest = store.newest_event().await.unwrap();
            let came = after(looks, call.make(store, id)).await;
            // The next writer comes after all that is left of the call.
            other.set_mark("cut", 1).await.unwrap();
            store.set_mark("cut", 2).await.unwrap();
            let (jobs_after, workers_after, events_after) = everything(&*other).await;
            let made = jobs_after != jobs_before;
            assert_eq!(workers_after != workers_before, made && call == Call::Stop, "{call:?} after {looks} looks");
            let events = if made { call.events() } else { 0 };
            let new = events_after.iter().filter(|event| event.position > newest).count();
            assert_eq!(new, events, "{call:?} after {looks} looks");
            if let Call::End(end) = &call {
                let over = made && matches!(end, JobEnd::Over { .. });
                let on_its_way = told(&*other, &id.to_string()).await.contains(&"job.progress".to_owned());
                assert_eq!(on_its_way, !over, "{call:?} after {looks} looks");
            }
            assert!(made || !came, "{call:?} after {looks} looks");
            cut += usize::from(looks > 0 && !came);
            empty(store).await;
        }
    }
    assert!(cut > 0, "none was cut off");
}

/// So that the next round has the line for itself.
async fn empty(store: &dyn Store) {
    for job in jobs(store).await.iter().filter(|job| !job.state.is_over()) {
        store.cancel_job(job.id, 4_000).await.unwrap();
        store.end_job(job.id, job.epoch, &done(), 4_000).await.unwrap();
    }
}

/// Looks so often whether it is done, and then goes away. Whether it was done.
async fn after(looks: usize, call: impl Future<Output = ()>) -> bool {
    let mut call = pin!(call);
    let mut left = looks;
    poll_fn(|context| {
        if left == 0 {
            return Poll::Ready(false);
        }
        left -= 1;
        call.as_mut().poll(context).map(|()| true)
    })
    .await
}
