//! Sessions that may be used again.

use super::{Backend, sample};
use shuntyard_store::{AttemptEnd, ErrorKind, SessionRecord, SessionState};

pub async fn a_session_keeps_its_home_and_model(backend: &dyn Backend) {
    let store = backend.fresh().await;
    assert_eq!(sample::kind(store.session("ses_1").await), ErrorKind::NotFound);
    let first = sample::session("ses_1", SessionState::Open, 10);
    store.put_session(&first).await.unwrap();
    assert_eq!(store.session("ses_1").await.unwrap(), first);

    let changed = SessionRecord {
        id: "ses_1".into(),
        home: "elsewhere".into(),
        directory: "/moved".into(),
        model: "other/model".into(),
        state: SessionState::Kept,
        used_at: 20,
    };
    store.put_session(&changed).await.unwrap();
    let expected = SessionRecord { home: first.home, model: first.model, ..changed };
    assert_eq!(backend.reopen().await.session("ses_1").await.unwrap(), expected);
}

pub async fn only_kept_sessions_become_stale(backend: &dyn Backend) {
    let store = backend.fresh().await;
    let home = sample::session("any", SessionState::Kept, 0).home;
    let elsewhere = SessionRecord { home: "elsewhere".into(), ..sample::session("other", SessionState::Kept, 1) };
    store.put_session(&elsewhere).await.unwrap();
    for (id, state, used_at) in [
        ("newer", SessionState::Kept, 30),
        ("oldest", SessionState::Kept, 10),
        ("older", SessionState::Kept, 20),
        ("open", SessionState::Open, 1),
        ("archived", SessionState::Archived, 1),
        ("deleted", SessionState::Deleted, 1),
        ("doomed", SessionState::Doomed, 1),
    ] {
        store.put_session(&sample::session(id, state, used_at)).await.unwrap();
    }
    let [oldest, older] = [("oldest", 10), ("older", 20)].map(|(id, at)| sample::session(id, SessionState::Kept, at));
    assert_eq!(store.stale_sessions(&home, 30, 9).await.unwrap(), [oldest.clone(), older]);
    assert_eq!(store.stale_sessions(&home, 30, 1).await.unwrap(), [oldest]);
}

pub async fn doomed_sessions_are_found_by_their_home(backend: &dyn Backend) {
    let store = backend.fresh().await;
    let doomed = |id: &str, at: i64| sample::session(id, SessionState::Doomed, at);
    let home = doomed("any", 0).home;
    let elsewhere = SessionRecord { home: "elsewhere".into(), ..doomed("elsewhere", 1) };
    for record in [doomed("later", 9), doomed("first", 3), elsewhere, sample::session("kept", SessionState::Kept, 1)] {
        store.put_session(&record).await.unwrap();
    }
    assert_eq!(store.doomed_sessions(&home, 9).await.unwrap(), [doomed("first", 3), doomed("later", 9)]);
    assert_eq!(store.doomed_sessions(&home, 1).await.unwrap(), [doomed("first", 3)]);
    let gone = SessionRecord { state: SessionState::Deleted, ..doomed("first", 10) };
    store.put_session(&gone).await.unwrap();
    assert_eq!(store.doomed_sessions(&home, 9).await.unwrap(), [doomed("later", 9)]);
}

pub async fn a_kept_session_is_claimed_once(backend: &dyn Backend) {
    let store = backend.fresh().await;
    store.put_session(&sample::session("one", SessionState::Kept, 1)).await.unwrap();
    store.put_session(&sample::session("doomed", SessionState::Doomed, 1)).await.unwrap();
    store.claim_session("one", 5).await.unwrap();
    assert_eq!(store.session("one").await.unwrap(), sample::session("one", SessionState::InUse, 5));
    for id in ["one", "doomed", "unknown"] {
        assert_eq!(store.claim_session(id, 6).await.unwrap_err().kind(), ErrorKind::Conflict, "{id}");
    }
}

pub async fn attempts_of_unknown_cost_are_found_by_their_session(backend: &dyn Backend) {
    let store = backend.fresh().await;
    let home = sample::session("any", SessionState::Kept, 0).home;
    let dispatch = sample::dispatch(900);
    store.begin_dispatch(&dispatch).await.unwrap();
    let unknown = AttemptEnd { cost_known: false, ..sample::attempt_end(0) };
    let known = sample::attempt_end(5);
    for (ordinal, id, state, end) in [
        (1, "known", SessionState::Kept, Some(&known)),
        (2, "kept", SessionState::Kept, Some(&unknown)),
        (3, "doomed", SessionState::Doomed, Some(&unknown)),
        (4, "deleted", SessionState::Deleted, Some(&unknown)),
        (5, "running", SessionState::Kept, None),
        (6, "kept", SessionState::Kept, Some(&known)),
    ] {
        sample::start(&*store, &sample::attempt(dispatch.id, ordinal)).await;
        store.set_attempt_session(dispatch.id, ordinal, id).await.unwrap();
        store.put_session(&sample::session(id, state, i64::from(ordinal))).await.unwrap();
        if let Some(end) = end {
            store.finish_attempt(dispatch.id, ordinal, end).await.unwrap();
        }
    }
    let found = async |limit| {
        let sessions = store.sessions_of_unknown_cost(&home, limit).await.unwrap();
        sessions.into_iter().map(|session| session.id).collect::<Vec<_>>()
    };
    assert_eq!(found(9).await, ["kept", "doomed"]);
    assert_eq!(found(1).await, ["kept"]);
    assert_eq!(store.sessions_of_unknown_cost("elsewhere", 9).await.unwrap(), []);
    let all = store.dispatch(dispatch.id).await.unwrap().attempts;
    let of_kept = store.session_attempts("kept").await.unwrap();
    assert_eq!(of_kept, [(dispatch.id, all[1].clone()), (dispatch.id, all[5].clone())]);
    assert_eq!(store.session_attempts("nobody's").await.unwrap(), []);
    store.finish_attempt(dispatch.id, 2, &known).await.unwrap();
    assert_eq!(found(9).await, ["doomed"]);
}
