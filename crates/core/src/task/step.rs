//! From one state to the next. What is not written here cannot happen.

use super::{
    Cause, Change, Deliver, Delivered, Diagnose, Effect, Event, Failure, Next, Notice, Phase, Place, Resumed, Rules,
    Stage, State, Step, Tally, TaskId, TaskSpec, Wait, next,
};
use crate::pattern::FailureMode;
use serde::{Deserialize, Serialize};

/// A rest that is at least this long is worth telling: half an hour, in microseconds.
const LONG: i64 = 1_800_000_000;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    pub id: TaskId,
    pub batch: Option<String>,
    pub parent: Option<TaskId>,
    /// The higher the sooner.
    pub priority: i64,
    pub depends_on: Vec<TaskId>,
    pub spec: TaskSpec,
    pub state: State,
    pub tally: Tally,
    /// The number of the newest claim; 0 before the first. Only its holder may change the task.
    pub epoch: i64,
    pub created_at: i64,
    pub changed_at: i64,
}

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
            State::Starting { stage: after.tally.resume.take().unwrap_or(Stage::Work) }
        }
        // A worker gives its claim back before it has begun when somebody else has the task in the repository itself.
        (State::Queued | State::Running, Event::Postpone { until, wait, detail }) => {
            State::Waiting { until, wait, detail }
        }
        (State::Queued | State::Waiting { .. }, Event::Block { cause, detail }) => State::Blocked { cause, detail },
        // A clock that is before the last change has been set back: what was to be waited for cannot be known any more.
        (State::Waiting { until, .. }, Event::Wake) if *until <= now || now < task.changed_at => State::Queued,
        (State::Starting { stage }, Event::Start) => begun(stage),
        (State::Running, Event::Worked) => {
            (after.tally.losses, after.tally.afresh) = (0, false);
            State::Evaluating
        }
        (State::Evaluating, Event::Approve { head }) => {
            learned = Some(Effect::Learn { good: true, failure: None });
            (after.tally.limits, after.tally.troubles) = (0, 0);
            approved(task, head)
        }
        (State::Evaluating, Event::Refuse { failure, tier, model, resume }) => {
            learned = Some(Effect::Learn { good: false, failure: Some(failure.clone()) });
            let by = (tier.as_deref(), model.as_deref());
            told = Some(failure.detail.clone());
            failed(&mut after, &failure, by, resume, rules, now)
        }
        (State::Delivering { .. } | State::Review { .. }, Event::Propose { url, head, until })
            if task.spec.deliver == Deliver::Pr =>
        {
            State::Review { url, head, until }
        }
        // What was handed over is handed over, also when somebody wanted to stop it by then.
        (
            State::Delivering { .. } | State::Review { .. } | State::Stopping { head: Some(_), .. },
            Event::Deliver { delivered },
        ) if delivered.fits(task.spec.deliver) => State::Done { delivered },
        (State::Review { .. }, Event::Reject { detail }) => State::Blocked { cause: Cause::Rejected, detail },
        (State::Delivering { head }, Event::Return { failure }) => {
            told = Some(failure.detail.clone());
            // Good work that only could not be handed over is not done again.
            let good = failure.mode != FailureMode::Logic;
            let resume = good.then(|| Stage::Deliver { head: head.clone() });
            failed(&mut after, &failure, (None, None), resume, rules, now)
        }
        (
            State::Starting { .. } | State::Running | State::Evaluating | State::Delivering { .. },
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
            State::Starting { .. } | State::Running | State::Evaluating | State::Delivering { .. },
            Event::Cancel { by },
        ) => State::Stopping { by, head: handed_over(&task.state) },
        (
            State::Waiting { .. } | State::Blocked { .. } | State::Failed { .. } | State::Cancelled { .. },
            Event::Retry,
        ) => {
            let Tally { lessons, tier, avoid, tries, afresh, resume, .. } = std::mem::take(&mut after.tally);
            after.tally = Tally { lessons, tier, avoid, tries, afresh, resume, ..Tally::default() };
            // A limit of tries that was reached is no limit to one that is asked for.
            after.tally.tries =
                after.tally.tries.min(task.spec.attempts.map_or(u32::MAX, |most| most.saturating_sub(1)));
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
    };
    let mut effects = Vec::from_iter(learned);
    effects.extend(announced(task, &after.state, rules, now));
    Ok(Step { task: after, effects, change, resumed })
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
        (Place::Worktree, Deliver::Branch) => {
            State::Done { delivered: Delivered::Branch { branch: TaskSpec::branch(&task.id), head } }
        }
        (Place::Worktree, Deliver::Merge | Deliver::Pr) => State::Delivering { head },
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
        Next::Again => State::Queued,
        Next::Rest { until, wait } => State::Waiting { until, wait, detail },
        Next::Block(cause) => State::Blocked { cause, detail },
        Next::Fail => State::Failed { detail },
    }
}

/// A worker that died before its agent had ended leaves a task that is tried again; one that died later is followed
/// by another, which goes on where it was.
fn lost(task: &mut Task, state: &State, detail: String, rules: &Rules) -> State {
    task.tally.losses = task.tally.losses.saturating_add(1);
    if task.tally.losses > rules.losses {
        let detail = format!("its worker was lost {} times in a row; the last time: {detail}", task.tally.losses);
        return State::Blocked { cause: Cause::Parked, detail };
    }
    // A command that works on the directory itself may have done its work, or a part of it. To do it again unasked could
    // do it twice.
    if *state == State::Running && task.spec.place == Place::Directory {
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

/// Who has to hear of it.
fn announced(task: &Task, after: &State, rules: &Rules, now: i64) -> Vec<Effect> {
    let before = task.state.phase();
    let notice = match after {
        State::Done { .. } => Notice::Done,
        State::Failed { .. } => Notice::Failed,
        State::Blocked { .. } => Notice::Blocked,
        State::Cancelled { .. } => Notice::Cancelled,
        State::Review { .. } if !matches!(task.state, State::Review { .. }) => Notice::Review,
        State::Waiting { until, wait: Wait::Limit | Wait::Budget, .. } if until.saturating_sub(now) >= LONG => {
            Notice::Parked
        }
        State::Queued
        | State::Waiting { .. }
        | State::Starting { .. }
        | State::Running
        | State::Evaluating
        | State::Delivering { .. }
        | State::Review { .. }
        | State::Stopping { .. } => return Vec::new(),
    };
    let mut effects = vec![Effect::Notify { notice, detail: after.reason() }];
    if task.spec.todo.is_some() && before != after.phase() && after.phase() != Phase::Waiting {
        effects.push(Effect::Mark { done: after.phase() == Phase::Done });
    }
    // What looks into another task is not looked into itself.
    let for_good = matches!(after, State::Blocked { cause: Cause::Exhausted | Cause::Parked, .. });
    if for_good && rules.diagnose == Diagnose::Once && task.spec.diagnoses.is_none() {
        effects.push(Effect::Diagnose);
    }
    if task.epoch > 0 && task.spec.place == Place::Worktree && after.phase().releases() {
        effects.push(Effect::Tidy);
    }
    effects
}
