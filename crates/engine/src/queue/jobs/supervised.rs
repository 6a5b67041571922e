//! Queues a task that is supervised in a worktree of its own, with evidence.

use super::{JobError, Start, Started, ensure::ensure_runner};
use crate::{
    Context,
    queue::supervise::{AddError, Defaults, NewTaskOrder, add},
};
use shuntyard_core::{
    values::{Deliver, Urgency},
    work::task::{Agent, Contest, Gate, Place, TaskSpec, Verification},
};
use shuntyard_host::clock::now_micros;
use shuntyard_store::{BatchRecord, ErrorKind};

/// The batch of all tasks that came as jobs: only those are supervised without a supervisor of the user's.
pub(super) const HANDED_OVER: &str = "handed-over";

pub(super) async fn start(context: &Context, start: &Start) -> Result<Started, JobError> {
    let deliver = match start.deliver.as_deref() {
        None | Some("branch") => Deliver::Branch,
        Some("merge") => Deliver::Merge,
        Some("pr") => Deliver::Pr,
        Some(other) => {
            return Err(JobError::choose(format!("there is no way `{other}` to deliver"), ["branch", "merge", "pr"]));
        }
    };
    if start.model.is_some() && !start.models.is_empty() {
        return Err(JobError::usage(
            "`model` and `models` were both given".to_owned(),
            "one model does the work, or several compete",
        ));
    }
    let estimate = start.timeout.map(|timeout| timeout.as_secs().div_ceil(2));
    let spec = TaskSpec {
        description: start.task.clone(),
        repository: start.directory.display().to_string(),
        base: start.base.clone().unwrap_or_default(),
        agent: Agent::Opencode { agent: None },
        place: Place::Worktree,
        model: start.model.clone(),
        tier: None,
        task_type: start.task_type.clone(),
        needs: Vec::new(),
        verify: start.verify.clone(),
        allow_paths: Vec::new(),
        max_cost: start.max_cost,
        urgency: Urgency::Normal,
        estimate_seconds: estimate,
        attempts: None,
        labels: Vec::new(),
        deliver,
        gate: Gate::Closed,
        verification: Verification::default(),
        diagnoses: None,
        strategy: None,
        contest: (!start.models.is_empty()).then(|| Contest { models: start.models.clone() }),
        entry_of: None,
        todo: None,
        deadline: None,
        with_issue: false,
    };
    let batch = BatchRecord { name: HANDED_OVER.to_owned(), concurrency: 0, paused: false, created_at: now_micros() };
    match context.store.create_batch(&batch).await {
        Err(error) if error.kind() != ErrorKind::Conflict => return Err(error.into()),
        _ => {}
    }
    let order = NewTaskOrder {
        id: None,
        batch: Some(HANDED_OVER.to_owned()),
        parent: None,
        priority: 0,
        depends_on: Vec::new(),
        spec,
        defaults: Defaults::None,
    };
    let ids = add(context, vec![order]).await.map_err(refused)?;
    let Some(id) = ids.into_iter().next() else {
        return Err(JobError::unavailable("the task was not added", "try again"));
    };
    ensure_runner(context)?;
    let notes = vec![format!("it works in a worktree of its own and leaves the branch {}", TaskSpec::branch(&id))];
    Ok(Started {
        id: id.to_string(),
        kind: "supervised".to_owned(),
        status: "queued".to_owned(),
        worker: None,
        profile: None,
        position: None,
        reference: start.model.clone().or_else(|| start.task_type.clone()),
        model: None,
        policy: None,
        reason: Some("the model is chosen when it starts, and again for every try".to_owned()),
        notes,
    })
}

fn refused(error: AddError) -> JobError {
    match error {
        AddError::Choice(refusal) => refusal.into(),
        AddError::Store(error) => error.into(),
        other => JobError::usage(other.to_string(), "a supervised task needs a git repository with a commit"),
    }
}
