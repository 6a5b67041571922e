//! The state of everything, with a cause for each task that does not move.

use super::{
    change::ChangeError,
    contest::cost,
    forecast::{Conflict, conflicts},
    presence::is_supervised,
    snapshot::{breaker_now, limits_of, live_now},
    todo::{TodoStatus, todo_status},
};
use crate::{Context, base::owner::is_gone};
use serde::Serialize;
use shuntyard_core::{
    Nano,
    values::duration::show,
    work::{
        pull_request::{Assessment, PullRequestRecord, PullRequestState},
        task::{Breaker, Hold, Phase, State, TaskId, order},
    },
};
use shuntyard_host::clock::now_micros;
use shuntyard_store::{BatchRecord, GroupBy, RunRecord, SpendKey, SpendKind, TaskFilter, TaskRecord};
use std::time::Duration;

/// Tasks of one phase that are shown one by one.
const SHOWN: u32 = 50;
/// Tasks that are read at once.
const PAGE: u32 = 500;

#[derive(Debug, Clone, Serialize)]
pub struct Status {
    pub counts: Vec<(Phase, u64)>,
    pub running: Vec<TaskStatus>,
    /// Those that do not move, each with its cause.
    pub held: Vec<TaskStatus>,
    /// Those that a person has to do something about: all that ask, are blocked or have failed.
    pub needs_attention: Vec<TaskStatus>,
    pub batches: Vec<BatchStatus>,
    /// Work that cannot all go in as it is.
    pub conflicts: Vec<Conflict>,
    /// The repositories whose TODO.md is kept in step.
    pub todo: Vec<TodoStatus>,
    pub supervisor: Supervisor,
    pub totals: Totals,
    /// Why nothing at all is started, when that is so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stalled: Option<String>,
}

#[derive(Debug, Clone, Copy, Serialize)]
pub struct Supervisor {
    pub running: bool,
}

/// Over all time, of all tasks or of those of one batch.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Totals {
    pub cost_usd: f64,
}

#[derive(Debug, Clone, Serialize)]
pub struct TaskStatus {
    pub id: TaskId,
    pub state: String,
    pub why: String,
    /// Of a task that has opened one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pull_request: Option<PullRequestState>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
}

#[derive(Debug, Clone, Serialize)]
pub struct BatchStatus {
    pub name: String,
    pub concurrency: u32,
    pub paused: bool,
    pub counts: Vec<(Phase, u64)>,
}

pub async fn status(context: &Context, batch: Option<&str>) -> Result<Status, ChangeError> {
    let runs = context.store.live_runs().await?;
    let counts = context.store.task_counts(batch).await?;
    let in_batch = |of: &Option<String>| batch.is_none_or(|wanted| of.as_deref() == Some(wanted));
    let mut running = Vec::new();
    // All that ask, however many others wait.
    let mut asking = Vec::new();
    for run in runs.iter().filter(|run| in_batch(&run.batch)) {
        let record = context.store.task(&run.task).await?;
        // One that waits for a person does not move.
        if record.task.state.phase() == Phase::Waiting {
            asking.push(at_rest(context, &record).await?);
            continue;
        }
        running.push(at_work(context, &record, run).await);
    }
    let mut held = Vec::new();
    for phase in [Phase::Queued, Phase::Waiting, Phase::Blocked] {
        let filter =
            TaskFilter { phase: Some(phase), batch: batch.map(str::to_owned), limit: SHOWN, ..TaskFilter::default() };
        for record in context.store.tasks(&filter).await? {
            // Its contest says what became of it, and whether a person is needed.
            if phase == Phase::Blocked && record.task.spec.entry_of.is_some() {
                continue;
            }
            held.push(at_rest(context, &record).await?);
        }
    }
    let mut needs_attention = asking.clone();
    for phase in [Phase::Blocked, Phase::Failed] {
        needs_attention.extend(all_in(context, phase, batch).await?);
    }
    let unlisted = |task: &TaskStatus| held.iter().all(|listed| listed.id != task.id);
    held.extend(asking.into_iter().filter(unlisted).collect::<Vec<_>>());
    let mut batches = Vec::new();
    for BatchRecord { name, concurrency, paused, .. } in context.store.batches().await? {
        if in_batch(&Some(name.clone())) {
            let counts = context.store.task_counts(Some(&name)).await?;
            batches.push(BatchStatus { name, concurrency, paused, counts });
        }
    }
    let stalled = match breaker_now(context).await? {
        Breaker::Open { until } => Some(format!(
            "the last runs all failed because of their environment; nothing is started for {}",
            span(now_micros(), until)
        )),
        Breaker::Closed => None,
    };
    let conflicts = conflicts(context).await?;
    let todo = todo_status(context).await?;
    let supervisor = Supervisor { running: is_supervised(context) };
    let totals = Totals { cost_usd: spent(context, batch).await?.as_usd() };
    Ok(Status { counts, running, held, needs_attention, batches, conflicts, todo, supervisor, totals, stalled })
}

