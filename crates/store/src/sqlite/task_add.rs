//! New tasks. A thousand of them are one transaction of a few statements, so that nobody else waits long, and what
//! they cost does not grow with how many are there already.

use super::{SqliteStore, fault::failed, task::json};
use crate::{ErrorKind, NewTask, Result, StoreError};
use serde_json::{Value, json};
use sqlx::{SqliteConnection, query, query_scalar};
use std::collections::BTreeSet;
use switchyard_core::task::{Change, State, TaskId};

/// How many go to the database together: their text is all in memory at once.
const TOGETHER: usize = 500;

pub(super) const HIGHEST: &str = "SELECT max(numeral) FROM task WHERE numeral IS NOT NULL";

pub(super) const TAKEN: &str = "SELECT id FROM task WHERE id IN (SELECT value FROM json_each(?1)) ORDER BY id LIMIT 1";

const NO_BATCH: &str = "
    SELECT value FROM json_each(?1) WHERE value NOT IN (SELECT name FROM task_batch) ORDER BY value LIMIT 1";

/// All that a task depends on is open, except what is there and releases it; of the same call is nothing.
const ADD: &str = "
    INSERT INTO task (id, numeral, repository, batch, parent, priority, phase, state, spec, tally, epoch, version,
                      open_blockers, created_at, changed_at)
    SELECT new.value ->> 'id', new.value ->> 'numeral', new.value ->> 'repository', new.value ->> 'batch',
        new.value ->> 'parent', new.value ->> 'priority', 'queued', new.value ->> 'state', new.value ->> 'spec',
        new.value ->> 'tally', new.value ->> 'epoch', 1,
        (SELECT count(*) FROM json_each(new.value, '$.needs') AS need WHERE NOT EXISTS (
             SELECT 1 FROM task AS blocker
             WHERE blocker.id = need.value AND blocker.phase IN ('done', 'cancelled'))),
        new.value ->> 'created_at', new.value ->> 'changed_at'
    FROM json_each(?1) AS new ORDER BY new.key;
    INSERT INTO dependency (task, needs, place)
    SELECT new.value ->> 'id', need.value, need.key
    FROM json_each(?1) AS new CROSS JOIN json_each(new.value, '$.needs') AS need;
    INSERT INTO event (at, kind, subject, data)
    SELECT new.value ->> 'created_at', 'task.queued', new.value ->> 'id', new.value ->> 'change'
    FROM json_each(?1) AS new ORDER BY new.key;";

pub(super) async fn add(store: &SqliteStore, tasks: &[NewTask]) -> Result<Vec<TaskId>> {
    let mut transaction = store.write().await?;
    let ids = named(&mut transaction, tasks).await?;
    refuse_unknown_batch(&mut transaction, tasks).await?;
    for (tasks, ids) in tasks.chunks(TOGETHER).zip(ids.chunks(TOGETHER)) {
        let rows = tasks.iter().zip(ids).map(|(new, id)| row(new, id)).collect::<Result<Vec<_>>>()?;
        let added = query(ADD).bind(Value::from(rows).to_string()).execute(&mut *transaction).await;
        added.map_err(failed("add tasks"))?;
    }
    transaction.commit().await.map_err(failed("add tasks"))?;
    Ok(ids)
}

/// Gives the nameless the numbers after the highest that is there or given, and refuses a name that is taken.
async fn named(connection: &mut SqliteConnection, tasks: &[NewTask]) -> Result<Vec<TaskId>> {
    let highest: Option<i64> =
        query_scalar(HIGHEST).fetch_one(&mut *connection).await.map_err(failed("number the tasks"))?;
    let given = tasks.iter().filter_map(|new| new.id.as_ref().and_then(numeral)).max();
    let mut highest = u64::try_from(highest.max(given).unwrap_or_default()).unwrap_or_default();
    let mut ids = Vec::with_capacity(tasks.len());
    let mut seen = BTreeSet::new();
    for new in tasks {
        let id = new.id.clone().unwrap_or_else(|| {
            highest = highest.saturating_add(1);
            TaskId::numbered(highest)
        });
        if !seen.insert(id.clone()) {
            return Err(taken(id.as_str()));
        }
        ids.push(id);
    }
    let wanted = json(&seen)?;
    let found: Option<String> =
        query_scalar(TAKEN).bind(wanted).fetch_optional(connection).await.map_err(failed("look for their ids"))?;
    found.map_or(Ok(ids), |id| Err(taken(&id)))
}

fn taken(id: &str) -> StoreError {
    StoreError::new(ErrorKind::Conflict, format!("there is a task {id} already"))
}

/// The number of an id as the database counts; one that is too large for it is only a name.
fn numeral(id: &TaskId) -> Option<i64> {
    id.number().and_then(|number| i64::try_from(number).ok())
}

async fn refuse_unknown_batch(connection: &mut SqliteConnection, tasks: &[NewTask]) -> Result<()> {
    let batches: BTreeSet<&str> = tasks.iter().filter_map(|new| new.task.batch.as_deref()).collect();
    if batches.is_empty() {
        return Ok(());
    }
    let unknown: Option<String> = query_scalar(NO_BATCH)
        .bind(json(&batches)?)
        .fetch_optional(connection)
        .await
        .map_err(failed("look for the batches"))?;
    unknown.map_or(Ok(()), |name| Err(StoreError::new(ErrorKind::Conflict, format!("there is no batch {name}"))))
}

fn row(new: &NewTask, id: &TaskId) -> Result<Value> {
    let task = &new.task;
    if task.state != State::Queued {
        let what = format!("failed to add {id}: a new task is queued, and this one is {}", task.state.name());
        return Err(StoreError::new(ErrorKind::Conflict, what));
    }
    let mut seen = BTreeSet::new();
    let needs: Vec<&TaskId> = task.depends_on.iter().filter(|need| seen.insert(*need)).collect();
    let change = Change {
        event: "add".to_owned(),
        from: String::new(),
        to: task.state.name().to_owned(),
        epoch: task.epoch,
        detail: String::new(),
    };
    Ok(json!({
        "id": id,
        "numeral": numeral(id),
        "repository": task.spec.repository,
        "batch": task.batch,
        "parent": task.parent,
        "priority": task.priority,
        "state": json(&task.state)?,
        "spec": json(&task.spec)?,
        "tally": json(&task.tally)?,
        "epoch": task.epoch,
        "needs": needs,
        "created_at": task.created_at,
        "changed_at": task.changed_at,
        "change": json(&change)?,
    }))
}
