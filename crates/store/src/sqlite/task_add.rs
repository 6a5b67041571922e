//! New tasks. A thousand of them are one transaction of a few statements, so that no other writer waits long, and what
//! they cost does not grow with how many are there already.

use super::{
    SqliteStore, row as read,
    script::{Script, Write},
    task::json,
};
use crate::{ErrorKind, NewTask, Result, StoreError};
use serde_json::{Value, json};
use shuntyard_core::work::task::{Change, State, TaskId};
use sqlx::sqlite::SqliteRow;
use std::collections::BTreeSet;

/// How many go to the database together: their text is all in memory at once.
const TOGETHER: usize = 500;

pub(super) const HIGHEST: &str = "SELECT max(numeral) AS highest FROM task WHERE numeral IS NOT NULL";

pub(super) const TAKEN: &str = "
    SELECT (SELECT id FROM task WHERE id IN (SELECT value FROM json_each(?)) ORDER BY id LIMIT 1) AS taken";

const NO_BATCH: &str = "
    SELECT (SELECT value FROM json_each(?) WHERE value NOT IN (SELECT name FROM task_batch)
            ORDER BY value LIMIT 1) AS unknown";

/// What many tasks leave in the log would otherwise be read and copied again by every process that comes alone.
const FOLD: &str = "PRAGMA wal_checkpoint(TRUNCATE)";

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
    FROM json_each(?) AS new ORDER BY new.key;
    INSERT INTO dependency (task, needs, place)
    SELECT new.value ->> 'id', need.value, need.key
    FROM json_each(?) AS new CROSS JOIN json_each(new.value, '$.needs') AS need;
    INSERT INTO event (at, kind, subject, data)
    SELECT new.value ->> 'created_at', 'task.queued', new.value ->> 'id', new.value ->> 'change'
    FROM json_each(?) AS new ORDER BY new.key";

pub(super) async fn add(store: &SqliteStore, tasks: &[NewTask]) -> Result<Vec<TaskId>> {
    let batches: BTreeSet<&str> = tasks.iter().filter_map(|new| new.task.batch.as_deref()).collect();
    let given: Vec<&TaskId> = tasks.iter().filter_map(|new| new.id.as_ref()).collect();
    let mut look = Script::default();
    look.add(HIGHEST).add(TAKEN).bind(json(&given)?).add(NO_BATCH).bind(json(&batches)?);
    let (mut write, rows) = Write::after(store, look, "add tasks").await?;
    let ids = match named(&rows, tasks) {
        Ok(ids) => ids,
        Err(error) => {
            write.leave().await?;
            return Err(error);
        }
    };
    let chunks = tasks.chunks(TOGETHER).zip(ids.chunks(TOGETHER)).map(|(tasks, ids)| {
        let rows = tasks.iter().zip(ids).map(|(new, id)| row(new, id)).collect::<Result<Vec<_>>>()?;
        let rows = Value::from(rows).to_string();
        let mut script = Script::default();
        script.add(ADD).bind(&rows).bind(&rows).bind(&rows);
        Ok::<_, StoreError>(script)
    });
    let mut last = Script::default();
    for chunk in chunks {
        let before = std::mem::replace(&mut last, chunk?);
        if !before.is_empty() {
            write.run(before).await?;
        }
    }
    write.commit(last).await?;
    if tasks.len() > TOGETHER {
        fold(store).await;
    }
    Ok(ids)
}

/// If it cannot be done now, a later call does it.
async fn fold(store: &SqliteStore) {
    if let Err(error) = sqlx::query(FOLD).execute(&store.connections.writer).await {
        tracing::debug!(%error, "the log stays long for now");
    }
}

/// Gives the nameless the numbers after the highest that is there or given, and refuses a name that is taken and a
/// batch that is not there. A number above all that are there is free.
fn named(rows: &[SqliteRow], tasks: &[NewTask]) -> Result<Vec<TaskId>> {
    let [highest, is_taken, unknown] = rows else {
        return Err(StoreError::new(ErrorKind::Corrupt, "failed to number the tasks"));
    };
    if let Some(id) = read::get::<Option<String>>(is_taken, "taken")? {
        return Err(taken(&id));
    }
    if let Some(name) = read::get::<Option<String>>(unknown, "unknown")? {
        return Err(StoreError::new(ErrorKind::Conflict, format!("there is no batch {name}")));
    }
    let highest: Option<i64> = read::get(highest, "highest")?;
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
    Ok(ids)
}

fn taken(id: &str) -> StoreError {
    StoreError::new(ErrorKind::Conflict, format!("there is a task {id} already"))
}

/// The number of an id as the database counts; one that is too large for it is only a name.
fn numeral(id: &TaskId) -> Option<i64> {
    id.number().and_then(|number| i64::try_from(number).ok())
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
        route: None,
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
