//! Delivery as a pull request. Done twice, it finds the one that is open.

use super::{
    after_merge::confirm,
    gh::Gh,
    handed::{Delivery, Handed, in_thread, passing, publish_as},
    in_the_way,
    place::{Place, usual_remote},
    rebase::rebase,
};
use crate::queue::supervise::reviews::next_look;
use shuntyard_core::{
    experience::FailureMode,
    work::{
        pull_request::Assessed,
        task::{Event, Failure, Task, TaskSpec},
    },
};
use shuntyard_host::git::{GitError, Pushed};

/// Names that are tried for a branch that the remote has already.
const NAMES: u32 = 5;

/// Pushes the branch and opens a pull request; one that is open already is taken for it. A commit that was proposed
/// before is delivered again because it is to be rebased, or because it was merged.
pub(super) async fn propose(delivery: Delivery<'_>, head: &str) -> Result<Handed, GitError> {
    let Delivery { context, record, place, .. } = delivery;
    let gh = Gh::of(context, &place.repository);
    let mut open = None;
    if let Some(known) = &record.task.tally.pull_request {
        let (asked, url) = (gh.clone(), known.url.clone());
        let found = match in_thread(place, move |_| Ok(asked.view(&url))).await? {
            Ok(found) => found,
            Err(problem) => return Ok(passing(problem)),
        };
        let state = found.as_ref().map_or("", |found| found.state.as_str());
        // The next check decides what follows.
        let as_it_is = |head: &str| {
            let (url, head, until) = (known.url.clone(), head.to_owned(), next_look(context));
            Ok(Handed::new(Event::Propose { url, head, until, assessed: Assessed::No }))
        };
        match (&found, known.head == head) {
            (Some(found), true) if state == "MERGED" => return confirm(delivery, found, head).await,
            (Some(found), true) if state == "OPEN" && known.wants_rebase(head) => {
                return rebase(delivery, found, head).await;
            }
            // It is open as it should be, or was closed meanwhile.
            (_, true) if known.wants_rebase(head) || state == "OPEN" => return as_it_is(head),
            // It ended while this attempt was made. Where that was known before, the attempt is made because of it.
            (Some(found), false) if matches!(state, "MERGED" | "CLOSED") && !known.has_ended() => {
                return as_it_is(if found.head == head { head } else { &known.head });
            }
            (Some(found), false) if state == "OPEN" && !found.branch.is_empty() => open = Some(found.branch.clone()),
            _ => {}
        }
    }
    let (task, head, until) = (record.task.clone(), head.to_owned(), next_look(context));
    in_thread(place, move |place| {
        let (branch, url) = match offer(&task, place, &head, &gh, open.as_deref())? {
            Ok(offered) => offered,
            Err((branch, failure)) => return Ok(Handed { branch, ..Handed::returned(failure) }),
        };
        Ok(Handed { branch: Some(branch), ..Handed::new(Event::Propose { url, head, until, assessed: Assessed::No }) })
    })
    .await
}

/// The branch and the address of its pull request; or the branch that has the work, and what is in the way.
type Offered = Result<(String, String), (Option<String>, Failure)>;

/// `open` is the branch of the task's pull request, when that is open. No other branch is chosen then.
fn offer(task: &Task, place: &Place, head: &str, gh: &Gh, open: Option<&str>) -> Result<Offered, GitError> {
    let stuck = |problem: String| in_the_way("pull request", problem);
    let needs_a_person = |problem: String| Failure { mode: FailureMode::Blocked, ..stuck(problem) };
    let (git, repository) = (place.git()?, &place.repository);
    let Some(remote) = usual_remote(&git, repository)? else {
        return Ok(Err((None, stuck("the repository has no remote to push to".to_owned()))));
    };
    let mut wanted = open.map_or_else(|| TaskSpec::branch(&task.id), str::to_owned);
    let mut refused = (None, stuck(String::new()));
    for number in 2..=NAMES {
        let branch = publish_as(place, head, &wanted)?.branch;
        if let Some(open) = open.filter(|open| *open != branch) {
            let problem = format!("the local branch {open} is not this task's any more, and its pull request is open");
            return Ok(Err((Some(branch), needs_a_person(problem))));
        }
        let found = match gh.view(&branch) {
            Ok(found) => found,
            // There may be one, and a second must not be opened.
            Err(problem) => return Ok(Err((Some(branch), stuck(problem)))),
        };
        // A worker may have died right after it was opened, and it may be merged by now.
        if let Some(same) = found.as_ref().filter(|found| found.head == head && found.state != "CLOSED") {
            return Ok(Ok((branch, same.url.clone())));
        }
        match git.push_owned(repository, &remote, &place.owner, &branch)? {
            Pushed::Done => {
                // One that is open follows its branch.
                let open = found.filter(|found| found.state == "OPEN").map(|found| Ok(found.url));
                return Ok(match open.unwrap_or_else(|| gh.create(task, &branch)) {
                    Ok(url) => Ok((branch, url)),
                    Err(problem) => Err((Some(branch), stuck(problem))),
                });
            }
            Pushed::Rejected(why) if open.is_some() && !why.starts_with("[remote rejected]") => {
                let problem = format!("{branch} has commits that this task did not make: {why}");
                return Ok(Err((Some(branch), needs_a_person(problem))));
            }
            // The remote has a branch of that name that this task did not push, so another name is tried.
            Pushed::Rejected(why) if !why.starts_with("[remote rejected]") => {
                refused = (Some(branch.clone()), stuck(format!("{branch} could not be pushed: {why}")));
            }
            Pushed::Rejected(why) | Pushed::Offline(why) | Pushed::Failed(why) => {
                let problem = format!("{branch} could not be pushed: {why}");
                return Ok(Err((Some(branch), stuck(problem))));
            }
        }
        wanted = format!("{}-{number}", TaskSpec::branch(&task.id));
    }
    Ok(Err(refused))
}
