//! Work whose process died: ended on its server, settled with what its session shows, and closed in the store. Safe to
//! repeat, and safe when two processes do it at once.
//!
//! Invariant: what a dead process had reserved is never just released. It is settled as an unknown cost, unless it is
//! proven that nothing was sent (see [`nothing_was_sent`]).

use crate::{
    Context,
    base::owner::is_gone,
    servers::{endpoint_of, session_cost::read_cost},
};
use futures_util::future::BoxFuture;
use shuntyard_agents::opencode::{Client, Endpoint, StopOutcome, read_tree, stop_sessions};
use shuntyard_core::DispatchId;
use shuntyard_host::clock::now_micros;
use shuntyard_store::{
    AttemptEnd, AttemptRecord, DispatchEnd, DispatchRecord, ErrorKind, Result, RunStatus, SessionState,
};

/// How long a run on a server of the user's waits for that server to be named again.
const GIVE_UP_AFTER_MICROS: i64 = 24 * 3600 * 1_000_000;
/// Open dispatches that are looked at in one go, at most.
const AT_ONCE: u32 = 200;

/// Settles dispatches that still count as running although their process is gone: the given one, or
/// any. Returns how many were closed.
// Boxed, so that the body is compiled once and not in every crate that awaits it.
pub(crate) fn recover_abandoned<'a>(context: &'a Context, only: Option<DispatchId>) -> BoxFuture<'a, Result<u32>> {
    Box::pin(async move {
        let unfinished = match only {
            Some(dispatch) => vec![context.store.dispatch(dispatch).await?],
            None => context.store.unfinished_dispatches(AT_ONCE).await?,
        };
        let mut closed = 0;
        for dispatch in unfinished.iter().filter(|found| found.status == RunStatus::Running && is_gone(&found.owner)) {
            let running: Vec<_> =
                dispatch.attempts.iter().filter(|attempt| attempt.status == RunStatus::Running).collect();
            let waits = now_micros() - dispatch.began_at < GIVE_UP_AFTER_MICROS;
            if waits && is_elsewhere(context, &running).await {
                continue;
            }
            let mut goes_on = false;
            for attempt in running {
                goes_on |= settle(context, dispatch, attempt).await? == Settled::GoesOn;
            }
            // As long as its agent may still write and spend, it is not over; the next recovery tries again.
            if goes_on && waits {
                continue;
            }
            for attempt in &dispatch.attempts {
                if let Some(session) = &attempt.session {
                    if is_held_by_another(context, dispatch.id, session).await? {
                        continue;
                    }
                    let client = client_for(context, attempt).await?;
                    release_session(context, client.as_ref(), session).await?;
                }
            }
            let end = DispatchEnd {
                at: now_micros(),
                status: RunStatus::Abandoned,
                error_class: None,
                warnings: Vec::new(),
                route: None,
                // How it would have ended is unknown.
                outcomes: Vec::new(),
            };
            context.store.finish_dispatch(dispatch.id, &end).await?;
            closed += 1;
        }
        Ok(closed)
    })
}

