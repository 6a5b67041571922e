//! From one state to the next. What is not written here cannot happen.

use super::Task;
use super::{
    Answered, Asked, Cause, Change, Delivered, Effect, Event, Failure, Next, PermissionReply, Place, Redelivery,
    Resumed, Stage, State, Step, Tally, TaskId, Wait, announcement::announced, next,
};
use crate::values::{Deliver, Rules};
use crate::{
    experience::FailureMode,
    work::pull_request::{Assessed, PullRequestRecord, PullRequestState},
};

/// Why a task is not started any more.
const EXPIRED: &str = "timeout: its deadline has passed";
/// Attempts that reviewers of one pull request get before a person has to decide how to go on.
const ROUNDS: u32 = 10;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{task} is {state}: {event} is not possible there")]
pub struct Illegal {
    pub task: TaskId,
    pub state: &'static str,
    pub event: &'static str,
}

/// What an event makes of a task. Nothing is changed by an event that cannot happen.
pub fn step(task: &Task, event: Event, rules: &Rules, now: i64) -> Result<Step, Illegal> {
    let illegal = Illegal { task: task.id.clone(), state: task.state.name(), event: event.name() };
    let mut after = task.clone();
    let name = event.name();
    let mut learned = None;
    let mut told = None;
    let state = match (&task.state, event) {
        (State::Queued, Event::Claim) => {
            after.epoch += 1;
            let stage = after.tally.resume.take().unwrap_or(Stage::Work);
            if stage == Stage::Work {
                begins_other_work(&mut after);
            }
            State::Starting { stage }
        }
        // A worker gives its claim back before it has begun when another owner has claimed the task in the repository
        // itself.
        (State::Queued | State::Running, Event::Postpone { until, wait, detail }) => {
            State::Waiting { until, wait, detail }
        }
        (State::Queued | State::Waiting { .. }, Event::Block { cause, detail }) => State::Blocked { cause, detail },
        // What it waited for has happened: its moment was only to look whether that was missed.
        (State::Waiting { wait: Wait::Entries, .. }, Event::Wake) => State::Queued,
        (State::Queued | State::Waiting { .. }, Event::Expire) if task.spec.is_over(now) => {
            State::Failed { detail: EXPIRED.to_owned() }
        }
        // A clock that is before the last change has been set back: what was to be waited for cannot be known any more.
        (State::Waiting { until, .. }, Event::Wake) if *until <= now || now < task.changed_at => State::Queued,
        (State::Starting { stage }, Event::Start) => begun(stage),
        // A request that another follows was withdrawn with the server or the model that asked.
        (State::Running | State::Asking { .. }, Event::Ask { request, until }) if !asks(&task.state, &request.id) => {
            let known = after.tally.answers.iter().find(|known| known.digest == request.digest);
            State::Asking { answer: known.map(|known| known.answer), request, until }
        }
        (State::Asking { request, until, answer: None }, Event::Answer { request: id, answer, by })
            if request.id == id && now < *until =>
        {
            after.tally.answers.push(Answered { digest: request.digest.clone(), answer });
            told = Some(format!("{by} answered {answer}: {}", request.shown()));
            State::Asking { request: request.clone(), until: *until, answer: Some(answer) }
        }
        (State::Asking { request, answer, .. }, Event::Proceed { request: id, answer: delivered })
            if request.id == id && *answer == delivered =>
        {
            // `always` also answers later attempts, whose sessions know nothing of it.
            after
                .tally
                .answers
                .retain(|known| known.digest != request.digest || known.answer == PermissionReply::Always);
            told = Some(match answer {
                Some(answer) => format!("goes on with {answer}"),
                None => "goes on without an answer".to_owned(),
            });
            State::Running
        }
        (State::Running, Event::Decide { decided }) if task.spec.contest.is_some() => {
            told = Some(format!("{} by {} won the contest", decided.entry, decided.model));
            after.tally.contest = Some(decided);
            State::Running
        }
        (State::Running | State::Asking { .. }, Event::Worked) => {
            (after.tally.losses, after.tally.afresh) = (0, false);
            State::Evaluating
        }
        (State::Evaluating, Event::Approve { head }) => {
            learned = Some(Effect::Learn { good: true, failure: None });
            takes(&mut after);
            (after.tally.limits, after.tally.troubles) = (0, 0);
            approved(task, head)
        }
        (State::Evaluating, Event::Refuse { failure, tier, model, resume }) => {
            learned = Some(Effect::Learn { good: false, failure: Some(failure.clone()) });
            let by = (tier.as_deref(), model.as_deref());
            told = Some(failure.detail.clone());
            // What only the environment spoiled is taken again.
            if failure.mode == FailureMode::Logic {
                takes(&mut after);
            }
            failed(&mut after, &failure, by, resume, rules, now)
        }
        (State::Delivering { .. } | State::Review { .. }, Event::Propose { url, head, until, assessed })
            if task.spec.deliver == Deliver::Pr =>
        {
            let before = after.tally.pull_request.take();
            after.tally.pull_request = Some(PullRequestRecord::proposed(before, &url, &head, now, assessed));
            State::Review { url, head, until }
        }
        (State::Review { .. }, Event::Revise { failure, asked, assessment, answers, tier, model }) => {
            told = Some(failure.detail.clone());
            if let Some(record) = &mut after.tally.pull_request {
                record.revise(assessment, answers);
            }
            revised(&mut after, &failure, asked, (tier.as_deref(), model.as_deref()), rules, now)
        }
        (State::Review { url, head, .. }, Event::Redeliver { why }) => {
            redelivered(&mut after, url, head, why, now);
            State::Queued
        }
        // A delivery cannot be undone, also when a stop was requested by then.
        (
            State::Delivering { .. } | State::Review { .. } | State::Stopping { head: Some(_), .. },
            Event::Deliver { delivered },
        ) if delivered.fits(task.spec.deliver) => {
            if let Delivered::PullRequest { url, head } = &delivered {
                assessed(&mut after, url, head, PullRequestState::Merged, now);
            }
            State::Done { delivered }
        }
        (State::Review { url, head, .. }, Event::Reject { detail }) => {
            assessed(&mut after, url, head, PullRequestState::Closed, now);
            State::Blocked { cause: Cause::Rejected, detail }
        }
        (State::Delivering { head }, Event::Return { failure }) => {
            told = Some(failure.detail.clone());
            // Good work that only could not be handed over is not done again.
            let good = failure.mode != FailureMode::Logic;
            if !good {
                begins_other_work(&mut after);
            }
            let resume = good.then(|| Stage::Deliver { head: head.clone() });
            failed(&mut after, &failure, (None, None), resume, rules, now)
        }
        (
            State::Starting { .. }
            | State::Running
            | State::Asking { .. }
            | State::Evaluating
            | State::Delivering { .. },
            Event::Lose { detail },
        ) => {
            told = Some(detail.clone());
            lost(&mut after, &task.state, detail, rules)
        }
        (State::Stopping { by, .. }, Event::Lose { .. } | Event::Stopped) => State::Cancelled { by: by.clone() },
        (
            State::Queued | State::Waiting { .. } | State::Blocked { .. } | State::Failed { .. } | State::Review { .. },
            Event::Cancel { by },
        ) => State::Cancelled { by },
        (
            State::Starting { .. }
            | State::Running
            | State::Asking { .. }
            | State::Evaluating
            | State::Delivering { .. },
            Event::Cancel { by },
        ) => State::Stopping { by, head: handed_over(&task.state) },
        (
            State::Waiting { .. } | State::Blocked { .. } | State::Failed { .. } | State::Cancelled { .. },
            Event::Retry,
        ) => {
            after.tally = std::mem::take(&mut after.tally).asked_again(task.spec.attempts);
            if let Some(record) = &mut after.tally.pull_request {
                record.rounds = 0;
            }
            State::Queued
        }
        (
            State::Queued
            | State::Waiting { .. }
            | State::Blocked { .. }
            | State::Failed { .. }
            | State::Cancelled { .. }
            | State::Done { .. },
            Event::Reset,
        ) => {
            after.tally = Tally { afresh: true, ..Tally::default() };
            State::Queued
        }
        _ => return Err(illegal),
    };
    let resumed = resumed(&task.state, &state);
    if let Resumed::Follows(_) = resumed {
        after.epoch += 1;
    }
    after.state = state;
    after.changed_at = now;
    let detail = told.unwrap_or_else(|| after.state.reason());
    let change = Change {
        event: name.to_owned(),
        from: task.state.name().to_owned(),
        to: after.state.name().to_owned(),
        epoch: after.epoch,
        detail,
        route: None,
    };
    let mut effects = Vec::from_iter(learned);
    effects.extend(announced(task, &after.state, rules, now));
    Ok(Step { task: after, effects, change, resumed })
}

