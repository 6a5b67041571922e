//! What several reviewers agree on, by their structured verdicts, and what follows from it.

use super::{BatchReport, TargetReport};
use serde::Serialize;
use shuntyard_core::{
    compare::{
        consensus::{Counts, Reviewed, Sameness, consensus, parse},
        escalation::{Decision, Ruling, Stance},
    },
    values::{Rule, Severity},
};

/// The consensus of a batch, with the models by name.
#[derive(Debug, Clone, Serialize)]
pub struct ConsensusReport {
    pub kind: &'static str,
    pub decision: Decision,
    pub verdicts: Counts,
    pub findings: Vec<SharedFinding>,
    /// Who did not answer, or not in the form that was asked for: neither for nor against.
    pub unknown: Vec<Silent>,
}

/// One finding, however many reviewers had it.
#[derive(Debug, Clone, Serialize)]
pub struct SharedFinding {
    pub severity: Severity,
    pub file: Option<String>,
    pub line: Option<u32>,
    pub text: String,
    pub found_by: Vec<String>,
    /// Of those that answered, in percent.
    pub agreement_percent: u8,
}

#[derive(Debug, Clone, Serialize)]
pub struct Silent {
    pub model: String,
    pub why: String,
}

/// Counts the reviews of a batch.
#[must_use]
pub fn agree(batch: &BatchReport, rule: &Rule) -> ConsensusReport {
    let reviews: Vec<Reviewed> = batch.results.iter().map(reviewed).collect();
    let names: Vec<String> = batch.results.iter().map(TargetReport::name).collect();
    let name = |reviewer: usize| names.get(reviewer).cloned().unwrap_or_default();
    let found = consensus(&reviews, &Sameness::default());
    let findings = found.groups.into_iter().map(|group| SharedFinding {
        severity: group.severity,
        file: group.file,
        line: group.line,
        text: group.text,
        found_by: group.found_by.into_iter().map(name).collect(),
        agreement_percent: group.agreement.get(),
    });
    let mut decision = rule.decide(&reviews);
    if let Ruling::Undecided { reason, .. } = &mut decision.ruling {
        let unknown = (0..).zip(&reviews).filter(|(_, reviewed)| rule.stance(reviewed) == Stance::Unknown);
        let unknown: Vec<String> = unknown.map(|(reviewer, _)| name(reviewer)).collect();
        if !unknown.is_empty() {
            *reason = format!("{reason}: {}", unknown.join(", "));
        }
    }
    ConsensusReport {
        kind: "consensus",
        findings: findings.collect(),
        decision,
        verdicts: found.verdicts,
        unknown: found.unknown.into_iter().map(|it| Silent { model: name(it.reviewer), why: it.why }).collect(),
    }
}

/// What became of one reviewer.
#[must_use]
pub fn reviewed(result: &TargetReport) -> Reviewed {
    let Some(report) = result.answer() else {
        let why = result.error().map_or("it gave no answer", |(_, message)| message).to_owned();
        return Reviewed::Silent { why };
    };
    match report.structured.as_ref().map(parse) {
        Some(Ok(review)) => Reviewed::Answered(review),
        Some(Err(faults)) => Reviewed::Invalid { faults },
        None => Reviewed::Silent { why: "its answer has no structure".into() },
    }
}
