//! The checks on the merge commit of a pull request. A task whose checks keep failing is opened again, with what they
//! printed.

use super::{
    check::run_check,
    clean::{CleanCheckout, set_up, stoppable},
    handed::{Delivery, Handed, in_thread, passing},
    place::usual_remote,
};
use crate::{queue::supervise::spawn::log_dir, settings_of};
use shuntyard_core::{
    experience::FailureMode,
    settings::MergeCheck,
    work::{
        pull_request::PullRequest,
        task::{Check, Delivered, Event, Failure, Lift},
    },
};
use shuntyard_host::git::{Fetched, GitError};
use std::{path::Path, time::Duration};

/// How often failed checks are run again.
const RETRIES: u32 = 3;

pub(super) async fn confirm(delivery: Delivery<'_>, found: &PullRequest, head: &str) -> Result<Handed, GitError> {
    let Delivery { context, record, place, life, .. } = delivery;
    let delivered = Delivered::PullRequest { url: found.url.clone(), head: head.to_owned() };
    let checks = settings_of(&context.config, Path::new(&record.task.spec.repository)).after_merge;
    if checks.is_empty() {
        return Ok(Handed::new(Event::Deliver { delivered }));
    }
    let (base, merged) = (record.task.spec.base.clone(), found.merge_commit.as_ref().map(|commit| commit.oid.clone()));
    let fetched = in_thread(place, move |place| {
        let (git, repository) = (place.git()?, &place.repository);
        let Some(remote) = usual_remote(&git, repository)? else {
            return Ok(Err("the repository has no remote".to_owned()));
        };
        Ok(match git.fetch(repository, &remote, &base)? {
            Fetched::Done { commit } => match merged {
                Some(merged) if !git.has_commit(repository, &merged)? => Err(format!("{base} has no {merged} yet")),
                merged => Ok(merged.unwrap_or(commit)),
            },
            Fetched::Absent => Err(format!("{remote} has no branch {base}")),
            Fetched::Offline(why) | Fetched::Failed(why) => Err(format!("{base} could not be fetched: {why}")),
        })
    });
    let commit = match fetched.await? {
        Ok(commit) => commit,
        Err(problem) => return Ok(passing(problem)),
    };
    let rest = context.config.supervise.trouble_rests.first().and_then(|rest| rest.0).unwrap_or(Duration::ZERO);
    for retry in 0.. {
        let failed = match check(delivery, &checks, &commit).await? {
            Ok(None) => return Ok(Handed::new(Event::Deliver { delivered })),
            Ok(Some(failed)) => failed,
            Err(problem) => return Ok(passing(problem)),
        };
        if retry == RETRIES {
            return Ok(Handed::returned(reopened(&found.url, &commit, &failed)));
        }
        tokio::select! {
            () = tokio::time::sleep(rest) => {}
            () = life.stop().cancelled() => break,
        }
    }
    Ok(passing("it was stopped while its merge was checked".to_owned()))
}

/// The first check that fails in a fresh checkout of the commit.
async fn check(
    delivery: Delivery<'_>,
    checks: &[MergeCheck],
    commit: &str,
) -> Result<Result<Option<Check>, String>, GitError> {
    let Delivery { context, record, life, .. } = delivery;
    let clean = CleanCheckout::make(context, &record.task, None, commit, "merged").await?;
    let log = format!("{}.merged", record.task.epoch);
    let run = async {
        set_up(context, record, &clean.workspace, Some(life), &log).await?;
        for (number, check) in checks.iter().enumerate() {
            let place = log_dir(context, &record.task.id).join(format!("{log}-{}", number + 1));
            let directory = clean.workspace.directory.clone();
            let running = run_check(context, record, check.command_line(), directory, place);
            let check = stoppable(running, Some(life)).await?;
            if !check.exit.is_green() {
                return Ok(Some(check));
            }
        }
        Ok(None)
    };
    let checked = run.await;
    clean.remove().await;
    Ok(checked)
}

fn reopened(url: &str, commit: &str, failed: &Check) -> Failure {
    let Check { command, exit, tail, .. } = failed;
    Failure {
        mode: FailureMode::Logic,
        class: None,
        signature: format!("after the merge {command}"),
        detail: format!(
            "{url} was merged as {commit}, and there `{command}` failed {} times, the last time with {}: {}",
            RETRIES + 1,
            exit.shown(),
            tail.trim()
        ),
        until: None,
        lift: Lift::Allowed,
    }
}
