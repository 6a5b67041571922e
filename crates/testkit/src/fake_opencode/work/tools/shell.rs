//! The shell: a command in a process group of its own, which ends with the call.

use super::{Context, Done, Outcome, files::away};
use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::json;
use shuntyard_core::roles::pack::{outside::PathKind, shell::split};
use std::{io, path::Path, process::Stdio, time::Duration};
use tokio::{
    io::AsyncReadExt,
    process::{Child, Command},
};

const USUAL_TIMEOUT: u64 = 120_000;

/// Ends a whole process group when it goes.
struct Group(Option<Pid>);

impl Drop for Group {
    fn drop(&mut self) {
        if let Some(pid) = self.0 {
            // It may be gone already.
            let _ = kill_process_group(pid, Signal::KILL);
        }
    }
}

enum Ended {
    Exit(Option<i32>),
    Timeout(u64),
    Aborted,
}

pub(super) async fn bash(context: &Context<'_>) -> Outcome {
    let command = context.text("command")?;
    permit(context, command).await?;
    let directory = context.job.instance.directory.join(context.input["workdir"].as_str().unwrap_or_default());
    let (output, ended) = match spawn(context, command, &directory) {
        Ok((child, reader)) => follow(context, child, reader).await,
        Err(error) => (error.to_string(), Ended::Exit(None)),
    };
    let mut output = if output.is_empty() { "(no output)".to_owned() } else { output };
    let (exit, note) = match ended {
        Ended::Exit(code) => (code, None),
        Ended::Timeout(limit) => {
            (None, Some(format!("bash tool terminated command after exceeding timeout {limit} ms")))
        }
        Ended::Aborted => (None, Some("User aborted the command".to_owned())),
    };
    if let Some(note) = note {
        output += &format!("\n\n<shell_metadata>\n{note}\n</shell_metadata>");
    }
    let metadata = json!({ "output": output, "exit": exit, "truncated": false });
    Ok(Done { metadata, ..Done::new(command.to_owned(), output) })
}

/// Directories outside are asked for first, then every simple command of the line.
async fn permit(context: &Context<'_>, command: &str) -> Result<(), super::Refused> {
    let Ok(parts) = split(command) else {
        return context.permit("bash", vec![command.to_owned()], json!({ "command": command })).await;
    };
    let kind = |path: &str| if Path::new(path).is_dir() { PathKind::Directory } else { PathKind::File };
    let away: Vec<String> = parts.paths.iter().filter_map(|path| away(context.job, path, kind(path))).collect();
    for (permission, patterns) in [("external_directory", away), ("bash", parts.asked)] {
        if !patterns.is_empty() {
            context.permit(permission, patterns, json!({ "command": command })).await?;
        }
    }
    Ok(())
}

fn spawn(context: &Context<'_>, command: &str, directory: &Path) -> io::Result<(Child, io::PipeReader)> {
    let (reader, writer) = io::pipe()?;
    let shell = context.job.machine.variable("SHELL").filter(|shell| Path::new(shell).exists()).unwrap_or("/bin/bash");
    let mut child = Command::new(shell);
    child.args(["-c", command]).current_dir(directory).process_group(0).stdin(Stdio::null());
    child.env("AGENT", "1").env("OPENCODE", "1").env("OPENCODE_PID", std::process::id().to_string());
    child.stdout(writer.try_clone()?).stderr(writer);
    Ok((child.spawn()?, reader))
}

async fn follow(context: &Context<'_>, mut child: Child, reader: io::PipeReader) -> (String, Ended) {
    let pid = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
    let group = Group(pid);
    let limit = context.input["timeout"].as_u64().unwrap_or(USUAL_TIMEOUT);
    let reading = tokio::spawn(async move {
        let mut bytes = Vec::new();
        if let Ok(mut pipe) = tokio::net::unix::pipe::Receiver::from_owned_fd(reader.into()) {
            drop(pipe.read_to_end(&mut bytes).await);
        }
        String::from_utf8_lossy(&bytes).into_owned()
    });
    let mut ended = tokio::select! {
        status = child.wait() => Ended::Exit(status.ok().and_then(|status| status.code())),
        () = tokio::time::sleep(Duration::from_millis(limit)) => Ended::Timeout(limit),
        () = context.job.cancel.cancelled() => Ended::Aborted,
    };
    // Whatever the command left in its group would hold the pipe open.
    drop(group);
    drop(child.wait().await);
    let output = reading.await.unwrap_or_default();
    if context.job.cancel.is_cancelled() {
        ended = Ended::Aborted;
    }
    (output, ended)
}
