//! What was said in a council, and whether it goes on.

use super::{Answer, MOST_ROUNDS, Settings, Standing, Synthesis, standing};
use crate::compare::{Fault, Label, Sheet};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

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
    /// Who gave up its position in this round, by its own word.
    pub changed: Vec<Label>,
    pub standing: Option<Standing>,
}

impl Round {
    /// The round that follows `earlier`, with what came of it.
    #[must_use]
    pub fn after(earlier: &[Self], answers: BTreeMap<Label, Contribution>) -> Self {
        let number = u32::try_from(earlier.len()).unwrap_or(u32::MAX).saturating_add(1);
        let mut round = Self { number, answers, changed: Vec::new(), standing: None };
        // In its first answer nobody can have changed anything.
        let spoke_before = |label: &Label| earlier.iter().any(|round| round.given().any(|(other, _)| other == *label));
        let changed = round.given().filter(|(label, answer)| answer.changed && spoke_before(label));
        round.changed = changed.map(|(label, _)| label).collect();
        let rounds: Vec<Self> = earlier.iter().cloned().chain([round.clone()]).collect();
        round.standing = standing(&rounds);
        round
    }

    /// Those that answered, in the order of their labels.
    pub fn given(&self) -> impl Iterator<Item = (Label, &Answer)> {
        self.answers.iter().filter_map(|(label, contribution)| match contribution {
            Contribution::Answered(answer) => Some((*label, answer)),
            Contribution::Invalid { .. } | Contribution::Silent { .. } => None,
        })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndedBecause {
    Agreement,
    Rounds,
    TooFewAnswered,
    Budget,
}

/// All of a council. It has the map from labels to members, so it goes into reports and never into a prompt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub struct Transcript {
    pub question: String,
    pub members: Sheet,
    pub rounds: Vec<Round>,
    /// `None` while it goes on.
    pub ended_because: Option<EndedBecause>,
    pub synthesis: Option<Synthesis>,
}

/// Whether another round can be paid for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purse {
    Enough,
    Short,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(tag = "next", rename_all = "snake_case")]
pub enum Next {
    Round { number: u32 },
    End { because: EndedBecause },
}

/// Whether the council goes on after these rounds.
#[must_use]
pub fn next(rounds: &[Round], settings: &Settings, purse: Purse) -> Next {
    let end = |because| Next::End { because };
    let held = u32::try_from(rounds.len()).unwrap_or(u32::MAX);
    if let Some(last) = rounds.last() {
        if last.given().count() < settings.least_answers.max(super::LEAST_MEMBERS) {
            return end(EndedBecause::TooFewAnswered);
        }
        if standing(rounds).is_some_and(|standing| standing.is_agreement()) {
            return end(EndedBecause::Agreement);
        }
    }
    // A council without a round would be none.
    if held >= settings.rounds.clamp(1, MOST_ROUNDS) {
        return end(EndedBecause::Rounds);
    }
    match purse {
        Purse::Short => end(EndedBecause::Budget),
        Purse::Enough => Next::Round { number: held.saturating_add(1) },
    }
}
