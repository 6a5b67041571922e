//! A task as scripts see it. Every command that prints one uses this, so that a task has the same form everywhere.

use super::contest::ContestReport;
use crate::cli::moment::rfc3339;
use serde_json::{Value, json};
use shuntyard_core::{
    Nano,
    values::{Deliver, Urgency},
    work::{
        pull_request::PullRequestState,
        task::{Agent, Gate, Place, State, Task},
    },
};
use shuntyard_engine::{Context, queue::supervise};
use shuntyard_store::{Result, RunRecord, Spent, TaskRecord};
use std::path::Path;

/// A task with its tries and its money.
pub struct Whole {
    pub record: TaskRecord,
    pub runs: Vec<RunRecord>,
    pub spent: Spent,
    /// Of a contest: its entries, and what was decided about them.
    pub contest: Option<ContestReport>,
}

impl Whole {
    pub async fn of(context: &Context, record: TaskRecord) -> Result<Self> {
        let runs = context.store.runs(&record.task.id).await?;
        let spent = supervise::cost(context, &record.task).await?;
        let contest = ContestReport::of(context, &record.task).await?;
        Ok(Self { record, runs, spent, contest })
    }

    /// Where its work is, as long as that is there.
    pub fn worktree(&self) -> Option<&str> {
        let in_worktree = self.record.task.spec.place == Place::Worktree;
        let newest = self.runs.iter().rev().find_map(|run| run.worktree.as_deref());
        newest.filter(|path| in_worktree && Path::new(path).exists())
    }

    pub fn branch(&self) -> Option<&str> {
        self.runs.iter().rev().find_map(|run| run.branch.as_deref())
    }

    pub fn document(&self) -> Value {
        let task = &self.record.task;
        let spec = &task.spec;
        let (kind, agent, command) = match &spec.agent {
            Agent::Opencode { agent } => ("model", agent.as_deref(), None),
            Agent::Command { command } => ("command", None, Some(command.as_str())),
        };
        let mut document = json!({
            "id": task.id,
            "phase": task.state.phase(),
            "state": task.state.name(),
            "reason": task.state.reason(),
            "description": spec.description,
            "repo": spec.repository,
            "base": spec.base,
            "branch": self.branch(),
            "worktree": self.worktree(),
            "batch": task.batch,
            "depends_on": task.depends_on,
            "attempts": self.runs.iter().map(attempt).collect::<Vec<_>>(),
            "cost_usd": self.spent.cost.as_usd(),
            "cost_known": self.spent.unknown == 0,
            "receipt": self.record.receipt,
            "priority": task.priority,
            "tier": spec.tier,
            "model": spec.model,
            "task_type": spec.task_type,
            "needs": spec.needs,
            "verify": spec.verify,
            "verification": spec.verification,
            "allow_paths": spec.allow_paths,
            "max_cost_usd": spec.max_cost.map(Nano::as_usd),
            "critical": spec.urgency != Urgency::Normal,
            "estimate_seconds": spec.estimate_seconds,
            "most_attempts": spec.attempts,
            "labels": spec.labels,
            "parent": task.parent.as_ref().or(spec.entry_of.as_ref()),
            "kind": kind,
            "agent": agent,
            "command": command,
            "in_place": spec.place == Place::Directory,
            "gate": spec.gate == Gate::Closed,
            "deliver": spec.deliver,
            "open_blockers": self.record.open_blockers,
            "paused": self.record.paused,
            "created_at": rfc3339(task.created_at),
            "changed_at": rfc3339(task.changed_at),
            "wakes_at": task.state.wakes_at().map(rfc3339),
        });
        // Outside of the macro, which takes no more entries.
        document["deadline"] = spec.deadline.map(rfc3339).into();
        document["with_issue"] = spec.with_issue.into();
        document["request"] = request(&task.state).unwrap_or_default();
        document["pull_request"] = pull_request(task);
        let strategy = if spec.contest.is_some() { "contest" } else { spec.strategy().as_str() };
        document["strategy"] = strategy.into();
        document["entry_of"] = json!(spec.entry_of);
        document["contest"] = self.contest.as_ref().map(ContestReport::document).unwrap_or_default();
        document
    }
}

/// What the agent asks for, until it is answered.
fn request(state: &State) -> Option<Value> {
    match state {
        State::Asking { request, until, answer: None } => Some(json!({
            "id": request.id,
            "permission": request.permission,
            "pattern": request.pattern,
            "until": rfc3339(*until),
        })),
        _ => None,
    }
}

/// The state of the pull request of a task that wants one, as of the last check.
fn pull_request(task: &Task) -> Value {
    match &task.tally.pull_request {
        Some(record) => json!({
            "url": record.url,
            "state": record.assessment.state,
            "detail": record.assessment.detail,
            "head": record.head,
        }),
        None if task.spec.deliver == Deliver::Pr => {
            json!({"url": null, "state": PullRequestState::NoPr, "detail": "none was opened yet", "head": null})
        }
        None => Value::Null,
    }
}

/// One try.
pub fn attempt(run: &RunRecord) -> Value {
    json!({
        "epoch": run.epoch,
        "model": model(run),
        "tier": run.tier,
        "outcome": run.outcome,
        "failure_mode": run.failure_mode,
        "detail": detail(run),
        "cost_usd": run.cost.as_usd(),
        "cost_known": run.cost_known,
        "dispatch": run.dispatch,
        "started_at": rfc3339(run.started_at.unwrap_or(run.claimed_at)),
        "ended_at": run.ended_at.map(rfc3339),
    })
}

/// The model that answered, or else the one that was chosen.
pub fn model(run: &RunRecord) -> Option<&str> {
    run.answered.as_deref().or(run.model.as_deref())
}

/// Why a try failed. Of one that did not, the row has only what its worker noted for itself.
pub fn detail(run: &RunRecord) -> Option<&str> {
    run.detail.as_deref().filter(|_| run.failure_mode.is_some() || run.outcome.as_deref() == Some("lost"))
}
