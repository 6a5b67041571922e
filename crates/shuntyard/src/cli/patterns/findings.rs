//! Claims about models and tiers, and only those that the ranges of their rates support.
//!
//! "At least" counts only verified work, "at most" takes every answer for a success. So an unjudged answer is evidence
//! neither for one side nor against the other.

use super::show;
use serde::Serialize;
use serde_json::{Value, json};
use shuntyard_core::{
    Nano,
    experience::{FailureMode, Standing, Tally, by_model, by_tier},
    settings::Config,
};
use std::collections::BTreeMap;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Claim {
    /// One model is better than another.
    Better,
    /// A more expensive tier is no better than a cheaper one.
    NoBetter,
    /// There are answers, and none of them was judged.
    Unproven,
    /// Most failures are of one kind.
    FailureMode,
    CostPerSuccess,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    pub claim: Claim,
    pub task_type: String,
    pub says: String,
    pub numbers: Value,
}

/// A name with where its rate lies at least and at most.
struct Bounds {
    proven: Standing,
    all: Standing,
}

impl Bounds {
    fn name(&self) -> &str {
        &self.all.name
    }

    fn at_least(&self) -> String {
        let Standing { lower_percent, successes, samples, .. } = &self.proven;
        format!("at least {} ({successes} of {samples} that were looked at)", show::percent(*lower_percent))
    }

    fn at_most(&self) -> String {
        let Standing { upper_percent, successes, samples, .. } = &self.all;
        format!("at most {} ({successes} of {samples})", show::percent(*upper_percent))
    }
}

/// `failures` are the modes of single outcomes with their kinds of task.
pub fn findings(config: &Config, tallies: &[Tally], failures: &[(&str, FailureMode)], now: i64) -> Vec<Finding> {
    let mut kinds: BTreeMap<&str, Vec<Tally>> = BTreeMap::new();
    for tally in tallies.iter().filter(|tally| !tally.task_type.is_empty()) {
        kinds.entry(&tally.task_type).or_default().push(tally.clone());
    }
    let mut found = Vec::new();
    for (kind, tallies) in kinds {
        let modes = failures.iter().filter(|(task_type, _)| *task_type == kind).map(|(_, mode)| *mode);
        let claims = [
            better(config, &tallies, now),
            no_better(config, &tallies, now),
            unproven(config, kind, &tallies),
            dominant(config, modes),
            cost_per_success(config, &tallies),
        ];
        let claims = claims.into_iter().flatten();
        found.extend(claims.map(|(claim, says, numbers)| Finding {
            claim,
            task_type: kind.to_owned(),
            says: format!("{}: {says}", show::name(kind)),
            numbers,
        }));
    }
    found
}

type Said = Option<(Claim, String, Value)>;

fn bounds(tallies: &[Tally], records: impl Fn(&[Tally]) -> Vec<Standing>) -> Vec<Bounds> {
    let proven: Vec<Tally> = tallies.iter().map(|tally| Tally { successes: tally.proven, ..tally.clone() }).collect();
    // Both have the same names in the same order.
    records(&proven).into_iter().zip(records(tallies)).map(|(proven, all)| Bounds { proven, all }).collect()
}

fn better(config: &Config, tallies: &[Tally], now: i64) -> Said {
    let (settings, least) = (&config.patterns, u64::from(config.patterns.samples));
    let models = bounds(tallies, |tallies| by_model(tallies, now, settings.half_life_micros()));
    let best = models.iter().filter(|model| model.proven.samples >= least);
    let best = best.max_by(|a, b| a.proven.lower_percent.total_cmp(&b.proven.lower_percent))?;
    let worst = models.iter().filter(|model| model.all.samples >= least);
    let worst = worst.min_by(|a, b| a.all.upper_percent.total_cmp(&b.all.upper_percent))?;
    if best.proven.lower_percent <= worst.all.upper_percent {
        return None;
    }
    let (good, bad) = (show::name(best.name()), show::name(worst.name()));
    let says = format!("{good} is better than {bad}: good {}, against {}", best.at_least(), worst.at_most());
    let numbers = json!({"best": best.name(), "best_lower_percent": best.proven.lower_percent,
        "worst": worst.name(), "worst_upper_percent": worst.all.upper_percent});
    Some((Claim::Better, says, numbers))
}

