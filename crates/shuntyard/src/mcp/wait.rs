//! `task_await`, and the waiting that `dispatch` shares with it: progress is sent as it comes, and the end of the wait
//! is not the end of the job.

use super::{
    answer::{Answer, named},
    arguments::Arguments,
    caller::Caller,
    telling,
    yard::Yard,
};
use serde_json::{Map, Value, json};
use shuntyard_engine::queue::jobs::{self, JobError, JobView, WaitFor, Waited};
use std::time::Duration;
use tokio::sync::mpsc;

pub async fn run(yard: &Yard, caller: &Caller, arguments: &Arguments) -> Result<Answer, JobError> {
    let ids = match (arguments.text("taskId"), arguments.texts("taskIds")) {
        (Some(id), many) if many.is_empty() && !arguments.has("taskIds") => vec![id.to_owned()],
        (None, many) if !many.is_empty() => many,
        (Some(_), _) => {
            return Err(JobError::usage("both `taskId` and `taskIds` were given", "give exactly one of them"));
        }
        (None, _) => {
            return Err(JobError::usage(
                "neither `taskId` nor `taskIds` was given",
                "give exactly one of them; see task_list with view \"tasks\" for the ids",
            ));
        }
    };
    let wait_for = if arguments.switch("any") == Some(true) { WaitFor::Any } else { WaitFor::All };
    // A timeout of zero is a single read.
    let asked = arguments.time("timeout").map(|limit| limit.0.unwrap_or_default());
    let patience = caller.patience(asked, yard.context.config.jobs.await_limit);
    let waited = wait(yard, caller, &ids, wait_for, arguments.text("cursor"), patience).await?;
    Ok(match (waited.views.as_slice(), arguments.has("taskId")) {
        ([view], true) => one(view, &waited),
        (views, _) => several(views, &waited),
    })
}

/// Waits with progress. When the client has gone away it returns at once, and the jobs go on.
pub async fn wait(
    yard: &Yard,
    caller: &Caller,
    ids: &[String],
    wait_for: WaitFor,
    cursor: Option<&str>,
    patience: Duration,
) -> Result<Waited, JobError> {
    let (sender, mut receiver) = mpsc::unbounded_channel();
    // A closed channel does not affect the job.
    let heard = move |view: &JobView| drop(sender.send(telling::headline(view)));
    let waiting = jobs::wait(&yard.context, &yard.notifier, ids, wait_for, cursor, patience, &heard);
    tokio::pin!(waiting);
    loop {
        tokio::select! {
            waited = &mut waiting => return waited,
            Some(message) = receiver.recv() => caller.progress(message).await,
            () = caller.gone() => break,
        }
    }
    let mut views = Vec::new();
    for id in ids {
        views.push(jobs::peek(&yard.context, id).await?);
    }
    let timed_out = views.iter().any(|view| !view.over);
    Ok(Waited { views, timed_out, news: Vec::new(), cursor: cursor.unwrap_or_default().to_owned() })
}

fn one(view: &JobView, waited: &Waited) -> Answer {
    let mut data = named(view);
    extend(&mut data, waited);
    if !waited.timed_out {
        return Answer::new(telling::whole(view), data);
    }
    let text = format!("{}\n{}", telling::headline(view), still_running(&json!({"taskId": view.id}), waited));
    Answer::new(text, data)
}

fn several(views: &[JobView], waited: &Waited) -> Answer {
    let (over, open): (Vec<&JobView>, Vec<&JobView>) = views.iter().partition(|view| view.over);
    let ids = |views: &[&JobView]| views.iter().map(|view| json!(view.id)).collect::<Value>();
    let mut parts = vec![format!("{} of {} over", over.len(), views.len())];
    parts.extend(open.iter().map(|view| telling::headline(view)));
    if waited.timed_out {
        parts.push(still_running(&json!({"taskIds": ids(&open)}), waited));
    }
    parts.extend(over.iter().map(|view| format!("\n{}", telling::whole(view))));
    let mut data = Map::new();
    data.insert("status".into(), json!(if open.is_empty() { "over" } else { "running" }));
    data.insert("tasks".into(), views.iter().map(|view| Value::Object(named(view))).collect());
    data.insert("over".into(), ids(&over));
    data.insert("open".into(), ids(&open));
    extend(&mut data, waited);
    Answer::new(parts.join("\n"), data)
}

fn extend(data: &mut Map<String, Value>, waited: &Waited) {
    data.insert("timedOut".into(), json!(waited.timed_out));
    data.insert("cursor".into(), json!(waited.cursor));
    let news = waited.news.iter().map(|(kind, id)| json!({"id": id, "event": kind}));
    data.insert("news".into(), news.collect());
}

fn still_running(call: &Value, waited: &Waited) -> String {
    let mut call = call.clone();
    if !waited.cursor.is_empty() {
        call["cursor"] = json!(waited.cursor);
    }
    format!("The time for this wait is up, and the work goes on by itself. Wait again with task_await {call}.")
}
