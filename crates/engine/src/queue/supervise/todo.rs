//! The TODO.md of each repository that opted in, brought together with the store while tasks are supervised: lines are
//! picked up, what is done is ticked, and claims that were left behind are given back.
//!
//! Invariant: no start of a task waits for a remote here. What one process did holds for all: when a synchronisation
//! began and ended is in the store, and one that is repeated or cut off changes nothing twice.

use crate::{
    Context,
    base::hash::short_hash,
    queue::claims::{self, Ended, ISSUE_FAILED, Issues, Run, SyncOptions, SyncReport, failure_mark},
};
use jiff::Timestamp;
use serde::Serialize;
use serde_json::json;
use shuntyard_core::{
    settings::{micros, remote_name},
    todo::Looks,
    values::clean_line,
    work::task::TaskId,
};
use shuntyard_host::clock::now_micros;
use shuntyard_store::StoreError;
use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    time::Duration,
};
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

/// What takes longer has failed: a few calls of git, each of which ends when the remote is silent.
const LONGEST: Duration = Duration::from_secs(300);
const LONGEST_MICROS: i64 = 300_000_000;
/// How long to wait when the store cannot say when the next synchronisation is due.
const AFTER_TROUBLE: Duration = Duration::from_secs(2);
/// Characters of a problem that are kept.
const ROOM: usize = 300;
const TROUBLE: &str = "todo.trouble";
const WELL: &str = "todo.well";

/// What one synchronisation of a TODO.md did.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct TodoPass {
    pub repository: String,
    pub added: Vec<TaskId>,
    pub ticked: Vec<TaskId>,
    pub released: Vec<TaskId>,
    pub cancelled: Vec<TaskId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

impl TodoPass {
    fn changed_nothing(&self) -> bool {
        [&self.added, &self.ticked, &self.released, &self.cancelled].into_iter().all(Vec::is_empty)
    }
}

/// The state of one TODO.md.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TodoStatus {
    pub repository: String,
    /// When the last synchronisation ended.
    pub synced_at: Option<String>,
    /// Why not everything could be brought together then.
    pub problem: Option<String>,
}

/// Synchronises again and again until it is cancelled. One that is cut off then is completed by the next.
pub(super) async fn keep(context: &Context, batch: Option<&str>, tell: impl Fn(&TodoPass), cancel: &CancellationToken) {
    let looking = async {
        while let Some(pause) = until_due(context, batch).await {
            sleep(pause).await;
            look_where_due(context, batch).await.iter().for_each(&tell);
        }
    };
    tokio::select! {
        () = looking => {}
        () = cancel.cancelled() => {}
    }
}

/// Synchronises where it is time, side by side, and returns what is worth reporting: changes, and problems that are
/// new.
pub(super) async fn look_where_due(context: &Context, batch: Option<&str>) -> Vec<TodoPass> {
    let Some(every) = every(context) else { return Vec::new() };
    let mut due = Vec::new();
    for name in opted_in(context, batch) {
        match looks(context, name).await {
            Ok(looks) if looks.due_in(now_micros(), every) == 0 => due.push(name),
            Ok(_) => {}
            Err(error) => tracing::warn!(%error, repository = name, "the time of the last look is not known"),
        }
    }
    let done = futures_util::future::join_all(due.into_iter().map(|name| look(context, name))).await;
    done.into_iter().flatten().collect()
}

/// The synchronisations that a supervisor waits for before it ends, since each may bring more to do.
#[derive(Debug, Default)]
pub(super) struct LastLooks {
    /// For each repository, when the first synchronisation began that was seen while nothing else was left to do.
    began: BTreeMap<String, i64>,
}

impl LastLooks {
    /// Whether every repository was synchronised: nothing is due or under way there, or one has ended that began at
    /// `idle_since` or later. Where one takes as long as the pause between two, no moment is without one.
    pub(super) async fn are_over(&mut self, context: &Context, batch: Option<&str>, idle_since: i64) -> bool {
        let Some(every) = every(context) else { return true };
        let (now, mut all) = (now_micros(), true);
        for name in opted_in(context, batch) {
            let Ok(looks) = looks(context, name).await else { return false };
            if looks.due_in(now, every) > 0 && !looks.is_under_way(now, LONGEST_MICROS) {
                continue;
            }
            if let Some(began) = looks.began.filter(|began| *began >= idle_since) {
                self.began.entry(name.to_owned()).or_insert(began);
            }
            all &= self.began.get(name).is_some_and(|began| looks.ended.is_some_and(|ended| ended >= *began));
        }
        all
    }
}

pub(super) async fn todo_status(context: &Context) -> Result<Vec<TodoStatus>, StoreError> {
    let mut all = Vec::new();
    for name in opted_in(context, None) {
        let ended = looks(context, name).await?.ended;
        let synced_at = ended.and_then(|at| Timestamp::from_microsecond(at).ok()).map(|at| at.to_string());
        let of_issues = told_at(context, &failure_mark(name), ISSUE_FAILED).await?;
        let problems: Vec<String> = known_problem(context, name).await?.into_iter().chain(of_issues).collect();
        let problem = (!problems.is_empty()).then(|| problems.join("; "));
        all.push(TodoStatus { repository: name.to_owned(), synced_at, problem });
    }
    Ok(all)
}

/// With a batch, only repositories whose lines become tasks of that batch.
fn opted_in<'a>(context: &'a Context, batch: Option<&str>) -> Vec<&'a str> {
    let wanted = |of: &str| batch.is_none_or(|batch| of == batch);
    let opted = context.config.repository.iter().filter(|(_, settings)| settings.todo && wanted(&settings.batch));
    opted.map(|(name, _)| name.as_str()).collect()
}

