//! What people and scripts see when something fails: what, why, what to do next, and the exit code.

use serde_json::{Value, json};
use std::fmt::Display;
use switchyard_core::{ErrorClass, route::RouteError};
use switchyard_engine::{
    dispatch::{ErrorReport, Refusal},
    server::ServerError,
};
use switchyard_store::{ErrorKind, StoreError};

/// The documented exit codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    Work = 1,
    Usage = 2,
    Refused = 3,
    Unavailable = 4,
    Deadline = 5,
}

#[derive(Debug, Clone)]
pub struct Failure {
    pub exit: Exit,
    pub class: String,
    pub message: String,
    pub hint: String,
    pub retryable: bool,
}

impl Failure {
    pub fn usage(message: impl Display, hint: impl Into<String>) -> Self {
        Self {
            exit: Exit::Usage,
            class: "usage".into(),
            message: message.to_string(),
            hint: hint.into(),
            retryable: false,
        }
    }

    pub fn configuration(message: impl Display) -> Self {
        Self { class: "configuration".into(), ..Self::usage(message, "mend it, then run `switchyard config check`") }
    }

    pub fn unavailable(class: &str, message: impl Display, hint: impl Into<String>) -> Self {
        Self {
            exit: Exit::Unavailable,
            class: class.into(),
            message: message.to_string(),
            hint: hint.into(),
            retryable: true,
        }
    }

    /// A failure that a closed class describes.
    pub fn classed(class: ErrorClass, message: impl Display) -> Self {
        Self {
            exit: exit_of(class),
            class: class.as_str().into(),
            message: message.to_string(),
            hint: class.hint().into(),
            retryable: class.retryable(),
        }
    }

    pub fn to_json(&self) -> Value {
        json!({"error": {"class": self.class, "message": self.message, "hint": self.hint, "retryable": self.retryable}})
    }
}

/// The exit code of each class.
pub fn exit_of(class: ErrorClass) -> Exit {
    match class {
        ErrorClass::ModelNotFound => Exit::Usage,
        ErrorClass::CapabilityMissing | ErrorClass::BudgetRefused | ErrorClass::PermissionWaiting => Exit::Refused,
        ErrorClass::ProviderNotConnected | ErrorClass::OpencodeMissing | ErrorClass::OpencodeUnhealthy => {
            Exit::Unavailable
        }
        ErrorClass::Timeout => Exit::Deadline,
        ErrorClass::AuthMissing
        | ErrorClass::AuthInvalid
        | ErrorClass::RateLimited
        | ErrorClass::QuotaExhausted
        | ErrorClass::Overloaded
        | ErrorClass::ServerError
        | ErrorClass::Network
        | ErrorClass::EmptyResponse
        | ErrorClass::Truncated
        | ErrorClass::ContentFiltered
        | ErrorClass::ContextOverflow
        | ErrorClass::StructuredOutputFailed
        | ErrorClass::Cancelled => Exit::Work,
    }
}

