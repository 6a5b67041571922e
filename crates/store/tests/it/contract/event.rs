//! The event log: what it contains, once, in order.

use super::{Backend, sample};
use serde_json::{Value, json};
use shuntyard_core::Nano;
use shuntyard_store::{AttemptEnd, ServerState, Store};

/// Everything but the position.
pub async fn story(store: &dyn Store) -> Vec<(i64, String, String, Value)> {
    let events = store.events_after(0, 100).await.unwrap();
    events.into_iter().map(|event| (event.at, event.kind, event.subject, event.data)).collect()
}

pub async fn changes_tell_their_story_once(backend: &dyn Backend) {
    let store = backend.fresh().await;
    let dispatch = sample::dispatch(900);
    let end = sample::attempt_end(50);
    let server = sample::server(ServerState::Starting);
    store.begin_dispatch(&dispatch).await.unwrap();
    sample::start(&*store, &sample::attempt(dispatch.id, 1)).await;
    for _ in 0..2 {
        store.finish_attempt(dispatch.id, 1, &end).await.unwrap();
    }
    let raised = AttemptEnd { cost: Nano(60), ..end.clone() };
    for _ in 0..2 {
        store.finish_attempt(dispatch.id, 1, &raised).await.unwrap();
        store.finish_dispatch(dispatch.id, &sample::dispatch_end(9_000)).await.unwrap();
    }
    store.put_server(&server).await.unwrap();
    store.set_server_state(server.id, ServerState::Ready, 210).await.unwrap();
    for now in [220, 230] {
        store.remove_server(server.id, now).await.unwrap();
    }
    let finished = json!({
        "ordinal": 1, "model": "local/small@low", "status": "ok", "error_class": null,
        "cost_nano": 50, "cost_known": true,
    });
    let expected = [
        (900, "dispatch.started", dispatch.id.to_string(), json!({ "mode": "single" })),
        (5_000, "attempt.finished", dispatch.id.to_string(), finished),
        (
            5_000,
            "attempt.raised",
            dispatch.id.to_string(),
            json!({ "ordinal": 1, "cost_nano": 60, "cost_known": true }),
        ),
        (9_000, "dispatch.finished", dispatch.id.to_string(), json!({ "status": "ok", "error_class": null })),
        (200, "server.starting", server.id.to_string(), json!({ "slot": "slot-1" })),
        (210, "server.ready", server.id.to_string(), json!({ "slot": "slot-1" })),
        (220, "server.removed", server.id.to_string(), json!({ "slot": "slot-1" })),
    ];
    assert_eq!(story(&*store).await, expected.map(|(at, kind, subject, data)| (at, kind.to_owned(), subject, data)));
}

pub async fn events_come_in_order_and_in_pages(backend: &dyn Backend) {
    let store = backend.fresh().await;
    let mut positions = vec![];
    for at in [30, 10, 20] {
        positions.push(store.append_event(at, "note", "me", &json!({ "at": at })).await.unwrap());
    }
    assert!(positions.is_sorted(), "{positions:?}");
    let first = store.events_after(0, 2).await.unwrap();
    assert_eq!(first.iter().map(|event| event.position).collect::<Vec<_>>(), positions[..2]);
    let rest = backend.reopen().await.events_after(positions[1], 9).await.unwrap();
    let expected = shuntyard_store::Event {
        position: positions[2],
        at: 20,
        kind: "note".into(),
        subject: "me".into(),
        data: json!({ "at": 20 }),
    };
    assert_eq!(rest, [expected]);
}

pub async fn the_newest_event_is_known_even_when_it_is_gone(backend: &dyn Backend) {
    let store = backend.fresh().await;
    assert_eq!(store.newest_event().await.unwrap(), 0);
    let mut last = 0;
    for at in [30, 10, 20] {
        last = store.append_event(at, "note", "me", &json!({})).await.unwrap();
        assert_eq!(store.newest_event().await.unwrap(), last);
    }
    assert_eq!(store.events_after(0, 9).await.unwrap().last().map(|event| event.position), Some(last));
    backend.remove_events().await;
    assert_eq!(store.events_after(0, 9).await.unwrap(), []);
    assert_eq!(store.newest_event().await.unwrap(), last);
    assert_eq!(backend.reopen().await.newest_event().await.unwrap(), last);
    let next = store.append_event(40, "note", "me", &json!({})).await.unwrap();
    assert!(next > last, "whoever reads on from {last} must find {next}");
    assert_eq!(store.newest_event().await.unwrap(), next);
}

pub async fn a_refused_change_leaves_no_event(backend: &dyn Backend) {
    let store = backend.fresh().await;
    let dispatch = sample::dispatch(900);
    store.begin_dispatch(&dispatch).await.unwrap();
    let before = story(&*store).await;
    store.begin_dispatch(&dispatch).await.unwrap_err();
    store.finish_attempt(dispatch.id, 7, &sample::attempt_end(1)).await.unwrap_err();
    store.finish_dispatch(sample::dispatch_id(), &sample::dispatch_end(1)).await.unwrap_err();
    store.set_server_state(sample::server_id(), ServerState::Ready, 1).await.unwrap_err();
    assert_eq!(story(&*store).await, before);
}

pub async fn the_data_version_shows_anothers_write(backend: &dyn Backend) {
    let store = backend.fresh().await;
    let other = backend.reopen().await;
    let before = store.data_version().await.unwrap();
    assert_eq!(store.data_version().await.unwrap(), before, "nobody wrote");
    other.append_event(1, "note", "other", &json!({})).await.unwrap();
    let after = store.data_version().await.unwrap();
    assert_ne!(after, before, "another store wrote");
    store.events_after(0, 9).await.unwrap();
    assert_eq!(store.data_version().await.unwrap(), after, "reading is no change");
    store.append_event(2, "note", "own", &json!({})).await.unwrap();
    assert_ne!(store.data_version().await.unwrap(), after, "this store wrote");
}
