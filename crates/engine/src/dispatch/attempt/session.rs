//! The session of an attempt: opened with everything recorded, and closed as its policy says.

use super::{Attempt, prompts::Ran};
use crate::{
    budget::{OverBudget, no_room},
    dispatch::{
        refusal::Refusal,
        session::{Afterwards, afterwards, new_session},
    },
    owner::this_process,
    server::give_up,
};
use std::time::Duration;
use switchyard_agents::opencode::{ApiError, GiveUp, StopOutcome, TreeUsage, read_tree};
use switchyard_core::dispatch::Mode;
use switchyard_host::clock::now_micros;
use switchyard_store::{Begun, ErrorKind, NewAttempt, NewDispatch, SessionRecord, SessionState};

const STREAM_PATIENCE: Duration = Duration::from_secs(5);

/// The session to run in, and what had been spent in it before. Everything is in the store before the
/// first prompt can cost anything; an empty session that a crash leaves behind carries our id in its title.
pub(super) async fn open_session(attempt: &Attempt<'_>) -> Result<(String, TreeUsage), Refusal> {
    let opening = async {
        tokio::select! {
            biased;
            opened = take_session(attempt) => opened,
            () = no_events(attempt) => Err(Refusal::Api(ApiError::Deadline(attempt.run.client.address()))),
        }
    };
    let (recorded, opened) = tokio::join!(record_begin(attempt), opening);
    let (id, before) = opened?;
    let noted = async {
        recorded?;
        // A prompt before the stream stands could lose its first events; without one, looking carries the run.
        attempt.run.acquired.hub.wait_connected(STREAM_PATIENCE).await;
        attempt.run.context.store.set_attempt_session(attempt.run.id, attempt.ordinal, &id).await?;
        let state = match afterwards(attempt.run.request) {
            Afterwards::Keep => SessionState::InUse,
            Afterwards::Delete => SessionState::Open,
        };
        put_session(attempt, &id, state).await
    };
    if let Err(refusal) = noted.await {
        abandon(attempt, &id).await;
        return Err(refusal);
    }
    Ok((id, before))
}

async fn take_session(attempt: &Attempt<'_>) -> Result<(String, TreeUsage), Refusal> {
    let Some(session) = &attempt.run.request.session else {
        let created = attempt.run.client.create_session(&new_session(attempt.run.request, attempt.run.id)).await?;
        return Ok((created.id, TreeUsage::default()));
    };
    // The claim is what makes two prompts at once impossible; that the server shows none is only a courtesy.
    match attempt.run.context.store.claim_session(session, now_micros()).await {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::Conflict => {
            return Err(Refusal::SessionBusy { session: session.clone() });
        }
        Err(error) => return Err(error.into()),
    }
    match read_tree(attempt.run.client, session).await {
        Ok(before) => Ok((session.clone(), before)),
        Err(error) => {
            abandon(attempt, session).await;
            Err(error.into())
        }
    }
}

/// Leaves nothing of a session that was opened for a prompt which is not sent.
async fn abandon(attempt: &Attempt<'_>, session: &str) {
    if attempt.run.request.session.is_some() {
        drop(put_session(attempt, session, SessionState::Kept).await);
    } else {
        drop(attempt.run.client.delete_stopped_session(session).await);
    }
}

/// Ends when a managed server opens no event stream: it is wedged then, whatever its port says.
async fn no_events(attempt: &Attempt<'_>) {
    let stand = attempt.run.acquired.hub.wait_connected(STREAM_PATIENCE).await;
    if stand || attempt.run.acquired.managed.is_none() {
        std::future::pending::<()>().await;
    }
}

async fn record_begin(attempt: &Attempt<'_>) -> Result<(), Refusal> {
    if !attempt.recorded {
        record_dispatch(attempt).await?;
    }
    let new = NewAttempt {
        dispatch: attempt.run.id,
        ordinal: attempt.ordinal,
        at: now_micros(),
        model: attempt.model().to_string(),
        server: attempt.run.acquired.managed,
        tier: attempt.resolution.tier.clone(),
        task: attempt.run.options.task.clone(),
        batch: attempt.run.options.batch.clone(),
        reserve: attempt.reserve.clone(),
    };
    match attempt.run.context.store.begin_attempt(&new).await? {
        Begun::Started => Ok(()),
        Begun::Refused { ceiling, settled, reserved } => {
            let Some(reserve) = &attempt.reserve else {
                return Err(Refusal::Budget { why: "a limit has no room".into() });
            };
            let OverBudget(why) = no_room(reserve, ceiling, settled, reserved);
            Err(Refusal::Budget { why })
        }
    }
}

async fn record_dispatch(attempt: &Attempt<'_>) -> Result<(), Refusal> {
    let request = attempt.run.request;
    let dispatch = NewDispatch {
        id: attempt.run.id,
        at: now_micros(),
        owner: this_process()?,
        mode: request.mode.to_string(),
        requested: request.selector.to_json(),
        route: serde_json::to_value(attempt.resolution).unwrap_or_default(),
        directory: request.directory.to_string_lossy().into_owned(),
        prompt_chars: request.prompt.chars().count() as u64,
    };
    Ok(attempt.run.context.store.begin_dispatch(&dispatch).await?)
}

async fn put_session(attempt: &Attempt<'_>, id: &str, state: SessionState) -> Result<(), Refusal> {
    let record = SessionRecord {
        id: id.to_owned(),
        home: attempt.run.acquired.home.clone(),
        directory: attempt.run.request.directory.to_string_lossy().into_owned(),
        model: attempt.model().to_string(),
        state,
        used_at: now_micros(),
    };
    Ok(attempt.run.context.store.put_session(&record).await?)
}

/// On a managed server the keeper deletes what is done with, so that nobody has to wait for it.
fn keeper_deletes(attempt: &Attempt<'_>) -> bool {
    attempt.run.acquired.managed.is_some() && afterwards(attempt.run.request) == Afterwards::Delete
}

/// Leaves the session as its policy says; tells whether it is still there for another prompt.
pub(super) async fn close_session(attempt: &Attempt<'_>, session: &str, ran: &Ran) -> Result<bool, Refusal> {
    let stuck = matches!(ran.report.stop, Some(StopOutcome::StillRunning | StopOutcome::Unreachable));
    if stuck || matches!(ran.report.gave_up, Some(GiveUp::ServerLost(_))) {
        if let Some(server) = attempt.run.acquired.managed {
            // A server that does not obey an abort is ended by its keeper.
            give_up(attempt.run.context, server).await;
        }
        // The next server with this database deletes what this one could not.
        let kept = !keeper_deletes(attempt);
        let state = if kept { SessionState::Kept } else { SessionState::Doomed };
        put_session(attempt, session, state).await?;
        return Ok(kept);
    }
    // Nobody goes on with a text that did not come, and another model may have been asked instead.
    let failed_text =
        ran.result.is_err() && attempt.run.request.mode == Mode::Text && attempt.run.request.session.is_none();
    if afterwards(attempt.run.request) == Afterwards::Keep && !failed_text {
        put_session(attempt, session, SessionState::Kept).await?;
        return Ok(true);
    }
    if attempt.run.acquired.managed.is_some() {
        put_session(attempt, session, SessionState::Doomed).await?;
        return Ok(false);
    }
    match attempt.run.client.delete_stopped_session(session).await {
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
