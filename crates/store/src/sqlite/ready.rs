//! Tasks that could start. The queue is a number of lines, one for each repository and batch, and the index is in
//! their order: each line is found from the one before, and only its first tasks are read. So what it costs grows with
//! the lines and with what is wanted of each, and not with how many tasks wait in them.

use super::{SqliteStore, fault::failed, row};
use crate::{More, Ready, Result};
use shuntyard_core::work::task::Candidate;
use sqlx::{query, sqlite::SqliteRow};

/// Left to itself, SQLite would look through all that are queued for the next repository.
macro_rules! ready {
    ($rest:literal) => {
        concat!("FROM task INDEXED BY task_ready WHERE phase = 'queued' AND open_blockers = 0 ", $rest)
    };
}

/// The first of each line and one more, by which it is known whether there are more. A paused batch has no line.
macro_rules! first_of {
    ($lines:expr) => {
        concat!(
            "WITH RECURSIVE
             place (repository) AS (
                 SELECT (SELECT task.repository ",
            ready!("ORDER BY task.repository LIMIT 1"),
            ") UNION ALL
                 SELECT (SELECT task.repository ",
            ready!("AND task.repository > place.repository ORDER BY task.repository LIMIT 1"),
            ") FROM place WHERE place.repository IS NOT NULL
             ),
             line (repository, lane) AS (",
            $lines,
            ")
             SELECT task.id, task.number, task.priority, task.repository, task.batch, task.parent
             FROM line CROSS JOIN task
             WHERE line.lane IS NOT NULL
                 AND NOT EXISTS (SELECT 1 FROM task_batch WHERE name = line.lane AND paused = 1)
                 AND task.number IN (SELECT task.number ",
            ready!(
                "AND task.repository = line.repository AND task.lane = line.lane
                 ORDER BY task.priority DESC, task.number LIMIT ? OFFSET ?"
            ),
            ") ORDER BY line.repository, line.lane, task.priority DESC, task.number"
        )
    };
}

pub(super) const OF_ALL: &str = first_of!(concat!(
    "SELECT place.repository, (SELECT task.lane ",
    ready!("AND task.repository = place.repository ORDER BY task.lane LIMIT 1"),
    ") FROM place WHERE place.repository IS NOT NULL
     UNION ALL
     SELECT line.repository, (SELECT task.lane ",
    ready!("AND task.repository = line.repository AND task.lane > line.lane ORDER BY task.lane LIMIT 1"),
    ") FROM line WHERE line.lane IS NOT NULL"
));

/// The line of those in no batch has no name that can be asked for.
pub(super) const OF_BATCH: &str =
    first_of!("SELECT place.repository, ? FROM place WHERE place.repository IS NOT NULL AND ? <> ''");

pub(super) async fn tasks(store: &SqliteStore, batch: Option<&str>, skip: u32, each: u32) -> Result<Ready> {
    let first = match batch {
        Some(batch) => query(OF_BATCH).bind(batch).bind(batch),
        None => query(OF_ALL),
    };
    let rows = first.bind(i64::from(each) + 1).bind(skip).fetch_all(&store.connections.readers).await;
    let rows = rows.map_err(failed("read the tasks that could start"))?;
    let mut ready = Ready { candidates: Vec::new(), more: More::No };
    let (mut line, mut taken) = (None, 0);
    for row in &rows {
        let candidate = candidate(row)?;
        let this = Some((candidate.repository.clone(), candidate.batch.clone()));
        if line != this {
            (line, taken) = (this, 0);
        }
        if taken < each {
            taken += 1;
            ready.candidates.push(candidate);
        } else {
            ready.more = More::Yes;
        }
    }
    Ok(ready)
}

fn candidate(row: &SqliteRow) -> Result<Candidate> {
    Ok(Candidate {
        id: row::parsed(row, "id")?,
        number: row::get(row, "number")?,
        priority: row::get(row, "priority")?,
        repository: row::get(row, "repository")?,
        batch: row::get(row, "batch")?,
        parent: row::optional_word(row, "parent", |text| text.parse().ok())?,
    })
}
