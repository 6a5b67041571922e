//! Telling people, once for each event: by a command of theirs, or by a signed message to an address of theirs.

use crate::Context;
use serde::Serialize;
use std::{
    io::Write as _,
    process::{Command, Stdio},
    time::Duration,
};
use switchyard_core::task::{Notice, TaskId};
use switchyard_host::bounded::wait_until;

const DEADLINE: Duration = Duration::from_secs(5);

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Notification {
    /// The same for the same event, however often it is sent.
    pub id: i64,
    pub task: TaskId,
    pub notice: Notice,
    pub detail: String,
    pub at: i64,
}

/// What was done about it, in a word.
pub(super) async fn notify(context: &Context, notification: &Notification) -> Result<String, String> {
    let settings = &context.config.supervise;
    let body = serde_json::to_string(notification).map_err(|error| error.to_string())?;
    let mut done = Vec::new();
    if !settings.notify_command.is_empty() {
        let (command, input) = (settings.notify_command.clone(), body.clone());
        let variables = context.environment.clone();
        let ran = tokio::task::spawn_blocking(move || run(&command, &input, &variables)).await;
        ran.map_err(|error| error.to_string())??;
        done.push("command");
    }
    if !settings.notify_url.is_empty() {
        let secret = context.variable("SWITCHYARD_NOTIFY_SECRET");
        switchyard_agents::webhook::post_signed(&settings.notify_url, body, secret, DEADLINE).await?;
        done.push("posted");
    }
    Ok(if done.is_empty() { "nobody wants to hear of it".to_owned() } else { done.join(", ") })
}

fn run(command: &str, input: &str, variables: &std::collections::BTreeMap<String, String>) -> Result<(), String> {
    let mut child = Command::new("sh")
        .args(["-c", command])
        .env_clear()
        .envs(variables)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| format!("the notify command could not be started: {error}"))?;
    if let Some(mut stdin) = child.stdin.take() {
        // One that does not read is no fault of the message.
        drop(stdin.write_all(input.as_bytes()));
    }
    match wait_until(DEADLINE, || child.try_wait()) {
        Ok(Some(status)) if status.success() => Ok(()),
        Ok(Some(status)) => Err(format!("the notify command ended with {status}")),
        Ok(None) => {
            drop(child.kill());
            drop(child.wait());
            Err("the notify command did not end in time".to_owned())
        }
        Err(error) => Err(error.to_string()),
    }
}
