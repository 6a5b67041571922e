//! One step of a run: the model is asked once, with retries, and the tools that it calls are executed.

use super::{
    super::{agents::Agent, run::tell, shapes, world::now},
    Flow, Job,
    provider::{self, Failure},
    reading::{Answer, Reading},
    request, retry, text, tools,
};
use serde_json::{Value, json};

/// How OpenCode recognises that a conversation is too long for a model.
const TOO_LONG: [&str; 8] = [
    "maximum context length",
    "context length exceeded",
    "context_length_exceeded",
    "context window",
    "prompt is too long",
    "input is too long",
    "exceeds the limit of",
    "maximum prompt length",
];

enum Ended {
    Answered(Answer),
    Failed(Failure),
    Aborted,
    /// In the wait before a retry: nothing records why it ended.
    AbortedWaiting,
}

pub(super) async fn step(job: &Job, user: &Value, model: &Value) -> Flow {
    let name = text(&user["info"]["agent"]);
    let Some(agent) = job.instance.agent(name) else { return Flow::Stop };
    let message = job.begin(user, name, model);
    let rules = job.rules(agent);
    let offered = tools::offered(job, &rules, user);
    let body = request::body(job, agent, user, model, &offered);
    match ask(job, &message, model, &body).await {
        Ended::Answered(answer) => answered(job, user, agent, model, &message, answer, &offered).await,
        Ended::Failed(failure) => failed(job, &message, failure),
        Ended::Aborted => {
            abort(job, &message);
            Flow::Stop
        }
        Ended::AbortedWaiting => {
            job.edit(&message, |info| info["time"]["completed"] = json!(now()));
            Flow::Stop
        }
    }
}

/// Asks until there is an answer or a failure that another try would not change.
async fn ask(job: &Job, message: &str, model: &Value, body: &Value) -> Ended {
    let mut attempt = 0;
    loop {
        job.set_status(json!({ "type": "busy" }));
        let mut reading = Reading::new(job, message);
        let asked = tokio::select! {
            asked = provider::ask(job, model, body, &mut reading) => asked,
            () = job.cancel.cancelled() => {
                reading.close();
                return Ended::Aborted;
            }
        };
        reading.close();
        let failure = match asked {
            Ok(()) => return Ended::Answered(reading.into_answer()),
            Err(failure) => failure,
        };
        attempt += 1;
        let Some(wait) = retry::wait(&job.machine, &failure, attempt) else { return Ended::Failed(failure) };
        let next = now() + u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
        job.set_status(json!({ "type": "retry", "attempt": attempt, "message": failure.message, "next": next }));
        tokio::select! {
            () = tokio::time::sleep(wait) => {}
            () = job.cancel.cancelled() => return Ended::AbortedWaiting,
        }
    }
}

async fn answered(
    job: &Job,
    user: &Value,
    agent: &Agent,
    model: &Value,
    message: &str,
    answer: Answer,
    offered: &[String],
) -> Flow {
    let called = !answer.calls.is_empty();
    // Each tool ends by itself when the run is aborted.
    let executed = tools::execute(job, agent, message, &answer.calls, offered).await;
    if job.cancel.is_cancelled() {
        abort(job, message);
        return Flow::Stop;
    }
    let (tokens, cost) = answer.bill(&model["cost"]);
    let finish = if called && answer.finish == "stop" { "tool-calls" } else { answer.finish };
    job.add_part(message, json!({ "type": "step-finish", "reason": finish, "tokens": tokens, "cost": cost }));
    if let Some(session) = job.world.sessions().get_mut(&job.session) {
        session.charge(&json!({ "cost": cost, "tokens": tokens }));
    }
    let wants_structure = user["info"]["format"]["type"] == "json_schema";
    let missed = wants_structure && executed.structured.is_none() && finish != "tool-calls" && finish != "unknown";
    job.edit(message, |info| {
        info["cost"] = json!(cost);
        info["tokens"] = tokens.clone();
        info["finish"] = json!(finish);
        info["time"]["completed"] = json!(now());
        if let Some(structured) = &executed.structured {
            info["structured"] = structured.clone();
        } else if missed {
            let data = json!({ "message": "Model did not produce structured output", "retries": 0 });
            info["error"] = json!({ "name": "StructuredOutputError", "data": data });
        } else if finish == "content-filter" {
            info["error"] = shapes::content_filtered();
        }
    });
    if finish == "content-filter" {
        tell(&job.world, &job.session, "session.error", json!({ "error": shapes::content_filtered() }));
    }
    job.tell_session();
    if executed.structured.is_some() || executed.blocked || missed {
        return Flow::Stop;
    }
    match finish {
        "tool-calls" if is_full(model, &tokens) => Flow::Compact,
        "tool-calls" | "unknown" => Flow::Again,
        _ => Flow::Continue,
    }
}

/// Whether the context would be too small for an answer to the next request.
fn is_full(model: &Value, tokens: &Value) -> bool {
    let context = model["limit"]["context"].as_u64().unwrap_or_default();
    let output = model["limit"]["output"].as_u64().unwrap_or_default().min(32_000);
    let used = tokens["total"].as_u64().unwrap_or_default();
    context > 0 && used >= context.saturating_sub(output)
}

fn failed(job: &Job, message: &str, failure: Failure) -> Flow {
    let words = failure.message.to_lowercase();
    let too_long = TOO_LONG.iter().any(|known| words.contains(known));
    let error = if too_long { shapes::overflow(&failure.message) } else { failure.json() };
    tell(&job.world, &job.session, "session.error", json!({ "error": error }));
    job.edit(message, |info| {
        info["error"] = error;
        info["time"]["completed"] = json!(now());
    });
    if too_long {
        return Flow::Compact;
    }
    Flow::Stop
}

fn abort(job: &Job, message: &str) {
    let error = shapes::aborted_error();
    job.edit(message, |info| {
        info["error"] = error.clone();
        info["time"]["completed"] = json!(now());
    });
    tell(&job.world, &job.session, "session.error", json!({ "error": error }));
}
