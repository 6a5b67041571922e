//! The server registry and its leases.

use super::{Backend, sample};
use shuntyard_store::{ErrorKind, ServerRecord, ServerState};

pub async fn a_server_is_replaced_in_place_and_keeps_its_leases(backend: &dyn Backend) {
    let store = backend.fresh().await;
    let first = sample::server(ServerState::Ready);
    let lease = sample::lease(first.id);
    store.put_server(&first).await.unwrap();
    store.take_lease(&lease).await.unwrap();
    let replaced = ServerRecord {
        id: first.id,
        slot: "slot-2".into(),
        state: ServerState::Failed,
        url: String::new(),
        version: "2.0.0".into(),
        fingerprint: "def".into(),
        keeper: sample::owner(41),
        process: None,
        started_at: 400,
        changed_at: 500,
        problem: Some("port taken".into()),
    };
    store.put_server(&replaced).await.unwrap();
    assert_eq!(store.servers().await.unwrap(), [replaced]);
    assert_eq!(backend.reopen().await.leases(first.id).await.unwrap(), [lease]);
}

pub async fn a_server_moves_through_its_states(backend: &dyn Backend) {
    let store = backend.fresh().await;
    let mut server = sample::server(ServerState::Starting);
    let other = sample::server(ServerState::Failed);
    store.put_server(&server).await.unwrap();
    store.put_server(&other).await.unwrap();
    for (now, state) in (1_000..).zip(ServerState::ALL) {
        store.set_server_state(server.id, state, now).await.unwrap();
        (server.state, server.changed_at) = (state, now);
        assert_eq!(store.servers().await.unwrap(), [server.clone(), other.clone()]);
    }
    let missing = store.set_server_state(sample::server_id(), ServerState::Ready, 1).await;
    assert_eq!(sample::kind(missing), ErrorKind::NotFound);
}

pub async fn only_a_ready_server_is_lent(backend: &dyn Backend) {
    let store = backend.fresh().await;
    let server = sample::server(ServerState::Ready);
    store.put_server(&server).await.unwrap();
    let (first, second) = (sample::lease(server.id), sample::lease(server.id));
    store.take_lease(&first).await.unwrap();
    assert_eq!(sample::kind(store.take_lease(&first).await), ErrorKind::Conflict, "a second time");
    for state in [ServerState::Starting, ServerState::Draining, ServerState::Failed] {
        store.set_server_state(server.id, state, 1).await.unwrap();
        assert_eq!(sample::kind(store.take_lease(&second).await), ErrorKind::Conflict, "{state:?}");
    }
    let unknown = sample::lease(sample::server_id());
    assert_eq!(sample::kind(store.take_lease(&unknown).await), ErrorKind::Conflict);
    assert_eq!(store.leases(server.id).await.unwrap(), std::slice::from_ref(&first));

    store.set_server_state(server.id, ServerState::Ready, 2).await.unwrap();
    store.take_lease(&second).await.unwrap();
    store.release_lease(server.id, first.holder).await.unwrap();
    store.release_lease(server.id, first.holder).await.unwrap();
    assert_eq!(store.leases(server.id).await.unwrap(), [second]);
}

pub async fn a_removed_server_takes_its_leases_along(backend: &dyn Backend) {
    let store = backend.fresh().await;
    let (gone, stays) = (sample::server(ServerState::Ready), sample::server(ServerState::Ready));
    let kept = sample::lease(stays.id);
    for server in [&gone, &stays] {
        store.put_server(server).await.unwrap();
    }
    store.take_lease(&sample::lease(gone.id)).await.unwrap();
    store.take_lease(&kept).await.unwrap();
    store.remove_server(gone.id, 700).await.unwrap();
    store.remove_server(gone.id, 701).await.unwrap();
    assert_eq!(store.servers().await.unwrap(), std::slice::from_ref(&stays));
    assert_eq!(store.leases(gone.id).await.unwrap(), []);
    assert_eq!(store.leases(stays.id).await.unwrap(), [kept]);
}
