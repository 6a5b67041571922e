//! `dispatch` and `batch_dispatch`: a prompt and its answer in one call. Each is a job all the same, so that the answer
//! is not lost with the process that waits for it.

use super::{
    answer::{Answer, named},
    arguments::Arguments,
    caller::Caller,
    start::{NO_TIMER, deadline},
    telling,
    wait::wait,
    yard::Yard,
};
use serde_json::json;
use shuntyard_core::{
    routing::{Needs, request::Selector},
    settings::Config,
    values::duration::Limit,
};
use shuntyard_engine::{
    fanout::batch::{Targets, expand},
    queue::jobs::{JobError, JobView, Start, StartKind, WaitFor},
};
use std::time::Duration;

/// How many models of a tier are asked when only a task type is named.
const OF_A_TIER: usize = 3;
/// The job reports its own deadline; the wait for it is a little longer.
const GRACE: Duration = Duration::from_secs(15);

/// What a call asks for, checked.
pub async fn order(yard: &Yard, kind: StartKind, arguments: &Arguments) -> Result<Start, JobError> {
    check_port(&yard.context.config, arguments)?;
    let prompt = arguments.text("prompt").unwrap_or_default();
    let start = Start {
        system: arguments.owned("systemPrompt"),
        schema: arguments.json("jsonSchema"),
        timeout: arguments.time("timeout").map(deadline),
        ..Start::plain(kind, prompt, yard.fence.root())
    };
    if kind == StartKind::Batch {
        return Ok(Start { models: targets(yard, arguments).await?, ..start });
    }
    let model = match (arguments.text("provider"), arguments.text("model")) {
        (Some(provider), Some(model)) => Some(format!("{provider}/{model}")),
        (Some(provider), None) => {
            let hint = "name both, or leave both out and give a taskType";
            return Err(JobError::usage(format!("`provider` is {provider}, and `model` is missing"), hint));
        }
        (None, model) => model.map(str::to_owned),
    };
    if model.is_none() && !arguments.has("taskType") {
        let hint = "give provider and model, or a taskType such as code-review";
        return Err(JobError::usage("nothing says which model is to answer", hint));
    }
    Ok(Start {
        model,
        task_type: arguments.owned("taskType"),
        session: arguments.owned("sessionId"),
        keep: arguments.switch("cleanup") == Some(false),
        ..start
    })
}

/// The models of a batch. Named ones beat a task type.
async fn targets(yard: &Yard, arguments: &Arguments) -> Result<Vec<String>, JobError> {
    let models = arguments.texts("models");
    match (models.len(), arguments.text("taskType")) {
        (0, Some(task_type)) => {
            let wanted = Targets::Of(Selector::TaskType(task_type.to_owned()), OF_A_TIER);
            let needs = Needs { structured: arguments.has("jsonSchema"), ..Needs::default() };
            let (found, _) = expand(&yard.context, &wanted, needs, yard.fence.root()).await?;
            Ok(found.into_iter().filter_map(|target| target.chosen.ok()).map(|model| model.to_string()).collect())
        }
        (0, None) => {
            let hint = "give `models`, such as [\"anthropic/claude-sonnet-5\", \"openai/gpt-6-sol\"], or a taskType";
            Err(JobError::usage("nothing says which models are to answer", hint))
        }
        (1, _) => Err(JobError::usage("`models` has one model, a batch needs two or more", "ask one with dispatch")),
        _ => Ok(models),
    }
}

/// Prompts go to the server of the user's configuration; a model cannot send them to another one.
fn check_port(config: &Config, arguments: &Arguments) -> Result<(), JobError> {
    let Some(port) = arguments.count("port") else { return Ok(()) };
    let rest = config.server.url.strip_prefix("http://").unwrap_or(&config.server.url);
    let authority = rest.split('/').next().unwrap_or_default();
    let named = ["127.0.0.1", "localhost", "[::1]"].iter().any(|host| authority == format!("{host}:{port}"));
    if named {
        return Ok(());
    }
    let message = format!("`port` {port} is not the server that the configuration names");
    let hint = format!(
        "leave `port` out: a server is found or started by itself; a user who wants that one sets server.url = \"http://127.0.0.1:{port}\""
    );
    Err(JobError { class: "refused".into(), ..JobError::usage(message, hint) })
}

