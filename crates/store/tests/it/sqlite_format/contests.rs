//! Contests, as version 9 keeps them.

use super::{STORED_V8, STORED_V9, Yard};
use serde_json::json;
use shuntyard_store::{ContestRecord, Contests as _, sqlite::SqliteStore};

#[tokio::test]
async fn version_9_is_read_whole() {
    let yard = Yard::stored(STORED_V9).await;
    let store = SqliteStore::open_existing(&yard.path).await.unwrap();
    let task: shuntyard_core::work::task::TaskId = "t001".parse().unwrap();
    let expected = ContestRecord {
        id: "t001-1760000000000000:1,2".to_owned(),
        at: 1_760_000_009_000_001,
        task: Some(task.clone()),
        repository: "/prøject".to_owned(),
        task_type: Some("code-review".to_owned()),
        entries: json!([{"model": "far/large", "won": true}, {"model": "local/small@low", "won": false}]),
        winner: Some("far/large".to_owned()),
        margin: 300_000,
        reason: "local/judge found it the best".to_owned(),
    };
    assert_eq!(store.contest_of_task(&task).await.unwrap(), Some(expected.clone()));
    assert_eq!(store.contests_of_type("code-review", "", 9).await.unwrap(), [expected]);
    let prompt = store.contest("prompt:1").await.unwrap().unwrap();
    assert_eq!((prompt.task, prompt.winner, prompt.margin), (None, None, 0));
}

#[tokio::test]
async fn version_8_has_no_contest_yet() {
    let yard = Yard::stored(STORED_V8).await;
    let store = SqliteStore::open_existing(&yard.path).await.unwrap();
    assert_eq!(store.contests_of_type("code-review", "", 9).await.unwrap(), []);
}
