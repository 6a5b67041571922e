//! Contests among the tasks: their entries are ordinary tasks, made and awaited here.
//!
//! Invariant: everything here may be done twice. Entries have fixed ids, so none is made a second time, and a contest
//! that waits holds nothing: whichever pass finds its entries settled goes on with it.

use super::{
    add::{AddError, Defaults, NewTaskOrder, add},
    change::{ChangeError, With, change},
    fault::fault,
    worker::publish_unfinished,
};
use crate::{
    Context,
    routing::{classification::classified_before, experience::repository_name},
};
use shuntyard_core::{
    Nano,
    settings::micros,
    values::Deliver,
    work::task::{
        Cause, Contest, Delivered, Entry, EntryCheck, EntryWork, Event, Field, Phase, Readiness, Receipt, State, Task,
        TaskId, TaskSpec, Verdict, Wait, field, no_winner, readiness, share,
    },
};
use shuntyard_host::clock::now_micros;
use shuntyard_store::{ContestRecord, ErrorKind, RunRecord, SpendKey, SpendKind, Spent, StoreError, TaskRecord};
use std::path::Path;

/// A contest is woken when its last entry settles. In case that is missed, it checks by itself after so many regular
/// checks of a supervisor.
const LOOKS: i64 = 8;

/// Whether its winner is still to be found.
pub(crate) fn is_undecided(task: &Task) -> bool {
    task.spec.contest.is_some() && task.tally.contest.is_none()
}

