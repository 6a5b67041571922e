//! The tools that a model is offered, and the results of its calls. All calls of a step run at the same time.

mod files;
mod outcome;
mod search;
mod shell;
mod task;

pub(super) use files::show as show_file;

use super::{
    super::{agents::Agent, world::now},
    Job,
    permission::{Asked, Refused},
    reading::Call,
    text,
};
use futures_util::future::join_all;
use outcome::{Done, Outcome, missing_key};
use serde_json::{Value, json};
use shuntyard_core::roles::pack::{Action, Rule, permission::hides};

const NAMES: [&str; 11] =
    ["bash", "edit", "glob", "grep", "question", "read", "skill", "task", "todowrite", "webfetch", "write"];
const STRUCTURED: &str = "StructuredOutput";
/// So many equal calls in one message are taken for a loop.
const LOOP: usize = 3;

/// What the calls of a step came to.
#[derive(Debug, Default)]
pub(super) struct Executed {
    pub structured: Option<Value>,
    /// A person has rejected a call without a message.
    pub blocked: bool,
}

/// One call with what it needs.
pub(super) struct Context<'a> {
    pub job: &'a Job,
    pub rules: &'a [Rule],
    pub message: &'a str,
    pub tool: &'a str,
    pub call: &'a str,
    pub part: &'a str,
    pub input: &'a Value,
}

impl Context<'_> {
    pub async fn permit(&self, permission: &str, patterns: Vec<String>, metadata: Value) -> Result<(), Refused> {
        let asked = Asked { permission, patterns, metadata, message: self.message, call: self.call };
        self.job.permit(self.rules, asked).await
    }

    pub fn text(&self, key: &str) -> Result<&str, Refused> {
        self.input[key].as_str().ok_or_else(|| missing_key(self.tool, key))
    }
}

pub(super) fn offered(job: &Job, rules: &[Rule], user: &Value) -> Vec<String> {
    let mut names: Vec<&str> =
        NAMES.iter().copied().filter(|name| *name != "question" || job.machine.has_person()).collect();
    if user["info"]["format"]["type"] == "json_schema" {
        names.push(STRUCTURED);
    }
    names.retain(|name| !hides(rules, name));
    names.sort_by_key(|name| name.to_lowercase());
    names.into_iter().map(str::to_owned).collect()
}

pub(super) fn definition(name: &str, user: &Value) -> Value {
    let schema =
        if name == STRUCTURED { user["info"]["format"]["schema"].clone() } else { json!({ "type": "object" }) };
    json!({ "type": "function", "function": { "name": name, "description": name, "parameters": schema } })
}

pub(super) async fn execute(job: &Job, agent: &Agent, message: &str, calls: &[Call], offered: &[String]) -> Executed {
    let rules = job.rules(agent);
    let parts: Vec<(String, &Call, Value)> = calls
        .iter()
        .map(|call| {
            let (tool, input) = resolved(call, offered);
            let state = json!({ "status": "running", "input": input, "time": { "start": now() } });
            let part = json!({ "type": "tool", "tool": tool, "callID": call.id, "state": state });
            (job.add_part(message, part), call, input)
        })
        .collect();
    let runs = parts.iter().enumerate().map(|(index, (part, call, input))| {
        let known = offered.contains(&call.name) && input.get("error").is_none();
        let same = |other: &&Call| other.name == call.name && other.arguments == call.arguments;
        let repeated = calls[..index].iter().rev().take(LOOP - 1).filter(same).count();
        let tool = if known { &call.name } else { "invalid" };
        run(Context { job, rules: &rules, message, tool, call: &call.id, part, input }, repeated + 1 >= LOOP)
    });
    let outcomes = join_all(runs).await;
    let structured =
        parts.iter().zip(&outcomes).find(|((_, call, _), outcome)| call.name == STRUCTURED && outcome.is_ok());
    Executed {
        structured: structured.map(|((_, _, input), _)| input.clone()),
        blocked: outcomes.iter().any(|outcome| matches!(outcome, Err(Refused::Rejected(_)))),
    }
}

