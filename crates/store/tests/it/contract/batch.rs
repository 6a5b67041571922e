//! Batches: made once, paused and resumed with a word to all, and joined by what has not begun.

use super::{
    Backend,
    event::story,
    sample::kind,
    task_sample::{self as tasks, add, bare, cancel, claim_of, happen, id, read, stepped},
};
use serde_json::json;
use shuntyard_core::work::task::Event;
use shuntyard_store::{BatchRecord, Changed, ErrorKind};

fn batch(name: &str, created_at: i64) -> BatchRecord {
    BatchRecord { name: name.into(), concurrency: 3, paused: false, created_at }
}

pub async fn a_batch_is_created_once(backend: &dyn Backend) {
    let store = &*backend.fresh().await;
    let paused = BatchRecord { paused: true, concurrency: u32::MAX, ..batch("early", 5) };
    store.create_batch(&batch("late", 9)).await.unwrap();
    store.create_batch(&paused).await.unwrap();
    let told = story(store).await;
    for again in [batch("late", 10), batch("", 11)] {
        assert_eq!(kind(store.create_batch(&again).await), ErrorKind::Conflict);
    }
    assert_eq!(backend.reopen().await.batches().await.unwrap(), [paused, batch("late", 9)]);
    let created = (9, "batch.created".to_owned(), "late".to_owned(), json!({ "concurrency": 3, "paused": false }));
    assert_eq!((told.len(), &told[0]), (2, &created));
    assert_eq!(story(store).await, told);
}

pub async fn a_pause_is_told_once(backend: &dyn Backend) {
    let store = &*backend.fresh().await;
    store.create_batch(&batch("nightly", 1)).await.unwrap();
    for (paused, now) in [(false, 2), (true, 3), (true, 4), (false, 5), (false, 6)] {
        store.pause_batch("nightly", paused, now).await.unwrap();
        assert_eq!(store.batches().await.unwrap()[0].paused, paused);
    }
    let told: Vec<(i64, String)> = story(store).await.into_iter().skip(1).map(|(at, kind, ..)| (at, kind)).collect();
    assert_eq!(told, [(3, "batch.paused".to_owned()), (5, "batch.resumed".to_owned())]);
    assert_eq!(kind(store.pause_batch("absent", true, 7).await), ErrorKind::NotFound);
}

pub async fn queued_tasks_join_a_batch(backend: &dyn Backend) {
    let store = &*backend.fresh().await;
    store.create_batch(&batch("nightly", 1)).await.unwrap();
    store.create_batch(&batch("other", 1)).await.unwrap();
    add(store, ["t001", "t002", "t003"].map(bare)).await;
    let prepared = claim_of(store, "t001", tasks::run()).await;
    store.join_batch("nightly", &[id("t002"), id("t001"), id("t002")], 50).await.unwrap();
    for name in ["t001", "t002"] {
        assert_eq!(read(store, name).await.task.batch.as_deref(), Some("nightly"));
    }
    assert_eq!(store.change_task(&prepared).await.unwrap(), Changed::Stale, "its slots were those of no batch");
    let last = story(store).await.pop().unwrap();
    assert_eq!(last, (50, "batch.joined".to_owned(), "nightly".to_owned(), json!({ "tasks": 2 })));
    store.join_batch("other", &[id("t001")], 51).await.unwrap();
    assert_eq!(read(store, "t001").await.task.batch.as_deref(), Some("other"));
    let names: Vec<String> = store
        .ready_tasks(Some("nightly"), 0, 9)
        .await
        .unwrap()
        .candidates
        .iter()
        .map(|one| one.id.to_string())
        .collect();
    assert_eq!(names, ["t002"]);
    // Its runs count for the batch from then on.
    happen(store, "t001", Event::Claim).await;
    assert_eq!(store.live_runs().await.unwrap()[0].batch.as_deref(), Some("other"));
}

pub async fn what_is_not_queued_joins_nothing(backend: &dyn Backend) {
    let store = &*backend.fresh().await;
    store.create_batch(&batch("nightly", 1)).await.unwrap();
    add(store, ["t001", "t002", "t003"].map(bare)).await;
    happen(store, "t002", Event::Claim).await;
    let gone = stepped(&read(store, "t003").await, cancel());
    tasks::make(store, &gone).await;
    let before = tasks::everything(store).await;
    for (name, wanted) in [("nightly", "t002"), ("nightly", "t003"), ("nightly", "t009"), ("absent", "t001")] {
        let joined = store.join_batch(name, &[id("t001"), id(wanted)], 50).await;
        assert_eq!(kind(joined), ErrorKind::Conflict, "{name} {wanted}");
        assert_eq!(tasks::everything(store).await, before);
    }
}
