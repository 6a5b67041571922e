//! The session of an attempt: opened with everything recorded, and closed as its policy says.

use super::{ServerAttempt, prompts::Ran, record::record_begin};
use crate::{
    base::refusal::Refusal,
    dispatch::session::{Afterwards, afterwards, new_session},
    servers::give_up,
};
use shuntyard_agents::opencode::{ApiError, GiveUp, StopOutcome, TreeUsage, read_tree};
use shuntyard_core::values::Mode;
use shuntyard_host::clock::now_micros;
use shuntyard_store::{ErrorKind, SessionRecord, SessionState};
use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

const STREAM_PATIENCE: Duration = Duration::from_secs(5);

/// The session to run in, and what had been spent in it before. Everything is in the store before the
/// first prompt can cost anything; an empty session that a crash leaves behind carries our id in its title.
pub(super) async fn open_session(seat: &ServerAttempt<'_>) -> Result<(String, TreeUsage), Refusal> {
    let is_taken = AtomicBool::new(false);
    let opening = async {
        tokio::select! {
            biased;
            opened = take_session(seat, &is_taken) => opened,
            () = no_events(seat) => {
                if let Some(session) = seat.attempt.run.request.session.as_ref().filter(|_| is_taken.load(Ordering::Relaxed)) {
                    abandon(seat, session).await;
                }
                Err(Refusal::Api(ApiError::Deadline(seat.server_handle.client.address())))
            }
        }
    };
    let recording = record_begin(seat.attempt, seat.server_handle.acquired.managed);
    let (recorded, opened) = match &seat.attempt.run.request.session {
        // One that is taken is found by its attempt, should this process die: it must not stay taken for ever.
        Some(session) => {
            recording.await?;
            let store = &seat.attempt.run.context.store;
            store.set_attempt_session(seat.attempt.run.id, seat.attempt.ordinal, session).await?;
            (Ok(()), opening.await)
        }
        None => tokio::join!(recording, opening),
    };
    let (id, before) = opened?;
    let noted = async {
        recorded?;
        // A prompt before the stream is open could lose its first events; without one, polling carries the run.
        seat.server_handle.acquired.hub.wait_connected(STREAM_PATIENCE).await;
        seat.attempt.run.context.store.set_attempt_session(seat.attempt.run.id, seat.attempt.ordinal, &id).await?;
        let state = match afterwards(seat.attempt.run.request) {
            Afterwards::Keep => SessionState::InUse,
            Afterwards::Delete => SessionState::Open,
        };
        put_session(seat, &id, state).await
    };
    if let Err(refusal) = noted.await {
        abandon(seat, &id).await;
        return Err(refusal);
    }
    Ok((id, before))
}

async fn take_session(seat: &ServerAttempt<'_>, is_taken: &AtomicBool) -> Result<(String, TreeUsage), Refusal> {
    let Some(session) = &seat.attempt.run.request.session else {
        let created = seat
            .server_handle
            .client
            .create_session(&new_session(seat.attempt.run.request, seat.attempt.run.id))
            .await?;
        return Ok((created.id, TreeUsage::default()));
    };
    // The claim is what makes two prompts at once impossible; that the server shows none is only a courtesy.
    match seat.attempt.run.context.store.claim_session(session, now_micros()).await {
        Ok(()) => is_taken.store(true, Ordering::Relaxed),
        Err(error) if error.kind() == ErrorKind::Conflict => {
            return Err(Refusal::SessionBusy { session: session.clone() });
        }
        Err(error) => return Err(error.into()),
    }
    match read_tree(&seat.server_handle.client, session).await {
        Ok(before) => Ok((session.clone(), before)),
        Err(error) => {
            abandon(seat, session).await;
            Err(error.into())
        }
    }
}

/// Leaves nothing of a session that was opened for a prompt which is not sent.
async fn abandon(seat: &ServerAttempt<'_>, session: &str) {
    if seat.attempt.run.request.session.is_some() {
        drop(put_session(seat, session, SessionState::Kept).await);
    } else {
        drop(seat.server_handle.client.delete_stopped_session(session).await);
    }
}

/// Ends when a managed server opens no event stream: it is wedged then, whatever its port says.
async fn no_events(seat: &ServerAttempt<'_>) {
    let stand = seat.server_handle.acquired.hub.wait_connected(STREAM_PATIENCE).await;
    if stand || seat.server_handle.acquired.managed.is_none() {
        std::future::pending::<()>().await;
    }
}

async fn put_session(seat: &ServerAttempt<'_>, id: &str, state: SessionState) -> Result<(), Refusal> {
    let record = SessionRecord {
        id: id.to_owned(),
        home: seat.server_handle.acquired.home.clone(),
        directory: seat.attempt.run.request.directory.to_string_lossy().into_owned(),
        model: seat.attempt.model().to_string(),
        state,
        used_at: now_micros(),
    };
    Ok(seat.attempt.run.context.store.put_session(&record).await?)
}

/// On a managed server the keeper deletes finished sessions, so that no client has to wait for it.
fn keeper_deletes(seat: &ServerAttempt<'_>) -> bool {
    seat.server_handle.acquired.managed.is_some() && afterwards(seat.attempt.run.request) == Afterwards::Delete
}

/// Leaves the session as its policy says; returns whether it is still there for another prompt.
pub(super) async fn close_session(seat: &ServerAttempt<'_>, session: &str, ran: &Ran) -> Result<bool, Refusal> {
    let stuck = matches!(ran.report.stop, Some(StopOutcome::StillRunning | StopOutcome::Unreachable));
    if stuck || matches!(ran.report.gave_up, Some(GiveUp::ServerLost(_))) {
        if let Some(server) = seat.server_handle.acquired.managed {
            // A server that does not obey an abort is ended by its keeper.
            give_up(seat.attempt.run.context, server).await;
        }
        // The next server with this database deletes what this one could not.
        let kept = !keeper_deletes(seat);
        let state = if kept { SessionState::Kept } else { SessionState::Doomed };
        put_session(seat, session, state).await?;
        return Ok(kept);
    }
    // No caller continues a text that did not come, and another model may have been asked instead.
    let failed_text = ran.result.is_err()
        && seat.attempt.run.request.mode == Mode::Text
        && seat.attempt.run.request.session.is_none();
    if afterwards(seat.attempt.run.request) == Afterwards::Keep && !failed_text {
        put_session(seat, session, SessionState::Kept).await?;
        return Ok(true);
    }
    if seat.server_handle.acquired.managed.is_some() {
        put_session(seat, session, SessionState::Doomed).await?;
        return Ok(false);
    }
    match seat.server_handle.client.delete_stopped_session(session).await {
        Ok(()) | Err(ApiError::NotFound(_)) => {
            put_session(seat, session, SessionState::Deleted).await?;
            Ok(false)
        }
        Err(error) => {
            tracing::warn!(%error, session, "a session could not be deleted and is kept");
            put_session(seat, session, SessionState::Kept).await?;
            Ok(true)
        }
    }
}
