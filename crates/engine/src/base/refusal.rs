//! Why a request was not sent to any model, and why there is no server for it.

use shuntyard_agents::opencode::{ApiError, locate::NotLocated};
use shuntyard_core::{
    ErrorClass,
    routing::{RouteError, request::BadRequest},
};
use shuntyard_store::StoreError;

#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    #[error(transparent)]
    NotLocated(#[from] NotLocated),
    #[error(transparent)]
    Api(#[from] ApiError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("the managed OpenCode server did not start: {0}")]
    DidNotStart(String),
    #[error("could not start the keeper of a managed server: {0}")]
    Io(#[from] std::io::Error),
}

#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    #[error(transparent)]
    BadRequest(#[from] BadRequest),
    #[error(transparent)]
    Route(#[from] RouteError),
    #[error("the directory {0} does not exist")]
    NoDirectory(String),
    #[error("OpenCode has no agent `{name}` here; it has: {known}")]
    UnknownAgent { name: String, known: String },
    #[error("OpenCode has no command `{name}` here; it has: {known}")]
    UnknownCommand { name: String, known: String },
    #[error("session {0} was not created by Shuntyard on this server")]
    UnknownSession(String),
    #[error("session {session} lives on the server {server}")]
    ElsewhereSession { session: String, server: String },
    #[error("session {session} speaks with {model}; another model needs a session of its own")]
    OtherModel { session: String, model: String },
    #[error("session {session} works in {directory}")]
    OtherDirectory { session: String, directory: String },
    #[error("session {session} is busy with another prompt")]
    SessionBusy { session: String },
    #[error("{names} are the same model, {model}: it would be asked and paid twice")]
    SameTarget { model: String, names: String },
    #[error("it cannot be asked directly: {0}")]
    NotDirect(String),
    #[error("the server was not ready for the prompt within {0}")]
    NotReady(String),
    #[error(transparent)]
    Server(#[from] ServerError),
    #[error(transparent)]
    Api(#[from] ApiError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("failed to look at this process: {0}")]
    Io(#[from] std::io::Error),
    #[error("{0}")]
    Configuration(String),
    #[error("not sent: {why}")]
    Budget {
        why: String,
        /// The next command to try, when there is a better one than for any refusal by a limit.
        next: Option<String>,
    },
    #[error("cancelled before anything was sent")]
    Cancelled,
}

impl Refusal {
    /// The class, where the closed list has one for it.
    #[must_use]
    pub fn class(&self) -> Option<ErrorClass> {
        match self {
            Self::Route(error) => class_of(error),
            Self::Server(ServerError::NotLocated(_)) => Some(ErrorClass::OpencodeMissing),
            Self::Server(ServerError::Store(_)) | Self::Store(_) | Self::Io(_) => None,
            Self::Server(ServerError::Api(ApiError::Configuration { .. }))
            | Self::Api(ApiError::Configuration { .. }) => None,
            Self::Server(_) | Self::Api(_) => Some(ErrorClass::OpencodeUnhealthy),
            Self::Cancelled => Some(ErrorClass::Cancelled),
            Self::Budget { .. } => Some(ErrorClass::BudgetRefused),
            Self::BadRequest(_)
            | Self::Configuration(_)
            | Self::NoDirectory(_)
            | Self::UnknownAgent { .. }
            | Self::UnknownCommand { .. }
            | Self::UnknownSession(_)
            | Self::ElsewhereSession { .. }
            | Self::OtherModel { .. }
            | Self::OtherDirectory { .. }
            | Self::SameTarget { .. }
            | Self::NotDirect(_)
            | Self::SessionBusy { .. } => None,
            Self::NotReady(_) => Some(ErrorClass::Timeout),
        }
    }
}

/// The class of a failed choice; names that do not exist have none, they are wrong usage.
#[must_use]
pub fn class_of(error: &RouteError) -> Option<ErrorClass> {
    match error {
        RouteError::ProviderNotConnected { .. } | RouteError::NoModels { .. } => Some(ErrorClass::ProviderNotConnected),
        RouteError::ModelNotFound { .. }
        | RouteError::VariantNotFound { .. }
        | RouteError::Ambiguous { .. }
        | RouteError::NoSuchName { .. } => Some(ErrorClass::ModelNotFound),
        RouteError::CapabilityMissing { .. } | RouteError::NothingFits { .. } => Some(ErrorClass::CapabilityMissing),
        RouteError::OverBudget { .. } | RouteError::Unaffordable { .. } | RouteError::Closed { .. } => {
            Some(ErrorClass::BudgetRefused)
        }
        RouteError::UnknownTaskType { .. }
        | RouteError::UnknownTier { .. }
        | RouteError::UnknownTag { .. }
        | RouteError::UnknownProfile { .. }
        | RouteError::BadName { .. }
        | RouteError::NotAllowed { .. }
        | RouteError::Held { .. }
        | RouteError::Exhausted { .. } => None,
    }
}
