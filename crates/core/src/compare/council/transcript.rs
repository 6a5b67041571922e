//! The answers in a council, and whether it goes on.

use super::{MOST_ROUNDS, Round, Settings, Synthesis, standing};
use crate::compare::Sheet;
use serde::{Deserialize, Serialize};

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
pub enum Affordable {
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
pub fn next(rounds: &[Round], settings: &Settings, affordable: Affordable) -> Next {
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
    match affordable {
        Affordable::Short => end(EndedBecause::Budget),
        Affordable::Enough => Next::Round { number: held.saturating_add(1) },
    }
}
