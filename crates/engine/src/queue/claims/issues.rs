//! Issues on GitHub, through `gh`: only when they are asked for, and never a reason to fail. TODO.md is what counts.

use super::{
    ClaimFault, Line,
    shared::Shared,
    write::{Decision, Marked, Run, blocking, find, marked, write},
};
use crate::{Context, base::hash::short_hash, queue::claims::tip::Look};
use serde_json::json;
use shuntyard_core::todo::{Document, Evidence, Field};
use shuntyard_host::{clock::now_micros, git::gh};
use std::time::Duration;

const DEADLINE: Duration = Duration::from_secs(30);
/// The event for an issue that could not be made or changed.
pub(crate) const ISSUE_FAILED: &str = "todo.issue_failed";

/// Puts the user's name on the issue of a line that was just claimed. Returns what went wrong.
pub(super) async fn assign(context: &Context, line: &Line, shared: &Shared) -> Option<String> {
    edit(context, line, shared, |number| ["issue", "edit", number, "--add-assignee", "@me"].map(str::to_owned).to_vec())
        .await
}

/// Closes the issue of a line that was just ticked, and says there what that rests on. Returns what went wrong.
pub(super) async fn close(context: &Context, line: &Line, shared: &Shared, evidence: Evidence) -> Option<String> {
    let link = line.link.as_deref().map_or_else(String::new, |link| format!(" ({link})"));
    let comment = match evidence {
        Evidence::PullRequest(number) => format!("Done by #{number}{link}."),
        Evidence::Verified => {
            format!("Done and verified{link}; {} is ticked in TODO.md on {}.", line.todo, shared.place())
        }
    };
    edit(context, line, shared, move |number| {
        ["issue", "close", number, "--comment", &comment].map(str::to_owned).to_vec()
    })
    .await
}

/// Only a line that names an issue has one to change.
async fn edit(
    context: &Context,
    line: &Line,
    shared: &Shared,
    order: impl FnOnce(&str) -> Vec<String> + Send + 'static,
) -> Option<String> {
    if !line.issues.are_wanted(context) {
        return None;
    }
    let (todo, path) = (line.todo.clone(), context.variable("PATH").map(str::to_owned));
    let edited = blocking(shared, move |shared| {
        let Look::At(tip) = shared.look()? else { return Ok(None) };
        let number = tip.document.task(&todo).ok().flatten().and_then(|line| line.github_issue());
        let Some(number) = number.map(|number| number.to_string()) else { return Ok(None) };
        let order = order(&number);
        let order: Vec<&str> = order.iter().map(String::as_str).collect();
        Ok(Some(gh(&shared.repository, path.as_deref(), DEADLINE, &order).err()))
    });
    let problem = match edited.await {
        // There is no issue that could be changed.
        Ok(None) => return None,
        Ok(Some(problem)) => problem,
        Err(fault) => Some(fault.to_string()),
    };
    let problem = problem.map(|problem| format!("the issue of {} was left as it is: {problem}", line.todo));
    remembered(context, line, problem).await
}

/// The name of the mark that has the position of the event about the last failure; 0 after a success.
pub(crate) fn failure_mark(repository: &str) -> String {
    format!("todo.issue.{}", short_hash(repository))
}

/// Keeps what went wrong, so that `status` shows it until an issue of the repository was changed again.
async fn remembered(context: &Context, line: &Line, problem: Option<String>) -> Option<String> {
    let (repository, now) = (line.repository.display().to_string(), now_micros());
    let kept = async {
        let mark = failure_mark(&repository);
        let position = match &problem {
            Some(problem) => {
                context.store.append_event(now, ISSUE_FAILED, &repository, &json!({ "problem": problem })).await?
            }
            None if context.store.mark(&mark).await?.is_none_or(|at| at == 0) => return Ok(()),
            None => 0,
        };
        context.store.set_mark(&mark, position).await
    };
    if let Err(error) = kept.await {
        tracing::warn!(%error, problem, "what became of an issue was not noted");
    }
    problem
}

/// Makes an issue for a line, unless it has one, and writes its number there. Returns what went wrong.
pub(super) async fn create(context: &Context, line: &Line, description: &str) -> Option<String> {
    let problem = match make(context, line, description).await {
        Ok(Marked::Confirmed { .. } | Marked::Local | Marked::Already | Marked::NotNeeded | Marked::Would) => None,
        Ok(Marked::Offline(why)) => Some(why),
        Ok(Marked::Anothers { by }) => Some(format!("it is claimed by {by}")),
        Err(problem) => Some(problem),
    };
    let problem = problem.map(|problem| format!("{} has no issue: {problem}", line.todo));
    remembered(context, line, problem).await
}

async fn make(context: &Context, line: &Line, description: &str) -> Result<Marked, String> {
    let told = |fault: ClaimFault| fault.to_string();
    let shared = find(context, &line.repository, &line.base).await.map_err(told)?;
    if let Look::At(tip) = blocking(&shared, Shared::look).await.map_err(told)?
        && tip.document.task(&line.todo).ok().flatten().is_some_and(|found| found.github_issue().is_some())
    {
        return Ok(Marked::Already);
    }
    let title = format!("{}: {description}", line.todo);
    let path = context.variable("PATH").map(str::to_owned);
    let made = blocking(&shared, move |shared| {
        let body = "This task is in the repository's TODO.md.";
        let create = ["issue", "create", "--title", &title, "--body", body];
        Ok(gh(&shared.repository, path.as_deref(), DEADLINE, &create))
    });
    let printed = made.await.map_err(told)??;
    let url = printed.lines().last().unwrap_or_default().trim();
    let number: u64 =
        url.rsplit('/').next().and_then(|number| number.parse().ok()).ok_or_else(|| {
            format!("gh answered `{}`, which names no issue", url.chars().take(100).collect::<String>())
        })?;
    let reference = format!("GH#{number}");
    let decide = |document: &Document| {
        let edited = document.set_field(&line.todo, Field::Reference, &reference)?;
        Ok(Decision::of(edited, &format!("{}: issue #{number}", line.todo)))
    };
    write(context, &shared, &line.todo, Run::Real, None, decide).await.map(marked).map_err(told)
}
