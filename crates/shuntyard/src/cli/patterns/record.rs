//! Records how work ended, and replaces the verdict that a dispatch recorded for itself.

use super::{super::input, Global, cells, fields, show};
use crate::{
    failure::Failure,
    ui::{self, Format},
};
use clap::{Args, ValueEnum};
use serde_json::json;
use shuntyard_core::{
    DispatchId, ModelRef, Nano,
    experience::{Evidence, FailureMode, Verdict},
    routing::Selector,
    settings::Config,
};
use shuntyard_host::clock::now_micros;
use shuntyard_store::{Judgement, NewOutcome, OutcomeRecord};
use std::{path::PathBuf, process::ExitCode, time::Duration};

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Ended {
    Success,
    Failure,
}

/// What a verdict that is entered by hand can rest on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Rests {
    /// A person says so
    Reported,
    /// A model compared and says so
    Judged,
    /// A command was run and showed it
    Verified,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  shuntyard patterns record --task-type code-review --model acme/swift --outcome success
  shuntyard patterns record --task-type simple-fix --model acme/swift --outcome failure \\
    --failure-mode ENVIRONMENT --text @task.md
  shuntyard patterns record --dispatch 0199… --outcome failure --evidence verified")]
pub struct RecordArgs {
    /// The kind of task (see `shuntyard task-types`)
    #[arg(long, value_name = "TYPE", value_parser = fields::word, required_unless_present = "dispatch")]
    task_type: Option<String>,
    /// The model that did it
    #[arg(long, value_name = "P/M[@VARIANT]", value_parser = fields::model, required_unless_present = "dispatch")]
    model: Option<ModelRef>,
    /// How it ended
    #[arg(long, value_enum)]
    outcome: Ended,
    /// Judge this dispatch instead of entering something new
    #[arg(long, value_name = "ID", value_parser = fields::dispatch, conflicts_with_all = ["task_type", "model", "tier", "cost", "duration", "tokens",
        "retries", "strategy", "repo", "text", "at"])]
    dispatch: Option<DispatchId>,
    /// The tier that it was done in; the model's own by default, when it is in only one
    #[arg(long, value_name = "TIER")]
    tier: Option<String>,
    /// How good it was, from 0 to 2
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(0..=2))]
    quality: Option<u8>,
    /// What it cost, in dollars
    #[arg(long, value_name = "USD", value_parser = input::dollars)]
    cost: Option<Nano>,
    /// How long it took, like 90s
    #[arg(long, value_name = "DURATION", value_parser = super::length)]
    duration: Option<Duration>,
    /// How many tokens it took
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(..=1_000_000_000_000), default_value_t = 0)]
    tokens: u64,
    /// How often it was tried before
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(..=1_000_000), default_value_t = 0)]
    retries: u32,
    /// How it was gone about, in a word
    #[arg(long, value_name = "WORD", value_parser = fields::word)]
    strategy: Option<String>,
    /// Why it failed: TRANSIENT, RESOURCE, ENVIRONMENT (these say nothing about the model), LOGIC, BLOCKED or
    /// AMBIGUOUS; LOGIC by default
    #[arg(long, value_name = "MODE", value_parser = failure_mode)]
    failure_mode: Option<FailureMode>,
    /// What this rests on
    #[arg(long, value_enum, default_value_t = Rests::Reported)]
    evidence: Rests,
    /// A directory of the repository that it belongs to; the current one by default
    #[arg(long, value_name = "DIR")]
    repo: Option<PathBuf>,
    /// What the task was: text, @file, or - for standard input. Its beginning is kept, to find similar ones
    #[arg(long, value_name = "TEXT")]
    text: Option<String>,
    /// When it ended, like 2026-02-01 or 2026-02-01T14:30:00Z; now by default
    #[arg(long, value_name = "TIME")]
    at: Option<String>,
}

fn failure_mode(text: &str) -> Result<FailureMode, String> {
    FailureMode::parse(&text.to_ascii_uppercase()).ok_or_else(|| {
        let modes: Vec<&str> = FailureMode::ALL.into_iter().map(FailureMode::as_str).collect();
        format!("it is none of {}", modes.join(", "))
    })
}

