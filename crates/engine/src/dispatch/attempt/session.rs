//! The session of an attempt: opened with everything recorded, and closed as its policy says.

use super::{Attempt, prompts::Ran};
use crate::{
    dispatch::{
        refusal::Refusal,
        session::{Afterwards, afterwards, new_session},
    },
    owner::this_process,
    server::give_up,
};
use std::time::Duration;
use switchyard_agents::opencode::{ApiError, GiveUp, StopOutcome, TreeUsage, read_tree};
use switchyard_core::{budget::Unit, dispatch::Mode};
use switchyard_host::clock::now_micros;
use switchyard_store::{Begun, ErrorKind, Measure, NewAttempt, NewDispatch, SessionRecord, SessionState};

const STREAM_PATIENCE: Duration = Duration::from_secs(5);

/// The session to run in, and what had been spent in it before. Everything is in the store before the
/// first prompt can cost anything; an empty session that a crash leaves behind carries our id in its title.
pub(super) async fn open_session(attempt: &Attempt<'_>) -> Result<(String, TreeUsage), Refusal> {
    let opening = async {
        tokio::select! {
            biased;
            opened = take_session(attempt) => opened,
            () = no_events(attempt) => Err(Refusal::Api(ApiError::Deadline(attempt.client.address()))),
        }
    };
    let (recorded, opened) = tokio::join!(record_begin(attempt), opening);
    let (id, before) = opened?;
    let noted = async {
        recorded?;
        // A prompt before the stream stands could lose its first events; without one, looking carries the run.
        attempt.acquired.hub.wait_connected(STREAM_PATIENCE).await;
        attempt.context.store.set_attempt_session(attempt.id, attempt.ordinal, &id).await?;
        let state = match afterwards(attempt.request) {
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
    let Some(session) = &attempt.request.session else {
        let created = attempt.client.create_session(&new_session(attempt.request, attempt.id)).await?;
        return Ok((created.id, TreeUsage::default()));
    };
    // The claim is what makes two prompts at once impossible; that the server shows none is only a courtesy.
    match attempt.context.store.claim_session(session, now_micros()).await {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::Conflict => {
            return Err(Refusal::SessionBusy { session: session.clone() });
        }
        Err(error) => return Err(error.into()),
    }
    match read_tree(attempt.client, session).await {
        Ok(before) => Ok((session.clone(), before)),
        Err(error) => {
            abandon(attempt, session).await;
            Err(error.into())
        }
    }
}

/// Leaves nothing of a session that was opened for a prompt which is not sent.
async fn abandon(attempt: &Attempt<'_>, session: &str) {
    if attempt.request.session.is_some() {
        drop(put_session(attempt, session, SessionState::Kept).await);
    } else {
        drop(attempt.client.delete_stopped_session(session).await);
    }
}

/// Ends when a managed server opens no event stream: it is wedged then, whatever its port says.
async fn no_events(attempt: &Attempt<'_>) {
    let stand = attempt.acquired.hub.wait_connected(STREAM_PATIENCE).await;
    if stand || attempt.acquired.managed.is_none() {
        std::future::pending::<()>().await;
    }
}

async fn record_begin(attempt: &Attempt<'_>) -> Result<(), Refusal> {
    if !attempt.recorded {
        record_dispatch(attempt).await?;
    }
    let new = NewAttempt {
        dispatch: attempt.id,
        ordinal: attempt.ordinal,
        at: now_micros(),
        model: attempt.model().to_string(),
        server: attempt.acquired.managed,
        tier: attempt.resolution.tier.clone(),
        task: None,
        batch: None,
        reserve: attempt.reserve.clone(),
    };
    match attempt.context.store.begin_attempt(&new).await? {
        Begun::Started => Ok(()),
        Begun::Refused { ceiling, settled, reserved } => {
            let ceilings = attempt.reserve.as_ref().map(|reserve| reserve.ceilings.as_slice()).unwrap_or_default();
            let Some(ceiling) = ceilings.get(ceiling) else { return Err(Refusal::Budget { why: "no room".into() }) };
            let unit = match ceiling.measure {
                Measure::Cost => Unit::Usd,
                Measure::Attempts => Unit::Requests,
                Measure::Tokens => Unit::Tokens,
            };
            // Others have set it aside since the choice was made, or the estimate is more than what is left.
            let why = format!(
                "{} has no room for another attempt: {} settled and {} set aside of {}",
                ceiling.key,
                unit.show(settled),
                unit.show(reserved),
                unit.show(ceiling.limit)
            );
            Err(Refusal::Budget { why })
        }
    }
}

async fn record_dispatch(attempt: &Attempt<'_>) -> Result<(), Refusal> {
    let request = attempt.request;
    let dispatch = NewDispatch {
        id: attempt.id,
        at: now_micros(),
        owner: this_process()?,
        mode: request.mode.to_string(),
        requested: request.selector.to_json(),
        route: serde_json::to_value(attempt.resolution).unwrap_or_default(),
        directory: request.directory.to_string_lossy().into_owned(),
        prompt_chars: request.prompt.chars().count() as u64,
    };
    Ok(attempt.context.store.begin_dispatch(&dispatch).await?)
}

async fn put_session(attempt: &Attempt<'_>, id: &str, state: SessionState) -> Result<(), Refusal> {
    let record = SessionRecord {
        id: id.to_owned(),
        home: attempt.acquired.home.clone(),
        directory: attempt.request.directory.to_string_lossy().into_owned(),
        model: attempt.model().to_string(),
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
    // Nobody goes on with a text that did not come, and another model may have been asked instead.
    let failed_text = ran.result.is_err() && attempt.request.mode == Mode::Text && attempt.request.session.is_none();
    if afterwards(attempt.request) == Afterwards::Keep && !failed_text {
        put_session(attempt, session, SessionState::Kept).await?;
        return Ok(true);
    }
    if attempt.acquired.managed.is_some() {
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
