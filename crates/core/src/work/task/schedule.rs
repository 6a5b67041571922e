//! Who is next, and what keeps the others.
//!
//! Invariant: the limits that are looked at here are taken again, atomically, by the claim. This only finds out whom
//! it is worth trying to claim, and gives a reason for each other.

use super::TaskId;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A task that could start, as far as its state and its blockers are concerned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    pub id: TaskId,
    /// In which order they were added.
    pub number: i64,
    pub priority: i64,
    pub repository: String,
    pub batch: Option<String>,
    pub parent: Option<TaskId>,
}

/// A run that holds slots.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Live {
    pub repository: String,
    pub batch: Option<String>,
    pub parent: Option<TaskId>,
    pub model: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    pub total: u32,
    pub repository: u32,
    pub siblings: u32,
    pub provider: u32,
    pub model: u32,
    pub batches: BTreeMap<String, u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SlotKind {
    Total,
    Repository,
    Batch,
    Siblings,
    Provider,
    Model,
}

/// Something of which there is only so much.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Slot {
    pub kind: SlotKind,
    /// Empty for the total.
    pub name: String,
    pub limit: u32,
}

/// Why a task that could start does not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hold {
    pub slot: Slot,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turnout {
    /// In the order in which they should be claimed.
    pub start: Vec<TaskId>,
    pub held: Vec<(TaskId, Hold)>,
}

/// The slots that a run takes.
#[must_use]
pub fn slots(candidate: &Candidate, model: Option<&str>, limits: &Limits) -> Vec<Slot> {
    let mut slots = vec![
        Slot { kind: SlotKind::Total, name: String::new(), limit: limits.total },
        Slot { kind: SlotKind::Repository, name: candidate.repository.clone(), limit: limits.repository },
    ];
    if let Some(batch) = &candidate.batch
        && let Some(limit) = limits.batches.get(batch)
    {
        slots.push(Slot { kind: SlotKind::Batch, name: batch.clone(), limit: *limit });
    }
    if let Some(parent) = &candidate.parent {
        slots.push(Slot { kind: SlotKind::Siblings, name: parent.to_string(), limit: limits.siblings });
    }
    if let Some(model) = model {
        let provider = model.split_once('/').map_or(model, |(provider, _)| provider);
        slots.push(Slot { kind: SlotKind::Provider, name: provider.to_owned(), limit: limits.provider });
        slots.push(Slot { kind: SlotKind::Model, name: model.to_owned(), limit: limits.model });
    }
    slots
}

/// The more urgent first; among equals the repository that has the least at work, then the older.
#[must_use]
pub fn order(candidates: &[Candidate], live: &[Live], limits: &Limits) -> Turnout {
    let mut taken: BTreeMap<(SlotKind, String), u32> = BTreeMap::new();
    for run in live {
        let as_candidate = Candidate {
            id: TaskId::numbered(0),
            number: 0,
            priority: 0,
            repository: run.repository.clone(),
            batch: run.batch.clone(),
            parent: run.parent.clone(),
        };
        // A batch without a limit of its own has no slot, so nothing is lost by leaving it out here.
        take(&mut taken, &slots(&as_candidate, run.model.as_deref(), limits));
    }
    let mut rest: Vec<&Candidate> = candidates.iter().collect();
    let mut turnout = Turnout { start: Vec::new(), held: Vec::new() };
    while !rest.is_empty() {
        let at_work =
            |repository: &str| taken.get(&(SlotKind::Repository, repository.to_owned())).copied().unwrap_or_default();
        let best = rest
            .iter()
            .enumerate()
            .min_by_key(|(_, candidate)| {
                (std::cmp::Reverse(candidate.priority), at_work(&candidate.repository), candidate.number)
            })
            .map(|(place, _)| place);
        let Some(candidate) = best.map(|place| rest.swap_remove(place)) else { break };
        let slots = slots(candidate, None, limits);
        let full = slots
            .iter()
            .find(|slot| taken.get(&(slot.kind, slot.name.clone())).copied().unwrap_or_default() >= slot.limit);
        match full {
            Some(slot) => turnout.held.push((candidate.id.clone(), Hold { slot: slot.clone() })),
            None => {
                take(&mut taken, &slots);
                turnout.start.push(candidate.id.clone());
            }
        }
    }
    turnout
}

fn take(taken: &mut BTreeMap<(SlotKind, String), u32>, slots: &[Slot]) {
    for slot in slots {
        *taken.entry((slot.kind, slot.name.clone())).or_default() += 1;
    }
}

impl Slot {
    /// For people: what is full.
    #[must_use]
    pub fn shown(&self) -> String {
        let Self { kind, name, limit } = self;
        match kind {
            SlotKind::Total => format!("{limit} tasks are at work, which is the limit"),
            SlotKind::Repository => format!("{limit} tasks are at work in {name}, which is the limit for a repository"),
            SlotKind::Batch => format!("batch {name} has {limit} tasks at work, which is its limit"),
            SlotKind::Siblings => format!("{limit} parts of {name} are at work, which is the limit"),
            SlotKind::Provider => format!("provider {name} has {limit} tasks at work, which is the limit"),
            SlotKind::Model => format!("{name} has {limit} tasks at work, which is the limit"),
        }
    }
}
