//! Lines that are to be dispatched become tasks of the store.
//!
//! A line that waits for others is taken in as soon as all of them are known here: then the store waits for them, and
//! no further synchronisation is needed in between.

use super::{
    super::{
        ClaimFault,
        line::linked,
        shared::Shared,
        write::{Run, blocking},
    },
    report::{Added, SyncNote, SyncReport, hindered, is_stuck},
};
use crate::{
    Context,
    queue::supervise::{AddError, Defaults, NewTaskOrder, add},
};
use shuntyard_core::{
    routing::{Selector, check_names},
    todo::{Blocking, Checkbox, Document, Field, Pickup, Skipped, TaskLine, pickable},
    values::{Deliver, Urgency},
    work::task::{Agent, Gate, Place, TaskId, TaskSpec, Verification},
};
use shuntyard_store::ErrorKind;
use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

/// Another process may have added the same tasks in between.
const TRIES: u32 = 3;

/// The file, and what its tasks have in common.
struct Source<'d> {
    document: &'d Document,
    blocking: Blocking<'d>,
    repository: &'d Path,
    base: String,
}

pub(super) async fn import(
    context: &Context,
    document: &Document,
    shared: &Shared,
    run: Run,
    with_issue: bool,
    report: &mut SyncReport,
) -> Result<(), ClaimFault> {
    let base = blocking(shared, |shared| Ok(shared.base()?)).await?;
    let source = Source { document, blocking: Blocking::of(document), repository: &shared.repository, base };
    for last in (1..=TRIES).map(|attempt| attempt == TRIES) {
        let mut skipped = Vec::new();
        let mut orders = orders(context, &source, &mut skipped).await?;
        orders.iter_mut().for_each(|order| order.spec.with_issue = with_issue);
        let added: Vec<Added> = orders.iter().filter_map(described).collect();
        if run == Run::Real && !orders.is_empty() {
            match add(context, orders).await {
                Err(AddError::Store(error)) if error.kind() == ErrorKind::Conflict && !last => continue,
                added => added?,
            };
        }
        (report.added, report.skipped) = (added, skipped);
        return Ok(());
    }
    Ok(())
}

fn described(order: &NewTaskOrder) -> Option<Added> {
    Some(Added {
        id: order.id.clone()?,
        todo: order.spec.todo.clone()?,
        description: order.spec.description.clone(),
        depends_on: order.depends_on.clone(),
    })
}

/// What the lines of a file are called in the store.
type Names = BTreeMap<TaskId, TaskId>;

async fn orders(
    context: &Context,
    source: &Source<'_>,
    skipped: &mut Vec<SyncNote>,
) -> Result<Vec<NewTaskOrder>, ClaimFault> {
    let stored = linked(context, source.repository).await?;
    let known = stored.into_iter().filter_map(|record| Some((record.task.spec.todo?, record.task.id)));
    let mut names: Names = known.collect();
    let mut thought = source.document.clone();
    let mut orders = Vec::new();
    loop {
        let before = names.len();
        thought = with_known_done(thought, source, &names);
        let pickup = pickable(&thought);
        skipped.clear();
        for pick in pickup.picks.iter().filter(|pick| !names.contains_key(&pick.id)).collect::<Vec<_>>() {
            let Ok(Some(line)) = source.document.task(&pick.id) else { continue };
            match order(context, source, line, &names).await? {
                Ok(order) => {
                    names.extend(order.id.clone().map(|id| (pick.id.clone(), id)));
                    orders.push(order);
                }
                Err(told) => skipped.push(told),
            }
        }
        if names.len() == before {
            skipped.extend(hindrances(source.document, &pickup, &names));
            return Ok(orders);
        }
    }
}

/// The file as it will be when what the store knows is done: who waits for nothing else can be taken in now.
fn with_known_done(mut thought: Document, source: &Source<'_>, names: &Names) -> Document {
    let awaited = source.document.tasks().flat_map(|line| source.blocking.blockers(&line.id));
    let awaited: BTreeSet<TaskId> = awaited.filter_map(|blocker| blocker.id.parse().ok()).collect();
    for id in awaited.iter().filter(|id| names.contains_key(id)) {
        let edited = thought.set_box(id, Checkbox::Done);
        thought = edited.map_or(thought, |edited| edited.document);
    }
    thought
}

