//! Starting one guarded OpenCode server and waiting until it can be used.
//!
//! Invariant: when this fails, the server and all that it started have been ended.

use secrecy::SecretString;
use shuntyard_agents::opencode::{
    Client, Endpoint,
    launch::{SERVE_ARGUMENTS, listening_address},
};
use shuntyard_core::values::redact::redact;
use shuntyard_host::{GuardedChild, GuardedCommand, guarded::Environment};
use std::{
    ffi::OsString,
    fs::OpenOptions,
    io::{self, BufRead, BufReader},
    path::Path,
    process::Stdio,
    time::Duration,
};
use tokio::time::{Instant, sleep};

/// What a server has to end, before it is killed.
pub(crate) const SHUTDOWN: Duration = Duration::from_secs(8);
const HEALTH: Duration = Duration::from_secs(3);

pub(crate) struct Launch<'a> {
    /// Our own program, which is the guard.
    pub program: &'a Path,
    pub binary: &'a Path,
    /// The whole environment; the password has to be in it.
    pub variables: Vec<(String, String)>,
    pub password: SecretString,
    pub directory: &'a Path,
    pub log: &'a Path,
    pub patience: Duration,
}

#[derive(Debug)]
pub(crate) struct Launched {
    pub guarded: GuardedChild,
    pub client: Client,
    pub url: String,
    pub version: String,
}

/// Starts the server. A failure carries the last words of its log, which mostly name the cause.
pub(crate) async fn launch(launch: Launch<'_>) -> Result<Launched, String> {
    let mut guarded = command(&launch)
        .and_then(|command| command.spawn(launch.program))
        .map_err(|error| format!("{} cannot be started: {error}", launch.binary.display()))?;
    let deadline = Instant::now() + launch.patience;
    match until_healthy(&mut guarded, launch.password, deadline).await {
        Ok((client, url, version)) => Ok(Launched { guarded, client, url, version }),
        Err(problem) => {
            end(guarded).await;
            Err(explain(launch.log, problem))
        }
    }
}

/// Ends the server with all that it started. False when something may have survived.
pub(crate) async fn end(mut guarded: GuardedChild) -> bool {
    let ended = tokio::task::spawn_blocking(move || guarded.shutdown(SHUTDOWN));
    matches!(ended.await, Ok(Ok(_)))
}

fn command(launch: &Launch<'_>) -> io::Result<GuardedCommand> {
    let log = OpenOptions::new().append(true).create(true).open(launch.log)?;
    let mut command = GuardedCommand::new(launch.binary, SERVE_ARGUMENTS);
    command.environment = Environment::Empty;
    let variables = launch.variables.iter();
    command.variables = variables.map(|(name, value)| (OsString::from(name), OsString::from(value))).collect();
    command.directory = Some(launch.directory.to_owned());
    command.stdout = Stdio::piped();
    command.stderr = Stdio::from(log);
    Ok(command)
}

async fn until_healthy(
    guarded: &mut GuardedChild,
    password: SecretString,
    deadline: Instant,
) -> Result<(Client, String, String), String> {
    let url = announced_address(guarded, deadline).await?;
    let endpoint = Endpoint { url: url.clone(), password: Some(password) };
    let client = Client::new(&endpoint).map_err(|error| error.to_string())?;
    loop {
        if let Ok(health) = client.health(HEALTH).await
            && health.healthy
        {
            return Ok((client, url, health.version));
        }
        if Instant::now() >= deadline || guarded.try_wait().is_ok_and(|status| status.is_some()) {
            return Err("it never became healthy".into());
        }
        sleep(Duration::from_millis(50)).await;
    }
}

/// Reads the server's first lines until it says where it listens; the rest is read and dropped, so
/// that a full pipe never holds the server.
async fn announced_address(guarded: &mut GuardedChild, deadline: Instant) -> Result<String, String> {
    let stdout = guarded.take_stdout().ok_or("its output cannot be read")?;
    let (sender, mut receiver) = tokio::sync::mpsc::unbounded_channel();
    std::thread::spawn(move || {
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            if let Some(address) = listening_address(&line) {
                drop(sender.send(address.to_owned()));
            }
        }
    });
    match tokio::time::timeout_at(deadline, receiver.recv()).await {
        Ok(Some(address)) => Ok(address),
        Ok(None) => Err("it ended at once".into()),
        Err(_) => Err("it did not listen in time".into()),
    }
}

fn explain(log: &Path, problem: String) -> String {
    let log = std::fs::read_to_string(log).unwrap_or_default();
    let words: Vec<&str> = log.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let tail = words[words.len().saturating_sub(6)..].join(" | ");
    if tail.is_empty() { problem } else { format!("{problem}: {}", redact(&tail)) }
}
