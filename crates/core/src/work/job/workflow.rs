//! A workflow: steps in a row, each given the task and the answers of the steps before it, within limits.

use crate::values::WorkflowStep;
use serde::{Deserialize, Serialize};

/// A step that is over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepDone {
    pub name: String,
    /// Its answer; nothing when it was not needed.
    pub text: Option<String>,
    /// What it found, when it was to judge.
    pub approved: Option<bool>,
    /// On which model, and what was noticed.
    pub model: Option<String>,
    pub warnings: Vec<String>,
}

/// What comes next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Advance {
    Run {
        index: usize,
        prompt: String,
        warnings: Vec<String>,
    },
    /// Not needed, and why.
    Skip {
        index: usize,
        reason: String,
    },
    Done,
}

/// Decides what comes after the steps that are over.
#[must_use]
pub fn advance(steps: &[WorkflowStep], done: &[StepDone], task: &str, most_carried: usize) -> Advance {
    let index = done.len();
    let Some(step) = steps.get(index) else { return Advance::Done };
    if let Some(judge) = &step.unless_approved_by
        && done.iter().rev().any(|one| one.name == *judge && one.approved == Some(true))
    {
        return Advance::Skip { index, reason: format!("{judge} found the work good") };
    }
    let carried = carry(done, most_carried);
    let mut prompt = format!("{}\n\n# Task\n\n{}", step.prompt.trim(), task.trim());
    if !carried.text.is_empty() {
        prompt.push_str("\n\n# What the steps before this one said\n\n");
        prompt.push_str(&carried.text);
    }
    let warnings = match carried.cut {
        0 => Vec::new(),
        cut => vec![format!(
            "{}: {cut} characters of earlier answers were left out, the oldest first (jobs.carry_chars is {})",
            step.name, most_carried
        )],
    };
    Advance::Run { index, prompt, warnings }
}

/// What is handed from step to step.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Carry {
    pub text: String,
    /// Characters that did not fit.
    pub cut: usize,
}

/// Puts together the answers, at most `limit` characters of it. The newest counts most, so the oldest is cut first,
/// and of each its beginning stays.
#[must_use]
pub fn carry(done: &[StepDone], limit: usize) -> Carry {
    let mut left = limit;
    let mut cut = 0;
    let mut parts = Vec::new();
    for one in done.iter().rev() {
        let Some(text) = &one.text else { continue };
        let length = text.chars().count();
        let kept: String = text.chars().take(left).collect();
        let taken = length.min(left);
        cut += length - taken;
        left -= taken;
        if !kept.is_empty() {
            let mark = if taken < length { "\n[cut here]" } else { "" };
            parts.push(format!("## {}\n\n{kept}{mark}", one.name));
        }
    }
    parts.reverse();
    Carry { text: parts.join("\n\n"), cut }
}

#[cfg(test)]
mod tests;