impl From<&ErrorReport> for Failure {
    fn from(error: &ErrorReport) -> Self {
        Self {
            exit: exit_of(error.class),
            class: error.class.as_str().into(),
            message: error.message.clone(),
            hint: error.hint.clone(),
            retryable: error.retryable,
        }
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        match error.kind() {
            ErrorKind::Corrupt => Self {
                retryable: false,
                ..Self::unavailable(
                    "store_unusable",
                    error,
                    "name another one with SWITCHYARD_STORE, or move this one away",
                )
            },
            ErrorKind::Busy => Self::unavailable("store_busy", error, "another process is writing: try again"),
            ErrorKind::Unavailable | ErrorKind::NotFound | ErrorKind::Conflict => Self::unavailable(
                "store_unavailable",
                error,
                "check the data directory and its rights, then `switchyard doctor`",
            ),
        }
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        let message = refusal.to_string();
        match refusal {
            Refusal::Store(error) | Refusal::Server(ServerError::Store(error)) => error.into(),
            Refusal::Io(error) => Self::unavailable("host", error, "run `switchyard doctor`"),
            Refusal::BadRequest(_) => Self::usage(message, "see `switchyard dispatch --help`"),
            Refusal::Configuration(_) => Self::configuration(message),
            Refusal::NoDirectory(_) => Self::usage(message, "name an existing one with --dir"),
            Refusal::UnknownAgent { .. } => Self::usage(message, "leave --agent out, or name one of those"),
            Refusal::UnknownCommand { .. } => Self::usage(message, "commands live in `.opencode/command/`"),
            Refusal::UnknownSession(_) | Refusal::OtherModel { .. } => {
                Self::usage(message, "leave --session out to start a new one")
            }
            Refusal::ElsewhereSession { .. } => Self::usage(message, "name that server with --server"),
            Refusal::OtherDirectory { directory, .. } => {
                Self::usage(message, format!("go on with it there: --dir {directory}"))
            }
            Refusal::NotDirect(_) => {
                Self::usage(message, "leave out --via, or set `via` of this provider to \"auto\" or \"opencode\"")
            }
            Refusal::SameTarget { .. } => Self::usage(message, "name each model once"),
            Refusal::SessionBusy { .. } => Self::usage(message, "wait for it, or start a new session"),
            Refusal::Server(ServerError::Api(_)) => Self {
                hint: "start it with `opencode serve`, or leave --server and SWITCHYARD_OPENCODE_URL out".into(),
                ..Self::classed(ErrorClass::OpencodeUnhealthy, message)
            },
            Refusal::Route(RouteError::NotAllowed { .. }) => Self {
                exit: Exit::Refused,
                class: "policy".into(),
                hint: "change `policy` in your own configuration, or choose a model of an allowed provider".into(),
                ..Self::usage(message, "")
            },
            Refusal::NotReady(_)
            | Refusal::Budget { .. }
            | Refusal::Server(_)
            | Refusal::Api(_)
            | Refusal::Cancelled
            | Refusal::Route(_) => match refusal.class() {
                Some(class) => Self::classed(class, message),
                None => Self::usage(message, "see `switchyard task-types`, `switchyard tiers` and `switchyard tags`"),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The exit code in the row of a class in the reference.
    fn documented_exit(class: &str) -> Option<i32> {
        let reference = include_str!("../../../docs/errors.md");
        let row = reference.lines().find(|line| line.starts_with(&format!("| `{class}` |")))?;
        row.split('|').nth(4)?.trim().parse().ok()
    }

    #[test]
    fn classes_have_their_documented_exit_codes() {
        let table = [
            (ErrorClass::RateLimited, 1),
            (ErrorClass::ModelNotFound, 2),
            (ErrorClass::CapabilityMissing, 3),
            (ErrorClass::BudgetRefused, 3),
            (ErrorClass::ProviderNotConnected, 4),
            (ErrorClass::OpencodeMissing, 4),
            (ErrorClass::Timeout, 5),
        ];
        for (class, code) in table {
            assert_eq!(exit_of(class) as i32, code, "{class}");
        }
        for class in ErrorClass::ALL {
            assert_eq!(documented_exit(class.as_str()), Some(exit_of(class) as i32), "{class} in docs/errors.md");
        }
    }

    #[test]
    fn the_other_classes_are_documented_too() {
        let store = |kind| Failure::from(StoreError::new(kind, "it failed"));
        let failures = [
            Failure::usage("", ""),
            Failure::configuration(""),
            store(ErrorKind::Busy),
            store(ErrorKind::Corrupt),
            store(ErrorKind::Unavailable),
            Refusal::Io(std::io::Error::other("it failed")).into(),
            Refusal::Route(RouteError::NotAllowed { provider: "p".into(), allowed: String::new() }).into(),
        ];
        for failure in failures {
            let documented = documented_exit(&failure.class);
            assert_eq!(documented, Some(failure.exit as i32), "{} in docs/errors.md", failure.class);
        }
    }
}
