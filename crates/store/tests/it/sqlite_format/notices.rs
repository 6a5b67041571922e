//! Effects of the store itself, as version 8 keeps them.

use super::{STORED_V7, STORED_V8, Yard};
use serde_json::json;
use shuntyard_core::work::task::{Effect, Notice};
use shuntyard_store::{Alert, EffectRecord, SpendKey, SpendKind, Store as _, Tasks as _, sqlite::SqliteStore};

const LATER: i64 = 1_760_000_040_000_000;

#[tokio::test]
async fn version_8_is_read_whole() {
    let yard = Yard::stored(STORED_V8).await;
    let store = SqliteStore::open_existing(&yard.path).await.unwrap();
    let taken = store.take_effects(LATER, 1, 9).await.unwrap();
    let effect = Effect::Notify { notice: Notice::Budget, detail: "budget: 80 %".to_owned() };
    let expected = EffectRecord { id: 9, task: None, epoch: 0, at: 1_760_000_000_000_049, effect, tries: 2 };
    assert_eq!(taken.last(), Some(&expected));
}

#[tokio::test]
async fn the_effects_of_version_7_stay_and_their_ids_are_not_given_again() {
    let yard = Yard::stored(STORED_V7).await;
    // The newest is gone, and its id was given.
    yard.execute("UPDATE sqlite_sequence SET seq = 40 WHERE name = 'effect'").await;
    let store = SqliteStore::open_existing(&yard.path).await.unwrap();
    let key = SpendKey::new(SpendKind::Provider, "far");
    let notice = Effect::Notify { notice: Notice::Budget, detail: String::new() };
    let raised = store.raise_alert(1, &key, "exhausted", 5, &json!({}), Some((&notice, 5))).await.unwrap();
    assert_eq!(raised, Alert::Raised { effect: Some(41) });
    let ids: Vec<i64> = store.take_effects(LATER, 1, 9).await.unwrap().iter().map(|taken| taken.id).collect();
    assert_eq!(ids, [5, 7, 41]);
}
