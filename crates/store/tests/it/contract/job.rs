//! Jobs: from the line to their end, and the events for others.

use super::{
    Backend,
    event::story,
    job_sample::{
        SECRET, add, added, bring, choice, claim, cut_off, done, everything, jobs, lost, new, note, paused, told,
        worker,
    },
    sample::{dispatch_id, kind, owner},
};
use serde_json::{Value, json};
use shuntyard_core::work::job::{JobId, JobKind, JobState};
use shuntyard_store::{CancelAsked, ErrorKind, JobEnd, JobFilter, JobNote, JobRecord, NewJob};

pub async fn a_job_is_read_back_whole(backend: &dyn Backend) {
    let store = &*backend.fresh().await;
    store.add_worker(&worker("coder")).await.unwrap();
    let plain = NewJob { kind: JobKind::Batch, choice: None, ..new(None, 1_001) };
    let (first, second) = (new(Some("coder"), 1_000), plain);
    let ids = [store.add_job(&first).await.unwrap(), store.add_job(&second).await.unwrap()];
    assert_eq!(ids, [JobId(1), JobId(2)]);
    let mut expected = added(ids[0], &first);
    assert_eq!(jobs(&*backend.reopen().await).await, [added(ids[1], &second), expected.clone()]);

    let claimed = store.claim_job(&owner(11), 9, 2_000).await.unwrap().unwrap();
    expected = JobRecord {
        state: JobState::Running,
        epoch: 1,
        owner: Some(owner(11)),
        started_at: Some(2_000),
        changed_at: 2_000,
        ..expected
    };
    assert_eq!(claimed, expected);
    let other = shuntyard_core::work::job::Choice { model: "far/large".parse().unwrap(), ..choice() };
    let note = JobNote { choice: Some(other.clone()), ..note() };
    assert!(store.note_job(ids[0], 1, &note, 2_500).await.unwrap());
    assert!(store.note_job(ids[0], 1, &JobNote::default(), 2_600).await.unwrap());
    expected = JobRecord {
        choice: Some(other),
        dispatch: note.dispatch,
        progress: note.progress.clone().unwrap(),
        changed_at: 2_600,
        ..expected
    };
    assert_eq!(store.job(ids[0]).await.unwrap(), expected);
    assert_eq!(store.running_jobs().await.unwrap(), [expected.clone()]);

    assert!(store.end_job(ids[0], 1, &done(), 3_000).await.unwrap());
    expected = JobRecord {
        state: JobState::Done,
        owner: None,
        result: Some(json!({ "answer": SECRET })),
        ended_at: Some(3_000),
        changed_at: 3_000,
        ..expected
    };
    assert_eq!(backend.reopen().await.job(ids[0]).await.unwrap(), expected);
    assert_eq!(store.running_jobs().await.unwrap(), []);
    assert_eq!(store.job(ids[1]).await.unwrap(), added(ids[1], &second), "the other is as it was");
    assert_eq!(kind(store.job(JobId(3)).await), ErrorKind::NotFound);
    assert_eq!(kind(store.job_position(JobId(3)).await), ErrorKind::NotFound);
}

