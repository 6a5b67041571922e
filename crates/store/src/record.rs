//! The rows, as values. The words of their states are what every database stores.

use crate::{NewOutcome, ledger::Reserve};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use shuntyard_core::{
    DispatchId, ErrorClass, Nano, ServerId, Usage, routing::HealthStatus, values::Trigger, word_enum,
};

/// The process that answers for a row: a pid alone can be reused, pid and start time cannot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owner {
    pub host: String,
    pub pid: i64,
    /// The start time as the operating system counts it; opaque, only compared.
    pub start: i64,
}

#[derive(Debug, Clone, PartialEq)]
pub struct NewDispatch {
    pub id: DispatchId,
    pub at: i64,
    pub owner: Owner,
    pub mode: String,
    /// What was asked for, e.g. `{"task_type":"code-review"}`.
    pub requested: Value,
    /// The routing decision with its trace.
    pub route: Value,
    pub directory: String,
    pub prompt_chars: u64,
}

#[derive(Debug, Clone, PartialEq)]
pub struct NewAttempt {
    pub dispatch: DispatchId,
    /// Counts from 1 within the dispatch.
    pub ordinal: u32,
    pub at: i64,
    /// `provider/model[@variant]`.
    pub model: String,
    /// The managed server, or `None` for a server that the user runs.
    pub server: Option<ServerId>,
    pub tier: Option<String>,
    pub task: Option<String>,
    pub batch: Option<String>,
    /// What is set aside while it runs. Without one nothing is, and it is held to no ceiling.
    pub reserve: Option<Reserve>,
}

word_enum! {
    /// The status of a dispatch, or of one attempt of it.
    pub enum RunStatus {
        Running = "running",
        Ok = "ok",
        Error = "error",
        Timeout = "timeout",
        /// Its process died; what it spent was read back later.
        Abandoned = "abandoned",
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct AttemptEnd {
    pub at: i64,
    /// Never `Running`.
    pub status: RunStatus,
    pub error_class: Option<ErrorClass>,
    pub message: Option<String>,
    /// The model that answered, read back.
    pub answered_by: Option<String>,
    pub usage: Usage,
    /// False when more tokens may have been used than were reported.
    pub usage_known: bool,
    pub cost: Nano,
    /// False when it may have cost more than is seen, or when nothing is known about it.
    pub cost_known: bool,
}

/// What an attempt counts with in the ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settled {
    pub usage: Usage,
    pub cost: Nano,
    /// False when the amounts are estimates.
    pub cost_known: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub struct AttemptRecord {
    pub ordinal: u32,
    pub began_at: i64,
    pub ended_at: Option<i64>,
    pub model: String,
    pub answered_by: Option<String>,
    pub server: Option<ServerId>,
    pub session: Option<String>,
    pub status: RunStatus,
    pub error_class: Option<ErrorClass>,
    pub message: Option<String>,
    pub usage: Usage,
    pub cost: Nano,
    pub cost_known: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub struct DispatchEnd {
    pub at: i64,
    /// Never `Running`.
    pub status: RunStatus,
    pub error_class: Option<ErrorClass>,
    pub warnings: Vec<String>,
    /// The routing decision, when it changed after the beginning.
    pub route: Option<Value>,
    /// What is learned from it: kept in the same transaction, and only with the first end.
    pub outcomes: Vec<NewOutcome>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct DispatchRecord {
    pub id: DispatchId,
    pub began_at: i64,
    pub ended_at: Option<i64>,
    pub owner: Owner,
    pub mode: String,
    pub requested: Value,
    pub route: Value,
    pub directory: String,
    pub prompt_chars: u64,
    pub status: RunStatus,
    pub error_class: Option<ErrorClass>,
    pub warnings: Vec<String>,
    /// In order of their ordinals.
    pub attempts: Vec<AttemptRecord>,
}

word_enum! {
    pub enum SessionState {
        /// Belongs to a running dispatch.
        Open = "open",
        /// May be used again.
        Kept = "kept",
        /// To be kept, and a dispatch is using it now.
        InUse = "in_use",
        /// Done with; the keeper of its server deletes it when the server has nothing better to do.
        Doomed = "doomed",
        Archived = "archived",
        Deleted = "deleted",
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionRecord {
    pub id: String,
    /// Which database it lives in: a managed server's slot, or a user's server URL.
    pub home: String,
    pub directory: String,
    /// The one model of this session.
    pub model: String,
    pub state: SessionState,
    pub used_at: i64,
}

word_enum! {
    pub enum ServerState {
        Starting = "starting",
        Ready = "ready",
        /// Finishes what it has and takes nothing new.
        Draining = "draining",
        /// Did not start, or was given up; `problem` has the reason.
        Failed = "failed",
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerRecord {
    pub id: ServerId,
    /// The database slot that this server has to itself.
    pub slot: String,
    pub state: ServerState,
    /// Empty until it listens. The password is never here: it is in a private file.
    pub url: String,
    pub version: String,
    /// What it was started with; another fingerprint needs another server.
    pub fingerprint: String,
    /// The keeper process.
    pub keeper: Owner,
    /// OpenCode itself, once it runs.
    pub process: Option<Owner>,
    pub started_at: i64,
    pub changed_at: i64,
    pub problem: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    pub server: ServerId,
    pub holder: DispatchId,
    pub owner: Owner,
    pub at: i64,
}

word_enum! {
    /// How a provider's health came to be known.
    pub enum HealthSource {
        /// It was asked for that reason only.
        Probe = "probe",
        /// Work that went to it succeeded or failed.
        Dispatch = "dispatch",
    }
}

/// The result of the newest health check of a provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HealthRecord {
    pub provider: String,
    pub status: HealthStatus,
    pub class: Option<ErrorClass>,
    pub message: Option<String>,
    pub source: HealthSource,
    pub latency_ms: Option<u64>,
    pub checked_at: i64,
    /// From then on it no longer counts. Never before `checked_at`.
    pub expires_at: i64,
}

/// A provider or a model that cools down for a while, because it failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CooldownRecord {
    /// `provider` or `provider/model`.
    pub target: String,
    pub trigger: Trigger,
    pub class: ErrorClass,
    pub message: String,
    pub since: i64,
    /// The first moment at which it is over. Never before `since`.
    pub until: i64,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    pub position: i64,
    pub at: i64,
    pub kind: String,
    pub subject: String,
    pub data: Value,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_words_are_the_words_of_json() {
        for status in RunStatus::ALL {
            assert_eq!(serde_json::to_value(status).unwrap(), status.as_str());
        }
        for state in SessionState::ALL {
            assert_eq!(serde_json::to_value(state).unwrap(), state.as_str());
        }
        for state in ServerState::ALL {
            assert_eq!(serde_json::to_value(state).unwrap(), state.as_str());
        }
        for source in HealthSource::ALL {
            assert_eq!(serde_json::to_value(source).unwrap(), source.as_str());
        }
    }
}
