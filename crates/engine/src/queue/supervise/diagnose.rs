//! The diagnosis of a task that needs a person: once for each, in a task of its own, and never for a diagnosis itself.

use super::{
    add::{AddError, Defaults, NewTaskOrder, add},
    orders::cancel,
};
use crate::Context;
use shuntyard_core::{
    values::Deliver,
    work::task::{Agent, Gate, Place, Task, TaskId, TaskSpec, Verification},
};
use shuntyard_store::ErrorKind;

/// The name of the diagnosis of a task. It is always the same, so there is only one.
fn named_after(id: &TaskId) -> Option<TaskId> {
    format!("{id}-look").parse().ok()
}

pub(super) async fn diagnose(context: &Context, id: &TaskId) -> Result<String, String> {
    let task = context.store.task(id).await.map_err(|error| error.to_string())?.task;
    let Some(look) = named_after(id) else { return Ok("its name is too long for a look".to_owned()) };
    if task.state.phase().releases() {
        return Ok("it is settled by now".to_owned());
    }
    let order = NewTaskOrder {
        id: Some(look),
        batch: task.batch.clone(),
        parent: None,
        priority: task.priority,
        depends_on: Vec::new(),
        spec: wanted(&task),
        defaults: Defaults::None,
    };
    match add(context, vec![order]).await {
        Ok(_) => Ok("a look was queued".to_owned()),
        Err(AddError::Store(error)) if error.kind() == ErrorKind::Conflict => {
            Ok("it was looked into before".to_owned())
        }
        Err(error) => Err(error.to_string()),
    }
}

/// Reading and writing one report; what it finds is for people.
fn wanted(task: &Task) -> TaskSpec {
    let lessons = task.tally.lessons.iter().map(|lesson| format!("- {lesson}")).collect::<Vec<_>>().join("\n");
    let description = format!(
        "Find out why this task could not be done, and write what you find, with the next step that you would take, \
         to DIAGNOSIS.md. Change nothing else.\n\nThe task was:\n{}\n\nIt ended with: {}\n\nIts tries taught:\n{lessons}",
        task.spec.description,
        task.state.reason()
    );
    TaskSpec {
        description,
        agent: Agent::Opencode { agent: None },
        place: Place::Worktree,
        verify: Vec::new(),
        allow_paths: vec!["DIAGNOSIS.md".to_owned()],
        attempts: Some(1),
        deliver: Deliver::Branch,
        gate: Gate::Closed,
        verification: Verification::default(),
        diagnoses: Some(task.id.clone()),
        todo: None,
        strategy: None,
        contest: None,
        entry_of: None,
        deadline: None,
        with_issue: false,
        ..task.spec.clone()
    }
}

/// A task that is done needs no diagnosis any more.
pub(super) async fn call_off(context: &Context, id: &TaskId) {
    if let Some(look) = named_after(id)
        && let Ok(record) = context.store.task(&look).await
        && record.task.spec.diagnoses.as_ref() == Some(id)
        && !record.task.state.phase().is_settled()
    {
        // One that ends by itself in this moment is just as good.
        drop(cancel(context, &look, &format!("{id}, which is done")).await);
    }
}