impl Task {
    /// The task that its cost counts for: an entry has no budget of its own.
    #[must_use]
    pub fn charged_to(&self) -> &TaskId {
        self.spec.entry_of.as_ref().unwrap_or(&self.id)
    }
}

fn asks(state: &State, id: &str) -> bool {
    matches!(state, State::Asking { request, .. } if request.id == id)
}

fn begun(stage: &Stage) -> State {
    match stage {
        Stage::Work => State::Running,
        Stage::Evaluate => State::Evaluating,
        Stage::Deliver { head } => State::Delivering { head: head.clone() },
    }
}

/// Good work is handed over; where there is nothing to do for that, it is done.
fn approved(task: &Task, head: String) -> State {
    match (task.spec.place, task.spec.deliver) {
        (Place::Directory, _) => State::Done { delivered: Delivered::Nothing },
        (Place::Worktree, Deliver::Branch | Deliver::Merge | Deliver::Pr) => State::Delivering { head },
    }
}

fn failed(
    task: &mut Task,
    failure: &Failure,
    by: (Option<&str>, Option<&str>),
    resume: Option<Stage>,
    rules: &Rules,
    now: i64,
) -> State {
    let (tally, next) = next(&task.spec, &task.tally, failure, by, rules, now);
    task.tally = Tally { resume, ..tally };
    let detail = failure.detail.clone();
    match next {
        // Work that is done and only has to be handed over is.
        Next::Again | Next::Rest { .. } if task.spec.is_over(now) && task.tally.resume.is_none() => {
            State::Failed { detail: format!("{EXPIRED}: {detail}") }
        }
        Next::Again => State::Queued,
        Next::Rest { until, wait } => State::Waiting { until, wait, detail },
        Next::Block(cause) => State::Blocked { cause, detail },
        Next::Fail => State::Failed { detail },
    }
}

