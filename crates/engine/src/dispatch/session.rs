//! Sessions of dispatches: where one lives, what it may do, and what becomes of it.
//!
//! New ones of text dispatches are deleted, those of agents and commands and reused ones are kept; kept ones are
//! archived when they were not used for some days.

use crate::base::refusal::Refusal;
use crate::{Context, servers::Want};
use serde_json::json;
use shuntyard_agents::opencode::{NewSession, PermissionRule};
use shuntyard_core::{
    DispatchId,
    routing::request::Request,
    values::{Access, Mode},
};
use shuntyard_store::ErrorKind;

pub(super) async fn wanted_server(context: &Context, request: &Request, slot: Option<&str>) -> Result<Want, Refusal> {
    let Some(session) = &request.session else {
        return Ok(slot.map_or(Want::Any, |slot| Want::Slot(slot.to_owned())));
    };
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
        title: format!("shuntyard {id} {start}"),
        permission: permissions(request.mode, request.access),
        metadata: json!({ "shuntyard": { "dispatch": id } }),
    }
}

/// The tools of an agent that only reads.
const LOOKING: [&str; 9] =
    ["read", "glob", "grep", "list", "lsp", "skill", "todowrite", "webfetch", "StructuredOutput"];
/// What holds secrets as a rule.
const SECRET_FILES: [&str; 2] = ["*.env", "*.env.*"];

/// OpenCode takes the last rule that matches, so the general one comes first.
fn permissions(mode: Mode, access: Access) -> Vec<PermissionRule> {
    match (mode, access) {
        (Mode::Text, _) => vec![PermissionRule::deny("*"), PermissionRule::allow("StructuredOutput")],
        // An unattended agent keeps to its directory, does not delegate its work, neither to OpenCode's own agents nor
        // through our tools, and asks no questions.
        (Mode::Agent, Access::Write) => {
            ["task", "shuntyard_*", "external_directory", "doom_loop", "question"].map(PermissionRule::deny).to_vec()
        }
        (Mode::Agent, Access::Read) => {
            let secrets = SECRET_FILES.map(|pattern| PermissionRule { pattern, ..PermissionRule::deny("read") });
            let looking = LOOKING.map(PermissionRule::allow);
            [PermissionRule::deny("*")].into_iter().chain(looking).chain(secrets).collect()
        }
        // A command may be built on subtasks, so those stay allowed.
        (Mode::Command, _) => ["external_directory", "doom_loop", "question"].map(PermissionRule::deny).to_vec(),
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
