//! What the demo found, in the form that `--json` prints, and the judgement on each stage.

use super::{Checkout, Stage, TaskReport, stage::verdict};
use crate::dispatch::{DispatchReport, Status};
use serde::Serialize;
use shuntyard_core::{ErrorClass, Nano};
use std::path::PathBuf;

#[derive(Debug, Clone, Serialize)]
pub struct DemoReport {
    /// Whether every stage and every task did what it should, all of it is there, and the costs agree.
    pub ok: bool,
    pub opencode: PathBuf,
    pub opencode_version: String,
    pub stages: Vec<StageReport>,
    pub tasks: Vec<TaskReport>,
    /// The repository when the tasks were done.
    pub main: Checkout,
    pub cost: CostCheck,
    /// With the start of OpenCode and the cleaning up.
    pub duration_ms: u64,
}

#[derive(Debug, Clone, Serialize)]
pub struct StageReport {
    pub stage: Stage,
    pub title: &'static str,
    pub prompt: &'static str,
    /// What is not as it should be; empty when the stage did what it should.
    pub faults: Vec<String>,
    pub dispatch: DispatchReport,
}

/// The cost as the dispatches and the tasks reported it, beside what the provider itself has counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct CostCheck {
    pub reported_nano_usd: Nano,
    pub ledger_nano_usd: Nano,
    pub provider_requests: usize,
    pub equal: bool,
}

impl CostCheck {
    pub(super) fn new(stages: &[StageReport], tasks: &[TaskReport], ledger: Nano, provider_requests: usize) -> Self {
        let dispatched = stages.iter().map(|stage| Nano::from_usd(stage.dispatch.cost_usd));
        let costs: Option<Vec<Nano>> = dispatched.chain(tasks.iter().map(|task| task.cost_nano_usd)).collect();
        let reported = costs.as_deref().map(|costs| costs.iter().copied().sum());
        Self {
            reported_nano_usd: reported.unwrap_or_default(),
            ledger_nano_usd: ledger,
            provider_requests,
            // Two zeros would agree about nothing.
            equal: reported == Some(ledger) && ledger > Nano::ZERO,
        }
    }
}

impl StageReport {
    pub(super) fn new(stage: Stage, dispatch: DispatchReport) -> Self {
        let faults = faults(stage, &dispatch);
        Self { stage, title: stage.title(), prompt: stage.prompt(), faults, dispatch }
    }

    /// Why an earlier value was refused, for a stage with a schema.
    pub fn refused_values(&self) -> impl Iterator<Item = &str> {
        self.dispatch.warnings.iter().filter_map(|warning| misfit(warning))
    }
}

/// What a stage did other than it should have.
pub(super) fn faults(stage: Stage, dispatch: &DispatchReport) -> Vec<String> {
    let mut faults = Vec::new();
    let mut demand = |fine: bool, fault: String| {
        if !fine {
            faults.push(fault);
        }
    };
    let class = dispatch.error.as_ref().map(|error| error.class);
    let expected = (stage == Stage::Quota).then_some(ErrorClass::QuotaExhausted);
    let named = |class: Option<ErrorClass>| class.map_or("no error", ErrorClass::as_str);
    demand(class == expected, format!("it ended with {}, not with {}", named(class), named(expected)));
    let answered = dispatch.model == stage.model();
    demand(answered, format!("it went to {}, not to {}", dispatch.model, stage.model()));
    match stage {
        Stage::Routed => demand(dispatch.text.contains("0..items.len()"), "the answer is another one".into()),
        Stage::Structured => {
            demand(dispatch.structured == Some(verdict()), "the value is another one".into());
            let again = dispatch.warnings.iter().any(|warning| misfit(warning).is_some());
            demand(again, "the first value, which does not fit, was not refused".into());
        }
        Stage::Quota => demand(dispatch.status == Status::Error, "it did not end as an error".into()),
    }
    faults
}

fn misfit(warning: &str) -> Option<&str> {
    warning.split_once(" did not fit the schema: ").map(|(_, fault)| fault)
}
