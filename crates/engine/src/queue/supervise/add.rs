//! Adding tasks: checked as far as that can be done before they run, so that the user sees a typing error at once.

use crate::{Context, base::refusal::Refusal, in_thread, settings_of};
use shuntyard_core::{
    routing::{Selector, check_names},
    values::Deliver,
    work::task::{Agent, BadContest, Contest, Place, State, Tally, Task, TaskId, TaskSpec},
};
use shuntyard_host::{clock::now_micros, git::Git, repository::repository_of};
use shuntyard_store::{BatchRecord, ErrorKind, NewTask, StoreError};
use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

/// A task as it is ordered. An empty base is what is checked out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewTaskOrder {
    pub id: Option<TaskId>,
    pub batch: Option<String>,
    pub parent: Option<TaskId>,
    pub priority: i64,
    pub depends_on: Vec<TaskId>,
    pub spec: TaskSpec,
    pub defaults: Defaults,
}

/// Where that comes from which an order does not say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Defaults {
    /// Nowhere: it says everything.
    None,
    /// The user's settings for the repository. A missing delivery cannot be seen, so it is given here.
    Repository { deliver: Option<Deliver> },
}

#[derive(Debug, thiserror::Error)]
pub enum AddError {
    #[error("the task says nothing about what is to be done")]
    Empty,
    #[error("{0} is not a directory")]
    NoDirectory(PathBuf),
    #[error("{0} is not in a git repository; only a command with `--in-place` needs none")]
    NoRepository(PathBuf),
    #[error("{} has no branch or commit `{base}`", repository.display())]
    NoBase { repository: PathBuf, base: String },
    #[error("`{base}` is no branch of {}, and only a branch can be delivered to", repository.display())]
    NoBranch { repository: PathBuf, base: String },
    #[error("{} has no commit yet: make one first", .0.display())]
    NoCommit(PathBuf),
    #[error("a task cannot depend on itself: {0}")]
    OnItself(TaskId),
    #[error("these tasks wait for each other: {0}")]
    Cycle(String),
    #[error("work by a model needs a worktree: `--in-place` is for commands")]
    InPlace,
    #[error("a verify command that has to fail first needs a verify command")]
    NothingToFail,
    #[error(transparent)]
    Contest(#[from] BadContest),
    #[error(
        "`{0}` is no full name of a model, and each entry of a contest has one: write provider/model, as in `shuntyard models`"
    )]
    NoModel(String),
    #[error("an entry of the contest would be called `{0}`, which is no id: choose a shorter one")]
    LongId(String),
    #[error(transparent)]
    Choice(#[from] Refusal),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("git could not look into {}: {problem}", repository.display())]
    Git { repository: PathBuf, problem: String },
}

/// Checks and adds tasks, all or none, and returns their ids in the same order.
pub async fn add(context: &Context, orders: Vec<NewTaskOrder>) -> Result<Vec<TaskId>, AddError> {
    let unnamed: Vec<bool> = orders.iter().map(|order| order.batch.is_none()).collect();
    let tasks = check_orders(context, orders).await?;
    let filled = tasks.iter().zip(unnamed).filter(|(_, unnamed)| *unnamed);
    let batches: BTreeSet<&String> = filled.filter_map(|(new, _)| new.task.batch.as_ref()).collect();
    for name in batches {
        ensure_batch(context, name).await?;
    }
    Ok(context.store.add_tasks(&tasks).await?)
}

