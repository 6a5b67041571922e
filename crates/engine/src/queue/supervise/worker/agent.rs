//! Having the work done: by a model in OpenCode, or by a command.

use super::{
    WorkError,
    check::{exit_of, variables},
    collect::keep_work,
    ended::Ended,
    life::Life,
    parent::Parent,
    parked,
    place::Place,
    tier::chosen_for,
};
use crate::{
    Context,
    base::refusal::Refusal,
    dispatch::{DispatchReport, Options, dispatch},
    queue::supervise::{contest::left, spawn::log_dir},
};
use shuntyard_core::{
    ErrorClass, ModelRef, Nano,
    experience::Deadline,
    routing::{Exchange, Selector, request::Request},
    values::{Mode, Strategy, duration::Limit},
    work::task::{Agent, End, Stop, Task, checkout::Call, prompt},
};
use shuntyard_host::{clock::now_micros, shell};
use shuntyard_store::{RunRecord, TaskRecord};
use std::time::Duration;

/// Characters of the last words that are kept.
const SAID: usize = 2000;

pub(super) async fn run(
    context: &Context,
    record: &TaskRecord,
    run: Option<&RunRecord>,
    place: &Place,
    life: &Life,
) -> Result<Ended, WorkError> {
    let task = &record.task;
    let before = Parent::look(place).await;
    let mut ended = match &task.spec.agent {
        Agent::Opencode { agent } => ask_model(context, task, agent.clone(), run, place, life).await?,
        Agent::Command { command } => run_command(context, record, command, place, life).await,
    };
    if life.is_over() {
        return Err(WorkError::Over);
    }
    if let Some(before) = before {
        let mut calls = life.calls();
        if let Agent::Command { command } = &task.spec.agent {
            calls.push(Call::of_command(command));
        }
        let changed = before.compare(place, calls, context.variable("HOME").unwrap_or_default()).await;
        (ended.trespass, ended.notes) = (changed.trespass, changed.notes);
    }
    match keep_work(task, place).await {
        Ok(flaws) => {
            (ended.foreign, ended.conflicts, ended.unfinished) = (flaws.foreign, flaws.conflicts, flaws.unfinished);
        }
        Err(end) => {
            // Work that cannot be committed is still in its workspace, which stays.
            tracing::warn!(?end, "the work could not be committed");
            ended.end = end;
        }
    }
    Ok(ended)
}

async fn ask_model(
    context: &Context,
    task: &Task,
    agent: Option<String>,
    run: Option<&RunRecord>,
    place: &Place,
    life: &Life,
) -> Result<Ended, WorkError> {
    let asked = run.and_then(|run| run.model.clone());
    let Some(model) = asked.as_deref().and_then(|model| model.parse::<ModelRef>().ok()) else {
        return Ok(Ended::not_started("the claim names no model".to_owned()));
    };
    let deadline = time_for(context, task);
    let request = Request {
        agent,
        capabilities: task.spec.needs.clone(),
        ..Request::plain(prompt(task), Selector::Exact(model), Mode::Agent, &place.directory)
    };
    let left = left(context, task).await?;
    if left == Some(Nano::ZERO) {
        return Ok(Ended { asked, ..Ended::with(End::Stopped { why: Stop::Money }) });
    }
    let is_fixed =
        task.spec.model.is_some() || task.tally.contest.is_some() || task.spec.strategy() == Strategy::Direct;
    let named = is_fixed && task.tally.tier.is_none();
    let options = Options {
        id: run.and_then(|run| run.dispatch),
        timeout: Some(Limit(deadline)),
        steps: Some(context.config.supervise.steps),
        // A model that only the claim named may be exchanged for another; one that a person named may not.
        exchange: if named { Exchange::Routed } else { Exchange::Asked },
        max_cost: left,
        task: Some(task.charged_to().to_string()),
        batch: task.batch.clone(),
        urgency: task.spec.urgency,
        chosen_for: chosen_for(context, task, run),
        task_type: task.spec.task_type.clone(),
        subject: Some(task.spec.description.clone()),
        approver: parked::approver(context, task),
        ..Options::default()
    };
    let mut patient = context.clone();
    patient.config.dispatch.inactivity_timeout = context.config.supervise.silence;
    let result = dispatch(&patient, &request, &options, &life.sink(), life.stop()).await;
    let mut ended = match result {
        Ok(report) => {
            life.answered(&report.text);
            from_report(context, &report, deadline.map(|limit| limit.as_millis()), life).await
        }
        Err(refusal) => from_refusal(&refusal, life),
    };
    ended.asked = asked;
    Ok(ended)
}