/// The entries of a contest that are there, in their order.
pub(crate) async fn records(context: &Context, contest: &Task) -> Result<Vec<TaskRecord>, StoreError> {
    let ids = contest.spec.contest.as_ref().and_then(|spec| spec.entry_ids(&contest.id).ok());
    let mut found = Vec::new();
    for id in ids.unwrap_or_default() {
        match context.store.task(&id).await {
            Ok(record) if record.task.spec.entry_of.as_ref() == Some(&contest.id) => found.push(record),
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(found)
}

pub async fn entries(context: &Context, contest: &Task) -> Result<Vec<Entry>, StoreError> {
    let mut entries = Vec::new();
    for record in records(context, contest).await? {
        let runs = context.store.runs(&record.task.id).await?;
        entries.push(entry(&record, &runs));
    }
    Ok(entries)
}

fn entry(record: &TaskRecord, runs: &[RunRecord]) -> Entry {
    let Task { id, spec, state, .. } = &record.task;
    let receipt: Option<Receipt> = record.receipt.clone().and_then(|receipt| serde_json::from_value(receipt).ok());
    let named = runs.iter().rev().find_map(|run| run.answered.clone().or_else(|| run.model.clone()));
    let work = match (state, &receipt) {
        (State::Done { delivered: Delivered::Branch { head, .. } }, Some(receipt)) => Some(EntryWork {
            base: receipt.base.clone().unwrap_or_default(),
            head: head.clone(),
            lines: receipt.findings.lines,
        }),
        _ => None,
    };
    let is_red = |receipt: &Receipt| receipt.findings.checks.iter().any(|check| !check.exit.is_green());
    let verify = match (state.phase(), &receipt) {
        _ if spec.verify.is_empty() => EntryCheck::None,
        (Phase::Done, _) => EntryCheck::Green,
        (_, Some(receipt)) if is_red(receipt) => EntryCheck::Red,
        _ => EntryCheck::None,
    };
    Entry {
        id: id.clone(),
        model: named.or_else(|| spec.model.clone()).unwrap_or_default(),
        branch: runs.iter().rev().find_map(|run| run.branch.clone()),
        verify,
        cost: cost_of(runs),
        phase: state.phase(),
        reason: state.reason(),
        work,
    }
}

fn cost_of(runs: &[RunRecord]) -> Nano {
    runs.iter().map(|run| run.cost).sum()
}

/// What a task has cost until now. Of an entry that is what its runs came to: the ledger has it under its contest,
/// where it counts once.
pub async fn cost(context: &Context, task: &Task) -> Result<Spent, StoreError> {
    if task.spec.entry_of.is_some() {
        let runs = context.store.runs(&task.id).await?;
        let unknown = runs.iter().filter(|run| run.ended_at.is_some() && !run.cost_known && run.dispatch.is_some());
        let unknown = u64::try_from(unknown.count()).unwrap_or(u64::MAX);
        return Ok(Spent { cost: cost_of(&runs), unknown, ..Spent::default() });
    }
    let key = SpendKey { kind: SpendKind::Task, name: task.id.to_string() };
    context.store.spent(&key, i64::MIN, i64::MAX).await
}

/// What an attempt of a task may still cost, when that is limited.
pub(crate) async fn left(context: &Context, task: &Task) -> Result<Option<Nano>, StoreError> {
    let Some(limit) = task.spec.max_cost else { return Ok(None) };
    let Some(contest) = &task.spec.entry_of else {
        return Ok(Some(limit.less(cost(context, task).await?.cost)));
    };
    let contest = context.store.task(contest).await?.task;
    let entries = entries(context, &contest).await?;
    let (settled, open): (Vec<&Entry>, Vec<&Entry>) =
        entries.iter().filter(|entry| entry.id != task.id).partition(|entry| entry.phase.is_settled());
    let settled: Vec<Nano> = settled.iter().map(|entry| entry.cost).collect();
    let own = cost(context, task).await?.cost;
    // The ledger also has what a run does not know, such as the judge and attempts that were cut off.
    let unspent = limit.less(cost(context, &contest).await?.cost);
    Ok(Some(share(limit, &settled, open.len() + 1, own).min(unspent)))
}

/// What happens to a contest instead of a claim. None when its winner can be found, or was.
pub(super) async fn before_claim(context: &Context, record: &TaskRecord) -> Result<Option<Event>, ChangeError> {
    let task = &record.task;
    let Some(contest) = task.spec.contest.as_ref().filter(|_| is_undecided(task) && task.tally.resume.is_none()) else {
        return Ok(None);
    };
    let phases = |records: &[TaskRecord]| records.iter().map(|record| record.task.state.phase()).collect::<Vec<_>>();
    let mut found = records(context, task).await?;
    if readiness(contest, &phases(&found)) == Readiness::Create {
        if let Err(detail) = create(context, task, contest, &found).await {
            return Ok(Some(Event::Block { cause: Cause::Needs, detail }));
        }
        fault(context, "entries");
        found = records(context, task).await?;
    }
    match readiness(contest, &phases(&found)) {
        Readiness::Create => {
            let detail = "its entries could not be made".to_owned();
            Ok(Some(Event::Postpone { until: later(context), wait: Wait::Trouble, detail }))
        }
        Readiness::Await { open, of } => {
            let detail = format!("{open} of {of} entries of the contest are still to settle");
            Ok(Some(Event::Postpone { until: later(context), wait: Wait::Entries, detail }))
        }
        Readiness::Decide => {
            let entries = entries(context, task).await?;
            if field(&entries) != Field::Empty {
                return Ok(None);
            }
            let detail = no_winner(&task.id, &entries);
            keep(context, task, &found, &entries, None, &detail).await?;
            if task.spec.is_over(now_micros()) {
                return Ok(Some(Event::Expire));
            }
            Ok(Some(Event::Block { cause: Cause::Exhausted, detail }))
        }
    }
}

pub(crate) fn later(context: &Context) -> i64 {
    now_micros().saturating_add(micros(context.config.supervise.look_every).saturating_mul(LOOKS))
}

/// Makes the entries that are not there.
async fn create(context: &Context, task: &Task, contest: &Contest, found: &[TaskRecord]) -> Result<(), String> {
    let ids = contest.entry_ids(&task.id).map_err(|error| error.to_string())?;
    for (id, model) in ids.into_iter().zip(&contest.models) {
        if found.iter().any(|record| record.task.id == id) {
            continue;
        }
        let order = NewTaskOrder {
            id: Some(id.clone()),
            batch: task.batch.clone(),
            parent: None,
            priority: task.priority,
            depends_on: task.depends_on.clone(),
            spec: wanted(task, model),
            defaults: Defaults::None,
        };
        match add(context, vec![order]).await {
            Ok(_) => {}
            Err(AddError::Store(error)) if error.kind() == ErrorKind::Conflict => {
                let other = context.store.task(&id).await.map_err(|error| error.to_string())?.task;
                // Another pass may have been faster.
                if other.spec.entry_of.as_ref() != Some(&task.id) {
                    return Err(format!(
                        "its entry cannot be made: {id} is another task; add the contest under another id with --id"
                    ));
                }
            }
            Err(error) => return Err(format!("its entry {id} cannot be made: {error}")),
        }
    }
    Ok(())
}

/// One attempt that counts by one model, left on a branch.
fn wanted(task: &Task, model: &str) -> TaskSpec {
    TaskSpec {
        model: Some(model.to_owned()),
        tier: None,
        attempts: Some(1),
        deliver: Deliver::Branch,
        todo: None,
        with_issue: false,
        strategy: None,
        contest: None,
        entry_of: Some(task.id.clone()),
        ..task.spec.clone()
    }
}

/// An entry has settled: its work is put where people can look at it, and its contest goes on once all have.
pub(super) async fn entry_settled(context: &Context, id: &TaskId) -> Result<String, String> {
    let record = context.store.task(id).await.map_err(|error| error.to_string())?;
    let Some(contest) = &record.task.spec.entry_of else { return Ok("it is no entry".to_owned()) };
    let phase = record.task.state.phase();
    if phase.is_settled() && phase != Phase::Done {
        publish_unfinished(context, &record.task).await;
    }
    wake(context, contest).await.map_err(|error| error.to_string())
}

/// Has a contest go on that waits for entries which have all settled.
pub(super) async fn wake(context: &Context, contest: &TaskId) -> Result<String, ChangeError> {
    let record = context.store.task(contest).await?;
    let waits = matches!(record.task.state, State::Waiting { wait: Wait::Entries, .. });
    if !waits || records(context, &record.task).await?.iter().any(|entry| !entry.task.state.phase().is_settled()) {
        return Ok("it does not wait for this".to_owned());
    }
    match change(context, contest, &Event::Wake, &With::default()).await {
        Ok(_) => Ok("its contest goes on".to_owned()),
        Err(ChangeError::Illegal(_)) => Ok("it goes on".to_owned()),
        Err(error) => Err(error),
    }
}

/// What the verdict about this work is kept under: the same attempts of the entries have one verdict.
pub(crate) fn verdict_id(task: &Task, entries: &[TaskRecord]) -> String {
    let epochs: Vec<String> = entries.iter().map(|entry| entry.task.epoch.to_string()).collect();
    format!("{}-{}:{}", task.id, task.created_at, epochs.join(","))
}

/// Keeps the result of the contest. Of two results, the first counts.
pub(crate) async fn keep(
    context: &Context,
    task: &Task,
    records: &[TaskRecord],
    entries: &[Entry],
    verdict: Option<&Verdict>,
    reason: &str,
) -> Result<(), StoreError> {
    let shown = entries.iter().enumerate().map(|(place, entry)| {
        let won = verdict.is_some_and(|verdict| verdict.winner == place);
        serde_json::json!({
            "task": entry.id, "model": entry.model, "verify": entry.verify, "cost_usd": entry.cost.as_usd(),
            "outcome": entry.phase, "won": won,
        })
    });
    let looks = || classified_before(context, &task.spec.description, 0).task_type;
    let record = ContestRecord {
        id: verdict_id(task, records),
        at: now_micros(),
        task: Some(task.id.clone()),
        repository: repository_name(Path::new(&task.spec.repository)),
        task_type: task.spec.task_type.clone().or_else(looks),
        entries: shown.collect(),
        winner: verdict.and_then(|verdict| entries.get(verdict.winner)).map(|entry| entry.model.clone()),
        margin: verdict.map_or(0, |verdict| verdict.margin),
        reason: reason.to_owned(),
    };
    context.store.record_contest(&record).await.map(drop)
}