/// A batch that the settings name need not be made by hand.
async fn ensure_batch(context: &Context, name: &str) -> Result<(), StoreError> {
    let batch = BatchRecord { name: name.to_owned(), concurrency: 0, paused: false, created_at: now_micros() };
    match context.store.create_batch(&batch).await {
        Err(error) if error.kind() != ErrorKind::Conflict => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// The tasks as they would be added. Whether their ids and batches are there is for the store to check.
pub async fn check_orders(context: &Context, orders: Vec<NewTaskOrder>) -> Result<Vec<NewTask>, AddError> {
    let mut tasks = Vec::with_capacity(orders.len());
    let mut seen = None;
    for order in orders {
        tasks.push(checked(context, order, &mut seen).await?);
    }
    refuse_cycles(context, &tasks).await?;
    Ok(tasks)
}

/// A place as it was asked for, and what it turned out to be: many tasks of one are added at once.
#[derive(Debug)]
struct Seen {
    asked: (String, String, Deliver),
    repository: String,
    base: String,
}

async fn checked(context: &Context, mut order: NewTaskOrder, seen: &mut Option<Seen>) -> Result<NewTask, AddError> {
    fill_in(context, &mut order);
    let spec = &mut order.spec;
    if spec.description.trim().is_empty() {
        match &spec.agent {
            Agent::Command { command } if !command.trim().is_empty() => spec.description.clone_from(command),
            _ => return Err(AddError::Empty),
        }
    }
    if spec.verification.expect_red_first && spec.verify.is_empty() {
        return Err(AddError::NothingToFail);
    }
    if let (Place::Directory, Agent::Opencode { .. }) = (spec.place, &spec.agent) {
        return Err(AddError::InPlace);
    }
    if let Some(contest) = &spec.contest {
        check_contest(context, contest, order.id.as_ref())?;
    }
    match (spec.model.as_deref(), spec.tier.as_deref(), spec.task_type.as_deref()) {
        (Some(model), ..) => {
            let selector = Selector::from_reference(model, &context.config).map_err(Refusal::from)?;
            check_names(&selector, &context.config).map_err(Refusal::from)?;
        }
        (None, Some(tier), _) => {
            let own = context.config.tier_named(tier).unwrap_or(tier).to_owned();
            check_names(&Selector::Tier(own.clone()), &context.config).map_err(Refusal::from)?;
            spec.tier = Some(own);
        }
        (None, None, Some(kind)) => {
            check_names(&Selector::TaskType(kind.to_owned()), &context.config).map_err(Refusal::from)?;
        }
        (None, None, None) => {}
    }
    order.spec = settled(order.spec, seen).await?;
    // An entry of a contest is no part of it: how many parts of a task may be at work at once is no limit for entries.
    let parent = match &order.spec.entry_of {
        Some(_) => None,
        None => order.parent.or_else(|| order.id.as_ref().and_then(TaskId::parent)),
    };
    if let Some(id) = order.id.as_ref().filter(|id| order.depends_on.contains(id)) {
        return Err(AddError::OnItself(id.clone()));
    }
    let now = now_micros();
    let task = Task {
        // A made id is given by the store.
        id: order.id.clone().unwrap_or_else(|| TaskId::numbered(0)),
        batch: order.batch,
        parent,
        priority: order.priority,
        depends_on: order.depends_on,
        spec: order.spec,
        state: State::Queued,
        tally: Tally::default(),
        epoch: 0,
        created_at: now,
        changed_at: now,
    };
    Ok(NewTask { id: order.id, task })
}

/// Every model is one, they differ, and their entries can be named.
fn check_contest(context: &Context, contest: &Contest, id: Option<&TaskId>) -> Result<(), AddError> {
    Contest::new(contest.models.clone())?;
    let mut seen: Vec<(Selector, &String)> = Vec::new();
    for model in &contest.models {
        let selector = Selector::from_reference(model, &context.config).map_err(Refusal::from)?;
        // Another name could turn out to be the same model, which would compete with itself.
        if !matches!(selector, Selector::Exact(_)) {
            return Err(AddError::NoModel(model.clone()));
        }
        if seen.iter().any(|(other, _)| *other == selector) {
            return Err(BadContest::Twice(model.clone()).into());
        }
        seen.push((selector, model));
    }
    let longest = id.map(|id| contest.entry_ids(id)).transpose();
    longest.map(drop).map_err(|error| AddError::LongId(error.0))
}

fn fill_in(context: &Context, order: &mut NewTaskOrder) {
    let Defaults::Repository { deliver } = order.defaults else { return };
    if context.config.repository.is_empty() {
        return;
    }
    let directory = std::path::absolute(&order.spec.repository).unwrap_or_default();
    if let Some(top) = repository_of(&directory) {
        let top = std::fs::canonicalize(&top).unwrap_or(top);
        settings_of(&context.config, &top).fill(&mut order.spec, &mut order.batch, deliver);
    }
}

/// Git is asked in a thread, since the server that adds the task serves others meanwhile.
async fn settled(spec: TaskSpec, seen: &mut Option<Seen>) -> Result<TaskSpec, AddError> {
    let repository = PathBuf::from(&spec.repository);
    let mut known = seen.take();
    let settling = in_thread(move || {
        let mut spec = spec;
        settle_place(&mut spec, &mut known).map(|()| (spec, known))
    });
    let (spec, known) = settling.await.map_err(|error| AddError::Git { repository, problem: error.to_string() })??;
    *seen = known;
    Ok(spec)
}

/// The repository becomes the top of the main working tree, the base a name that git knows.
fn settle_place(spec: &mut TaskSpec, seen: &mut Option<Seen>) -> Result<(), AddError> {
    let asked = (spec.repository.clone(), spec.base.clone(), spec.deliver);
    if let Some(seen) = seen.as_ref().filter(|seen| seen.asked == asked && spec.place == Place::Worktree) {
        (spec.repository, spec.base) = (seen.repository.clone(), seen.base.clone());
        return Ok(());
    }
    let directory = std::path::absolute(&asked.0).unwrap_or_else(|_| PathBuf::from(&asked.0));
    if !directory.is_dir() {
        return Err(AddError::NoDirectory(directory));
    }
    if spec.place == Place::Directory {
        spec.repository = canonical(&directory);
        return Ok(());
    }
    let Some(top) = repository_of(&directory) else {
        return Err(AddError::NoRepository(directory));
    };
    let git = Git::default();
    let problem = |error: &dyn std::fmt::Display| AddError::Git { repository: top.clone(), problem: error.to_string() };
    if git.head(&top).map_err(|error| problem(&error))?.is_none() {
        return Err(AddError::NoCommit(top));
    }
    // In the user's current directory: a linked worktree is on a branch of its own.
    if spec.base.is_empty() || spec.base == "HEAD" {
        git.default_base(&directory).map_err(|error| problem(&error))?.name().clone_into(&mut spec.base);
    }
    let name = spec.base.strip_prefix("refs/heads/").unwrap_or(&spec.base).to_owned();
    if git.branch_commit(&top, &name).map_err(|error| problem(&error))?.is_some() {
        spec.base = name;
    } else {
        // Anything else may mean another commit tomorrow.
        let asked = std::mem::take(&mut spec.base);
        spec.base = match git.commit_of(&directory, &asked) {
            Ok(commit) => commit,
            Err(_) => return Err(AddError::NoBase { repository: top, base: asked }),
        };
        // What is no branch cannot be moved forward.
        if spec.deliver != Deliver::Branch {
            return Err(AddError::NoBranch { repository: top, base: asked });
        }
    }
    spec.repository = canonical(&top);
    *seen = Some(Seen { asked, repository: spec.repository.clone(), base: spec.base.clone() });
    Ok(())
}

fn canonical(path: &Path) -> String {
    std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned()).display().to_string()
}

/// Tasks that wait for each other would wait for ever. Only what is added now can close a circle.
async fn refuse_cycles(context: &Context, tasks: &[NewTask]) -> Result<(), AddError> {
    let named: std::collections::BTreeMap<&TaskId, &[TaskId]> =
        tasks.iter().filter_map(|new| Some((new.id.as_ref()?, new.task.depends_on.as_slice()))).collect();
    for start in named.keys() {
        let mut path: Vec<TaskId> = vec![(*start).clone()];
        let mut open: Vec<(TaskId, usize)> = named[start].iter().map(|id| (id.clone(), 1)).collect();
        let mut visited = std::collections::BTreeSet::new();
        while let Some((id, depth)) = open.pop() {
            path.truncate(depth);
            if id == **start {
                let names: Vec<String> = path.iter().chain([&id]).map(TaskId::to_string).collect();
                return Err(AddError::Cycle(names.join(" → ")));
            }
            if !visited.insert(id.clone()) {
                continue;
            }
            path.push(id.clone());
            let further = match named.get(&id) {
                Some(needs) => needs.to_vec(),
                None => context.store.blockers(&id).await?.into_iter().map(|(id, _)| id).collect(),
            };
            open.extend(further.into_iter().map(|id| (id, depth + 1)));
        }
    }
    Ok(())
}