/// How long an attempt may take: as its estimate says, and never beyond the task's deadline.
fn time_for(context: &Context, task: &Task) -> Option<Duration> {
    let usual = context.config.supervise.deadline_for(task.spec.estimate_seconds);
    let left = task.spec.deadline.map(|deadline| {
        let left = u64::try_from(deadline.saturating_sub(now_micros())).unwrap_or(0);
        // No time at all would be no limit.
        Duration::from_micros(left.max(1000))
    });
    match (usual, left) {
        (Some(usual), Some(left)) => Some(usual.min(left)),
        (usual, left) => usual.or(left),
    }
}

async fn from_report(context: &Context, report: &DispatchReport, deadline: Option<u128>, life: &Life) -> Ended {
    let end = match (&report.error, life.why_stopped()) {
        (None, None) => End::Answered,
        (_, Some(why)) => End::Stopped { why },
        (Some(error), None) => {
            let whole = deadline.is_some_and(|limit| u128::from(report.duration_ms) + 50 >= limit);
            End::Failed {
                class: error.class,
                message: error.message.clone(),
                deadline: (error.class == ErrorClass::Timeout).then_some(if whole {
                    Deadline::Whole
                } else {
                    Deadline::Silence
                }),
                until: limit_ends(context, report, error.class).await,
            }
        }
    };
    Ended {
        said: shortened(&report.text),
        answered: Some(report.model.to_string()),
        cost: Nano::from_usd(report.cost_usd).unwrap_or_default(),
        cost_known: report.cost_known,
        dispatch: Some(report.id),
        ..Ended::with(end)
    }
}

/// When the limit that the last model ran into is over, as the store knows by now.
async fn limit_ends(context: &Context, report: &DispatchReport, class: ErrorClass) -> Option<i64> {
    if !matches!(class, ErrorClass::RateLimited | ErrorClass::QuotaExhausted | ErrorClass::Overloaded) {
        return None;
    }
    let model = report.route.model.to_string();
    let cooldowns = context.store.cooldowns(now_micros()).await.ok()?;
    let concerns = |target: &str| target == model || target == report.route.model.provider;
    cooldowns.into_iter().filter(|cooldown| concerns(&cooldown.target)).map(|cooldown| cooldown.until).max()
}

fn from_refusal(refusal: &Refusal, life: &Life) -> Ended {
    if let Some(why) = life.why_stopped() {
        return Ended::with(End::Stopped { why });
    }
    match refusal.class() {
        Some(class) => Ended::with(End::Failed { class, message: refusal.to_string(), deadline: None, until: None }),
        None => Ended::not_started(refusal.to_string()),
    }
}

fn shortened(text: &str) -> String {
    let skip = text.chars().count().saturating_sub(SAID);
    shuntyard_core::values::redact::redact(&text.chars().skip(skip).collect::<String>())
}

async fn run_command(context: &Context, record: &TaskRecord, command: &str, place: &Place, life: &Life) -> Ended {
    let task = &record.task;
    let check = shell::Check {
        command: command.to_owned(),
        directory: place.directory.clone(),
        variables: variables(context, record),
        deadline: time_for(context, task).unwrap_or(Duration::MAX),
        grace: context.config.supervise.grace.0.unwrap_or_default(),
        log: log_dir(context, &task.id).join(format!("{}.out", task.epoch)),
    };
    let own = context.program.clone();
    let running = tokio::task::spawn_blocking(move || check.run(&own));
    let checked = tokio::select! {
        finished = running => match finished {
            Ok(checked) => checked,
            Err(error) => return Ended::not_started(error.to_string()),
        },
        // This process ends soon afterwards, and with it all that the guard holds.
        () = life.stop().cancelled() => {
            let why = life.why_stopped().unwrap_or(Stop::Cancelled);
            return Ended::with(End::Stopped { why });
        }
    };
    match checked {
        Ok(checked) => {
            let said = shortened(&checked.tail);
            Ended { said, ..Ended::with(End::Exit { exit: exit_of(checked.exit) }) }
        }
        Err(error) => Ended::not_started(format!("failed to {error}")),
    }
}