async fn all_in(context: &Context, phase: Phase, batch: Option<&str>) -> Result<Vec<TaskStatus>, ChangeError> {
    let mut filter =
        TaskFilter { phase: Some(phase), batch: batch.map(str::to_owned), limit: PAGE, ..TaskFilter::default() };
    let mut found = Vec::new();
    loop {
        let page = context.store.tasks(&filter).await?;
        let Some(last) = page.last() else { return Ok(found) };
        filter.after = last.number;
        // A contest reports for its entries.
        for record in page.iter().filter(|record| record.task.spec.entry_of.is_none()) {
            found.push(at_rest(context, record).await?);
        }
    }
}

async fn spent(context: &Context, batch: Option<&str>) -> Result<Nano, ChangeError> {
    if let Some(name) = batch {
        let key = SpendKey { kind: SpendKind::Batch, name: name.to_owned() };
        return Ok(context.store.spent(&key, i64::MIN, i64::MAX).await?.cost);
    }
    let by_task = context.store.spending(i64::MIN, i64::MAX, GroupBy::Task).await?;
    Ok(by_task.into_iter().fold(Nano::default(), |sum, (_, spent)| sum.saturating_add(spent.cost)))
}

/// A task that a run holds, with who that is.
pub async fn at_work(context: &Context, record: &TaskRecord, run: &RunRecord) -> TaskStatus {
    let cost: Option<Nano> = cost(context, &record.task).await.ok().map(|spent| spent.cost);
    let silent = span(run.progress_at, now_micros());
    let why = match &run.worker {
        _ if run.started_at.is_none() => "its worker is being started".to_owned(),
        None => "its worker is not known".to_owned(),
        Some(worker) if is_gone(worker) => "its worker is gone; the next pass takes it back".to_owned(),
        Some(worker) => format!("worker {}, last sign of life {silent} ago", worker.pid),
    };
    TaskStatus {
        id: record.task.id.clone(),
        state: record.task.state.name().to_owned(),
        why,
        pull_request: seen(record),
        model: run.model.clone(),
        seconds: Some(now_micros().saturating_sub(run.claimed_at) / 1_000_000),
        cost_usd: cost.map(Nano::as_usd),
    }
}

fn seen(record: &TaskRecord) -> Option<PullRequestState> {
    record.task.tally.pull_request.as_ref().map(|record| record.assessment.state)
}

/// The whole seconds from one moment to a later one, as people write them.
pub(super) fn span(from: i64, to: i64) -> String {
    let seconds = to.saturating_sub(from).max(0) / 1_000_000;
    show(Duration::from_secs(seconds.unsigned_abs()))
}

/// What a task waits for.
pub async fn why(context: &Context, record: &TaskRecord) -> Result<String, ChangeError> {
    Ok(match &record.task.state {
        State::Queued => queued(context, record).await?,
        State::Waiting { until, detail, .. } => {
            format!("waits another {}: {detail}", span(now_micros(), *until))
        }
        state @ State::Asking { until, answer: None, .. } => {
            let (id, left) = (&record.task.id, span(now_micros(), *until));
            format!("{}; `shuntyard task answer {id} allow|always|deny` within {left}", state.reason())
        }
        State::Review { .. } => match &record.task.tally.pull_request {
            Some(PullRequestRecord { assessment: Assessment { state, detail }, .. }) => {
                let detail = if detail.is_empty() { String::new() } else { format!(": {detail}") };
                format!("{} ({}{detail})", record.task.state.reason(), state.as_str())
            }
            None => record.task.state.reason(),
        },
        state => state.reason(),
    })
}

async fn queued(context: &Context, record: &TaskRecord) -> Result<String, ChangeError> {
    if record.open_blockers > 0 {
        let blockers = context.store.blockers(&record.task.id).await?;
        let open: Vec<String> = blockers
            .into_iter()
            .filter(|(_, phase)| !phase.is_some_and(Phase::releases))
            .map(|(id, phase)| match phase {
                None => format!("{id}, which does not exist"),
                Some(Phase::Failed | Phase::Blocked) => format!("{id}, which needs a person"),
                Some(phase) => format!("{id}, which is {phase}"),
            })
            .collect();
        return Ok(format!("depends on {}", open.join("; ")));
    }
    if record.paused {
        return Ok(format!("its batch {} is paused", record.task.batch.as_deref().unwrap_or_default()));
    }
    if let Breaker::Open { .. } = breaker_now(context).await? {
        return Ok("nothing is started at the moment: the last runs failed because of their environment".to_owned());
    }
    let limits = limits_of(context, &context.store.batches().await?).await;
    let live = live_now(context).await?;
    let candidate = shuntyard_core::work::task::Candidate {
        id: record.task.id.clone(),
        number: record.number,
        priority: record.task.priority,
        repository: record.task.spec.repository.clone(),
        batch: record.task.batch.clone(),
        parent: record.task.parent.clone(),
    };
    let turnout = order(&[candidate], &live, &limits);
    Ok(match turnout.held.first() {
        Some((_, Hold { slot })) => slot.shown(),
        None => {
            "ready: a supervisor starts it with its next pass (`shuntyard supervise`, or `shuntyard pulse`)".to_owned()
        }
    })
}

/// A task that no process works on at the moment.
async fn at_rest(context: &Context, record: &TaskRecord) -> Result<TaskStatus, ChangeError> {
    Ok(TaskStatus {
        id: record.task.id.clone(),
        state: record.task.state.name().to_owned(),
        why: why(context, record).await?,
        pull_request: seen(record),
        model: None,
        seconds: None,
        cost_usd: None,
    })
}
