//! Two passes of one judge put together.

use super::Verdict;
use crate::{
    compare::{Anonymous, Fault, Pass},
    values::clean_line,
};
use serde::Serialize;
use std::collections::BTreeMap;

const MOST_WHY: usize = 300;

/// What became of one pass.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum PassOutcome {
    Verdict(Verdict),
    /// It answered, and not with a verdict.
    Invalid {
        faults: Vec<Fault>,
    },
    /// It did not answer.
    Failed {
        why: String,
    },
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "decision", rename_all = "snake_case")]
pub enum Decision {
    Winner {
        target: usize,
        /// It had the same position both times, as the middle of an odd number does. Then the two orders are no
        /// evidence against a judge that likes this place.
        unmoved: bool,
    },
    /// Each pass named another one; these, in the order of the passes.
    Tie {
        targets: Vec<usize>,
    },
    NoVerdict {
        why: String,
    },
}

/// An end of the list of answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Edge {
    First,
    Last,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Judgement {
    #[serde(flatten)]
    pub decision: Decision,
    /// Both passes chose this end of the list, and thereby different targets.
    pub position_biased: Option<Edge>,
    /// The mean of both passes by target; empty without two verdicts.
    pub scores: BTreeMap<usize, f64>,
    /// The forward pass, then the reversed one.
    pub passes: [PassOutcome; 2],
}

/// Puts the passes over `anonymous` together, the forward one first.
#[must_use]
pub fn combine(anonymous: &Anonymous, passes: [PassOutcome; 2]) -> Judgement {
    let (PassOutcome::Verdict(forward), PassOutcome::Verdict(reversed)) = (&passes[0], &passes[1]) else {
        let decision = Decision::NoVerdict { why: why(&passes) };
        return Judgement { decision, position_biased: None, scores: BTreeMap::new(), passes };
    };
    let place = |pass: Pass, target: usize| anonymous.sheet(pass).label(target);
    let places = (place(Pass::Forward, forward.best), place(Pass::Reversed, reversed.best));
    let last = anonymous.sheet(Pass::Forward).labels().last().copied();
    let same_place = places.0.filter(|_| places.0 == places.1);
    let (decision, position_biased) = if forward.best == reversed.best {
        (Decision::Winner { target: forward.best, unmoved: same_place.is_some() }, None)
    } else {
        let edge = match same_place {
            Some(label) if label.position() == 0 => Some(Edge::First),
            Some(label) if Some(label) == last => Some(Edge::Last),
            Some(_) | None => None,
        };
        (Decision::Tie { targets: vec![forward.best, reversed.best] }, edge)
    };
    let mean = |(target, score): (&usize, &f64)| Some((*target, f64::midpoint(*score, *reversed.scores.get(target)?)));
    let scores = forward.scores.iter().filter_map(mean).collect();
    Judgement { decision, position_biased, scores, passes }
}

fn why(passes: &[PassOutcome; 2]) -> String {
    let told = passes.iter().zip(["first", "second"]).filter_map(|(pass, name)| match pass {
        PassOutcome::Verdict(_) => None,
        PassOutcome::Invalid { faults } => {
            let fault = faults.first().map(|fault| format!(": {fault}")).unwrap_or_default();
            Some(format!("the {name} pass gave no valid verdict{fault}"))
        }
        PassOutcome::Failed { why } => Some(format!("the {name} pass failed: {}", clean_line(why, MOST_WHY))),
    });
    told.collect::<Vec<_>>().join("; ")
}
