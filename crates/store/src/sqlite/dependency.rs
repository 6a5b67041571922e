//! What tasks wait for. How many of its blockers are open is kept with each task, so that a search for work need
//! not look at blockers; it changes in the transaction that changes the blocker.

use super::{SqliteStore, fault::failed, row, script::Script};
use crate::Result;
use shuntyard_core::work::task::{Phase, TaskId};
use sqlx::query;

pub(super) const BLOCKERS: &str = "
    SELECT dependency.needs, blocker.phase
    FROM dependency LEFT JOIN task AS blocker ON blocker.id = dependency.needs
    WHERE dependency.task = ?1 ORDER BY dependency.place";

pub(super) const DEPENDENTS: &str = "
    SELECT task.id FROM dependency CROSS JOIN task ON task.id = dependency.task
    WHERE dependency.needs = ?1 ORDER BY task.number";

/// Counted again, and not one more or less: then nothing that went wrong once is kept for ever.
pub(super) const RECOUNT: &str = "
    UPDATE task SET open_blockers = (
        SELECT count(*) FROM dependency LEFT JOIN task AS blocker ON blocker.id = dependency.needs
        WHERE dependency.task = task.id AND (blocker.phase IS NULL OR blocker.phase NOT IN ('done', 'cancelled')))
    WHERE id IN (SELECT dependency.task FROM dependency WHERE dependency.needs = ?)";

/// Updates the tasks that depend on a task, as a part of the script that changes it.
pub(super) fn recount(script: &mut Script, id: &TaskId) {
    script.add(RECOUNT).bind(id.as_str());
}

pub(super) async fn blockers(store: &SqliteStore, id: &TaskId) -> Result<Vec<(TaskId, Option<Phase>)>> {
    let rows = query(BLOCKERS).bind(id.as_str()).fetch_all(&store.connections.readers).await;
    let rows = rows.map_err(failed("read what the task depends on"))?;
    rows.iter().map(|row| Ok((row::parsed(row, "needs")?, row::optional_word(row, "phase", Phase::parse)?))).collect()
}

pub(super) async fn dependents(store: &SqliteStore, id: &TaskId) -> Result<Vec<TaskId>> {
    let rows = query(DEPENDENTS).bind(id.as_str()).fetch_all(&store.connections.readers).await;
    rows.map_err(failed("read what depends on the task"))?.iter().map(|row| row::parsed(row, "id")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The SQL above names the phases that release; it must be those of the rules.
    #[test]
    fn what_releases_is_what_the_rules_say() {
        let releasing = Phase::ALL.into_iter().filter(|phase| phase.releases()).map(Phase::as_str);
        assert_eq!(releasing.collect::<Vec<_>>(), ["done", "cancelled"]);
    }
}
