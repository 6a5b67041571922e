//! Why a run is ended before it ended by itself, and the failure that this makes.

use super::{
    classify::{classify_retry, presentable},
    judge::Failure,
};
use shuntyard_core::{ErrorClass, Nano, values::duration};
use std::time::Duration;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Timer {
    FirstToken,
    Inactivity,
    Total,
}

/// Why a run is ended before it ended by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GiveUp {
    Timeout {
        timer: Timer,
        after: Duration,
    },
    /// The provider keeps failing, or wants us to wait longer than we may.
    ProviderRetry {
        message: String,
        wait: Duration,
        attempt: u32,
    },
    /// The agent used all the steps that it may take.
    StepLimit(u32),
    /// What the steps cost so far leaves nothing for another one.
    CostLimit {
        spent: Nano,
        most: Nano,
    },
    /// The model was asked again and again, although there is nothing to do but answer.
    Loop(u32),
    Cancelled,
    /// The server answers, but not for this session.
    Unreadable(String),
    /// The server can no longer be asked, with its last message.
    ServerLost(String),
    PermissionStuck(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PermissionPolicy {
    Reject,
    AllowOnce,
}

impl GiveUp {
    #[must_use]
    pub fn failure(&self) -> Failure {
        match self {
            Self::Timeout { timer, after } => {
                let after = duration::show(*after);
                let message = match timer {
                    Timer::FirstToken => format!("no sign of an answer within {after}"),
                    Timer::Inactivity => format!("the answer stalled for {after}"),
                    Timer::Total => format!("not finished within {after}"),
                };
                Failure::new(ErrorClass::Timeout, message)
            }
            Self::ProviderRetry { message, wait, attempt } => {
                let times = if *attempt == 1 { "once".to_owned() } else { format!("{attempt} times") };
                let wait_text = duration::show(*wait);
                let message = presentable(message);
                Failure::new(
                    classify_retry(&message, *wait),
                    format!("the provider failed {times} and the next try would be in {wait_text}: {message}"),
                )
            }
            Self::StepLimit(limit) => {
                Failure::new(ErrorClass::Truncated, format!("the agent used all of its {limit} steps"))
            }
            Self::CostLimit { spent, most } => Failure::new(
                ErrorClass::BudgetRefused,
                format!("stopped at a cost of {spent}: no more than {most} was allowed"),
            ),
            Self::Loop(asked) => Failure::new(
                ErrorClass::ServerError,
                format!("the model did not finish its answer properly; OpenCode asked it {asked} times"),
            ),
            Self::Cancelled => Failure::new(ErrorClass::Cancelled, "cancelled"),
            Self::Unreadable(why) => {
                Failure::new(ErrorClass::OpencodeUnhealthy, format!("the run can no longer be read: {why}"))
            }
            Self::ServerLost(why) => Failure::new(
                ErrorClass::OpencodeUnhealthy,
                format!("the OpenCode server was lost during the run: {why}"),
            ),
            Self::PermissionStuck(what) => Failure::new(ErrorClass::PermissionWaiting, what.clone()),
        }
    }
}