pub async fn record(global: &Global, args: &RecordArgs) -> Result<ExitCode, Failure> {
    let judgement = args.judgement()?;
    let settings = global.settings()?;
    if let Some(dispatch) = args.dispatch {
        let context = settings.into_context().await?;
        let Some(record) = context.store.judge_outcome(dispatch, None, now_micros(), &judgement).await? else {
            let message = format!("nothing is known of a dispatch {dispatch} that ended");
            return Err(Failure::usage(message, "`id` in the JSON report of a dispatch names it"));
        };
        tell(global.format(), "judged", &record, &[]);
        return Ok(ExitCode::SUCCESS);
    }
    let (outcome, notes) = args.entered(&settings.layered.config, &judgement)?;
    let context = settings.into_context().await?;
    context.store.record_outcomes(std::slice::from_ref(&outcome)).await?;
    tell(global.format(), "recorded", &OutcomeRecord { id: 0, outcome }, &notes);
    Ok(ExitCode::SUCCESS)
}

fn tell(format: Format, action: &str, record: &OutcomeRecord, notes: &[String]) {
    let mut document = cells::document(record);
    if record.id == 0 {
        document["id"] = serde_json::Value::Null;
    }
    let outcome = &record.outcome;
    match format {
        Format::Json => ui::json(&json!({"action": action, "outcome": document, "notes": notes})),
        Format::People => {
            let tier = outcome.tier.as_ref().map_or_else(String::new, |tier| format!(" in tier {}", show::name(tier)));
            let mode = outcome.failure_mode.map_or_else(String::new, |mode| format!(", {mode}"));
            let counts = if outcome.counts() { "" } else { "; says nothing about the model" };
            ui::result(&format!(
                "{action}: {} with {}{tier}: {}{mode} ({}{counts})",
                show::name(&outcome.task_type),
                show::name(&outcome.model),
                show::verdict(outcome.verdict),
                outcome.evidence.as_str(),
            ));
            for note in notes {
                ui::note(note);
            }
        }
    }
}

impl RecordArgs {
    fn judgement(&self) -> Result<Judgement, Failure> {
        let (verdict, failure_mode) = match (self.outcome, self.failure_mode) {
            (Ended::Success, None) => (Verdict::Success, None),
            (Ended::Success, Some(mode)) => {
                return Err(Failure::usage(
                    format!("a success has no failure mode, and {mode} was given"),
                    "leave --failure-mode out, or say --outcome failure",
                ));
            }
            (Ended::Failure, mode) => (Verdict::Failure, Some(mode.unwrap_or(FailureMode::Logic))),
        };
        let evidence = match self.evidence {
            Rests::Reported => Evidence::Reported,
            Rests::Judged => Evidence::Judged,
            Rests::Verified => Evidence::Verified,
        };
        Ok(Judgement { verdict, failure_mode, evidence, quality: self.quality })
    }

    /// The outcome, with warnings for the user.
    fn entered(&self, config: &Config, judgement: &Judgement) -> Result<(NewOutcome, Vec<String>), Failure> {
        let (Some(task_type), Some(model)) = (&self.task_type, &self.model) else {
            return Err(Failure::usage("it is not said what was done by whom", "give --task-type and --model"));
        };
        let now = now_micros();
        let mut notes = Vec::new();
        notes.extend(fields::unknown_type(config, task_type));
        let tier = match &self.tier {
            Some(name) => Some(fields::tier(config, name)?),
            None => config.only_tier_of(model).map(str::to_owned),
        };
        if tier.is_none() {
            notes
                .push(format!("{model} is not in exactly one tier: without --tier this teaches about the model alone"));
        }
        let at = self.at.as_ref().map(|text| fields::moment(text, &config.budget.time_zone, now)).transpose()?;
        let text = self.text.as_ref().map(|text| input::text(text, "the task")).transpose()?.unwrap_or_default();
        let outcome = NewOutcome {
            at: at.unwrap_or(now),
            attempt: None,
            task: None,
            batch: None,
            task_type: task_type.clone(),
            requested: Selector::TaskType(task_type.clone()).to_json(),
            asked_tier: None,
            tier,
            model: model.to_string(),
            strategy: self.strategy.clone().unwrap_or_default(),
            verdict: judgement.verdict,
            failure_mode: judgement.failure_mode,
            error_class: None,
            evidence: judgement.evidence,
            quality: judgement.quality,
            tokens: self.tokens,
            cost: self.cost.unwrap_or_default(),
            cost_known: self.cost.is_some(),
            duration_ms: self.duration.map_or(0, |took| u64::try_from(took.as_millis()).unwrap_or(u64::MAX)),
            retries: self.retries,
            repository: fields::repository(self.repo.as_ref())?,
            propensity: None,
            text: fields::text(config, &text),
        };
        Ok((outcome, notes))
    }
}
