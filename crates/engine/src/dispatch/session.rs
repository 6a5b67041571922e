//! Sessions of dispatches: where one lives, what it may do, and what becomes of it.
//!
//! New ones of text dispatches are deleted, those of agents and commands and reused ones are kept;
//! kept ones are archived when nobody has used them for some days.

use super::prepare::Refusal;
use crate::{Context, server::Want};
use serde_json::json;
use switchyard_agents::opencode::{Client, NewSession, PermissionRule, read_tree};
use switchyard_core::{
    DispatchId,
    dispatch::{Mode, Request},
};
use switchyard_host::clock::now_micros;
use switchyard_store::{ErrorKind, SessionState};

/// The server that the request has to go to.
pub(super) async fn wanted_server(context: &Context, request: &Request) -> Result<Want, Refusal> {
    let Some(session) = &request.session else { return Ok(Want::Any) };
    match context.store.session(session).await {
        Ok(record) if context.config.server.url.is_empty() && record.home.contains("://") => {
            Err(Refusal::ElsewhereSession { session: session.clone(), server: record.home })
        }
        Ok(record) => Ok(Want::Slot(record.home)),
        Err(error) if error.kind() == ErrorKind::NotFound => Err(Refusal::UnknownSession(session.clone())),
        Err(error) => Err(error.into()),
    }
}

pub(super) fn new_session(request: &Request, id: DispatchId) -> NewSession {
    let start: String = request.prompt.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(40).collect();
    NewSession {
        title: format!("switchyard {id} {start}"),
        permission: permissions(request.mode),
        metadata: json!({ "switchyard": { "dispatch": id } }),
    }
}

/// OpenCode takes the last rule that matches, so the general one comes first.
fn permissions(mode: Mode) -> Vec<PermissionRule> {
    match mode {
        Mode::Text => vec![PermissionRule::deny("*"), PermissionRule::allow("StructuredOutput")],
        // An unattended agent keeps to its directory, does not hand its work on, and asks nobody.
        Mode::Agent => ["task", "external_directory", "doom_loop", "question"].map(PermissionRule::deny).to_vec(),
        // A command may be built on subtasks, so those stay allowed.
        Mode::Command => ["external_directory", "doom_loop", "question"].map(PermissionRule::deny).to_vec(),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Afterwards {
    Keep,
    Delete,
}

pub(super) fn afterwards(request: &Request) -> Afterwards {
    if request.keep || request.session.is_some() || request.mode != Mode::Text {
        Afterwards::Keep
    } else {
        Afterwards::Delete
    }
}

/// Archives kept sessions, with their children, that nobody has used for long.
pub(super) async fn tidy(context: &Context, client: &Client, home: &str) -> Option<String> {
    let age = context.config.sessions.archive_after.0?;
    let before = now_micros() - i64::try_from(age.as_micros()).unwrap_or(i64::MAX);
    let stale = context.store.stale_sessions(before, context.config.sessions.archive_limit).await.unwrap_or_default();
    for mut record in stale.into_iter().filter(|record| record.home == home) {
        let family = read_tree(client, &record.id).await.map(|tree| tree.sessions);
        for session in family.unwrap_or_else(|_| vec![record.id.clone()]) {
            // One that is gone already needs no archive.
            drop(client.archive_session(&session, now_micros() / 1000).await);
        }
        record.state = SessionState::Archived;
        if let Err(error) = context.store.put_session(&record).await {
            return Some(format!("old sessions could not be archived: {error}"));
        }
    }
    None
}
