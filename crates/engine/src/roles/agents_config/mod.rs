//! Models for groups of OpenCode's agents: what is recommended, what the configuration becomes, and the proof that
//! OpenCode goes by it.
//!
//! Invariant: only `agent.NAME.model` and `agent.NAME.variant` of agents that are there change, and a file is written
//! only by [`write`]. To name an agent that OpenCode does not have would make one.

mod choices;
mod edit;
mod here;
mod place;
mod probe;
mod prove;
mod recommend;

pub use choices::Offer;
pub use edit::{Edit, edit, write};
pub use here::{AgentHere, agents_here};
pub use place::{ConfigFile, Scope};
pub use probe::Probe;
pub use prove::{AgentProof, Standing, Thoroughness, prove};
pub use recommend::{Recommendation, offered, recommend, resolve_named};

use crate::roles::pack::PackError;
use shuntyard_core::{ModelRef, roles::pack::jsonc::JsoncError, settings::AgentGroup};
use std::path::PathBuf;

/// The model that a group is to have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    pub group: AgentGroup,
    pub model: ModelRef,
    /// Those of the group that OpenCode has here.
    pub agents: Vec<String>,
}

#[derive(Debug, thiserror::Error)]
pub enum AgentsConfigError {
    #[error("{} cannot be read: {reason}", path.display())]
    Unreadable { path: PathBuf, reason: String },
    #[error("{}: {source}", path.display())]
    Text { path: PathBuf, source: JsoncError },
    #[error("failed to {0}")]
    Unwritable(#[from] PackError),
    #[error("there is no home directory to find OpenCode's configuration in")]
    NoHome,
}
