//! `shuntyard fallback`: the chains, the cooldowns, and what would be asked now.

use super::{Global, input, tables::tier_names};
use crate::{
    failure::{Exit, Failure},
    ui::{self, Format},
};
use clap::Args;
use serde_json::{Value, json};
use shuntyard_core::{
    routing::{Exchange, Needs, Question, Resolution, Selector, Step, Tried, chain, check_names, next, resolve},
    values::{Trigger, duration},
};
use shuntyard_engine::{
    Context,
    base::refusal::Refusal,
    routing::{
        catalogue::Refresh,
        choose::{SelectionInput, gather_inputs},
    },
};
use shuntyard_host::clock::now_micros;
use std::{process::ExitCode, time::Duration};

#[derive(Debug, Args)]
pub struct FallbackArgs {
    /// The tier; all of them when none is named
    tier: Option<String>,
    /// The OpenCode agent that would lead; it may have a chain of its own
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// What the model must be able to do; may be repeated
    #[arg(long, value_enum, value_name = "CAPABILITY")]
    need: Vec<super::route::Need>,
    /// Ask OpenCode for its models now
    #[arg(long)]
    refresh: bool,
}

/// What would happen for one tier.
struct Plan {
    tier: String,
    origin: &'static str,
    chain: Vec<String>,
    asked: Vec<Resolution>,
    /// Why nothing could be asked at all.
    problem: Option<String>,
}

pub async fn run(global: &Global, args: &FallbackArgs) -> Result<ExitCode, Failure> {
    let settings = global.settings()?;
    let selector = args.tier.as_ref().map(|tier| Selector::Tier(tier.clone()));
    if let Some(selector) = &selector {
        check_names(selector, &settings.layered.config).map_err(Refusal::Route)?;
    }
    let directory = input::directory(None)?;
    let context = settings.into_context().await?;
    let refresh = if args.refresh { Refresh::Now } else { Refresh::IfStale };
    let inputs = gather_inputs(&context, &directory, refresh).await?;
    let needs = super::route::Need::all(&args.need);
    let config = &context.config;
    let tiers: Vec<String> = match &args.tier {
        Some(name) => config.tier_named(name).into_iter().map(str::to_owned).collect(),
        None => tier_names(config).into_iter().cloned().collect(),
    };
    let plans: Vec<Plan> =
        tiers.into_iter().map(|tier| plan(&context, &inputs, tier, needs, args.agent.as_deref())).collect();
    match global.format() {
        Format::Json => ui::json(&document(&plans, &inputs, config.fallback.depth)),
        Format::People => show(&plans, &inputs, args.tier.is_some()),
    }
    let exhausted = plans.iter().all(|plan| plan.asked.is_empty());
    Ok(if exhausted { ExitCode::from(Exit::Refused as u8) } else { ExitCode::SUCCESS })
}

/// Simulates the failures: each model that is asked fails, and the next one is selected.
fn plan(context: &Context, around: &SelectionInput, tier: String, needs: Needs, agent: Option<&str>) -> Plan {
    let config = &context.config;
    let (origin, entries) = chain(config, agent, Some(&tier));
    let entries =
        if entries.is_empty() { config.tiers.get(&tier).cloned().unwrap_or_default() } else { entries.to_vec() };
    let selector = Selector::Tier(tier.clone());
    let question: Question<'_> = around.question(context, &selector, needs);
    let mut asked: Vec<Resolution> = Vec::new();
    let mut tried = Vec::new();
    let mut found = resolve(&question);
    let problem = found.as_ref().err().map(ToString::to_string);
    while let Ok(resolution) = found {
        tried.push(Tried { model: resolution.model.clone(), trigger: Trigger::ApiError });
        found = next(&question, &resolution, &tried, Exchange::Asked, agent);
        asked.push(resolution);
    }
    Plan { tier, origin: origin.as_str(), chain: entries, asked, problem }
}

/// Models that were considered before the first choice, and why each was rejected.
fn passed_over(plan: &Plan) -> Vec<(String, String)> {
    let trace = plan.asked.first().map(|first| first.trace.as_slice()).unwrap_or_default();
    trace
        .iter()
        .filter(|step| matches!(step.step, Step::Tier | Step::Availability) && !step.chosen)
        .filter_map(|step| Some((step.candidate.clone()?, step.why.clone())))
        .filter(|(model, _)| plan.asked.first().is_none_or(|first| first.model.to_string() != *model))
        .collect()
}

fn document(plans: &[Plan], around: &SelectionInput, depth: usize) -> Value {
    let tiers: Vec<Value> = plans
        .iter()
        .map(|plan| {
            let asked: Vec<Value> = plan
                .asked
                .iter()
                .map(|found| json!({"model": found.model.to_string(), "tier": found.tier, "warnings": found.warnings}))
                .collect();
            let passed: Vec<Value> =
                passed_over(plan).iter().map(|(model, why)| json!({"model": model, "why": why})).collect();
            json!({"tier": plan.tier, "chain": {"origin": plan.origin, "entries": plan.chain}, "asked": asked,
                "passed_over": passed, "problem": plan.problem})
        })
        .collect();
    json!({"tiers": tiers, "depth": depth, "cooldowns": cooldowns(around)})
}

pub(super) fn cooldowns(around: &SelectionInput) -> Vec<Value> {
    let rows = around.known.cooldowns.iter();
    rows.map(|row| {
        json!({"target": row.target, "trigger": row.trigger, "error_class": row.class, "message": row.message,
            "until_ms": row.until / 1000, "seconds_left": left(row.until).as_secs()})
    })
    .collect()
}

fn left(until: i64) -> Duration {
    Duration::from_micros(u64::try_from(until - now_micros()).unwrap_or_default())
}

fn show(plans: &[Plan], around: &SelectionInput, in_full: bool) {
    let mut rows = Vec::new();
    for plan in plans {
        let asked: Vec<String> = plan.asked.iter().map(|found| found.model.to_string()).collect();
        let asked = if asked.is_empty() { "nothing".to_owned() } else { asked.join("\n") };
        rows.push(vec![plan.tier.clone(), plan.origin.to_owned(), asked]);
    }
    ui::result(&ui::table(&["TIER", "CHAIN", "ASKED IN THIS ORDER"], &rows));
    for plan in plans.iter().filter(|_| in_full) {
        for warning in plan.asked.first().iter().flat_map(|first| &first.warnings) {
            ui::warn(warning);
        }
        if let Some(problem) = &plan.problem {
            ui::result(&format!("\nwhy nothing: {problem}"));
        }
        let passed = passed_over(plan);
        if !passed.is_empty() {
            let rows: Vec<_> = passed.into_iter().map(|(model, why)| vec![model, why]).collect();
            ui::result(&format!("\n{}", ui::table(&["PASSED OVER", "WHY"], &rows)));
        }
    }
    let rows: Vec<_> = around
        .known
        .cooldowns
        .iter()
        .map(|row| {
            let left = duration::show(Duration::from_secs(left(row.until).as_secs() + 1));
            vec![row.target.clone(), row.trigger.to_string(), left, row.message.clone()]
        })
        .collect();
    if !rows.is_empty() {
        ui::result(&format!("\n{}", ui::table(&["LEFT ALONE", "TRIGGER", "FOR ANOTHER", "BECAUSE"], &rows)));
    }
}