/// Whether an attempt ran on a server of the user's that this command does not name: only a command
/// that does can end it there.
async fn is_elsewhere(context: &Context, attempts: &[&AttemptRecord]) -> bool {
    for attempt in attempts.iter().filter(|attempt| attempt.server.is_none()) {
        if let Some(session) = &attempt.session
            && let Ok(record) = context.store.session(session).await
            && named_server(context).is_none_or(|client| client.address() != record.home)
        {
            return true;
        }
    }
    false
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Settled {
    Done,
    /// Its run could not be ended.
    GoesOn,
}

async fn settle(context: &Context, dispatch: &DispatchRecord, attempt: &AttemptRecord) -> Result<Settled> {
    let is_unsent = nothing_was_sent(attempt);
    let mut end = AttemptEnd {
        at: now_micros(),
        status: RunStatus::Abandoned,
        error_class: None,
        message: Some(if is_unsent { "its process died before anything was sent" } else { "its process died" }.into()),
        answered_by: None,
        usage: attempt.usage,
        usage_known: is_unsent,
        cost: attempt.cost,
        cost_known: is_unsent,
    };
    let client = client_for(context, attempt).await?.map(|client| client.in_directory(dispatch.directory.as_ref()));
    if let Some(client) = client {
        let session = match &attempt.session {
            Some(session) => Some(session.clone()),
            // It died between the creation of the session and the note of it: the title has our id.
            None => {
                let found = client.find_sessions(&dispatch.id.to_string()).await.unwrap_or_default();
                let is_others = |id: &String| dispatch.attempts.iter().any(|other| other.session.as_ref() == Some(id));
                found.into_iter().map(|session| session.id).find(|id| !is_others(id))
            }
        };
        if let Some(session) = session {
            let stopped = stop_family(&client, &session).await;
            if !is_unsent
                && let Some(read) = read_cost(context, &client, &session, (dispatch.id, attempt.ordinal)).await?
            {
                (end.usage, end.usage_known) = (read.usage, read.usage_known);
                (end.cost, end.cost_known) = (read.cost.value(), read.cost.is_known());
            }
            let recent = now_micros() - dispatch.began_at < GIVE_UP_AFTER_MICROS;
            if recent && may_go_on(context, attempt, stopped).await? {
                return Ok(Settled::GoesOn);
            }
        }
    }
    context.store.finish_attempt(dispatch.id, attempt.ordinal, &end).await?;
    Ok(Settled::Done)
}

/// The proof that no model was asked: on a managed server the session is noted before the first prompt, and this one
/// was not. Without a managed server it may have been a direct call, which has no session, so nothing is proven.
fn nothing_was_sent(attempt: &AttemptRecord) -> bool {
    attempt.server.is_some() && attempt.session.is_none()
}

/// Whether a run may still be at work after it was asked to stop. A managed server that does not answer is ended by its
/// keeper before long, and then it is not.
async fn may_go_on(context: &Context, attempt: &AttemptRecord, stopped: StopOutcome) -> Result<bool> {
    let servers = context.store.servers().await?;
    let process =
        servers.into_iter().find(|server| Some(server.id) == attempt.server).and_then(|server| server.process);
    let managed_lives = process.is_some_and(|process| !is_gone(&process));
    Ok(match stopped {
        StopOutcome::Stopped => false,
        StopOutcome::StillRunning => attempt.server.is_none() || managed_lives,
        StopOutcome::Unreachable => managed_lives,
    })
}

/// Stops a session with its descendants.
async fn stop_family(client: &Client, session: &str) -> StopOutcome {
    let family =
        read_tree(client, session).await.map(|tree| tree.sessions).unwrap_or_else(|_| vec![session.to_owned()]);
    stop_sessions(client, &family).await
}

/// Whether a live process goes on with the session: it may have been taken from this dispatch, or never been its.
async fn is_held_by_another(context: &Context, dispatch: DispatchId, session: &str) -> Result<bool> {
    let open = context.store.unfinished_dispatches(AT_ONCE).await?;
    let holds =
        |attempt: &AttemptRecord| attempt.status == RunStatus::Running && attempt.session.as_deref() == Some(session);
    Ok(open.iter().any(|other| other.id != dispatch && !is_gone(&other.owner) && other.attempts.iter().any(holds)))
}

/// Makes sure that nothing runs any more for a dispatch that was asked to end. False when it still may.
pub(crate) async fn is_stopped(context: &Context, dispatch: DispatchId) -> Result<bool> {
    let record = context.store.dispatch(dispatch).await?;
    for attempt in &record.attempts {
        let Some(session) = &attempt.session else { continue };
        let Some(client) = client_for(context, attempt).await? else { continue };
        let client = client.in_directory(record.directory.as_ref());
        let stopped = stop_sessions(&client, std::slice::from_ref(session)).await;
        if may_go_on(context, attempt, stopped).await? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Says what becomes of the session: one that is to stay is free again, any other waits to be deleted.
async fn release_session(context: &Context, client: Option<&Client>, session: &str) -> Result<()> {
    let mut record = match context.store.session(session).await {
        Ok(record) => record,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    record.state = match record.state {
        SessionState::InUse => SessionState::Kept,
        SessionState::Open => SessionState::Doomed,
        SessionState::Kept | SessionState::Doomed | SessionState::Archived | SessionState::Deleted => return Ok(()),
    };
    // A server of the user's has no keeper that would delete it.
    let alone = record.state == SessionState::Doomed && record.home.contains("://");
    if alone
        && let Some(client) = client
        && client.delete_stopped_session(session).await.is_ok()
    {
        record.state = SessionState::Deleted;
    }
    context.store.put_session(&record).await
}

/// The server that the attempt ran on, if it can still be asked.
async fn client_for(context: &Context, attempt: &AttemptRecord) -> Result<Option<Client>> {
    let endpoint = match attempt.server {
        Some(server) => {
            let record = context.store.servers().await?.into_iter().find(|record| record.id == server);
            record.and_then(|record| endpoint_of(context, &record).ok())
        }
        None => return Ok(named_server(context)),
    };
    Ok(endpoint.and_then(|endpoint| Client::new(&endpoint).ok()))
}

fn named_server(context: &Context) -> Option<Client> {
    let url = context.config.server.url.clone();
    if url.is_empty() {
        return None;
    }
    Client::new(&Endpoint { url, password: context.server_password.clone() }).ok()
}
