//! What is looked at before anything is begun, in one go: each go is handed to the connection's own thread and waited
//! for, and whoever added a task to an idle queue waits for all of them.

use super::{SqliteStore, batch, mark, ready, row, run_list, script::Script};
use crate::{Outlook, Result};
use sqlx::sqlite::SqliteRow;

/// The rows tell themselves what they answer, as a question may have none.
pub(super) async fn outlook(
    store: &SqliteStore,
    batch: Option<&str>,
    each: u32,
    ended: u32,
    mark: &str,
) -> Result<Outlook> {
    let mut look = Script::default();
    ready::ask(&mut look, batch, 0, each);
    look.add(run_list::LIVE).add(run_list::ENDED).bind(ended).add(batch::ALL).add(mark::ONE).bind(mark);
    let rows = look.read(store, "look at what could be begun").await?;
    let parts = rows.iter().map(|row| row::get::<String>(row, "part")).collect::<Result<Vec<_>>>()?;
    let of = |part: &'static str| rows.iter().zip(&parts).filter(move |(_, of)| *of == part).map(|(row, _)| row);
    Ok(Outlook {
        ready: ready::told(of("ready"), each)?,
        live: of("live").map(run_list::record).collect::<Result<_>>()?,
        ended: of("ended").map(run_list::record).collect::<Result<_>>()?,
        batches: of("batch").map(batch::record).collect::<Result<_>>()?,
        mark: of("mark").next().map(|row: &SqliteRow| row::get(row, "at")).transpose()?,
    })
}