/// How long the call waits for the job that it has started.
fn patience(yard: &Yard, caller: &Caller, start: &Start) -> Duration {
    let config = &yard.context.config;
    match limit(start).unwrap_or(config.dispatch.text_timeout).0 {
        Some(own) => caller.patience(Some(own.saturating_add(GRACE)), Limit(None)),
        None => caller.patience(None, config.jobs.await_limit),
    }
}

/// Waits for the answer of a job that was just started.
pub async fn finish(yard: &Yard, caller: &Caller, start: &Start, id: &str) -> Result<Answer, JobError> {
    let patience = patience(yard, caller, start);
    let waited = wait(yard, caller, &[id.to_owned()], WaitFor::All, None, patience).await?;
    let Some(view) = waited.views.first() else { return Err(JobError::unknown(id)) };
    let mut answer = told(view, &modifiers(start));
    answer.data.insert("timedOut".into(), json!(waited.timed_out));
    answer.data.insert("cursor".into(), json!(waited.cursor));
    if let (Some(session), true) = (&view.session_id, view.over && (start.keep || start.session.is_some())) {
        answer.text.push_str(&format!("\n(session {session} is kept: go on with sessionId)"));
    }
    Ok(answer)
}

/// The answer of a job of either kind, as far as it has come.
pub fn told(view: &JobView, modifiers: &[String]) -> Answer {
    let data = named(view);
    if !view.over {
        let text = format!(
            "{}\nThe answer is not there yet, and the work goes on by itself. Wait for it with task_await {}.",
            telling::headline(view),
            json!({"taskId": view.id})
        );
        return Answer::new(text, data);
    }
    if view.status != "done" {
        return Answer::new(telling::whole(view), data).failed();
    }
    let mut lines = vec![header(view, modifiers)];
    lines.extend(telling::answer(view));
    lines.extend(footer(view));
    lines.extend(telling::remarks(view));
    let answer = Answer::new(lines.join("\n"), data);
    let none_succeeded = !view.answers.is_empty() && view.answers.iter().all(|answer| answer["status"] != "ok");
    if none_succeeded { answer.failed() } else { answer }
}

/// `--- dispatch response from p/m [routed: code-review, structured-json] (1.2s, $0.0032) ---`
fn header(view: &JobView, modifiers: &[String]) -> String {
    let shown = if modifiers.is_empty() { String::new() } else { format!(" [{}]", modifiers.join(", ")) };
    let bill = telling::time_and_cost(view);
    match &view.model {
        Some(model) if view.answers.is_empty() => format!("--- dispatch response from {model}{shown} ({bill}) ---"),
        _ => format!("--- responses of {} models{shown} ({bill}) ---", view.answers.len()),
    }
}

/// Of a batch: how it went with all of them.
fn footer(view: &JobView) -> Option<String> {
    let count = |status: &str| view.answers.iter().filter(|answer| answer["status"] == status).count();
    let (ok, timeouts) = (count("ok"), count("timeout"));
    let errors = view.answers.len() - ok - timeouts;
    (!view.answers.is_empty()).then(|| format!("--- {ok} ok, {errors} errors, {timeouts} timeouts ---"))
}

/// What was special about the request, for the header.
pub fn modifiers(start: &Start) -> Vec<String> {
    let routed = match &start.model {
        Some(model) if model.contains('/') => None,
        Some(reference) => Some(reference),
        None => start.task_type.as_ref(),
    };
    let parts = [
        routed.map(|name| format!("routed: {name}")),
        start.system.is_some().then(|| "custom-system".to_owned()),
        start.schema.is_some().then(|| "structured-json".to_owned()),
        limit(start).map(|timeout| format!("timeout-{timeout}")),
    ];
    parts.into_iter().flatten().collect()
}

/// The deadline that the call itself set.
fn limit(start: &Start) -> Option<Limit> {
    start.timeout.map(|timeout| Limit((timeout != NO_TIMER).then_some(timeout)))
}
