//! Review, fix, review again: what comes next, and when to stop.
//!
//! Every finding that counts is recognised from review to review by its file and words, wherever its line has moved.
//! The loop always ends: clean, stuck on a finding that comes back, out of fixes, or without a review to go by.

use super::consensus::{Finding, Key, Sameness, is_same_anywhere};
use crate::values::Severity;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", default, deny_unknown_fields)]
pub struct Limits {
    /// How often it is fixed at most. A review follows the last fix as well.
    pub max_iterations: usize,
    /// A finding that is in so many reviews is not going away. They need not follow each other: what comes and goes
    /// is stuck too.
    pub stuck_after: u32,
    /// Findings below this are not worth a fix.
    pub counts_from: Severity,
    pub sameness: Sameness,
}

impl Default for Limits {
    fn default() -> Self {
        Self { max_iterations: 5, stuck_after: 3, counts_from: Severity::Minor, sameness: Sameness::default() }
    }
}

/// What a review found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Looked {
    /// All whose word is needed have answered.
    Whole(Vec<Finding>),
    /// Not all reviewers answered: the absence of findings proves nothing.
    Partly(Vec<Finding>),
}

/// The reviews so far.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub struct State {
    pub iterations: Vec<Vec<Fingerprint>>,
}

/// A finding without its line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub struct Fingerprint {
    #[serde(flatten)]
    key: Key,
    /// In how many reviews it was by then, this one included.
    pub times: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "step", rename_all = "snake_case")]
pub enum Step {
    /// Each finding once, the gravest first.
    Fix {
        findings: Vec<Finding>,
    },
    /// A whole review found nothing that counts.
    Done,
    Stop {
        because: Stop,
    },
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "reason", rename_all = "snake_case")]
pub enum Stop {
    Stuck {
        finding: Finding,
        times: u32,
    },
    MaxIterations {
        left: Vec<Finding>,
    },
    /// Nothing was found by those who looked, but not all did.
    NotReviewed,
}

/// What follows from a review, and the state with it.
#[must_use]
pub fn next(state: &State, looked: &Looked, limits: &Limits) -> (State, Step) {
    let (findings, is_whole) = match looked {
        Looked::Whole(findings) => (findings, true),
        Looked::Partly(findings) => (findings, false),
    };
    let found = distinct(findings, state, limits);
    let fingerprints = found.iter().map(|(_, fingerprint)| fingerprint.clone()).collect();
    let fixed = state.iterations.len();
    let mut after = state.clone();
    after.iterations.push(fingerprints);
    let stuck = found.iter().filter(|(_, fingerprint)| fingerprint.times >= limits.stuck_after.max(1));
    // Of several the one that is there longest, and of these the gravest, which comes first.
    let stuck = stuck.rev().max_by_key(|(_, fingerprint)| fingerprint.times);
    let step = if found.is_empty() {
        if is_whole { Step::Done } else { Step::Stop { because: Stop::NotReviewed } }
    } else if let Some((finding, fingerprint)) = stuck {
        Step::Stop { because: Stop::Stuck { finding: finding.clone(), times: fingerprint.times } }
    } else {
        let findings = found.into_iter().map(|(finding, _)| finding).collect();
        if fixed >= limits.max_iterations {
            Step::Stop { because: Stop::MaxIterations { left: findings } }
        } else {
            Step::Fix { findings }
        }
    };
    (after, step)
}

/// What counts, each once, with how often it was there.
fn distinct(findings: &[Finding], state: &State, limits: &Limits) -> Vec<(Finding, Fingerprint)> {
    let mut counted: Vec<&Finding> = findings.iter().filter(|finding| finding.severity >= limits.counts_from).collect();
    counted.sort_by(|a, b| {
        b.severity.cmp(&a.severity).then_with(|| (&a.file, a.line, &a.text).cmp(&(&b.file, b.line, &b.text)))
    });
    let mut found: Vec<(Finding, Fingerprint)> = Vec::new();
    for finding in counted {
        let key = Key::of(finding, &limits.sameness);
        // Equal words at two places are two things to fix; only what names the same line, or none, is one.
        let is_there = found.iter().any(|(other, fingerprint)| {
            let is_one_place = other.line == finding.line || other.line.is_none() || finding.line.is_none();
            is_one_place && is_same_anywhere(&fingerprint.key, &key, &limits.sameness)
        });
        if !is_there {
            let times = times_before(&key, state, limits).saturating_add(1);
            found.push((finding.clone(), Fingerprint { key, times }));
        }
    }
    found
}

/// In how many earlier reviews the finding was, also when it was reworded from one to the next.
fn times_before(key: &Key, state: &State, limits: &Limits) -> u32 {
    let earlier = state.iterations.iter().flatten();
    let same = earlier.filter(|fingerprint| is_same_anywhere(&fingerprint.key, key, &limits.sameness));
    same.map(|fingerprint| fingerprint.times).max().unwrap_or(0)
}

#[cfg(test)]
mod tests;