/// Calls an agent as its model would, but on behalf of the user, so that no rule forbids it.
pub(super) async fn call_agent(job: &Job, message: &str, input: &Value) {
    let rules = [Rule::own("*", "*", Action::Allow)];
    let call = format!("call_{message}");
    let state = json!({ "status": "running", "input": input, "time": { "start": now() } });
    let part = json!({ "type": "tool", "tool": "task", "callID": call, "state": state });
    let part = job.add_part(message, part);
    let context = Context { job, rules: &rules, message, tool: "task", call: &call, part: &part, input };
    // The part contains the result.
    drop(run(context, false).await);
}

/// A tool that is not offered, or arguments that are not JSON, go to the tool `invalid`.
fn resolved(call: &Call, offered: &[String]) -> (String, Value) {
    let arguments = if call.arguments.trim().is_empty() { "{}" } else { &call.arguments };
    let error = match serde_json::from_str::<Value>(arguments) {
        Ok(input) if offered.contains(&call.name) => return (call.name.clone(), input),
        Ok(_) => {
            let mut names = [offered, &["invalid".to_owned()]].concat();
            names.sort_by_key(|name| name.to_lowercase());
            format!("Model tried to call unavailable tool '{}'. Available tools: {}.", call.name, names.join(", "))
        }
        Err(error) => format!("Invalid input for tool {}: JSON parsing failed: {error}", call.name),
    };
    ("invalid".to_owned(), json!({ "tool": call.name, "error": error }))
}

async fn run(context: Context<'_>, in_loop: bool) -> Outcome {
    let tool = context.tool;
    let permitted = if in_loop {
        context.permit("doom_loop", vec![tool.to_owned()], json!({ "tool": tool, "input": context.input })).await
    } else {
        Ok(())
    };
    let outcome = match permitted {
        Ok(()) => dispatch(&context).await,
        Err(refused) => Err(refused),
    };
    context.job.edit_part(context.message, context.part, |part| {
        let state = &mut part["state"];
        state["time"]["end"] = json!(now());
        match &outcome {
            Ok(done) => {
                state["status"] = json!("completed");
                state["output"] = json!(done.output);
                state["title"] = json!(done.title);
                state["metadata"] = done.metadata.clone();
            }
            Err(Refused::Told(error) | Refused::Rejected(error)) => {
                state["status"] = json!("error");
                state["error"] = json!(error);
            }
        }
    });
    outcome
}

async fn dispatch(context: &Context<'_>) -> Outcome {
    match context.tool {
        "bash" => shell::bash(context).await,
        "read" => files::read(context).await,
        "write" => files::write(context).await,
        "edit" => files::edit(context).await,
        "glob" => search::glob(context).await,
        "grep" => search::grep(context).await,
        "task" => task::task(context).await,
        "todowrite" => {
            context.permit("todowrite", vec!["*".to_owned()], json!({})).await?;
            let todos = &context.input["todos"];
            let count = todos.as_array().map_or(0, Vec::len);
            Ok(Done::new(format!("{count} todos"), serde_json::to_string_pretty(todos).unwrap_or_default()))
        }
        "webfetch" => {
            let url = context.text("url")?.to_owned();
            context.permit("webfetch", vec![url.clone()], json!({ "url": url })).await?;
            Err(Refused::Told(format!("Transport error (GET {url})")))
        }
        "invalid" => {
            let told = format!("The arguments provided to the tool are invalid: {}", text(&context.input["error"]));
            Ok(Done::new("Invalid Tool".to_owned(), told))
        }
        STRUCTURED => {
            Ok(Done::new("Structured Output".to_owned(), "Structured output captured successfully.".to_owned()))
        }
        other => Err(Refused::Told(format!("{other} is not available here"))),
    }
}
