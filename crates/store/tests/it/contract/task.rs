//! Tasks are added all or none, read back whole, listed in pages, and found when their moment has come.

use super::{
    Backend,
    sample::kind,
    task_sample::{self as sample, add, all, bare, full, happen, id, new, read},
};
use serde_json::json;
use shuntyard_core::work::task::{Change, Event, Phase, State, Task, TaskSpec, Wait};
use shuntyard_store::{BatchRecord, ErrorKind, NewTask, TaskFilter, TaskRecord};

pub async fn a_task_is_read_back_whole(backend: &dyn Backend) {
    let store = &*backend.fresh().await;
    store
        .create_batch(&BatchRecord { name: "nightly".into(), concurrency: 2, paused: true, created_at: 5 })
        .await
        .unwrap();
    let first = Task { batch: Some("nightly".into()), ..full("t004.2") };
    assert_eq!(store.add_tasks(&[new(first.clone()), new(bare("other"))]).await.unwrap(), [id("t004.2"), id("other")]);
    let expected = TaskRecord { task: first, number: 1, version: 1, open_blockers: 2, paused: true, receipt: None };
    let other =
        TaskRecord { task: bare("other"), number: 2, version: 1, open_blockers: 0, paused: false, receipt: None };
    let again = backend.reopen().await;
    assert_eq!(again.task(&id("t004.2")).await.unwrap(), expected);
    assert_eq!(all(&*again).await, [expected, other]);
    assert_eq!(kind(again.task(&id("t004")).await), ErrorKind::NotFound);
}

pub async fn the_nameless_get_the_next_free_number(backend: &dyn Backend) {
    let store = &*backend.fresh().await;
    let nameless = |name: &str| NewTask { id: None, task: bare(name) };
    let ids = store.add_tasks(&[nameless("x"), new(bare("t005")), nameless("x"), new(bare("t7b"))]).await.unwrap();
    assert_eq!(ids, [id("t006"), id("t005"), id("t007"), id("t7b")], "after the highest, also of the same call");
    add(store, [bare("t0998"), bare("t99999999999999999999999"), bare("t1000.7")]).await;
    assert_eq!(store.add_tasks(&[nameless("t001"), nameless("t001")]).await.unwrap(), [id("t999"), id("t1000")]);
    assert_eq!(read(store, "t1000").await.task.id, id("t1000"));
    let many: Vec<NewTask> = (0..1_200).map(|_| nameless("x")).collect();
    let ids = store.add_tasks(&many).await.unwrap();
    assert_eq!((ids.len(), &ids[0], &ids[1_199]), (1_200, &id("t1001"), &id("t2200")));
    let numbers: Vec<i64> = all(store).await.iter().map(|record| record.number).collect();
    assert_eq!(numbers, (1..=1_209).collect::<Vec<i64>>(), "in the order in which they were given");
    assert_eq!(read(store, "t2200").await.number, 1_209);
}

pub async fn tasks_are_added_all_or_none(backend: &dyn Backend) {
    let store = &*backend.fresh().await;
    add(store, [bare("t001")]).await;
    let before = sample::everything(store).await;
    let batched = Task { batch: Some("absent".into()), ..bare("t003") };
    let started = Task { state: State::Running, ..bare("t003") };
    for (bad, named) in [(bare("t001"), "t001"), (bare("t002"), "t002"), (batched, "absent"), (started, "t003")] {
        let error = store.add_tasks(&[new(bare("t002")), new(bad)]).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Conflict, "{error}");
        assert!(error.to_string().contains(named), "{error}");
        assert_eq!(sample::everything(store).await, before);
    }
    assert_eq!(store.add_tasks(&[]).await.unwrap(), []);
}

pub async fn every_task_is_told(backend: &dyn Backend) {
    let store = &*backend.fresh().await;
    add(store, [bare("t001"), Task { created_at: 1_500, ..bare("t002") }]).await;
    let told = |event: shuntyard_store::Event| (event.at, event.kind, event.subject);
    let events: Vec<_> = store.events_after(0, 9).await.unwrap().into_iter().map(told).collect();
    let queued = |at, name: &str| (at, "task.queued".to_owned(), name.to_owned());
    assert_eq!(events, [queued(1_000, "t001"), queued(1_500, "t002")]);
}

pub async fn the_audit_of_a_task_is_its_own(backend: &dyn Backend) {
    let store = &*backend.fresh().await;
    add(store, [bare("t001"), bare("t001.1")]).await;
    store.append_event(1, "note", "t001", &json!({})).await.unwrap();
    store.append_event(1, "task", "t001", &json!({})).await.unwrap();
    happen(store, "t001", Event::Claim).await;
    happen(store, "t001.1", Event::Claim).await;
    happen(store, "t001", Event::Lose { detail: "gone".into() }).await;
    let events = store.task_events(&id("t001"), 0, 9).await.unwrap();
    let kinds: Vec<&str> = events.iter().map(|event| event.kind.as_str()).collect();
    assert_eq!(kinds, ["task.queued", "task.starting", "task.queued"]);
    assert_eq!(events[0].data, json!({ "event": "add", "from": "", "to": "queued", "epoch": 0 }));
    let lost = Change {
        event: "lose".into(),
        from: "starting".into(),
        to: "queued".into(),
        epoch: 1,
        detail: "gone".into(),
        route: None,
    };
    assert_eq!(events[2].data, serde_json::to_value(lost).unwrap());
    assert_eq!((events[2].at, events[2].subject.as_str()), (2_000, "t001"));
    assert_eq!(store.task_events(&id("t001"), events[0].position, 1).await.unwrap(), events[1..2]);
    assert_eq!(store.task_events(&id("t00"), 0, 9).await.unwrap(), []);
}

