//! What contests came to: kept once, and read in the order that a choice needs.

use super::{Backend, event::story};
use serde_json::json;
use shuntyard_store::{ContestRecord, Store};

fn held(id: &str, at: i64, repository: &str) -> ContestRecord {
    ContestRecord {
        id: id.to_owned(),
        at,
        task: "t001".parse().ok(),
        repository: repository.to_owned(),
        task_type: Some("code-review".to_owned()),
        entries: json!([{"model": "far/lärge", "won": true}]),
        winner: Some("far/lärge".to_owned()),
        margin: 1_000_000,
        reason: "the only \"green\" one".to_owned(),
    }
}

async fn keep(store: &dyn Store, contest: &ContestRecord) -> bool {
    store.record_contest(contest).await.unwrap()
}

pub async fn the_first_verdict_stands_and_is_told_once(backend: &dyn Backend) {
    let store = &*backend.fresh().await;
    let first = held("a", 10, "/a");
    assert!(keep(store, &first).await);
    let other = ContestRecord { winner: Some("near/small".to_owned()), at: 11, ..first.clone() };
    assert!(!keep(store, &other).await, "the same contest");
    assert_eq!(store.contest("a").await.unwrap(), Some(first.clone()));
    assert_eq!(store.contest("b").await.unwrap(), None);
    let told = json!({"task": "t001", "task_type": "code-review", "winner": "far/lärge", "margin": 1_000_000,
        "reason": "the only \"green\" one"});
    assert_eq!(story(store).await, [(10, "contest.decided".to_owned(), "a".to_owned(), told)]);
    let bare = ContestRecord { id: "c".to_owned(), task: None, task_type: None, winner: None, margin: 0, ..first };
    assert!(keep(store, &bare).await);
    assert_eq!(backend.reopen().await.contest("c").await.unwrap(), Some(bare));
}

pub async fn contests_of_one_repository_come_first_and_the_newest_before_others(backend: &dyn Backend) {
    let store = &*backend.fresh().await;
    for (id, at, repository) in [("1", 10, "/a"), ("2", 30, "/b"), ("3", 20, "/a"), ("4", 40, "/b")] {
        keep(store, &held(id, at, repository)).await;
    }
    keep(store, &ContestRecord { winner: None, ..held("lost", 50, "/a") }).await;
    keep(store, &ContestRecord { task_type: Some("research".to_owned()), ..held("other", 60, "/a") }).await;
    keep(store, &ContestRecord { task_type: None, ..held("unknown", 70, "/a") }).await;
    let ids = |found: Vec<ContestRecord>| found.into_iter().map(|contest| contest.id).collect::<Vec<_>>();
    assert_eq!(ids(store.contests_of_type("code-review", "/a", 9).await.unwrap()), ["3", "1", "4", "2"]);
    assert_eq!(ids(store.contests_of_type("code-review", "/b", 3).await.unwrap()), ["4", "2", "3"]);
    assert_eq!(ids(store.contests_of_type("nothing", "/a", 9).await.unwrap()), [""; 0]);
    let newest = store.contest_of_task(&"t001".parse().unwrap()).await.unwrap().map(|contest| contest.id);
    assert_eq!(newest.as_deref(), Some("unknown"));
    assert_eq!(store.contest_of_task(&"t002".parse().unwrap()).await.unwrap(), None);
}