/// Another attempt for an open pull request.
fn revised(
    task: &mut Task,
    failure: &Failure,
    asked: Asked,
    by: (Option<&str>, Option<&str>),
    rules: &Rules,
    now: i64,
) -> State {
    match asked {
        Asked::ByChecks => failed(task, failure, by, None, rules, now),
        Asked::ByReviewer => {
            task.tally = std::mem::take(&mut task.tally).asked_again(task.spec.attempts);
            task.tally.resume = None;
            task.tally.learn(&failure.detail);
            let Some(record) = &mut task.tally.pull_request else { return State::Queued };
            record.rounds = record.rounds.saturating_add(1);
            if record.rounds <= ROUNDS {
                return State::Queued;
            }
            let detail =
                format!("its reviewers asked for changes {} times; look, and say retry or cancel", record.rounds);
            State::Blocked { cause: Cause::Needs, detail }
        }
    }
}

/// The work of a contest's winner is the task's own from here on.
fn takes(task: &mut Task) {
    if let Some(decided) = &mut task.tally.contest {
        decided.taken = true;
    }
}

/// What was approved is not what comes next.
fn begins_other_work(task: &mut Task) {
    if let Some(record) = &mut task.tally.pull_request {
        record.rebased.clear();
    }
}

fn redelivered(task: &mut Task, url: &str, head: &str, why: Redelivery, now: i64) {
    let before = task.tally.pull_request.take();
    let seen = match why {
        Redelivery::Rebase => Assessed::No,
        Redelivery::Merged => Assessed::Now(PullRequestState::Merged.into()),
    };
    let mut record = PullRequestRecord::proposed(before, url, head, now, seen);
    if why == Redelivery::Rebase && !record.wants_rebase(head) {
        record.rebased.push(head.to_owned());
    }
    task.tally.pull_request = Some(record);
    task.tally.resume = Some(Stage::Deliver { head: head.to_owned() });
}

fn assessed(task: &mut Task, url: &str, head: &str, state: PullRequestState, now: i64) {
    let seen = Assessed::Now(state.into());
    let before = task.tally.pull_request.take();
    task.tally.pull_request = Some(PullRequestRecord::proposed(before, url, head, now, seen));
}

/// A worker that died before its agent had ended leaves a task that is tried again; one that died later is followed
/// by another, which goes on where it was.
fn lost(task: &mut Task, state: &State, detail: String, rules: &Rules) -> State {
    task.tally.losses = task.tally.losses.saturating_add(1);
    if task.tally.losses > rules.losses {
        let detail = format!("its worker was lost {} times in a row; the last time: {detail}", task.tally.losses);
        return State::Blocked { cause: Cause::Parked, detail };
    }
    // A command that works on the directory itself may have done its work, or a part of it. To do it again unasked
    // could do it twice.
    if matches!(state, State::Running | State::Asking { .. }) && task.spec.place == Place::Directory {
        let detail = format!("{detail}, and whether its command has ended is not known; look, and say retry or cancel");
        return State::Blocked { cause: Cause::Ambiguous, detail };
    }
    let stage = match (state, handed_over(state)) {
        (State::Starting { stage }, _) => stage.clone(),
        (State::Evaluating, _) => Stage::Evaluate,
        (_, Some(head)) => Stage::Deliver { head },
        (_, None) => Stage::Work,
    };
    match stage {
        Stage::Work => State::Queued,
        Stage::Evaluate | Stage::Deliver { .. } => State::Starting { stage },
    }
}

/// The commit that is being handed over, or is about to be.
fn handed_over(state: &State) -> Option<String> {
    match state {
        State::Delivering { head } | State::Starting { stage: Stage::Deliver { head } } => Some(head.clone()),
        State::Stopping { head, .. } => head.clone(),
        State::Starting { stage: Stage::Work | Stage::Evaluate }
        | State::Queued
        | State::Waiting { .. }
        | State::Running
        | State::Asking { .. }
        | State::Evaluating
        | State::Review { .. }
        | State::Done { .. }
        | State::Failed { .. }
        | State::Blocked { .. }
        | State::Cancelled { .. } => None,
    }
}

fn resumed(before: &State, after: &State) -> Resumed {
    match (before.is_held(), after) {
        (false, State::Starting { .. }) => Resumed::Begins,
        (true, State::Starting { stage }) => Resumed::Follows(stage.clone()),
        (true, after) if !after.is_held() => Resumed::Ends,
        _ => Resumed::Same,
    }
}
