//! Sessions of dispatches: where one lives, what it may do, and what becomes of it.
//!
//! New ones of text dispatches are deleted, those of agents and commands and reused ones are kept;
//! kept ones are archived when nobody has used them for some days.

use super::refusal::Refusal;
use crate::{Context, server::Want};
use serde_json::json;
use switchyard_agents::opencode::{NewSession, PermissionRule};
use switchyard_core::{
    DispatchId,
    dispatch::{Mode, Request},
};
use switchyard_store::ErrorKind;

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
