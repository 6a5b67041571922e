//! A workflow: one step after the other, each noted before the next begins, so that any runner can go on with it.

use super::{as_profile, cancelled, failed, left, one, options_of, refused};
use crate::{Context, dispatch::DispatchReport, queue::jobs::workers::settings_of};
use serde_json::{Value, json};
use shuntyard_core::{
    routing::{Selector, request::Request},
    values::{WorkflowStep, schema::AnswerSchema},
    work::job::{Advance, JobOrder, JobState, Pause, StepDone, advance},
};
use shuntyard_host::clock::now_micros;
use shuntyard_store::{JobEnd, JobNote, JobRecord};
use tokio_util::sync::CancellationToken;

/// What is known about a run beyond its steps.
#[derive(Debug, Clone, Default, serde::Serialize, serde::Deserialize)]
#[serde(default)]
struct Run {
    done: Vec<StepDone>,
    cost_usd: f64,
    cost_unknown: bool,
    /// How many were over when it last stopped to be looked at.
    paused_at: usize,
}

pub(super) async fn run(context: &Context, job: &JobRecord, order: &JobOrder, cancel: &CancellationToken) -> JobEnd {
    let steps = &order.steps;
    let most_carried = context.config.jobs.carry_chars;
    let mut run: Run = serde_json::from_value(job.progress.clone()).unwrap_or_default();
    loop {
        match advance(steps, &run.done, &order.prompt, most_carried) {
            Advance::Done => return over(&run, JobState::Done, None),
            Advance::Skip { index, reason } => {
                let step = &steps[index];
                run.done.push(StepDone {
                    name: step.name.clone(),
                    text: None,
                    approved: None,
                    model: None,
                    warnings: vec![reason],
                });
                if !note(context, job, &run).await {
                    return cancelled(json!({"text": ""}));
                }
            }
            Advance::Run { index, prompt, warnings } => {
                // It stops before the next step that really runs, not after the last.
                let worked = run.done.iter().skip(run.paused_at).any(|step| step.text.is_some());
                if order.pause == Pause::EachStep && worked {
                    run.paused_at = run.done.len();
                    return JobEnd::Paused { progress: value(&run) };
                }
                let step = &steps[index];
                match work(context, job, order, step, prompt, &run, cancel).await {
                    Ok(report) => {
                        run.cost_usd += report.cost_usd;
                        run.cost_unknown |= !report.cost_known;
                        if let Some(error) = &report.error {
                            let error = json!({"class": error.class.as_str(), "hint": error.hint,
                                "message": format!("step {}: {}", step.name, error.message)});
                            if cancel.is_cancelled() {
                                return cancelled(outcome(&run, None));
                            }
                            return over(&run, JobState::Failed, Some(error));
                        }
                        run.done.push(done(step, &report, warnings));
                        if !note(context, job, &run).await {
                            return cancelled(json!({"text": ""}));
                        }
                    }
                    Err(JobEnd::Over { result, .. }) => {
                        return over(&run, JobState::Failed, Some(result["error"].clone()));
                    }
                    Err(end) => return end,
                }
            }
        }
    }
}

async fn work(
    context: &Context,
    job: &JobRecord,
    order: &JobOrder,
    step: &WorkflowStep,
    prompt: String,
    run: &Run,
    cancel: &CancellationToken,
) -> Result<DispatchReport, JobEnd> {
    let settings = settings_of(context, &step.profile);
    let Some(choice) = order.choices.get(run.done.len()).cloned() else {
        return Err(failed("usage", "no model was chosen for this step", "start it again"));
    };
    let schema = if step.judges { AnswerSchema::parse(&verdict_schema().to_string()).ok() } else { None };
    let selector = Selector::Exact(choice.model.clone());
    let request = Request { schema, ..Request::plain(prompt, selector, settings.mode, &order.directory) };
    let request = as_profile(request, &settings.system, settings.access, &settings.needs);
    let job = JobRecord { choice: Some(choice.clone()), progress: value(run), ..job.clone() };
    let mut options = options_of(order, &job, None);
    // The time that the caller gave is for one step; else the setting.
    options.timeout = options.timeout.or(Some(context.config.jobs.step_timeout));
    options.max_cost = left(context, &job, order.max_cost).await.map_err(|error| refused(&error.into(), cancel))?;
    one(context, &job, &request, &options, cancel).await.map_err(|refusal| refused(&refusal, cancel))
}

/// In which form a step says whether the work is good.
fn verdict_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "approved": {"type": "boolean", "description": "whether the work is right and complete as it is"},
            "findings": {"type": "string", "description": "what has to be fixed, with files and lines; empty when nothing"},
        },
        "required": ["approved", "findings"],
        "additionalProperties": false,
    })
}

fn done(step: &WorkflowStep, report: &DispatchReport, mut warnings: Vec<String>) -> StepDone {
    warnings.extend(report.warnings.iter().cloned());
    let approved = report.structured.as_ref().and_then(|value| value["approved"].as_bool());
    let findings = report.structured.as_ref().and_then(|value| value["findings"].as_str()).map(str::to_owned);
    let text = findings.filter(|_| step.judges).unwrap_or_else(|| report.text.clone());
    StepDone { name: step.name.clone(), text: Some(text), approved, model: Some(report.model.to_string()), warnings }
}

/// False when the job has a newer claim.
async fn note(context: &Context, job: &JobRecord, run: &Run) -> bool {
    let note = JobNote { progress: Some(value(run)), ..JobNote::default() };
    context.store.note_job(job.id, job.epoch, &note, now_micros()).await.unwrap_or(true)
}

fn value(run: &Run) -> Value {
    serde_json::to_value(run).unwrap_or_default()
}

fn over(run: &Run, state: JobState, error: Option<Value>) -> JobEnd {
    JobEnd::Over { state, result: outcome(run, error) }
}

/// What a run has come to.
fn outcome(run: &Run, error: Option<Value>) -> Value {
    let text = run.done.iter().rev().find_map(|step| step.text.clone()).unwrap_or_default();
    let warnings: Vec<&String> = run.done.iter().flat_map(|step| &step.warnings).collect();
    json!({
        "text": text, "steps": run.done, "error": error, "warnings": warnings,
        "cost_usd": run.cost_usd, "cost_known": !run.cost_unknown,
    })
}
