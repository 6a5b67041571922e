//! What the recorded past would have cost, and how often it would have succeeded, under another policy.
//!
//! A run that the policy gives to the same model is its own answer. For one that it gives to another model there is
//! only what that model did with the same kind of task, when it did enough of them; for all others the log has no
//! answer, and none is made up.

use crate::Nano;
use serde::Serialize;
use std::collections::BTreeMap;

/// Runs of the past that asked for the same and went to the same model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Past {
    /// What was asked for, as the dispatch keeps it: `{"task_type":"code-review"}`.
    pub requested: String,
    pub task_type: String,
    pub model: String,
    pub runs: u64,
    pub successes: u64,
    pub failures: u64,
    pub cost: Nano,
    /// Runs whose cost is known.
    pub priced: u64,
}

/// The policy's answer to one way of asking.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Chosen {
    Model(String),
    /// It refuses such a request, and why.
    Refused(String),
}

/// A part of the past, and what is known of it.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Share {
    pub runs: u64,
    /// What they did cost.
    pub cost_usd: f64,
    /// The share of successes among those that count.
    pub success_percent: Option<f64>,
    /// The same under the policy; absent where the log does not determine it.
    pub policy_cost_usd: Option<f64>,
    pub policy_success_percent: Option<f64>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Replay {
    /// Runs that the policy gives to the same model: known from the log itself.
    pub same: Share,
    /// Runs that it gives to another model with experience in such tasks: estimated by that experience.
    pub changed: Share,
    /// Runs that it gives to a model without enough experience, or refuses: not known.
    pub unknown: Share,
    /// Each change, with how many runs it is about.
    pub changes: Vec<Change>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Change {
    pub task_type: String,
    pub from: String,
    pub to: Option<String>,
    pub runs: u64,
    /// Outcomes that the estimate rests on.
    pub samples: u64,
    pub why: String,
}

#[derive(Default)]
struct Sums {
    runs: u64,
    cost: i128,
    successes: u64,
    counted: u64,
    policy_cost: i128,
    policy_successes: f64,
    policy_counted: f64,
}

/// Plays the past again. `choose` is the policy; a model needs `least` outcomes of a kind to speak for it.
pub fn replay(past: &[Past], least: u64, choose: impl Fn(&Past) -> Chosen) -> Replay {
    let mut known: BTreeMap<(&str, &str), (u64, u64, i128, u64)> = BTreeMap::new();
    for group in past {
        let found = known.entry((&group.task_type, &group.model)).or_default();
        found.0 = found.0.saturating_add(group.successes);
        found.1 = found.1.saturating_add(group.successes).saturating_add(group.failures);
        found.2 += i128::from(group.cost.0);
        found.3 = found.3.saturating_add(group.priced);
    }
    let (mut same, mut changed, mut unknown) = (Sums::default(), Sums::default(), Sums::default());
    let mut changes = Vec::new();
    for group in past {
        let counted = group.successes.saturating_add(group.failures);
        let chosen = choose(group);
        let mut change = Change {
            task_type: group.task_type.clone(),
            from: group.model.clone(),
            to: None,
            runs: group.runs,
            samples: 0,
            why: String::new(),
        };
        match chosen {
            Chosen::Model(model) if model == group.model => {
                same.add(group);
                same.policy_cost += i128::from(group.cost.0);
                same.policy_successes += super::standing::as_real(group.successes);
                same.policy_counted += super::standing::as_real(counted);
            }
            Chosen::Model(model) => {
                let (successes, samples, cost, priced) =
                    known.get(&(group.task_type.as_str(), model.as_str())).copied().unwrap_or_default();
                change.samples = samples;
                if samples >= least && samples > 0 && priced > 0 {
                    changed.add(group);
                    changed.policy_cost += cost.saturating_mul(i128::from(group.runs)) / i128::from(priced);
                    let rate = super::standing::as_real(successes) / super::standing::as_real(samples);
                    changed.policy_successes += rate * super::standing::as_real(counted);
                    changed.policy_counted += super::standing::as_real(counted);
                    change.why = "estimated by what it did with such tasks".into();
                } else {
                    unknown.add(group);
                    change.why = if samples < least {
                        format!("the log has {samples} outcomes of it with such tasks, and it takes {least}")
                    } else {
                        "what it costs is not in the log".into()
                    };
                }
                change.to = Some(model);
                changes.push(change);
            }
            Chosen::Refused(why) => {
                unknown.add(group);
                change.why = why;
                changes.push(change);
            }
        }
    }
    changes.sort_by(|a, b| b.runs.cmp(&a.runs).then_with(|| (&a.task_type, &a.from).cmp(&(&b.task_type, &b.from))));
    Replay { same: same.share(true), changed: changed.share(true), unknown: unknown.share(false), changes }
}

impl Sums {
    fn add(&mut self, group: &Past) {
        self.runs = self.runs.saturating_add(group.runs);
        self.cost += i128::from(group.cost.0);
        self.successes = self.successes.saturating_add(group.successes);
        self.counted = self.counted.saturating_add(group.successes).saturating_add(group.failures);
    }

    fn share(&self, known: bool) -> Share {
        let usd = |nano: i128| Nano(i64::try_from(nano).unwrap_or(i64::MAX)).as_usd();
        let percent = |part: f64, whole: f64| (whole > 0.0).then(|| part * 100.0 / whole);
        let real = super::standing::as_real;
        Share {
            runs: self.runs,
            cost_usd: usd(self.cost),
            success_percent: percent(real(self.successes), real(self.counted)),
            policy_cost_usd: known.then(|| usd(self.policy_cost)),
            policy_success_percent: percent(self.policy_successes, self.policy_counted).filter(|_| known),
        }
    }
}
