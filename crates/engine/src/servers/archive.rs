//! Old sessions: archived, with their children, when they were not used for some days.

use crate::{Context, servers::session_cost::correct_session};
use shuntyard_agents::opencode::{ApiError, Client, read_tree};
use shuntyard_host::clock::now_micros;
use shuntyard_store::SessionState;

/// Archives kept sessions of this home, a few at a time. What fails now is tried again next time.
pub(crate) async fn archive_old_sessions(context: &Context, client: &Client, home: &str) {
    let Some(age) = context.config.sessions.archive_after.0 else { return };
    let before = now_micros() - i64::try_from(age.as_micros()).unwrap_or(i64::MAX);
    let limit = context.config.sessions.archive_limit;
    let stale = context.store.stale_sessions(home, before, limit).await.unwrap_or_default();
    for mut record in stale {
        let client = client.in_directory(record.directory.as_ref());
        if let Err(error) = correct_session(context, &client, &record.id).await {
            tracing::warn!(%error, session = record.id, "the cost of a session could not be corrected");
        }
        let family = read_tree(&client, &record.id).await.map(|tree| tree.sessions);
        let mut done = true;
        for session in family.unwrap_or_else(|_| vec![record.id.clone()]) {
            let archived = client.archive_session(&session, now_micros() / 1000).await;
            // One that is gone already needs no archive.
            done &= matches!(archived, Ok(()) | Err(ApiError::NotFound(_)));
        }
        if !done {
            continue;
        }
        record.state = SessionState::Archived;
        if let Err(error) = context.store.put_session(&record).await {
            tracing::warn!(%error, session = record.id, "an old session could not be archived");
        }
    }
}