pub async fn every_change_of_a_job_is_told_without_its_texts(backend: &dyn Backend) {
    let store = &*backend.fresh().await;
    store.add_worker(&worker("coder")).await.unwrap();
    let id = add(store, Some("coder")).await;
    let end =
        |end| async move { assert!(store.end_job(id, claim(store).await.unwrap().epoch, &end, 3_000).await.unwrap()) };
    end(cut_off()).await;
    end(lost()).await;
    end(cut_off()).await;
    end(paused()).await;
    store.continue_job(id, 4_000).await.unwrap();
    claim(store).await.unwrap();
    store.note_job(id, 5, &note(), 4_500).await.unwrap();
    let progress = (4_500, "job.progress".to_owned(), "j1".to_owned(), json!({}));
    assert_eq!(story(store).await.pop(), Some(progress));
    for now in [5_000, 5_001] {
        assert_eq!(store.cancel_job(id, now).await.unwrap(), CancelAsked::Asked);
    }
    assert!(store.end_job(id, 5, &cut_off(), 6_000).await.unwrap());
    let data = |epoch: i64, state: &str| json!({ "kind": "worker", "worker": "coder", "model": "local/small@low", "epoch": epoch, "state": state });
    let with = |mut data: Value, name: &str, value: Value| {
        data[name] = value;
        data
    };
    let expected = [
        (1_000, "job.queued", data(0, "queued")),
        (2_000, "job.running", data(1, "running")),
        (3_000, "job.requeued", with(data(1, "queued"), "why", json!("there was no time left"))),
        (2_000, "job.running", data(2, "running")),
        (3_000, "job.requeued", with(data(2, "queued"), "why", json!("it was killed"))),
        (2_000, "job.running", data(3, "running")),
        (3_000, "job.requeued", with(data(3, "queued"), "why", json!("there was no time left"))),
        (2_000, "job.running", data(4, "running")),
        (3_000, "job.paused", data(4, "paused")),
        (4_000, "job.queued", data(4, "queued")),
        (2_000, "job.running", data(5, "running")),
        (5_000, "job.cancelling", data(5, "running")),
        (6_000, "job.cancelled", with(data(5, "cancelled"), "why", json!("it was asked to end"))),
    ];
    let expected = expected.map(|(at, kind, data)| (at, kind.to_owned(), "j1".to_owned(), data));
    assert_eq!(story(store).await[1..], expected);
    for state in [JobState::Done, JobState::Failed, JobState::Cancelled] {
        let over = bring(store, state).await;
        assert_eq!(told(store, &over.id.to_string()).await[2..], [format!("job.{}", state.as_str())]);
    }
    let log = format!("{:?}", story(store).await);
    assert!(!log.contains(SECRET), "{log}");
}

pub async fn nobody_writes_under_a_claim_that_is_over(backend: &dyn Backend) {
    let store = &*backend.fresh().await;
    let id = add(store, None).await;
    assert_eq!(claim(store).await.unwrap().epoch, 1);
    assert!(store.end_job(id, 1, &cut_off(), 2_100).await.unwrap());
    let late = async |epochs: &[i64]| {
        let before = everything(store).await;
        for &epoch in epochs {
            assert!(!store.note_job(id, epoch, &note(), 9_000).await.unwrap(), "{epoch}");
            for end in [done(), paused(), lost(), cut_off()] {
                assert!(!store.end_job(id, epoch, &end, 9_000).await.unwrap(), "{epoch} {end:?}");
            }
        }
        assert_eq!(everything(store).await, before);
    };
    late(&[0, 1, 2]).await;
    assert_eq!(claim(store).await.unwrap().epoch, 2);
    late(&[0, 1, 3]).await;
    assert!(store.end_job(id, 2, &paused(), 2_200).await.unwrap());
    late(&[1, 2]).await;
    store.continue_job(id, 2_300).await.unwrap();
    late(&[1, 2]).await;
    assert_eq!(claim(store).await.unwrap().epoch, 3);
    assert!(store.end_job(id, 3, &done(), 2_400).await.unwrap());
    late(&[1, 2, 3]).await;
    assert!(!store.note_job(JobId(99), 1, &note(), 1).await.unwrap());
    assert!(!store.end_job(JobId(99), 1, &done(), 1).await.unwrap());
}

pub async fn an_end_is_an_end(backend: &dyn Backend) {
    let store = &*backend.fresh().await;
    let running = bring(store, JobState::Running).await;
    let before = everything(store).await;
    for state in [JobState::Queued, JobState::Running, JobState::Paused] {
        let end = JobEnd::Over { state, result: Value::Null };
        assert_eq!(kind(store.end_job(running.id, running.epoch, &end, 3_000).await), ErrorKind::Conflict, "{state:?}");
    }
    assert_eq!(everything(store).await, before);
}

