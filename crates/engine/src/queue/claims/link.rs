//! A task that is added under the id of a line of TODO.md: linked to that line, and claimed there.
//!
//! Whether the line can be had is asked before the task is added, and the claim is made afterwards. A process that dies
//! in between leaves a task like any that was picked up: its worker claims the line before it begins.

use super::{
    ClaimFault, Line, issues,
    line::linked,
    shared::{Shared, usual_base},
    sync::chosen,
    take::{Taken, claim, take},
    tip::{Look, Silence},
    write::{Run, blocking, find},
};
use crate::{
    Context,
    queue::supervise::{NewTaskOrder, cancel},
    settings_of,
};
use shuntyard_core::{
    settings::OfflineClaims,
    todo::{Blocking, ClaimError, Document, Field, TaskLine},
    work::task::{Agent, Place, TaskId},
};
use shuntyard_host::repository::repository_of;
use std::{collections::BTreeMap, path::PathBuf};

/// A TODO.md as it is shared now, and the branch that work on it starts from.
struct File {
    document: Document,
    base: String,
}

/// Links each order whose id is that of a line in a repository that opted in. What the order does not say, the line
/// does. A line that is claimed by others or not open is refused; an id that no line has needs no link.
pub async fn link(context: &Context, orders: Vec<NewTaskOrder>) -> Result<Vec<NewTaskOrder>, ClaimFault> {
    if !context.config.repository.values().any(|settings| settings.todo) {
        return Ok(orders);
    }
    let mut files: BTreeMap<PathBuf, Option<File>> = BTreeMap::new();
    let mut all = Vec::with_capacity(orders.len());
    for mut order in orders {
        let directory = std::path::absolute(&order.spec.repository)?;
        let top = repository_of(&directory).map(|top| std::fs::canonicalize(&top).unwrap_or(top));
        if let (Some(id), Some(top), Place::Worktree) = (order.id.clone(), top, order.spec.place)
            && settings_of(&context.config, &top).todo
        {
            if !files.contains_key(&top) {
                files.insert(top.clone(), read(context, &top, &order.spec.base).await?);
            }
            if let Some(Some(file)) = files.get(&top)
                && let Some(line) = file.document.task(&id).map_err(shuntyard_core::todo::EditError::from)?
            {
                if order.spec.base.is_empty() {
                    order.spec.base.clone_from(&file.base);
                }
                say(context, &mut order, file, line, &top).await?;
                let line = Line::new(&top, &order.spec.base, &id);
                refuse(claim(context, &line, Run::Dry).await?.taken, &line)?;
            }
        }
        all.push(order);
    }
    Ok(all)
}

/// Claims the lines of tasks that were just added. A task whose line was lost in the meantime is cancelled. Returns
/// what could not be done yet, and is done when the task begins.
pub async fn claim_added(context: &Context, ids: &[TaskId]) -> Result<Vec<String>, ClaimFault> {
    let mut notes = Vec::new();
    if !context.config.repository.values().any(|settings| settings.todo) {
        return Ok(notes);
    }
    for id in ids {
        let task = context.store.task(id).await?.task;
        let Some(line) = Line::of(&task) else { continue };
        if task.spec.with_issue {
            notes.extend(issues::create(context, &line, &task.spec.description).await);
        }
        match take(context, &task).await {
            Ok(Taken::Offline(why)) => notes.push(format!("{id} is claimed when it begins: {why}")),
            Ok(taken) => {
                if let Err(fault) = refuse(taken, &line) {
                    cancel(context, id, "TODO.md").await?;
                    return Err(fault);
                }
            }
            Err(fault) => notes.push(format!("{id} is claimed when it begins: {fault}")),
        }
    }
    Ok(notes)
}

fn refuse(taken: Taken, line: &Line) -> Result<(), ClaimFault> {
    match taken {
        Taken::Confirmed | Taken::Local | Taken::NotNeeded | Taken::Unconfirmed(_) => Ok(()),
        Taken::Lost { by } => Err(ClaimError::Refused { id: line.todo.clone(), by }.into()),
        Taken::Offline(why) => Err(ClaimFault::Unreachable { place: "the remote".to_owned(), why }),
    }
}

/// None: there is no TODO.md, so no line can be meant.
async fn read(context: &Context, top: &std::path::Path, base: &str) -> Result<Option<File>, ClaimFault> {
    let base = if base.is_empty() { usual_base(top).await? } else { base.to_owned() };
    let shared = find(context, top, &base).await?;
    let looked = match blocking(&shared, Shared::look).await {
        Ok(Look::Unreachable(found)) if found.how == Silence::Offline && allows_offline(context) => {
            blocking(&shared.alone(), Shared::look).await
        }
        looked => looked,
    };
    match looked {
        Ok(Look::At(tip)) => {
            let base = blocking(&shared, |shared| Ok(shared.base()?)).await?;
            Ok(Some(File { document: tip.document, base }))
        }
        Ok(Look::Unreachable(found)) => Err(ClaimFault::Unreachable { place: shared.place(), why: found.why }),
        Err(ClaimFault::NoFile { .. }) => Ok(None),
        Err(fault) => Err(fault),
    }
}

fn allows_offline(context: &Context) -> bool {
    context.config.supervise.offline_claims == OfflineClaims::Allow
}

/// What the line says and the order does not.
async fn say(
    context: &Context,
    order: &mut NewTaskOrder,
    file: &File,
    line: &TaskLine,
    top: &std::path::Path,
) -> Result<(), ClaimFault> {
    let known = linked(context, top).await?.into_iter();
    let names: BTreeMap<TaskId, TaskId> =
        known.filter_map(|record| Some((record.task.spec.todo?, record.task.id))).collect();
    for blocker in Blocking::of(&file.document).blockers(&line.id) {
        let Ok(todo) = blocker.id.parse::<TaskId>() else { continue };
        let id = names.get(&todo).cloned().unwrap_or(todo);
        if !order.depends_on.contains(&id) {
            order.depends_on.push(id);
        }
    }
    order.parent = order.parent.take().or_else(|| names.get(line.parent.as_ref()?).cloned());
    let spec = &mut order.spec;
    spec.todo = Some(line.id.clone());
    if spec.description.trim().is_empty() {
        spec.description.clone_from(&line.description);
    }
    if spec.labels.is_empty() {
        spec.labels.clone_from(&line.tags);
    }
    spec.estimate_seconds = spec.estimate_seconds.or(line.estimate.as_ref().map(|estimate| estimate.total.as_secs()));
    let is_chosen = spec.model.is_some() || spec.tier.is_some() || spec.task_type.is_some();
    if let (Agent::Opencode { .. }, false, Some(name)) = (&spec.agent, is_chosen, line.value(Field::Model)) {
        (spec.model, spec.tier) =
            chosen(context, name).map_err(|problem| ClaimFault::BadModel { name: name.to_owned(), problem })?;
    }
    Ok(())
}
