//! The worker: the process that carries one claim through its stages.
//!
//! Invariant: everything that the next stage needs is in the store or in git before that stage begins, so that another
//! worker can go on there. A worker whose claim is over stops at once and writes nothing.

mod after_merge;
mod agent;
mod check;
mod clean;
mod collect;
mod contest;
mod deliver;
mod discard;
mod ended;
mod gather;
mod gh;
mod handed;
mod life;
mod merge;
mod opinion;
mod parent;
mod parked;
mod patch;
mod place;
mod prepared;
mod pull_request;
mod rebase;
mod removal;
mod start;
mod tier;
mod todo_claim;
mod transcript;
mod verify;
mod workspace;

pub use discard::{Discard, DiscardError, Leftovers, discard, forget_kept, kept_commits, leftovers};
pub use verify::{Verified, VerifyError, verify};

pub(crate) use deliver::publish_unfinished;
pub(crate) use gh::Gh;
pub(crate) use place::{git, owner_of, worktrees};

/// Removes what a settled task has left in the file system, as far as nothing is lost by that.
pub(crate) async fn tidy(context: &Context, id: &TaskId) -> Result<String, String> {
    let record = context.store.task(id).await.map_err(|error| error.to_string())?;
    // It may have been begun again.
    if !record.task.state.phase().releases() {
        return Ok("it goes on".to_owned());
    }
    removal::tidy(context, &record.task).await
}

use super::{
    change::{ChangeError, With, change_held},
    fault::fault,
    reclaim::settled_cost,
    tidy::end_processes,
};
use crate::{
    Context,
    base::owner::{same_machine, this_process},
};
use contest::Found;
use ended::Ended;
use handed::Handed;
use life::Life;
use opinion::{Opinion, opinion};
use place::started_note;
use prepared::{Located, in_workspace, locate};
use serde_json::Value;
use shuntyard_core::{
    ErrorClass,
    experience::FailureMode,
    work::task::{
        Delivered, End, Event, Failure, Findings, Judgement, Receipt, Stage, State, Stop, Task, TaskId, judge,
    },
};
use shuntyard_host::clock::now_micros;
use shuntyard_store::{RunNote, RunRecord, StoreError, TaskRecord};