pub async fn a_job_is_cancelled_in_every_state(backend: &dyn Backend) {
    let store = &*backend.fresh().await;
    for state in JobState::ALL {
        let before = bring(store, state).await;
        let events = told(store, &before.id.to_string()).await;
        let came = store.cancel_job(before.id, 5_000).await.unwrap();
        let after = match state {
            JobState::Queued | JobState::Paused => {
                assert_eq!(came, CancelAsked::Cancelled);
                JobRecord {
                    state: JobState::Cancelled,
                    result: Some(json!({ "why": format!("it was cancelled while it was {}", state.as_str()) })),
                    cancel_asked_at: Some(5_000),
                    ended_at: Some(5_000),
                    changed_at: 5_000,
                    ..before.clone()
                }
            }
            JobState::Running => {
                assert_eq!(came, CancelAsked::Asked);
                JobRecord { cancel_asked_at: Some(5_000), changed_at: 5_000, ..before.clone() }
            }
            JobState::Done | JobState::Failed | JobState::Cancelled => {
                assert_eq!(came, CancelAsked::Over(state));
                before.clone()
            }
        };
        assert_eq!(store.job(before.id).await.unwrap(), after);
        let more = told(store, &before.id.to_string()).await.len() - events.len();
        assert_eq!(more, usize::from(!state.is_over()), "{state:?}");
        let written = everything(store).await;
        let again = if state == JobState::Running { CancelAsked::Asked } else { CancelAsked::Over(after.state) };
        assert_eq!(store.cancel_job(before.id, 6_000).await.unwrap(), again);
        assert_eq!(everything(store).await, written, "asking again changes nothing");
    }
    assert_eq!(kind(store.cancel_job(JobId(99), 1).await), ErrorKind::NotFound);
}

pub async fn what_was_to_be_cancelled_is_never_begun_again(backend: &dyn Backend) {
    let store = &*backend.fresh().await;
    for (end, state) in [
        (lost(), JobState::Cancelled),
        (cut_off(), JobState::Cancelled),
        (paused(), JobState::Cancelled),
        (done(), JobState::Done),
        (JobEnd::Over { state: JobState::Cancelled, result: json!("partly") }, JobState::Cancelled),
    ] {
        let before = bring(store, JobState::Running).await;
        store.cancel_job(before.id, 5_000).await.unwrap();
        assert!(store.end_job(before.id, before.epoch, &end, 6_000).await.unwrap());
        let why = Some(json!({ "why": "it was asked to end" }));
        let deaths = u32::from(matches!(end, JobEnd::Lost { .. }));
        let (result, progress) = match end {
            JobEnd::Over { result, .. } | JobEnd::CutOff { result, .. } => (Some(result), before.progress.clone()),
            JobEnd::Paused { progress } => (why, progress),
            JobEnd::Lost { .. } => (why, before.progress.clone()),
        };
        let expected = JobRecord {
            state,
            owner: None,
            result,
            progress,
            deaths,
            cancel_asked_at: Some(5_000),
            ended_at: Some(6_000),
            changed_at: 6_000,
            ..before
        };
        assert_eq!(store.job(expected.id).await.unwrap(), expected);
        assert_eq!(claim(store).await, None);
    }
}

pub async fn what_is_forgotten_keeps_how_it_ended(backend: &dyn Backend) {
    let store = &*backend.fresh().await;
    let mut ended = vec![];
    for (end, at) in [(JobState::Done, 30), (JobState::Failed, 10), (JobState::Cancelled, 20), (JobState::Done, 40)] {
        let running = bring(store, JobState::Running).await;
        let note = JobNote { dispatch: Some(dispatch_id()), progress: Some(json!(SECRET)), ..JobNote::default() };
        store.note_job(running.id, 1, &note, 5).await.unwrap();
        let end = JobEnd::Over { state: end, result: json!(SECRET) };
        assert!(store.end_job(running.id, 1, &end, at).await.unwrap());
        ended.push(store.job(running.id).await.unwrap());
    }
    let open = [bring(store, JobState::Paused).await, bring(store, JobState::Queued).await];
    let told = story(store).await;
    assert_eq!(store.forget_jobs(40, 2).await.unwrap(), [JobId(2), JobId(3)], "those that ended first");
    assert_eq!(store.forget_jobs(40, 9).await.unwrap(), [JobId(1)]);
    assert_eq!(store.forget_jobs(40, 9).await.unwrap(), []);
    for before in &ended[..3] {
        let expected = JobRecord { order: None, progress: Value::Null, result: None, ..before.clone() };
        assert_eq!(store.job(before.id).await.unwrap(), expected);
        assert_eq!(store.cancel_job(before.id, 9).await.unwrap(), CancelAsked::Over(before.state));
    }
    assert_eq!(store.job(ended[3].id).await.unwrap(), ended[3]);
    assert_eq!(store.forget_jobs(i64::MAX, 9).await.unwrap(), [JobId(4)], "what is not over is not forgotten");
    for job in open {
        assert_eq!(store.job(job.id).await.unwrap(), job);
    }
    assert_eq!(story(store).await, told);
}

