//! The tool that delegates work to another agent, in a child session with a cost of its own.

use super::{super::prompt::Started, Context, Done, Job, Outcome, Refused};
use crate::fake_opencode::{
    agents::{listed_rules, rules_json},
    run::tell,
    work::{accept, text},
};
use serde_json::{Value, json};
use shuntyard_core::roles::pack::{Action, Rule, permission::subagent_denials};

pub(super) async fn task(context: &Context<'_>) -> Outcome {
    let job = context.job;
    let (description, prompt, kind) =
        (context.text("description")?, context.text("prompt")?, context.text("subagent_type")?);
    context.permit("task", vec![kind.to_owned()], json!({ "description": description, "subagent_type": kind })).await?;
    let Some(agent) = job.instance.agent(kind).filter(|agent| agent.mode != "primary") else {
        return Err(Refused::Told(format!("Unknown agent type: {kind} is not a valid agent type")));
    };
    // A called agent keeps what its caller is denied, and gets no further agents unless its rules name them.
    let inherited = listed_rules(&job.info()["permission"]);
    let inherited =
        inherited.into_iter().filter(|rule| rule.action == Action::Deny || rule.permission == "external_directory");
    let denied = subagent_denials(&agent.rules).into_iter();
    let rules: Vec<Rule> = inherited.chain(denied).collect();
    let body = json!({
        "parentID": job.session, "title": format!("{description} (@{kind} subagent)"), "permission": rules_json(&rules),
    });
    let directory = job.instance.directory.to_string_lossy();
    let info = job.world.sessions().create(&directory, &body, &job.world.behaviour.version);
    let child = text(&info["id"]).to_owned();
    job.machine.store.session(&info);
    tell(&job.world, &child, "session.created", json!({ "info": info }));
    let mut asked = json!({ "agent": kind, "parts": [{ "type": "text", "text": prompt }] });
    if agent.model.is_none() {
        let caller = job.messages().into_iter().find(|message| message["info"]["id"] == context.message);
        let caller = caller.map(|message| message["info"].clone()).unwrap_or_default();
        asked["model"] = json!({ "providerID": caller["providerID"], "modelID": caller["modelID"] });
    }
    let answer = answer(job, &child, &asked).await;
    let output = format!("<task id=\"{child}\" state=\"completed\">\n<task_result>\n{answer}\n</task_result>\n</task>");
    let metadata = json!({ "parentSessionId": job.session, "sessionId": child, "truncated": false });
    Ok(Done { metadata, ..Done::new(description.to_owned(), output) })
}

/// Runs the child to its end; an abort of the parent aborts it.
async fn answer(job: &Job, child: &str, asked: &Value) -> String {
    let Ok(Started::Runs(Some(mut run))) = accept(&job.world, &job.machine, child, asked) else { return String::new() };
    tokio::select! {
        _ = &mut run => {}
        () = job.cancel.cancelled() => {
            job.world.sessions().cancel(child);
            drop(run.await);
        }
    }
    let sessions = job.world.sessions();
    let last = sessions.get(child).and_then(|session| session.last_assistant().cloned()).unwrap_or_default();
    let parts = last["parts"].as_array().into_iter().flatten().filter(|part| part["type"] == "text");
    parts.map(|part| text(&part["text"]).to_owned()).next_back().unwrap_or_default()
}
