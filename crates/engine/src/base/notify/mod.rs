//! Notices for people, once for each event: by a command of theirs, by a signed message to an address of theirs, and on
//! their desktop.

mod desktop;

use crate::Context;
use serde::Serialize;
use shuntyard_core::work::task::{Notice, TaskId};
use shuntyard_host::bounded::wait_until;
use std::{
    collections::BTreeMap,
    ffi::OsString,
    io::Write as _,
    process::{Command, Stdio},
    time::Duration,
};

/// How long to wait before the second try, in microseconds, and how often it is tried: over some four days.
const AGAIN: i64 = 30_000_000;
const TRIES: u32 = 40;
const DEADLINE: Duration = Duration::from_secs(5);

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Notification {
    /// The same for the same event, however often it is sent.
    pub id: i64,
    /// `null` when it concerns no task.
    pub task: Option<TaskId>,
    pub notice: Notice,
    pub detail: String,
    pub at: i64,
}

/// What was done about it, in a word. `tries` counts this one.
pub(crate) async fn notify(context: &Context, notification: &Notification, tries: u32) -> Result<String, String> {
    let settings = &context.config.supervise;
    let mut done = Vec::new();
    // A channel that fails is tried again, and what is on the screen already need not be shown again for that. The
    // desktop alone never fails: then an earlier try was cut off.
    let alone = settings.notify_command.is_empty() && settings.notify_url.is_empty();
    if settings.notify_desktop && (tries <= 1 || alone) {
        let (program, arguments) = desktop::command(notification);
        match start(context, program.into(), arguments, String::new()).await {
            Ok(()) => done.push("desktop".to_owned()),
            Err(problem) => {
                tracing::warn!(problem, "the desktop was not notified");
                done.push(format!("no desktop: {problem}"));
            }
        }
    }
    let body = serde_json::to_string(notification).map_err(|error| error.to_string())?;
    if !settings.notify_command.is_empty() {
        let line = vec!["-c".into(), settings.notify_command.clone().into()];
        start(context, "sh".into(), line, body.clone())
            .await
            .map_err(|problem| format!("the notify command {problem}"))?;
        done.push("command".to_owned());
    }
    if !settings.notify_url.is_empty() {
        let secret = context.variable("SHUNTYARD_NOTIFY_SECRET");
        shuntyard_agents::webhook::post_signed(&settings.notify_url, body, secret, DEADLINE).await?;
        done.push("posted".to_owned());
    }
    Ok(if done.is_empty() { "no channel is configured".to_owned() } else { done.join(", ") })
}

/// The longer it has failed, the longer it rests; after some days it is given up.
pub(crate) fn retry_at(tries: u32, now: i64) -> Option<i64> {
    let rest = AGAIN.saturating_mul(1 << tries.min(8));
    (tries < TRIES).then(|| now.saturating_add(rest))
}

async fn start(context: &Context, program: OsString, arguments: Vec<OsString>, input: String) -> Result<(), String> {
    let variables = context.environment.clone();
    let ran = tokio::task::spawn_blocking(move || run(&program, &arguments, &input, &variables)).await;
    ran.map_err(|error| error.to_string())?
}

fn run(
    program: &OsString,
    arguments: &[OsString],
    input: &str,
    variables: &BTreeMap<String, String>,
) -> Result<(), String> {
    let mut child = Command::new(program)
        .args(arguments)
        .env_clear()
        .envs(variables)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| format!("could not be started: {error}"))?;
    if let Some(mut stdin) = child.stdin.take() {
        // One that does not read is no fault of the message.
        drop(stdin.write_all(input.as_bytes()));
    }
    match wait_until(DEADLINE, || child.try_wait()) {
        Ok(Some(status)) if status.success() => Ok(()),
        Ok(Some(status)) => Err(format!("ended with {status}")),
        Ok(None) => {
            drop(child.kill());
            drop(child.wait());
            Err("did not end in time".to_owned())
        }
        Err(error) => Err(error.to_string()),
    }
}
