//! Similar tasks of the past, and the models that did them well.

use super::{super::input, Global, cells, clock, show, tell_how_to_begin};
use crate::{
    failure::Failure,
    ui::{self, Format},
};
use clap::Args;
use serde_json::{Value, json};
use shuntyard_core::{
    experience::{Standing, Tally, Verdict, by_model, by_tier, search_terms},
    values::clean_line,
};
use shuntyard_engine::Context;
use shuntyard_host::{clock::now_micros, day::DayClock};
use shuntyard_store::{NewOutcome, OutcomeRecord};
use std::process::ExitCode;

const EXCERPT: usize = 60;
/// The same task is often repeated: so many outcomes are read for each one that is shown.
const LOOKED_AT: u32 = 5;

#[derive(Debug, Args)]
pub struct SuggestArgs {
    /// The task: text, @file, or - for standard input
    text: String,
    /// How many to show
    #[arg(long, value_name = "N", default_value_t = USUAL, value_parser = clap::value_parser!(u32).range(1..=100))]
    limit: u32,
}

pub async fn suggest(global: &Global, args: &SuggestArgs) -> Result<ExitCode, Failure> {
    let text = input::text(&args.text, "the task")?;
    let context = global.context().await?;
    let similar = find(&context, &text, args.limit).await?;
    let Similar { terms, found, best } = &similar;
    match global.format() {
        Format::Json => ui::json(&similar.document()),
        Format::People if found.is_empty() => {
            let looked = if terms.is_empty() { "it has no words to look for".to_owned() } else { terms.join(", ") };
            ui::note(&format!("no similar task is known (looked for: {looked})"));
            tell_how_to_begin();
        }
        Format::People => {
            let clock = clock(&context)?;
            let rows: Vec<Vec<String>> = found.iter().filter_map(|group| row(group, &clock)).collect();
            let head = ["WHEN", "TASK TYPE", "TIER", "MODEL", "OUTCOME", "TIMES", "COST", "TASK"];
            ui::result(&ui::table(&head, &rows));
            ui::result(&format!("\n{}", summary(best)));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Tasks of the past that a text resembles.
#[derive(Debug)]
pub struct Similar {
    terms: Vec<String>,
    /// In groups of the same task with the same model and the same end.
    found: Vec<Vec<OutcomeRecord>>,
    /// The tier and the model that did best among them.
    best: [Option<Standing>; 2],
}

/// How many are shown by default.
pub const USUAL: u32 = 5;

pub async fn find(context: &Context, text: &str, limit: u32) -> Result<Similar, Failure> {
    if text.trim().is_empty() {
        return Err(Failure::usage("the task is empty", "give it as text, as @file, or as - for standard input"));
    }
    let terms = search_terms(text);
    let found = context.store.similar_outcomes(&terms, limit.saturating_mul(LOOKED_AT)).await?;
    let found = gathered(found, usize::try_from(limit).unwrap_or(usize::MAX));
    let tallies: Vec<Tally> = found.iter().flatten().map(tally).collect();
    let half_life = context.config.patterns.half_life_micros();
    let now = now_micros();
    let best = [best(by_tier(&tallies, now, half_life)), best(by_model(&tallies, now, half_life))];
    Ok(Similar { terms, found, best })
}

impl Similar {
    pub fn document(&self) -> Value {
        let similar: Vec<Value> = self.found.iter().filter_map(|group| document(group)).collect();
        let [tier, model] = &self.best;
        json!({"terms": self.terms, "similar": similar, "best_tier": tier, "best_model": model})
    }
}

/// The same task with the same model and the same end is one group, at the position of its most similar task.
fn gathered(found: Vec<OutcomeRecord>, limit: usize) -> Vec<Vec<OutcomeRecord>> {
    let is_same = |one: &NewOutcome, other: &NewOutcome| {
        (&one.text, &one.task_type, &one.tier, &one.model) == (&other.text, &other.task_type, &other.tier, &other.model)
            && (one.verdict, one.failure_mode, one.evidence) == (other.verdict, other.failure_mode, other.evidence)
    };
    let mut groups: Vec<Vec<OutcomeRecord>> = Vec::new();
    for record in found {
        let place = groups.iter().position(|group| group.iter().any(|one| is_same(&one.outcome, &record.outcome)));
        match place {
            Some(place) => groups[place].push(record),
            None if groups.len() < limit => groups.push(vec![record]),
            None => {}
        }
    }
    groups
}

fn newest(group: &[OutcomeRecord]) -> Option<&OutcomeRecord> {
    group.iter().max_by_key(|record| (record.outcome.at, record.id))
}

fn document(group: &[OutcomeRecord]) -> Option<Value> {
    let mut document = cells::document(newest(group)?);
    document["times"] = json!(group.len());
    Some(document)
}

fn row(group: &[OutcomeRecord], clock: &DayClock) -> Option<Vec<String>> {
    let outcome = &newest(group)?.outcome;
    let mode = outcome.failure_mode.map_or_else(String::new, |mode| format!(" {mode}"));
    Some(vec![
        clock.show(outcome.at),
        show::name(&outcome.task_type),
        show::name(outcome.tier.as_deref().unwrap_or_default()),
        show::name(&outcome.model),
        format!("{}{mode} ({})", show::verdict(outcome.verdict), outcome.evidence.as_str()),
        group.len().to_string(),
        show::cost(outcome.cost_known.then_some(outcome.cost)),
        clean_line(&outcome.text, EXCERPT),
    ])
}

/// One outcome, to be counted like all.
fn tally(record: &OutcomeRecord) -> Tally {
    let outcome = &record.outcome;
    let success = outcome.verdict == Verdict::Success;
    let counts = outcome.counts();
    Tally {
        at: outcome.at,
        task_type: outcome.task_type.clone(),
        tier: outcome.tier.clone().unwrap_or_default(),
        model: outcome.model.clone(),
        successes: u64::from(counts && success),
        proven: u64::from(counts && success && outcome.evidence.is_proof()),
        failures: u64::from(counts && !success),
        uncounted: u64::from(!counts),
        ..Tally::default()
    }
}

/// The record with the highest lower end; none that never succeeded.
fn best(records: Vec<Standing>) -> Option<Standing> {
    let did_well = records.into_iter().filter(|standing| standing.successes > 0);
    did_well.max_by(|a, b| a.lower_percent.total_cmp(&b.lower_percent).then_with(|| b.name.cmp(&a.name)))
}

fn summary(best: &[Option<Standing>; 2]) -> String {
    let told: Vec<String> = [("tier ", &best[0]), ("", &best[1])]
        .into_iter()
        .filter_map(|(kind, found)| {
            let found = found.as_ref()?;
            let proof = match (found.proven, found.successes) {
                (0, _) => ", and nobody has judged it".to_owned(),
                (proven, successes) if proven < successes => format!(", {proven} of them looked at"),
                _ => String::new(),
            };
            let name = show::name(&found.name);
            Some(format!("{kind}{name} ({} of {} well{proof})", found.successes, found.samples))
        })
        .collect();
    if told.is_empty() { "none of them went well".to_owned() } else { format!("best among them: {}", told.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(model: &str, tier: &str, successes: u64, proven: u64, failures: u64) -> Tally {
        Tally { tier: tier.into(), model: model.into(), successes, proven, failures, ..Tally::default() }
    }

    #[test]
    fn the_summary_says_what_was_looked_at() {
        let table = [
            (vec![], "none of them went well"),
            (vec![counted("a/b", "haiku", 0, 0, 3)], "none of them went well"),
            (
                vec![counted("a/b", "haiku", 2, 2, 0), counted("c/d", "opus", 1, 1, 1)],
                "best among them: tier haiku (2 of 2 well), a/b (2 of 2 well)",
            ),
            (vec![counted("a/b", "", 2, 0, 0)], "best among them: a/b (2 of 2 well, and nobody has judged it)"),
            (vec![counted("a/b", "", 3, 1, 1)], "best among them: a/b (3 of 4 well, 1 of them looked at)"),
        ];
        for (tallies, expected) in table {
            let found = [best(by_tier(&tallies, 0, 0)), best(by_model(&tallies, 0, 0))];
            assert_eq!(summary(&found), expected);
        }
    }
}
