//! The session of an attempt: opened with everything recorded, and closed as its policy says.

use super::{Attempt, ORDINAL, prompts::Ran};
use crate::{
    dispatch::{
        prepare::Refusal,
        session::{Afterwards, afterwards, new_session},
    },
    owner::this_process,
    server::give_up,
};
use std::time::Duration;
use switchyard_agents::opencode::{ApiError, GiveUp, StopOutcome, TreeUsage, read_tree};
use switchyard_host::clock::now_micros;
use switchyard_store::{NewAttempt, NewDispatch, SessionRecord, SessionState};

const STREAM_PATIENCE: Duration = Duration::from_secs(5);

/// The session to run in, and what had been spent in it before. Everything is in the store before the
/// first prompt can cost anything; an empty session that a crash leaves behind carries our id in its title.
pub(super) async fn open_session(attempt: &Attempt<'_>) -> Result<(String, TreeUsage), Refusal> {
    let opening = async {
        match &attempt.request.session {
            Some(session) => Ok((session.clone(), read_tree(attempt.client, session).await?)),
            None => {
                let created = attempt.client.create_session(&new_session(attempt.request, attempt.id)).await?;
                Ok::<_, Refusal>((created.id, TreeUsage::default()))
            }
        }
    };
    let ((), (id, before), ()) = tokio::try_join!(record_begin(attempt), opening, events_stand(attempt))?;
    attempt.context.store.set_attempt_session(attempt.id, ORDINAL, &id).await?;
    // One that is to stay counts as kept from the start: whoever cleans up after a crash must not remove it.
    let state = match afterwards(attempt.request) {
        Afterwards::Keep => SessionState::Kept,
        Afterwards::Delete => SessionState::Open,
    };
    put_session(attempt, &id, state).await?;
    Ok((id, before))
}

/// A prompt before the stream stands could lose its first events. A managed server that opens none is
/// wedged, whatever its port says; for one of the user's, looking carries the run.
async fn events_stand(attempt: &Attempt<'_>) -> Result<(), Refusal> {
    let stand = attempt.acquired.hub.wait_connected(STREAM_PATIENCE).await;
    if stand || attempt.acquired.managed.is_none() {
        return Ok(());
    }
    Err(Refusal::Api(ApiError::Deadline(attempt.client.address())))
}

async fn record_begin(attempt: &Attempt<'_>) -> Result<(), Refusal> {
    let (request, route) = (attempt.request, &attempt.prepared.route);
    let dispatch = NewDispatch {
        id: attempt.id,
        at: now_micros(),
        owner: this_process()?,
        mode: request.mode.to_string(),
        requested: request.selector.to_json(),
        route: serde_json::to_value(route).unwrap_or_default(),
        directory: request.directory.to_string_lossy().into_owned(),
        prompt_chars: request.prompt.chars().count() as u64,
    };
    attempt.context.store.begin_dispatch(&dispatch).await?;
    let first = NewAttempt {
        dispatch: attempt.id,
        ordinal: ORDINAL,
        at: now_micros(),
        model: route.model.to_string(),
        server: attempt.acquired.managed,
    };
    Ok(attempt.context.store.begin_attempt(&first).await?)
}

async fn put_session(attempt: &Attempt<'_>, id: &str, state: SessionState) -> Result<(), Refusal> {
    let record = SessionRecord {
        id: id.to_owned(),
        home: attempt.acquired.home.clone(),
        directory: attempt.request.directory.to_string_lossy().into_owned(),
        model: attempt.prepared.route.model.to_string(),
        state,
        used_at: now_micros(),
    };
    Ok(attempt.context.store.put_session(&record).await?)
}

/// On a managed server the keeper deletes what is done with, so that nobody has to wait for it.
fn keeper_deletes(attempt: &Attempt<'_>) -> bool {
    attempt.acquired.managed.is_some() && afterwards(attempt.request) == Afterwards::Delete
}

/// Leaves the session as its policy says; tells whether it is still there for another prompt.
pub(super) async fn close_session(attempt: &Attempt<'_>, session: &str, ran: &Ran) -> Result<bool, Refusal> {
    let stuck = matches!(ran.report.stop, Some(StopOutcome::StillRunning | StopOutcome::Unreachable));
    if stuck || matches!(ran.report.gave_up, Some(GiveUp::ServerLost(_))) {
        if let Some(server) = attempt.acquired.managed {
            // A server that does not obey an abort is ended by its keeper.
            give_up(attempt.context, server).await;
        }
        // The next server with this database deletes what this one could not.
        let kept = !keeper_deletes(attempt);
        let state = if kept { SessionState::Kept } else { SessionState::Doomed };
        put_session(attempt, session, state).await?;
        return Ok(kept);
    }
    if afterwards(attempt.request) == Afterwards::Keep {
        put_session(attempt, session, SessionState::Kept).await?;
        return Ok(true);
    }
    if keeper_deletes(attempt) {
        put_session(attempt, session, SessionState::Doomed).await?;
        return Ok(false);
    }
    match attempt.client.delete_stopped_session(session).await {
        Ok(()) | Err(ApiError::NotFound(_)) => {
            put_session(attempt, session, SessionState::Deleted).await?;
            Ok(false)
        }
        Err(error) => {
            tracing::warn!(%error, session, "a session could not be deleted and is kept");
            put_session(attempt, session, SessionState::Kept).await?;
            Ok(true)
        }
    }
}
