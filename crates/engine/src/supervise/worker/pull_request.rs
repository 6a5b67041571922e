//! Pull requests through `gh`, where it is installed.

use super::{
    in_the_way,
    place::{Place, git},
};
use crate::{
    Context,
    supervise::change::{ChangeError, With, change},
};
use serde::Deserialize;
use std::{
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};
use switchyard_core::task::{Delivered, Event, State, Task};
use switchyard_host::{bounded, clock::now_micros, git::Pushed};
use switchyard_store::TaskRecord;

const DEADLINE: Duration = Duration::from_secs(30);
/// How often an open one is looked at, in microseconds.
const LOOK_EVERY: i64 = 120_000_000;

/// Pushes the branch and opens a pull request; one that is open already is taken for it.
pub(super) async fn propose(context: &Context, task: &Task, place: &Place, head: &str) -> Event {
    let (task, place, head) = (task.clone(), place.clone(), head.to_owned());
    let path = context.variable("PATH").map(str::to_owned);
    let proposed = tokio::task::spawn_blocking(move || {
        let branch = place.branch.clone().unwrap_or_default();
        let git = git();
        let remotes = git.remotes(&place.repository).map_err(|error| error.to_string())?;
        let usual = remotes.iter().find(|name| *name == "origin").or_else(|| remotes.first()).cloned();
        let Some(remote) = usual else { return Err("the repository has no remote to push to".to_owned()) };
        match git
            .push(&place.repository, &remote, &format!("refs/heads/{branch}"))
            .map_err(|error| error.to_string())?
        {
            Pushed::Done => {}
            Pushed::Rejected(why) | Pushed::Offline(why) | Pushed::Failed(why) => {
                return Err(format!("{branch} could not be pushed: {why}"));
            }
        }
        let title = format!("{}: {}", task.id, task.spec.description.lines().next().unwrap_or_default());
        let base = task.spec.base.clone();
        let create =
            ["pr", "create", "--head", &branch, "--base", &base, "--title", &title, "--body", &task.spec.description];
        match gh(&place.repository, path.as_deref(), &create) {
            Ok(url) => Ok((url, head)),
            Err(problem) => match view(&place.repository, path.as_deref(), &branch) {
                // One that was closed or merged before is about other work.
                Some(found) if found.state == "OPEN" && found.head == head => Ok((found.url, head)),
                _ => Err(problem),
            },
        }
    });
    match proposed.await {
        Ok(Ok((url, head))) => Event::Propose { url, head, until: now_micros().saturating_add(LOOK_EVERY) },
        Ok(Err(problem)) => Event::Return { failure: in_the_way("pull request", problem) },
        Err(error) => Event::Return { failure: in_the_way("pull request", error.to_string()) },
    }
}

/// Looks at an open pull request, and writes down what became of it. What cannot be known leaves it open.
pub(crate) async fn look_at_pull_request(context: &Context, record: &TaskRecord) -> Result<(), ChangeError> {
    let State::Review { url, head, .. } = &record.task.state else { return Ok(()) };
    let (repository, asked) = (PathBuf::from(&record.task.spec.repository), url.clone());
    let path = context.variable("PATH").map(str::to_owned);
    let looked = tokio::task::spawn_blocking(move || view(&repository, path.as_deref(), &asked));
    let found = looked.await.ok().flatten();
    let later = now_micros().saturating_add(LOOK_EVERY);
    let event = match found.as_ref().map(|found| found.state.as_str()) {
        Some("MERGED") => Event::Deliver { delivered: Delivered::PullRequest { url: url.clone(), head: head.clone() } },
        Some("CLOSED") => Event::Reject { detail: format!("{url} was closed without being merged") },
        _ => Event::Propose { url: url.clone(), head: head.clone(), until: later },
    };
    match change(context, &record.task.id, &event, &With::default()).await {
        Ok(_) | Err(ChangeError::Illegal(_)) => Ok(()),
        Err(error) => Err(error),
    }
}

#[derive(Debug, Deserialize)]
struct PullRequest {
    state: String,
    url: String,
    #[serde(rename = "headRefOid")]
    head: String,
}

fn view(repository: &Path, path: Option<&str>, which: &str) -> Option<PullRequest> {
    let said = gh(repository, path, &["pr", "view", which, "--json", "state,url,headRefOid"]).ok()?;
    serde_json::from_str(&said).ok()
}

fn gh(repository: &Path, path: Option<&str>, args: &[&str]) -> Result<String, String> {
    let mut command = Command::new("gh");
    command.args(args).current_dir(repository).env("GH_PROMPT_DISABLED", "1").env("NO_COLOR", "1");
    if let Some(path) = path {
        command.env("PATH", path);
    }
    match bounded::run(&mut command, DEADLINE) {
        Ok(finished) if finished.status.success() => {
            Ok(String::from_utf8_lossy(&finished.stdout).lines().last().unwrap_or_default().trim().to_owned())
        }
        Ok(finished) => Err(format!("gh: {}", String::from_utf8_lossy(&finished.stderr).trim())),
        Err(error) => Err(format!("gh, which pull requests need: {error}")),
    }
}
