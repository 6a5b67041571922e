//! What a request came to.

use super::{adapt::StructureForm, heard::Heard, tally::Tally};
use crate::opencode::{Failure, GiveUp};
use serde_json::Value;
use shuntyard_core::{Nano, Usage};
use std::time::Duration;

#[derive(Debug, Clone, PartialEq)]
pub struct Answered {
    pub outcome: Result<(), Failure>,
    /// The answer, also when the outcome is a failure.
    pub text: String,
    /// Present in every success of a request with a schema.
    pub structured: Option<Value>,
    /// How the structure was asked for in the end; `None` without a schema.
    pub form: Option<StructureForm>,
    /// The model that answered, in the provider's own words.
    pub model: Option<String>,
    /// Over all tries.
    pub usage: Usage,
    /// False when something was begun whose tokens were never reported: then `usage` is a lower bound.
    pub usage_known: bool,
    /// The charge that the provider itself reports.
    pub cost: Option<Nano>,
    pub retries: u32,
    /// From the call to the first piece of an answer, reasoning included.
    pub first_token: Option<Duration>,
    /// Why we ended it, or how long the provider wanted us to wait when it refused.
    pub gave_up: Option<GiveUp>,
}

/// What the tries of one request add up to.
#[derive(Debug, Default)]
pub(super) struct Account {
    usage: Usage,
    cost: Option<Nano>,
    unreported: bool,
}

impl Account {
    /// Books one exchange that has ended, in whatever way.
    pub(super) fn book(&mut self, heard: &Heard) {
        match &heard.tally {
            Some(Tally { usage, cost }) => {
                self.usage = self.usage + *usage;
                if let Some(cost) = cost {
                    self.cost = Some(self.cost.unwrap_or_default() + *cost);
                }
                // Counts of zero for an answer with content are no counts.
                self.unreported |= usage.total() == 0 && heard.may_be_billed();
            }
            None => self.unreported |= heard.may_be_billed(),
        }
    }

    pub(super) fn usage(&self) -> Usage {
        self.usage
    }

    pub(super) fn cost(&self) -> Option<Nano> {
        self.cost
    }

    pub(super) fn is_known(&self) -> bool {
        !self.unreported
    }
}
