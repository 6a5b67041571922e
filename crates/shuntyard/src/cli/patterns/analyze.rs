//! Significant findings in the outcomes of a window, in sentences.

use super::{Global, WindowArgs, findings, from_ms, tell_how_to_begin};
use crate::{
    failure::Failure,
    ui::{self, Format},
};
use serde_json::{Value, json};
use shuntyard_core::experience::Tally;
use shuntyard_engine::Context;
use shuntyard_host::clock::now_micros;
use shuntyard_store::{OutcomeFilter, OutcomeOrder};
use std::process::ExitCode;

/// Modes of failure are not in the counts, so outcomes are read for them, the newest first and no more than these.
const MOST_ROWS: u32 = 10_000;

/// What was found, and how much was read one by one for it.
#[derive(Debug)]
pub struct Analysis {
    from: i64,
    read: usize,
    findings: Vec<findings::Finding>,
}

pub async fn analyze(global: &Global, args: &WindowArgs) -> Result<ExitCode, Failure> {
    let context = &global.context().await?;
    let from = args.since.from(&context.config, now_micros());
    let tallies = context.store.outcome_tallies(args.task_type.as_deref(), None, from).await?;
    let analysis = find(context, args.task_type.as_deref(), from, &tallies).await?;
    match global.format() {
        Format::Json => ui::json(&analysis.document()),
        Format::People if tallies.is_empty() => {
            ui::note("nothing is known of such work yet");
            tell_how_to_begin();
        }
        Format::People => analysis.show(),
    }
    Ok(ExitCode::SUCCESS)
}

pub async fn find(
    context: &Context,
    task_type: Option<&str>,
    from: i64,
    tallies: &[Tally],
) -> Result<Analysis, Failure> {
    let filter = OutcomeFilter {
        from: (from != i64::MIN).then_some(from),
        task_type: task_type.map(str::to_owned),
        limit: MOST_ROWS,
        ..OutcomeFilter::default()
    };
    let outcomes = context.store.outcomes(&filter, OutcomeOrder::Newest).await?;
    let failures = outcomes
        .iter()
        .filter_map(|record| Some((record.outcome.task_type.as_str(), record.outcome.failure_mode?)))
        .collect::<Vec<_>>();
    let findings = findings::findings(&context.config, tallies, &failures, now_micros());
    Ok(Analysis { from, read: outcomes.len(), findings })
}

impl Analysis {
    pub fn document(&self) -> Value {
        json!({"from_ms": from_ms(self.from), "findings": self.findings, "outcomes_read": self.read,
            "most_outcomes_read": MOST_ROWS})
    }

    pub fn show(&self) {
        if self.findings.is_empty() {
            ui::result("nothing yet that the numbers would carry: more outcomes make the ranges narrower");
        }
        for finding in &self.findings {
            ui::result(&format!("- {}", finding.says));
        }
        if usize::try_from(MOST_ROWS).is_ok_and(|most| self.read >= most) {
            ui::note(&format!("modes of failure are those of the newest {MOST_ROWS} outcomes"));
        }
    }
}
