//! One round of a council: the answer of each member, and the support of each position after it.

use super::Answer;
use crate::compare::{Fault, Label};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// What became of one member in one round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Contribution {
    Answered(Answer),
    Invalid { faults: Vec<Fault> },
    Silent { why: String },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub struct Round {
    /// From 1.
    pub number: u32,
    pub answers: BTreeMap<Label, Contribution>,
    /// The members that gave up their positions in this round, by their own declaration.
    pub changed: Vec<Label>,
    pub standing: Option<Standing>,
}

impl Round {
    /// Those that answered, in the order of their labels.
    pub fn given(&self) -> impl Iterator<Item = (Label, &Answer)> {
        self.answers.iter().filter_map(|(label, contribution)| match contribution {
            Contribution::Answered(answer) => Some((*label, answer)),
            Contribution::Invalid { .. } | Contribution::Silent { .. } => None,
        })
    }
}

/// The position with the most support. Of several with equal support it is that of the first label, which is why only
/// a standing without dissent decides anything.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub struct Standing {
    pub holder: Label,
    pub position: String,
    /// Those that answered in the last round and share it, its author among them.
    pub supporters: Vec<Label>,
    /// Those that answered in the last round and do not.
    pub dissenters: Vec<Label>,
}

impl Standing {
    #[must_use]
    pub fn is_agreement(&self) -> bool {
        self.dissenters.is_empty() && self.supporters.len() >= super::LEAST_MEMBERS
    }
}

/// The members whose answers a member has read: all others that answered in an earlier round.
#[must_use]
pub fn visible(earlier: &[Round], own: Label) -> Vec<Label> {
    let heard: BTreeSet<Label> = earlier.iter().flat_map(|round| round.given().map(|(label, _)| label)).collect();
    heard.into_iter().filter(|label| *label != own).collect()
}