fn hindrances(document: &Document, pickup: &Pickup, names: &Names) -> Vec<SyncNote> {
    let unknown = pickup.skipped.iter().filter(|skipped| !names.contains_key(&skipped.id));
    let open = unknown.filter(|skipped| {
        // A line that is over is not waiting to be dispatched.
        document.named(&skipped.id).any(|line| !line.checkbox.releases())
    });
    let told = |skipped: &Skipped| {
        let (kind, detail) = hindered(&skipped.obstacle);
        let detail = if skipped.of == skipped.id { detail } else { format!("{}, above it: {detail}", skipped.of) };
        let needs_person = is_stuck(&skipped.obstacle);
        SyncNote { kind, todo: skipped.id.clone(), line: Some(skipped.line), detail, needs_person }
    };
    open.map(told).collect()
}

/// A task for a line, or why there can be none.
async fn order(
    context: &Context,
    source: &Source<'_>,
    line: &TaskLine,
    names: &Names,
) -> Result<Result<NewTaskOrder, SyncNote>, ClaimFault> {
    let no = |kind, detail| SyncNote { kind, todo: line.id.clone(), line: Some(line.line), detail, needs_person: true };
    if line.description.trim().is_empty() {
        return Ok(Err(no("empty", "it says nothing about what is to be done".to_owned())));
    }
    let (model, tier) = match line.value(Field::Model).map(|name| chosen(context, name)).transpose() {
        Ok(chosen) => chosen.unwrap_or_default(),
        Err(problem) => return Ok(Err(no("model", problem))),
    };
    let id = match free_id(context, &line.id, source.repository).await? {
        Ok(id) => id,
        Err(taken) => return Ok(Err(no("id_taken", taken))),
    };
    let blockers = source.blocking.blockers(&line.id);
    let depends_on = blockers.iter().filter_map(|blocker| names.get(&blocker.id.parse().ok()?).cloned()).collect();
    let spec = TaskSpec {
        description: line.description.clone(),
        repository: source.repository.display().to_string(),
        base: source.base.clone(),
        agent: Agent::Opencode { agent: None },
        place: Place::Worktree,
        model,
        tier,
        task_type: None,
        needs: Vec::new(),
        verify: Vec::new(),
        allow_paths: Vec::new(),
        max_cost: None,
        urgency: Urgency::Normal,
        estimate_seconds: line.estimate.as_ref().map(|estimate| estimate.total.as_secs()),
        attempts: None,
        labels: line.tags.clone(),
        deliver: Deliver::default(),
        gate: Gate::default(),
        verification: Verification::default(),
        diagnoses: None,
        strategy: None,
        contest: None,
        entry_of: None,
        todo: Some(line.id.clone()),
        deadline: None,
        with_issue: false,
    };
    let parent = line.parent.as_ref().and_then(|parent| names.get(parent)).cloned();
    Ok(Ok(NewTaskOrder {
        id: Some(id),
        batch: None,
        parent,
        priority: 0,
        depends_on,
        spec,
        defaults: Defaults::Repository { deliver: None },
    }))
}

/// `model:` names a tier, or else a model or a tag.
pub(in crate::queue::claims) fn chosen(
    context: &Context,
    name: &str,
) -> Result<(Option<String>, Option<String>), String> {
    if let Some(tier) = context.config.tier_named(name) {
        return Ok((None, Some(tier.to_owned())));
    }
    let selector = Selector::from_reference(name, &context.config).map_err(|error| error.to_string())?;
    check_names(&selector, &context.config).map_err(|error| error.to_string())?;
    Ok((Some(name.to_owned()), None))
}

/// The id of the file, or with the repository's name before it when another repository has that one.
async fn free_id(context: &Context, todo: &TaskId, repository: &Path) -> Result<Result<TaskId, String>, ClaimFault> {
    let here = repository.display().to_string();
    let name = repository.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_') { c } else { '-' };
    let name: String = name.chars().map(plain).collect();
    let long = format!("{}-{todo}", name.trim_start_matches(['-', '_']));
    for id in [Some(todo.clone()), long.parse().ok()].into_iter().flatten() {
        match context.store.task(&id).await {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Ok(id)),
            Err(error) => return Err(error.into()),
            Ok(record) if record.task.spec.repository == here && record.task.spec.todo.as_ref() == Some(todo) => {
                return Ok(Err("another process has just added it".to_owned()));
            }
            // Added by hand under the name of the line: very likely the same, and the work would be done twice.
            Ok(record) if record.task.spec.repository == here => {
                return Ok(Err(format!("the store has a task {id} of this repository that came from elsewhere")));
            }
            Ok(_) => {}
        }
    }
    Ok(Err(format!("the store has tasks of other repositories called {todo} and {long}")))
}
