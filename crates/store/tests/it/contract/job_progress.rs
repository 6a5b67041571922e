//! The progress events of a job: without its content, and only as long as the job is not over.

use super::{
    Backend,
    job_sample::{SECRET, add, claim, cut_off, done, lost, new, paused, told, worker},
};
use serde_json::json;
use shuntyard_core::work::job::{JobId, JobKind, JobState};
use shuntyard_store::{JobEnd, JobNote, NewJob, Store, WorkerRecord};

/// Progress whose content must not be in the log.
fn heard() -> JobNote {
    JobNote { progress: Some(json!([{ "text": SECRET }])), ..JobNote::default() }
}

/// A new job at work with so many notes of progress.
async fn noted(store: &dyn Store, worker: Option<&str>, times: usize) -> JobId {
    let id = add(store, worker).await;
    assert_eq!(claim(store).await.unwrap().id, id);
    for _ in 0..times {
        assert!(store.note_job(id, 1, &heard(), 2_500).await.unwrap());
    }
    id
}

async fn progress(store: &dyn Store, id: JobId) -> usize {
    told(store, &id.to_string()).await.iter().filter(|kind| *kind == "job.progress").count()
}

pub async fn progress_is_told_without_what_was_heard(backend: &dyn Backend) {
    let store = &*backend.fresh().await;
    for kind in JobKind::ALL {
        let id = store.add_job(&NewJob { kind, ..new(None, 1_000) }).await.unwrap();
        assert_eq!(claim(store).await.unwrap().id, id);
        for note in [heard(), JobNote::default()] {
            assert!(store.note_job(id, 1, &note, 2_500).await.unwrap());
            let event = store.events_after(0, 10_000).await.unwrap().pop().unwrap();
            let expected = (2_500, "job.progress".to_owned(), id.to_string(), json!({}));
            assert_eq!((event.at, event.kind, event.subject, event.data), expected);
        }
        assert_eq!(Some(store.job(id).await.unwrap().progress), heard().progress);
    }
}

pub async fn progress_is_removed_when_a_job_is_over(backend: &dyn Backend) {
    let store = &*backend.fresh().await;
    // Its id begins with that of the first, and it goes on all the while.
    let mut other = noted(store, None, 2).await;
    while other.0 < 10 {
        other = noted(store, None, 2).await;
    }
    assert!(store.end_job(JobId(1), 1, &done(), 3_000).await.unwrap());
    assert_eq!((progress(store, JobId(1)).await, progress(store, other).await), (0, 2));
    assert_eq!(told(store, "j1").await, ["job.queued", "job.running", "job.done"], "all else stays");
    store.append_event(3_000, "task.progress", "j2", &json!({})).await.unwrap();

    let over = |state| JobEnd::Over { state, result: json!(null) };
    for (asked, end, left) in [
        (false, over(JobState::Done), 0),
        (false, over(JobState::Failed), 0),
        (false, over(JobState::Cancelled), 0),
        (false, lost(), 2),
        (false, cut_off(), 2),
        (false, paused(), 2),
        (true, lost(), 0),
        (true, cut_off(), 0),
        (true, paused(), 0),
    ] {
        let id = noted(store, None, 2).await;
        if asked {
            store.cancel_job(id, 2_900).await.unwrap();
            assert_eq!(progress(store, id).await, 2, "it is not over yet");
        }
        assert!(store.end_job(id, 1, &end, 3_000).await.unwrap());
        assert_eq!(progress(store, id).await, left, "{asked} {end:?}");
        // Those that are left are cancelled while they are queued or paused, which is an end, too.
        store.cancel_job(id, 4_000).await.unwrap();
        assert_eq!(progress(store, id).await, 0, "{asked} {end:?}");
    }
    assert_eq!(progress(store, other).await, 2);
    assert!(told(store, "j2").await.contains(&"task.progress".to_owned()), "only what is told of jobs");
}

pub async fn progress_is_removed_when_a_worker_stops(backend: &dyn Backend) {
    let store = &*backend.fresh().await;
    store.add_worker(&worker("coder")).await.unwrap();
    let queued = noted(store, Some("coder"), 2).await;
    assert!(store.end_job(queued, 1, &cut_off(), 3_000).await.unwrap());
    assert_eq!(progress(store, queued).await, 2);
    let seen = store.worker("coder").await.unwrap();
    store.change_worker(&WorkerRecord { stopped_at: Some(4_000), ..seen }, 4_000).await.unwrap();
    assert_eq!(told(store, &queued.to_string()).await, ["job.queued", "job.running", "job.requeued", "job.cancelled"]);
}