fn every(context: &Context) -> Option<i64> {
    context.config.supervise.todo_every.0.map(|_| micros(context.config.supervise.todo_every))
}

/// None: there is nothing to synchronise, ever.
async fn until_due(context: &Context, batch: Option<&str>) -> Option<Duration> {
    let every = every(context)?;
    let mut soonest = None;
    for name in opted_in(context, batch) {
        let due = match looks(context, name).await {
            Ok(looks) => Duration::from_micros(looks.due_in(now_micros(), every).unsigned_abs()),
            Err(_) => AFTER_TROUBLE,
        };
        soonest = Some(soonest.map_or(due, |soonest: Duration| soonest.min(due)));
    }
    soonest
}

fn mark(what: &str, name: &str) -> String {
    format!("todo.{what}.{}", short_hash(name))
}

async fn looks(context: &Context, name: &str) -> Result<Looks, StoreError> {
    let began = context.store.mark(&mark("began", name)).await?;
    let ended = context.store.mark(&mark("ended", name)).await?;
    Ok(Looks { began, ended })
}

async fn look(context: &Context, name: &str) -> Option<TodoPass> {
    // Before anything is asked, so that no other process asks as well.
    if let Err(error) = context.store.set_mark(&mark("began", name), now_micros()).await {
        tracing::warn!(%error, repository = name, "TODO.md was not looked at");
        return None;
    }
    let done = match timeout(LONGEST, brought_together(context, name)).await {
        Ok(Ok(report)) => told(name, report),
        Ok(Err(problem)) => problematic(name, &problem),
        Err(_) => problematic(name, &format!("it was not done within {} s", LONGEST.as_secs())),
    };
    let is_new = remember(context, name, done.problem.as_deref()).await.unwrap_or(true);
    if let Err(error) = context.store.set_mark(&mark("ended", name), now_micros()).await {
        tracing::warn!(%error, repository = name, "the end of a look at TODO.md was not noted");
    }
    (!done.changed_nothing() || (is_new && done.problem.is_some())).then_some(done)
}

async fn brought_together(context: &Context, name: &str) -> Result<SyncReport, String> {
    let directory = Path::new(name);
    if remote_name(name).is_some() {
        return Err("a remote names no checkout: opt in by the path of its top directory".to_owned());
    }
    if !directory.is_absolute() || !directory.join(".git").exists() {
        return Err("this is not the top directory of a repository".to_owned());
    }
    let options = SyncOptions { run: Run::Real, ended: Ended::CancelIdle, issues: Issues::AsSet, base: None };
    claims::sync(context, directory, options).await.map_err(|fault| fault.to_string())
}

fn told(name: &str, report: SyncReport) -> TodoPass {
    let offline = report.offline.map(|why| format!("{} cannot be asked: {why}", report.place));
    let cycles = report.cycles.iter().map(|cycle| {
        let ids: Vec<&str> = cycle.iter().map(TaskId::as_str).collect();
        format!("{} wait for each other", ids.join(", "))
    });
    let settled = |todo: &TaskId| report.marked.contains(todo) || report.cancelled.contains(todo);
    let lines =
        report.skipped.iter().chain(&report.differences).filter(|told| told.needs_person && !settled(&told.todo));
    let mut problems: Vec<String> = offline.into_iter().chain(cycles).collect();
    problems.extend(lines.map(|told| format!("{}: {}", told.todo, told.detail)));
    problems.extend(report.notes.iter().cloned());
    // A line that the file has twice is seen by both sides.
    let mut seen = BTreeSet::new();
    problems.retain(|problem| seen.insert(problem.clone()));
    TodoPass {
        repository: name.to_owned(),
        added: report.added.into_iter().map(|added| added.id).collect(),
        ticked: report.marked,
        released: report.released.into_iter().chain(report.freed).collect(),
        cancelled: report.cancelled,
        problem: (!problems.is_empty()).then(|| clean_line(&problems.join("; "), ROOM)),
    }
}

fn problematic(name: &str, problem: &str) -> TodoPass {
    TodoPass { repository: name.to_owned(), problem: Some(clean_line(problem, ROOM)), ..TodoPass::default() }
}

/// Writes a problem into the event log when it is another than before, and returns whether it is.
async fn remember(context: &Context, name: &str, problem: Option<&str>) -> Result<bool, StoreError> {
    let known = known_problem(context, name).await?;
    if known.as_deref() == problem {
        return Ok(false);
    }
    let at = now_micros();
    let position = match problem {
        Some(problem) => {
            tracing::warn!(repository = name, problem, "TODO.md could not be brought together with the store");
            context.store.append_event(at, TROUBLE, name, &json!({ "problem": problem })).await?
        }
        None => {
            context.store.append_event(at, WELL, name, &json!({})).await?;
            0
        }
    };
    context.store.set_mark(&mark("problem", name), position).await?;
    Ok(true)
}

/// The mark has the position of the event that reports it; 0 when all is well.
async fn known_problem(context: &Context, name: &str) -> Result<Option<String>, StoreError> {
    told_at(context, &mark("problem", name), TROUBLE).await
}

async fn told_at(context: &Context, mark: &str, kind: &str) -> Result<Option<String>, StoreError> {
    let Some(position) = context.store.mark(mark).await?.filter(|at| *at > 0) else {
        return Ok(None);
    };
    let found = context.store.events_after(position - 1, 1).await?.into_iter().next();
    let found = found.filter(|event| event.position == position && event.kind == kind);
    Ok(found.and_then(|event| event.data["problem"].as_str().map(str::to_owned)))
}
