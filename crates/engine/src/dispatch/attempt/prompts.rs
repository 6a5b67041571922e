//! The prompts of an attempt: one, or several when a structured answer has to be corrected.

use super::{Attempt, ServerAttempt};
use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Value, json};
use shuntyard_agents::opencode::{
    Expect, Failure, PermissionPolicy, Progress, PromptBody, PromptReport, RunLimits, RunPrompt, Shape, Sink,
    StepLimit, run_prompt,
};
use shuntyard_core::{
    ErrorClass, Nano, Usage,
    settings::PermissionAnswer,
    values::{Mode, id::message_id},
};
use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::{SystemTime, UNIX_EPOCH},
};
use uuid::Uuid;

/// What the prompts of an attempt came to.
#[derive(Debug)]
pub(super) struct Ran {
    pub(super) report: PromptReport,
    /// The usage that the messages of all prompts report, and whether that is everything.
    pub(super) usage: Usage,
    pub(super) cost: Nano,
    pub(super) is_complete: bool,
    pub(super) result: Result<(String, Option<Value>), Failure>,
    pub(super) warnings: Vec<String>,
    /// Tools that the run is known to have used.
    pub(super) tool_calls: u32,
}

/// Prompts until the answer fits its schema, or the tries or the time are used up.
pub(super) async fn run_prompts(seat: &ServerAttempt<'_>, session: &str) -> Ran {
    let mut prompt = seat.attempt.run.request.prompt.clone();
    let mut warnings = Vec::new();
    let mut tries = 0;
    let (mut usage, mut cost, mut is_complete) = (Usage::default(), Nano::ZERO, true);
    let (sink, seen) = counting_tools(seat.attempt.run.sink);
    let mut read = 0_u32;
    loop {
        let limits = RunLimits { max_cost: seat.attempt.left.map(|left| left.less(cost)), ..limits(seat.attempt) };
        let message = fresh_message_id();
        let body = body(seat, &prompt, tries == 0);
        let expect = if seat.attempt.run.request.schema.is_some() { Expect::Structured } else { Expect::Text };
        let report = run_prompt(RunPrompt {
            client: &seat.server_handle.client,
            hub: &seat.server_handle.acquired.hub,
            session,
            message: &message,
            body: &body,
            expect,
            shape: if seat.attempt.run.request.mode == Mode::Text { Shape::OneAnswer } else { Shape::ManySteps },
            limits,
            approver: seat.attempt.run.options.approver.as_deref(),
            sink: &sink,
            cancel: seat.attempt.run.cancel,
        })
        .await;
        read = read.saturating_add(report.verdict.tool_calls);
        // A run that cannot be read back may have used tools that only its events reported.
        let tool_calls = read.max(seen.load(Ordering::Relaxed));
        usage = usage + report.verdict.usage;
        cost = cost + report.verdict.cost.unwrap_or_default();
        // The amounts of several prompts are each rounded; only the session has their exact sum.
        is_complete &= tries == 0 && report.gave_up.is_none() && report.verdict.cost.is_some();
        warnings
            .extend(report.warnings.iter().filter(|warning| !warnings.contains(*warning)).cloned().collect::<Vec<_>>());
        let fault = match (&seat.attempt.run.request.schema, &report.verdict.outcome) {
            (Some(schema), Ok(answer)) => {
                let faults = schema.faults(answer.structured.as_ref().unwrap_or(&Value::Null));
                (!faults.is_empty()).then(|| faults.join("; "))
            }
            (Some(_), Err(failure)) if failure.class == ErrorClass::StructuredOutputFailed => {
                Some(failure.message.clone())
            }
            _ => None,
        };
        let Some(fault) = fault else {
            let result = report.verdict.outcome.clone().map(|answer| (answer.text, answer.structured));
            let result = result.map_err(|failure| with_key_knowledge(seat, failure));
            return Ran { report, usage, cost, is_complete, result, warnings, tool_calls };
        };
        if tries >= seat.attempt.run.context.config.dispatch.structured_retries {
            let message = format!("no answer fits the schema after {} tries: {fault}", tries + 1);
            let result = Err(Failure::new(ErrorClass::StructuredOutputFailed, message));
            return Ran { report, usage, cost, is_complete, result, warnings, tool_calls };
        }
        if let Some(most) = seat.attempt.left.filter(|most| cost >= *most) {
            let message = format!(
                "stopped at a cost of {cost}: no more than {most} was allowed, and the answer does not fit the schema: {fault}"
            );
            let result = Err(Failure::new(ErrorClass::BudgetRefused, message));
            return Ran { report, usage, cost, is_complete, result, warnings, tool_calls };
        }
        tries += 1;
        warnings.push(format!("try {tries} did not fit the schema: {fault}"));
        prompt = format!("Your last answer does not fit the required schema: {fault}\nAnswer again, corrected.");
    }
}