/// The most expensive tier that a cheaper one makes superfluous.
fn no_better(config: &Config, tallies: &[Tally], now: i64) -> Said {
    let (settings, least) = (&config.patterns, u64::from(config.patterns.samples));
    let tiers = bounds(tallies, |tallies| by_tier(tallies, now, settings.half_life_micros()));
    let mut priced: Vec<(Nano, &Bounds)> = tiers.iter().filter_map(|tier| Some((tier.all.mean_cost?, tier))).collect();
    priced.sort_by_key(|(cost, _)| *cost);
    let tolerance = f64::from(settings.tolerance_points);
    let pair = priced.iter().rev().find_map(|(dear_cost, dear)| {
        let cheaper = priced.iter().filter(|(cost, _)| cost < dear_cost);
        let mut as_good = cheaper.filter(|(_, cheap)| {
            cheap.proven.samples >= least
                && dear.all.samples >= least
                && dear.all.upper_percent <= cheap.proven.lower_percent + tolerance
        });
        as_good.next().map(|(cost, cheap)| (*cost, *cheap, *dear_cost, *dear))
    });
    let (cheap_cost, cheap, dear_cost, dear) = pair?;
    let says = format!(
        "tier {} costs {dear_cost} a run and is no better than {}, which costs {cheap_cost}: good {}, against {}",
        show::name(dear.name()),
        show::name(cheap.name()),
        dear.at_most(),
        cheap.at_least(),
    );
    let numbers = json!({"tier": dear.name(), "mean_cost_usd": dear_cost.as_usd(),
        "upper_percent": dear.all.upper_percent, "cheaper_tier": cheap.name(),
        "cheaper_mean_cost_usd": cheap_cost.as_usd(), "cheaper_lower_percent": cheap.proven.lower_percent});
    Some((Claim::NoBetter, says, numbers))
}

fn unproven(config: &Config, kind: &str, tallies: &[Tally]) -> Said {
    let mut whole = Tally::default();
    tallies.iter().for_each(|tally| whole.add(tally));
    if whole.successes == 0 || whole.proven > 0 {
        return None;
    }
    let table = config.task_types.get(kind);
    let so = table.map_or_else(String::new, |tier| format!(", so experience does not lead below tier {tier}"));
    let says = format!("{} answers came, and nobody has judged one{so}", whole.successes);
    Some((Claim::Unproven, says, json!({"answers": whole.successes, "table_tier": table})))
}

fn dominant(config: &Config, modes: impl Iterator<Item = FailureMode>) -> Said {
    let mut counts: BTreeMap<&str, (FailureMode, u64)> = BTreeMap::new();
    for mode in modes {
        counts.entry(mode.as_str()).or_insert((mode, 0)).1 += 1;
    }
    let all: u64 = counts.values().map(|(_, count)| count).sum();
    let (mode, count) = *counts.values().max_by_key(|(_, count)| *count)?;
    // The share of one mode among all has a range like any other.
    let share = Tally { model: mode.to_string(), successes: count, failures: all - count, ..Tally::default() };
    let share = by_model(std::slice::from_ref(&share), 0, 0).pop()?;
    if all < u64::from(config.patterns.samples) || share.lower_percent <= 50.0 {
        return None;
    }
    let least = show::percent(share.lower_percent);
    let says = format!("{count} of {all} failures are {mode} (at least {least} of them): {}", meaning(mode));
    let numbers = json!({"failure_mode": mode, "count": count, "failures": all, "lower_percent": share.lower_percent});
    Some((Claim::FailureMode, says, numbers))
}

fn meaning(mode: FailureMode) -> &'static str {
    match mode {
        FailureMode::Transient => "providers that did not answer; they do not count against a model",
        FailureMode::Resource => "limits that were reached; they do not count against a model",
        FailureMode::Environment => "something around the models is wrong; they do not count against a model",
        FailureMode::Logic => "the models did not manage",
        FailureMode::Blocked => "something has to happen first that a model cannot do",
        FailureMode::Ambiguous => "nobody can say what was wanted",
    }
}

/// Only of models whose every run has a price: a partial cost would make a success seem cheap.
fn cost_per_success(config: &Config, tallies: &[Tally]) -> Said {
    let mut models: BTreeMap<&str, Tally> = BTreeMap::new();
    for tally in tallies {
        models.entry(&tally.model).or_default().add(tally);
    }
    let least = u64::from(config.patterns.samples);
    let mut costs: Vec<(Nano, &str)> = models
        .into_iter()
        .filter(|(_, whole)| whole.priced == whole.runs() && whole.successes + whole.failures >= least)
        .filter_map(|(model, whole)| {
            let successes = i64::try_from(whole.successes).ok().filter(|count| *count > 0)?;
            Some((Nano(whole.cost.0 / successes), model))
        })
        .collect();
    costs.sort_unstable();
    let (cheapest, cheap) = costs.first()?;
    let (dearest, dear) = costs.last()?;
    let mut says = format!("a success costs {cheapest} with {}", show::name(cheap));
    if cheap != dear {
        says.push_str(&format!(" and {dearest} with {}", show::name(dear)));
    }
    let models: Vec<Value> =
        costs.iter().map(|(cost, model)| json!({"model": model, "cost_per_success_usd": cost.as_usd()})).collect();
    Some((Claim::CostPerSuccess, says, json!({"models": models})))
}