pub async fn jobs_are_filtered_the_newest_first(backend: &dyn Backend) {
    let store = &*backend.fresh().await;
    store.add_worker(&worker("coder")).await.unwrap();
    for state in JobState::ALL {
        bring(store, state).await;
        if state == JobState::Queued {
            assert_eq!(store.cancel_job(JobId(1), 1).await.unwrap(), CancelAsked::Cancelled);
        }
    }
    store.end_job(JobId(2), 1, &done(), 1).await.unwrap();
    add(store, Some("coder")).await;
    add(store, None).await;
    let states = |states: &[JobState]| JobFilter { states: states.to_vec(), limit: 99, ..JobFilter::default() };
    let of_kind = |kind| JobFilter { kind: Some(kind), limit: 99, ..JobFilter::default() };
    let of_worker = |name: &str| JobFilter { worker: Some(name.into()), limit: 99, ..JobFilter::default() };
    for (filter, expected) in [
        (states(&[]), vec![8, 7, 6, 5, 4, 3, 2, 1]),
        (JobFilter { limit: 2, ..states(&[]) }, vec![8, 7]),
        (JobFilter::default(), vec![]),
        (states(&[JobState::Queued]), vec![8, 7]),
        (states(&[JobState::Queued, JobState::Paused, JobState::Running]), vec![8, 7, 3]),
        (states(&[JobState::Done]), vec![4, 2]),
        (states(&[JobState::Queued, JobState::Cancelled]), vec![8, 7, 6, 1]),
        (JobFilter { limit: 1, ..states(&[JobState::Queued]) }, vec![8]),
        (of_kind(JobKind::Worker), vec![7]),
        (of_kind(JobKind::Workflow), vec![]),
        (JobFilter { kind: Some(JobKind::Dispatch), ..states(&[JobState::Queued]) }, vec![8]),
        (of_worker("coder"), vec![7]),
        (of_worker("nobody"), vec![]),
        (JobFilter { states: vec![JobState::Done], ..of_worker("coder") }, vec![]),
    ] {
        let found = store.jobs(&filter).await.unwrap();
        assert_eq!(found.iter().map(|job| job.id.0).collect::<Vec<_>>(), expected, "{filter:?}");
    }
}

pub async fn open_jobs_are_counted_by_state(backend: &dyn Backend) {
    let store = &*backend.fresh().await;
    assert_eq!(store.job_counts().await.unwrap(), []);
    for state in [JobState::Done, JobState::Failed, JobState::Cancelled] {
        bring(store, state).await;
    }
    assert_eq!(store.job_counts().await.unwrap(), [], "what is over is not counted");
    for state in [JobState::Paused, JobState::Running, JobState::Paused, JobState::Paused, JobState::Running] {
        bring(store, state).await;
    }
    assert_eq!(store.job_counts().await.unwrap(), [(JobState::Running, 2), (JobState::Paused, 3)]);
    let queued = bring(store, JobState::Queued).await;
    let all = [(JobState::Queued, 1), (JobState::Running, 2), (JobState::Paused, 3)];
    assert_eq!(backend.reopen().await.job_counts().await.unwrap(), all);
    store.cancel_job(queued.id, 5_000).await.unwrap();
    assert_eq!(store.job_counts().await.unwrap(), all[1..]);
}