/// The same sink, counting the tools that pass.
fn counting_tools(sink: &Sink) -> (Sink, Arc<AtomicU32>) {
    let seen = Arc::new(AtomicU32::new(0));
    let (inner, count) = (Arc::clone(sink), Arc::clone(&seen));
    let counting: Sink = Arc::new(move |progress| {
        if matches!(progress, Progress::Tool { .. }) {
            count.fetch_add(1, Ordering::Relaxed);
        }
        inner(progress);
    });
    (counting, seen)
}

/// A refused key is a missing key when there is none.
fn with_key_knowledge(seat: &ServerAttempt<'_>, failure: Failure) -> Failure {
    if failure.class == ErrorClass::AuthInvalid && !seat.attempt.catalogue.has_key(&seat.attempt.model().provider) {
        return Failure { class: ErrorClass::AuthMissing, ..failure };
    }
    failure
}

pub(super) fn limits(attempt: &Attempt<'_>) -> RunLimits {
    let settings = &attempt.run.context.config.dispatch;
    let total = attempt.run.options.total(settings, attempt.run.request.mode);
    RunLimits {
        first_token: settings.first_token_timeout.0,
        inactivity: settings.inactivity_timeout.0,
        total: total.0,
        began: attempt.timed_from,
        retry_wait_cap: settings.retry_wait_cap.0,
        provider_retries: attempt.run.options.provider_retries.unwrap_or(settings.provider_retries),
        steps: Some(match attempt.run.request.mode {
            // A text answer is one step; OpenCode asks again for as long as an answer ends oddly.
            Mode::Text => StepLimit::Circles(2),
            mode @ (Mode::Agent | Mode::Command) => StepLimit::Work(attempt.run.options.most_steps(settings, mode)),
        }),
        max_cost: None,
        permission: match settings.permission_answer {
            PermissionAnswer::Reject => PermissionPolicy::Reject,
            PermissionAnswer::Once => PermissionPolicy::AllowOnce,
        },
    }
}

fn body(seat: &ServerAttempt<'_>, prompt: &str, with_images: bool) -> PromptBody {
    let request = seat.attempt.run.request;
    let images = request.images.iter().filter(|_| with_images).map(|image| {
        let data = STANDARD.encode(&image.bytes);
        let url = format!("data:{};base64,{data}", image.mime);
        json!({"type": "file", "mime": image.mime, "filename": image.name, "url": url})
    });
    let model = seat.attempt.model().clone();
    let agent = seat.server_handle.agent.clone();
    if request.mode == Mode::Command {
        let (name, arguments) = request.command();
        return PromptBody::Command {
            name: name.to_owned(),
            arguments: arguments.to_owned(),
            model,
            agent,
            files: images.collect(),
        };
    }
    let mut parts = vec![json!({"type": "text", "text": prompt})];
    parts.extend(images);
    let schema = request.schema.as_ref().map(|schema| schema.source().clone());
    PromptBody::Prompt { parts, model, agent, system: request.system.clone(), schema }
}

pub(crate) fn fresh_message_id() -> String {
    let millis = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
    let mut random = [0; 14];
    random.copy_from_slice(&Uuid::new_v4().as_bytes()[..14]);
    message_id(u64::try_from(millis).unwrap_or_default(), 0, random)
}
