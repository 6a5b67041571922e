//! What people and scripts see when something fails: what, why, what to do next, and the exit code.

use serde_json::{Value, json};
use shuntyard_agents::opencode::{ApiError, locate::NotLocated};
use shuntyard_core::{ErrorClass, routing::RouteError};
use shuntyard_engine::{
    base::refusal::{Refusal, ServerError},
    dispatch::ErrorReport,
    queue::supervise::{AddError, AdoptError, ChangeError, VerifyError},
};
use shuntyard_store::{ErrorKind, StoreError};
use std::fmt::Display;

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
        Self { class: "configuration".into(), ..Self::usage(message, "fix it, then run `shuntyard config check`") }
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

    /// Work that did not succeed.
    pub fn failed(message: impl Display, hint: impl Into<String>) -> Self {
        Self {
            exit: Exit::Work,
            class: "failed".into(),
            message: message.to_string(),
            hint: hint.into(),
            retryable: false,
        }
    }

    /// Something that the rules do not allow.
    pub fn refused(message: impl Display, hint: impl Into<String>) -> Self {
        Self { exit: Exit::Refused, class: "refused".into(), ..Self::failed(message, hint) }
    }

    /// The failure of a refused change to a task.
    pub fn task(error: ChangeError) -> Self {
        match error {
            ChangeError::Store(error) if error.kind() == ErrorKind::NotFound => {
                Self::usage(error, "see what there is with `shuntyard task list`")
            }
            ChangeError::Store(error) => error.into(),
            ChangeError::Illegal(illegal) => {
                let hint = format!("see how it stands with `shuntyard task show {}`", illegal.task);
                Self::refused(illegal, hint)
            }
            ChangeError::LoneEntry { ref contest, .. } => {
                let hint =
                    format!("`shuntyard task retry {contest}` or `reset {contest}` gives its entries another attempt");
                Self::refused(error, hint)
            }
            ChangeError::Fenced { .. } | ChangeError::Contended(_) => {
                Self { retryable: true, ..Self::unavailable("store_busy", error, "try again") }
            }
        }
    }

    pub fn to_json(&self) -> Value {
        json!({"error": {"class": self.class, "message": self.message, "hint": self.hint, "retryable": self.retryable}})
    }
}

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
                    "name another one with SHUNTYARD_STORE, or move this one away",
                )
            },
            ErrorKind::Busy => Self::unavailable("store_busy", error, "another process is writing: try again"),
            ErrorKind::Unavailable | ErrorKind::NotFound | ErrorKind::Conflict => Self::unavailable(
                "store_unavailable",
                error,
                "check the data directory and its rights, then `shuntyard doctor`",
            ),
        }
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        let message = refusal.to_string();
        match refusal {
            Refusal::Store(error) | Refusal::Server(ServerError::Store(error)) => error.into(),
            Refusal::Io(error) => Self::unavailable("host", error, "run `shuntyard doctor`"),
            Refusal::BadRequest(_) => Self::usage(message, "see `shuntyard dispatch --help`"),
            Refusal::Configuration(_) => Self::configuration(message),
            Refusal::Api(ApiError::Configuration { .. })
            | Refusal::Server(ServerError::Api(ApiError::Configuration { .. })) => Self {
                hint: "fix that file, and try again; a server that is busy or your own reads it when it is restarted"
                    .into(),
                ..Self::configuration(message)
            },
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
                hint: "start it with `opencode serve`, or leave --server and SHUNTYARD_OPENCODE_URL out".into(),
                ..Self::classed(ErrorClass::OpencodeUnhealthy, message)
            },
            Refusal::Route(RouteError::NotAllowed { .. }) => Self {
                exit: Exit::Refused,
                class: "policy".into(),
                hint: "change `policy` in your own configuration, or choose a model of an allowed provider".into(),
                ..Self::usage(message, "")
            },
            Refusal::Route(RouteError::NoSuchName { .. } | RouteError::Ambiguous { .. }) => Self {
                hint: "see the models with `shuntyard models`; for a tier write `--tier NAME`".into(),
                ..Self::classed(ErrorClass::ModelNotFound, message)
            },
            Refusal::Server(ServerError::NotLocated(NotLocated::ConfiguredIsMissing(_))) => Self {
                hint: "correct SHUNTYARD_OPENCODE_BIN or `server.binary`, or leave it out and run `shuntyard opencode install`"
                    .into(),
                ..Self::classed(ErrorClass::OpencodeMissing, message)
            },
            Refusal::Budget { next: Some(next), .. } => {
                Self { hint: next, ..Self::classed(ErrorClass::BudgetRefused, message) }
            }
            Refusal::NotReady(_)
            | Refusal::Budget { next: None, .. }
            | Refusal::Server(_)
            | Refusal::Api(_)
            | Refusal::Cancelled
            | Refusal::Route(_) => match refusal.class() {
                Some(class) => Self::classed(class, message),
                None => Self::usage(message, "see `shuntyard task-types`, `shuntyard tiers` and `shuntyard tags`"),
            },
        }
    }
}

impl From<AdoptError> for Failure {
    fn from(error: AdoptError) -> Self {
        match error {
            AdoptError::Store(error) => error.into(),
            AdoptError::Mark { path, source } => {
                let message = format!("{} cannot be removed: {source}", path.display());
                Self::unavailable("host", message, "remove it, then run the command again")
            }
            AdoptError::Interrupted(error) => Self::unavailable("host", error, "run the command again"),
        }
    }
}

impl From<AddError> for Failure {
    fn from(error: AddError) -> Self {
        let message = error.to_string();
        match error {
            AddError::Empty => Self::usage(message, "give it as text, as @file, or as - for standard input"),
            AddError::NoDirectory(_) | AddError::NoRepository(_) => {
                Self::usage(message, "name a repository with --repo, or run it in one")
            }
            AddError::NoBranch { .. } => Self::usage(message, "name a branch with --base, or use `--deliver branch`"),
            AddError::NoBase { .. } => Self::usage(message, "see what there is with `git branch --all`"),
            AddError::NoCommit(_) => Self::usage(message, "work begins from a commit: `git commit --allow-empty`"),
            AddError::OnItself(_) | AddError::Cycle(_) => Self::usage(message, "leave one of the dependencies out"),
            AddError::InPlace => Self::usage(message, "name a command with --command, or leave --in-place out"),
            AddError::NothingToFail => Self::usage(message, "give one with --verify, or leave --expect-red-first out"),
            AddError::Contest(_) | AddError::NoModel(_) => {
                Self::usage(message, "name each model once, as in `--strategy contest --model P/A --model P/B`")
            }
            AddError::LongId(_) => Self::usage(message, "name the task with a shorter --id"),
            AddError::Choice(refusal) => refusal.into(),
            AddError::Store(error) if error.kind() == ErrorKind::Conflict => {
                Self::usage(message, "see what there is with `shuntyard task list` and `shuntyard batch list`")
            }
            AddError::Store(error) => error.into(),
            AddError::Git { .. } => Self::unavailable("git", message, "see that `git status` works there"),
        }
    }
}

impl From<VerifyError> for Failure {
    fn from(error: VerifyError) -> Self {
        match error {
            VerifyError::Store(error) => Self::task(error.into()),
            VerifyError::NoReceipt(ref id) | VerifyError::NoCommit(ref id) => {
                let hint = format!("see how it stands with `shuntyard task show {id}`");
                Self::refused(error, hint)
            }
            VerifyError::Place(_) => {
                Self::unavailable("git", error, "see that the repository is there, with its commit")
            }
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
            Failure::refused("", ""),
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
