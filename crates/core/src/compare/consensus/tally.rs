//! All reviews counted: opinions, groups, and who is unknown and why.

use super::{Finding, Group, Opinion, Review, Sameness, group};
use crate::{compare::Fault, values::clean_line};
use serde::Serialize;

const MOST_WHY: usize = 300;

/// What became of one reviewer.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Reviewed {
    Answered(Review),
    Invalid { faults: Vec<Fault> },
    Silent { why: String },
}

impl Reviewed {
    #[must_use]
    pub fn review(&self) -> Option<&Review> {
        match self {
            Self::Answered(review) => Some(review),
            Self::Invalid { .. } | Self::Silent { .. } => None,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Counts {
    pub approve: usize,
    pub reject: usize,
    pub unsure: usize,
    /// Asked, and without a valid answer.
    pub unknown: usize,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Unknown {
    pub reviewer: usize,
    pub why: String,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Consensus {
    pub asked: usize,
    pub answered: usize,
    pub verdicts: Counts,
    pub groups: Vec<Group>,
    pub unknown: Vec<Unknown>,
}

/// Counts and groups the findings of the reviewers, by reviewer index.
#[must_use]
pub fn consensus(reviews: &[Reviewed], sameness: &Sameness) -> Consensus {
    let mut verdicts = Counts::default();
    let mut unknown = Vec::new();
    let mut findings: Vec<(usize, &[Finding])> = Vec::new();
    for (reviewer, reviewed) in reviews.iter().enumerate() {
        let why = match reviewed {
            Reviewed::Answered(review) => {
                match review.verdict {
                    Opinion::Approve => verdicts.approve += 1,
                    Opinion::Reject => verdicts.reject += 1,
                    Opinion::Unsure => verdicts.unsure += 1,
                }
                findings.push((reviewer, &review.findings));
                continue;
            }
            Reviewed::Invalid { faults } => {
                let fault = faults.first().map(|fault| format!(": {fault}")).unwrap_or_default();
                format!("its answer is not valid{fault}")
            }
            Reviewed::Silent { why } => format!("it did not answer: {}", clean_line(why, MOST_WHY)),
        };
        verdicts.unknown += 1;
        unknown.push(Unknown { reviewer, why });
    }
    let groups = group(&findings, sameness);
    Consensus { asked: reviews.len(), answered: findings.len(), verdicts, groups, unknown }
}