pub async fn tasks_are_filtered_and_read_on(backend: &dyn Backend) {
    let store = &*backend.fresh().await;
    let batch = BatchRecord { name: "nightly".into(), concurrency: 0, paused: false, created_at: 5 };
    store.create_batch(&batch).await.unwrap();
    for number in 1_u32..=12 {
        let task = bare(&format!("t{number}"));
        let repository = if number % 2 == 0 { "/even" } else { "/odd" };
        let batch = (number % 3 == 0).then(|| "nightly".to_owned());
        add(store, [Task { batch, spec: TaskSpec { repository: repository.into(), ..task.spec }, ..task }]).await;
        if number > 6 {
            happen(store, &format!("t{number}"), sample::cancel()).await;
        }
    }
    let any = TaskFilter { limit: 99, ..TaskFilter::default() };
    let queued = TaskFilter { phase: Some(Phase::Queued), ..any.clone() };
    let nightly = TaskFilter { batch: Some("nightly".into()), ..any.clone() };
    let even = TaskFilter { repository: Some("/even".into()), ..any.clone() };
    let all_of_them = TaskFilter { phase: Some(Phase::Cancelled), batch: nightly.batch.clone(), ..even.clone() };
    for (filter, expected) in [
        (any.clone(), (1..=12).collect::<Vec<i64>>()),
        (TaskFilter { after: 10, ..any.clone() }, vec![11, 12]),
        (TaskFilter { limit: 2, after: 3, ..any }, vec![4, 5]),
        (queued.clone(), (1..=6).collect()),
        (TaskFilter { after: 2, limit: 2, ..queued }, vec![3, 4]),
        (TaskFilter { after: 3, ..nightly.clone() }, vec![6, 9, 12]),
        (nightly, vec![3, 6, 9, 12]),
        (TaskFilter { limit: 3, ..even.clone() }, vec![2, 4, 6]),
        (TaskFilter { phase: Some(Phase::Queued), ..even }, vec![2, 4, 6]),
        (all_of_them, vec![12]),
    ] {
        let found = store.tasks(&filter).await.unwrap();
        assert_eq!(found.iter().map(|record| record.number).collect::<Vec<_>>(), expected, "{filter:?}");
    }
    let counted = |queued, cancelled| {
        Phase::ALL.map(|phase| match phase {
            Phase::Queued => (phase, queued),
            Phase::Cancelled => (phase, cancelled),
            _ => (phase, 0),
        })
    };
    assert_eq!(store.task_counts(None).await.unwrap(), counted(6, 6));
    assert_eq!(store.task_counts(Some("nightly")).await.unwrap(), counted(2, 2));
    assert_eq!(store.task_counts(Some("absent")).await.unwrap(), counted(0, 0));
}

pub async fn a_task_is_due_when_its_moment_has_come(backend: &dyn Backend) {
    let store = &*backend.fresh().await;
    add(store, ["t001", "t002", "t003", "t004"].map(bare)).await;
    assert_eq!(store.next_due().await.unwrap(), None);
    for (name, until) in [("t001", 7_000), ("t002", 5_000), ("t004", 5_000)] {
        let event = Event::Postpone { until, wait: Wait::Trouble, detail: "no network".into() };
        happen(store, name, event).await;
    }
    let due = async |now, limit| {
        let found = store.due_tasks(now, limit).await.unwrap();
        found.into_iter().map(|record| record.task.id.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(store.next_due().await.unwrap(), Some(5_000));
    assert!(due(4_999, 9).await.is_empty());
    assert_eq!(due(5_000, 9).await, ["t002", "t004"]);
    assert_eq!(due(9_000, 9).await, ["t002", "t004", "t001"]);
    assert_eq!(due(9_000, 1).await, ["t002"]);
    // They were changed at 2 000: a clock that shows less was set back, and no caller should wait a day for it.
    assert_eq!(due(1_999, 9).await, ["t002", "t004", "t001"]);
    happen(store, "t002", Event::Retry).await;
    happen(store, "t004", sample::cancel()).await;
    assert_eq!((due(9_000, 9).await, store.next_due().await.unwrap()), (vec!["t001".to_owned()], Some(7_000)));
}

pub async fn a_mark_is_moved(backend: &dyn Backend) {
    let store = &*backend.fresh().await;
    assert_eq!(store.mark("breaker").await.unwrap(), None);
    for at in [9, 7] {
        store.set_mark("breaker", at).await.unwrap();
        assert_eq!(backend.reopen().await.mark("breaker").await.unwrap(), Some(at));
    }
    assert_eq!(store.mark("other").await.unwrap(), None);
}
