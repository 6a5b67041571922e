//! From reviews to the next step: pass, ask the next tier, or fix.
//!
//! The rule is data. Of several thresholds that are reached the gravest decides, so more objections never lead to
//! less. An unknown reviewer is tried as both, and where that matters the decision is undecided and the graver way is
//! taken. While any reviewer is unknown nothing passes: silence is never approval.

use super::consensus::{Opinion, Reviewed};
use crate::values::Outcome;
use crate::values::Rule;
use serde::Serialize;
use std::collections::BTreeSet;

/// The opinion of one reviewer about going on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Stance {
    Objects,
    Clear,
    Unknown,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "decision", rename_all = "snake_case")]
pub enum Ruling {
    Decided {
        outcome: Outcome,
    },
    /// It depends on who is unknown.
    Undecided {
        possible: Vec<Outcome>,
        reason: String,
    },
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Decision {
    #[serde(flatten)]
    pub ruling: Ruling,
    /// What to do now.
    pub follow: Outcome,
    pub asked: usize,
    pub objecting: usize,
    pub clear: usize,
    pub unknown: usize,
}

impl Rule {
    /// A finding that counts is an objection, and so is a rejection without one. An unsure reviewer without a finding
    /// that counts has done neither, and is as unknown as one that did not answer.
    #[must_use]
    pub fn stance(&self, reviewed: &Reviewed) -> Stance {
        let Some(review) = reviewed.review() else { return Stance::Unknown };
        if review.findings.iter().any(|finding| finding.severity >= self.counts_from) {
            return Stance::Objects;
        }
        match review.verdict {
            Opinion::Reject => Stance::Objects,
            Opinion::Approve => Stance::Clear,
            Opinion::Unsure => Stance::Unknown,
        }
    }

    /// What so many objections of so many that were asked lead to.
    #[must_use]
    pub fn outcome(&self, objecting: usize, asked: usize) -> Outcome {
        let reached = self.thresholds.iter().filter(|threshold| objecting >= threshold.at_least.of(asked));
        reached.map(|threshold| threshold.then).max().unwrap_or(Outcome::Pass)
    }

    #[must_use]
    pub fn decide(&self, reviews: &[Reviewed]) -> Decision {
        let stances: Vec<Stance> = reviews.iter().map(|reviewed| self.stance(reviewed)).collect();
        let count = |stance: Stance| stances.iter().filter(|other| **other == stance).count();
        self.decide_counts(count(Stance::Objects), count(Stance::Clear), count(Stance::Unknown))
    }

    fn decide_counts(&self, objecting: usize, clear: usize, unknown: usize) -> Decision {
        let asked = objecting + clear + unknown;
        let mut possible: BTreeSet<Outcome> =
            (objecting..=objecting + unknown).map(|objections| self.outcome(objections, asked)).collect();
        // However few they are, and even if their objections alone would change nothing.
        let held_back = unknown > 0 && possible.iter().all(|outcome| *outcome == Outcome::Pass);
        if held_back {
            possible.insert(Outcome::SecondOpinion);
        }
        let worst = possible.last().copied().unwrap_or(Outcome::Pass);
        let (ruling, follow) = if asked == 0 {
            let reason = "nobody was asked".to_owned();
            let possible = vec![Outcome::Pass, Outcome::SecondOpinion, Outcome::Fix];
            (Ruling::Undecided { possible, reason }, Outcome::SecondOpinion)
        } else if possible.len() > 1 {
            let reason = if held_back {
                format!("{objecting} of {asked} object, but nothing passes while {unknown} gave no answer to count")
            } else {
                format!(
                    "{objecting} of {asked} object, and {unknown} without an answer to count could make it {}",
                    objecting + unknown
                )
            };
            // With no objection at all there is nothing that could be fixed; others have to look first.
            let follow = if objecting == 0 { worst.min(Outcome::SecondOpinion) } else { worst };
            (Ruling::Undecided { possible: possible.into_iter().collect(), reason }, follow)
        } else {
            (Ruling::Decided { outcome: worst }, worst)
        };
        Decision { ruling, follow, asked, objecting, clear, unknown }
    }
}

#[cfg(test)]
mod tests;