#[derive(Debug, thiserror::Error)]
pub enum WorkError {
    #[error(transparent)]
    Change(#[from] ChangeError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("failed to look at this process: {0}")]
    Io(#[from] std::io::Error),
    /// The claim was taken over while this worker was at it.
    #[error("the claim is over")]
    Over,
}

/// Works on a claim from its present state to its end.
pub async fn work(context: &Context, id: &TaskId, epoch: i64) -> Result<(), WorkError> {
    let record = context.store.task(id).await?;
    if record.task.epoch != epoch {
        return Err(ChangeError::Fenced { task: id.clone(), epoch, now: record.task.epoch }.into());
    }
    let started = begin(context, &record).await?;
    let life = Life::begin(context, id, epoch);
    let worked = stages(context, started, &life).await;
    life.end().await;
    worked
}

/// Begins what was claimed for this process.
async fn begin(context: &Context, record: &TaskRecord) -> Result<Box<TaskRecord>, WorkError> {
    let note = RunNote { worker: Some(this_process()?), ..started_note(context, &record.task, now_micros()) };
    fault(context, "start");
    Ok(change_held(context, record, &Event::Start, &With { note, ..With::default() }).await?)
}

async fn stages(context: &Context, mut record: Box<TaskRecord>, life: &Life) -> Result<(), WorkError> {
    loop {
        if life.is_over() {
            return Err(WorkError::Over);
        }
        record = match &record.task.state {
            State::Running => labour(context, &record, life).await?,
            State::Evaluating => evaluate(context, &record, life).await?,
            State::Delivering { head } => hand_over(context, &record, head, life).await?,
            State::Stopping { .. } => {
                // Until then, it says that it is being stopped: another attempt would work beside what is left.
                end_processes(context, &record.task.id, record.task.epoch, None).await;
                let runs = context.store.runs(&record.task.id).await?;
                let cost = match current(&runs, record.task.epoch) {
                    Some(run) => settled_cost(context, run).await?,
                    None => None,
                };
                let note = RunNote { outcome: Some("cancelled".to_owned()), cost, ..RunNote::default() };
                step(context, &record, Event::Stopped, With { note, ..With::default() }).await?
            }
            // Whatever else it is, it is not ours any more. The workspace is removed as an effect, by one process.
            _ => return Ok(()),
        };
    }
}

/// The next state. A stop may have been requested in the meantime: then the task is read again as it is.
async fn step(context: &Context, record: &TaskRecord, event: Event, with: With) -> Result<Box<TaskRecord>, WorkError> {
    let (id, epoch) = (&record.task.id, record.task.epoch);
    match change_held(context, record, &event, &with).await {
        Ok(record) => Ok(record),
        Err(ChangeError::Illegal(illegal)) => {
            let now = context.store.task(id).await?;
            if matches!(now.task.state, State::Stopping { .. }) && now.task.epoch == epoch {
                return Ok(Box::new(now));
            }
            Err(ChangeError::Illegal(illegal).into())
        }
        Err(error) => Err(error.into()),
    }
}

/// Has the work done. How the agent ended is written down before anything is made of it.
async fn labour(context: &Context, record: &TaskRecord, life: &Life) -> Result<Box<TaskRecord>, WorkError> {
    if let Some(postpone) = todo_claim::elsewhere(context, &record.task).await {
        let note = RunNote { outcome: Some("given back".to_owned()), ..RunNote::default() };
        return step(context, record, postpone, With { note, ..With::default() }).await;
    }
    end_earlier(context, record).await?;
    let record = &match contest::find_winner(context, record, life).await? {
        Found::Winner(record) => record,
        Found::Later(postpone) => {
            let note = RunNote { outcome: Some("given back".to_owned()), ..RunNote::default() };
            return step(context, record, postpone, With { note, ..With::default() }).await;
        }
        Found::Nothing(ended) => return worked(context, record, &ended).await,
    };
    if !matches!(record.task.state, State::Running) {
        return Ok(record.clone());
    }
    let ended = match place::given(&record.task) {
        Some(place) => {
            fault(context, "placed");
            agent::run(context, record, None, &place, life).await?
        }
        None => in_workspace(context, record, life).await?,
    };
    if life.is_over() {
        return Err(WorkError::Over);
    }
    worked(context, record, &ended).await
}

/// Writes down how the agent ended.
async fn worked(context: &Context, record: &TaskRecord, ended: &Ended) -> Result<Box<TaskRecord>, WorkError> {
    let note = RunNote {
        answered: ended.answered.clone(),
        cost: Some((ended.cost, ended.cost_known)),
        dispatch: ended.dispatch,
        detail: Some(ended.to_text()),
        ..RunNote::default()
    };
    fault(context, "work");
    let worked = step(context, record, Event::Worked, With { note, ..With::default() }).await;
    fault(context, "worked");
    worked
}

/// Ends what earlier claims of the task have left on this machine: two agents must never work in one place.
async fn end_earlier(context: &Context, record: &TaskRecord) -> Result<(), WorkError> {
    let runs = context.store.runs(&record.task.id).await?;
    for run in runs.iter().filter(|run| run.epoch != record.task.epoch && same_machine(&run.host)) {
        end_processes(context, &run.task, run.epoch, None).await;
    }
    Ok(())
}

fn current(runs: &[RunRecord], epoch: i64) -> Option<&RunRecord> {
    runs.iter().find(|run| run.epoch == epoch)
}

async fn evaluate(context: &Context, record: &TaskRecord, life: &Life) -> Result<Box<TaskRecord>, WorkError> {
    let runs = context.store.runs(&record.task.id).await?;
    let ended = Ended::latest(&runs, record.receipt.as_ref());
    let tier = runs.iter().rev().find_map(|run| run.tier.clone());
    let place = match locate(context, record, &runs).await? {
        Located::Nowhere => None,
        Located::At(place) | Located::Moved(place) => Some(place),
        Located::Stuck(failure) => {
            return conclude(context, record, refused(failure, tier, &ended), Vec::new(), gather::nothing(&ended))
                .await;
        }
    };
    if place.as_ref().is_some_and(|place| place.branch.is_some() && !place.exists()) {
        // There is nothing to evaluate, so the work is done again.
        let detail = "its workspace is gone, with the work in it".to_owned();
        let failure = Failure::environment("workspace gone", detail);
        let model = ended.answered.clone().or_else(|| ended.asked.clone());
        let event = Event::Refuse { failure, tier, model, resume: None };
        return conclude(context, record, event, Vec::new(), gather::nothing(&ended)).await;
    }
    let findings = match &place {
        Some(place) => gather::gather(context, &record.task, place, &ended, life).await,
        None => Ok(gather::nothing(&ended)),
    };
    if life.is_over() {
        return Err(WorkError::Over);
    }
    let (event, reasons, findings) = match findings {
        Ok(findings) => match judge(&record.task.spec, &findings) {
            Judgement::Good { mut reasons } => {
                let said = match &place {
                    // The judge of a contest has compared it by then.
                    Some(_) if is_of_winner(&record.task, &findings) => Opinion::NotAsked,
                    Some(place) => opinion(context, &record.task, place, &findings, life.stop()).await,
                    None => Opinion::NotAsked,
                };
                if life.is_over() {
                    return Err(WorkError::Over);
                }
                match said {
                    Opinion::NotAsked => {}
                    Opinion::Stands(said) => reasons.push(said),
                    Opinion::Against(failure) => {
                        let event = refused(failure, tier, &ended);
                        return conclude(context, record, event, Vec::new(), findings).await;
                    }
                }
                let head = findings.head.as_ref().map(|head| head.commit.clone()).unwrap_or_default();
                (Event::Approve { head }, reasons, findings)
            }
            Judgement::Bad(failure) => (refused(failure, tier, &ended), Vec::new(), findings),
        },
        Err(problem) => {
            // Names of directories and times differ from attempt to attempt.
            let signature: String = problem.chars().filter(|letter| !letter.is_ascii_digit()).take(200).collect();
            let failure = Failure::environment(signature, problem);
            (refused(failure, tier, &ended), Vec::new(), gather::nothing(&ended))
        }
    };
    if matches!(&findings.end, End::Stopped { why: Stop::Cancelled }) {
        let now = context.store.task(&record.task.id).await?;
        if matches!(now.task.state, State::Stopping { .. }) {
            return Ok(Box::new(now));
        }
    }
    conclude(context, record, event, reasons, findings).await
}

/// Whether the work is that of a contest's winner, as it was taken.
fn is_of_winner(task: &Task, findings: &Findings) -> bool {
    let head = findings.head.as_ref().map(|head| head.commit.as_str());
    task.tally.contest.as_ref().is_some_and(|decided| Some(decided.head.as_str()) == head)
}

/// Writes the verdict down, with the evidence that it rests on.
async fn conclude(
    context: &Context,
    record: &TaskRecord,
    event: Event,
    reasons: Vec<String>,
    findings: Findings,
) -> Result<Box<TaskRecord>, WorkError> {
    let good = matches!(event, Event::Approve { .. });
    let with = With { note: noted(&event), receipt: Some(receipt(record, good, reasons, findings)), ..With::default() };
    fault(context, "judge");
    let judged = step(context, record, event, with).await;
    fault(context, "judged");
    judged
}

fn refused(failure: Failure, tier: Option<String>, ended: &Ended) -> Event {
    // When the agent has ended well and something around the evaluation was in the way, only that is done again.
    let only_evaluate = failure.mode == FailureMode::Environment && ended.is_good();
    let resume = only_evaluate.then_some(Stage::Evaluate);
    Event::Refuse { failure, tier, model: ended.answered.clone().or_else(|| ended.asked.clone()), resume }
}

/// What the run's own row says about its end.
fn noted(event: &Event) -> RunNote {
    match event {
        Event::Refuse { failure, .. } | Event::Return { failure } => RunNote {
            outcome: Some("refused".to_owned()),
            failure_mode: Some(failure.mode),
            detail: Some(failure.detail.clone()),
            ..RunNote::default()
        },
        _ => RunNote { outcome: Some("approved".to_owned()), ..RunNote::default() },
    }
}

fn receipt(record: &TaskRecord, good: bool, reasons: Vec<String>, findings: Findings) -> Value {
    let receipt = Receipt::new(record.task.id.clone(), record.task.epoch, now_micros(), good, reasons, findings);
    serde_json::to_value(receipt).unwrap_or_default()
}

async fn hand_over(
    context: &Context,
    record: &TaskRecord,
    head: &str,
    life: &Life,
) -> Result<Box<TaskRecord>, WorkError> {
    let runs = context.store.runs(&record.task.id).await?;
    let ended = Ended::latest(&runs, record.receipt.as_ref());
    let Handed { event, evidence, branch } = match locate(context, record, &runs).await? {
        Located::Nowhere => Handed::new(Event::Deliver { delivered: Delivered::Nothing }),
        Located::At(place) => deliver::deliver(context, record, &place, &ended, head, life).await,
        Located::Moved(place) => deliver::deliver_moved(context, record, &place, &ended, life).await,
        Located::Stuck(failure) => Handed::returned(failure),
    };
    if life.is_over() {
        return Err(WorkError::Over);
    }
    let receipt = evidence.map(|(reasons, findings)| receipt(record, true, reasons, findings));
    let with = With { note: RunNote { branch, ..noted(&event) }, receipt, ..With::default() };
    fault(context, "deliver");
    let delivered = step(context, record, event, with).await;
    fault(context, "delivered");
    delivered
}

/// A failure in the environment of a delivery.
fn in_the_way(signature: &str, detail: String) -> Failure {
    Failure { class: None::<ErrorClass>, mode: FailureMode::Environment, ..Failure::environment(signature, detail) }
}
