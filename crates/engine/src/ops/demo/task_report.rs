//! What became of a task, in the form that `--json` prints, and the judgement on it.

use super::{DemoError, Errand};
use crate::Context;
use serde::Serialize;
use shuntyard_core::{
    Nano,
    work::task::{Delivered, Phase, State, TaskId},
};
use shuntyard_host::clock::now_micros;
use shuntyard_store::{RunRecord, SpendKey, SpendKind, Spent, TaskRecord};

#[derive(Debug, Clone, Serialize)]
pub struct TaskReport {
    pub id: TaskId,
    pub description: String,
    pub depends_on: Vec<TaskId>,
    pub phase: Phase,
    pub tries: Vec<TryReport>,
    /// The branch that has it now, and the commit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delivered: Option<Delivered>,
    /// All tries together. Not known when one of them has an end without a bill.
    pub cost_nano_usd: Option<Nano>,
    pub tokens: u64,
    /// From the first claim on.
    pub duration_ms: u64,
    /// What is not as it should be; empty when the task went as it should.
    pub faults: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TryReport {
    pub model: String,
    pub outcome: String,
    /// Why it was not good enough; empty when it was.
    pub why: String,
}

impl TaskReport {
    pub(super) async fn gather(context: &Context, errand: Errand) -> Result<Self, DemoError> {
        let id = errand.id();
        let key = SpendKey { kind: SpendKind::Task, name: id.to_string() };
        let spent = context.store.spent(&key, i64::MIN, i64::MAX).await?;
        Ok(Self::new(errand, &context.store.task(&id).await?, &context.store.runs(&id).await?, &spent))
    }

    fn new(errand: Errand, record: &TaskRecord, runs: &[RunRecord], spent: &Spent) -> Self {
        let task = &record.task;
        let delivered = match &task.state {
            State::Done { delivered } => Some(delivered.clone()),
            _ => None,
        };
        let tries: Vec<TryReport> = runs.iter().map(TryReport::new).collect();
        let began = runs.iter().map(|run| run.claimed_at).min();
        let ended = runs.iter().filter_map(|run| run.ended_at).max().unwrap_or_else(now_micros);
        let took = began.map_or(0, |began| ended.saturating_sub(began) / 1000);
        Self {
            id: task.id.clone(),
            description: task.spec.description.clone(),
            depends_on: task.depends_on.clone(),
            phase: task.state.phase(),
            cost_nano_usd: (spent.unknown == 0).then_some(spent.cost),
            tokens: spent.tokens,
            duration_ms: u64::try_from(took).unwrap_or_default(),
            faults: faults(errand, &task.state, &tries),
            tries,
            delivered,
        }
    }

    /// The commit that the base was moved to.
    #[must_use]
    pub fn merged(&self) -> Option<&str> {
        self.delivered.as_ref().and_then(Delivered::head)
    }
}

impl TryReport {
    fn new(run: &RunRecord) -> Self {
        let outcome = run.outcome.clone().unwrap_or_else(|| "unfinished".to_owned());
        // Of a good try the row has only what its worker noted for itself.
        let why = run.detail.clone().filter(|_| outcome != "approved").unwrap_or_default();
        let model = run.answered.clone().or_else(|| run.model.clone()).unwrap_or_default();
        Self { model, outcome, why }
    }
}

/// What a task did other than it should have.
pub(super) fn faults(errand: Errand, state: &State, tries: &[TryReport]) -> Vec<String> {
    let mut faults = Vec::new();
    if !matches!(state, State::Done { delivered: Delivered::Merged { .. } }) {
        faults.push(format!("it is {} and not merged: {}", state.name(), state.reason()));
    }
    let models = errand.models();
    let last = models.len() - 1;
    let outcome = |number: usize| if number == last { "approved" } else { "refused" };
    let expected = models.iter().enumerate().map(|(number, model)| format!("{model} {}", outcome(number)));
    let expected = expected.collect::<Vec<_>>().join(", ");
    let seen: Vec<String> = tries.iter().map(|one| format!("{} {}", one.model, one.outcome)).collect();
    let seen = seen.join(", ");
    if seen != expected {
        faults.push(format!("its tries were [{seen}], not [{expected}]"));
    }
    faults
}
