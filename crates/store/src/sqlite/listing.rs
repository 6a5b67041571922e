//! Outcomes by a filter. Every question walks the rows in the order that is wanted and stops at the limit, without
//! sorting. Only the conditions that are there are in its SQL: SQLite uses no index for one that may not matter.

use super::{SqliteStore, fault::failed, outcome, row};
use crate::{NewOutcome, OutcomeFilter, OutcomeOrder, OutcomeRecord, Result};
use shuntyard_core::{
    ErrorClass, Nano,
    experience::{Evidence, FailureMode},
};
use sqlx::{AssertSqlSafe, query, sqlite::SqliteRow};

pub(super) async fn of(store: &SqliteStore, filter: &OutcomeFilter, order: OutcomeOrder) -> Result<Vec<OutcomeRecord>> {
    // The text is put together from the constants below; all that is asked for is bound.
    let rows = query(AssertSqlSafe(sql(filter, order)))
        .bind(filter.from)
        .bind(filter.until)
        .bind(&filter.task_type)
        .bind(&filter.model)
        .bind(&filter.repository)
        .bind(filter.after)
        .bind(filter.limit)
        .fetch_all(&store.connections.readers)
        .await
        .map_err(failed("read outcomes"))?;
    rows.iter().map(outcome).collect()
}

pub(super) fn sql(filter: &OutcomeFilter, order: OutcomeOrder) -> String {
    let (plain, ordered) = match order {
        // A reader goes through all of them once, page by page. The plus signs keep SQLite from collecting
        // and sorting all that fit for every page.
        OutcomeOrder::Oldest => ("+", " ORDER BY id LIMIT ?7"),
        OutcomeOrder::Newest => ("", " ORDER BY at DESC, id DESC LIMIT ?7"),
    };
    let mut sql = String::from("SELECT * FROM outcome");
    let mut joint = " WHERE ";
    for (wanted, condition) in [
        (filter.from.is_some(), "at >= ?1"),
        (filter.until.is_some(), "at < ?2"),
        (filter.task_type.is_some(), "task_type = ?3"),
        (filter.model.is_some(), "model = ?4"),
        (filter.repository.is_some(), "repository = ?5"),
    ] {
        if wanted {
            sql.extend([joint, plain, condition]);
            joint = " AND ";
        }
    }
    if order == OutcomeOrder::Oldest {
        sql.extend([joint, "id > ?6"]);
    }
    sql.push_str(ordered);
    sql
}

pub(super) fn outcome(row: &SqliteRow) -> Result<OutcomeRecord> {
    let attempt = match row::get::<Option<&str>>(row, "dispatch")? {
        Some(_) => Some((row::parsed(row, "dispatch")?, row::ordinal(row)?)),
        None => None,
    };
    let outcome = NewOutcome {
        at: row::get(row, "at")?,
        attempt,
        task: row::get(row, "task")?,
        batch: row::get(row, "batch")?,
        task_type: row::get(row, "task_type")?,
        requested: row::parsed(row, "requested")?,
        asked_tier: row::get(row, "asked_tier")?,
        tier: row::get(row, "tier")?,
        model: row::get(row, "model")?,
        strategy: row::get(row, "strategy")?,
        verdict: row::word(row, "verdict", outcome::parse_verdict)?,
        failure_mode: row::optional_word(row, "failure_mode", FailureMode::parse)?,
        error_class: row::optional_word(row, "error_class", ErrorClass::parse)?,
        evidence: row::word(row, "evidence", Evidence::parse)?,
        quality: row::get(row, "quality")?,
        tokens: row::count(row, "tokens")?,
        cost: Nano(row::get(row, "cost_nano")?),
        cost_known: row::get(row, "cost_known")?,
        duration_ms: row::count(row, "duration_ms")?,
        retries: row::get(row, "retries")?,
        repository: row::get(row, "repository")?,
        propensity: row::get(row, "propensity")?,
        text: row::get(row, "text")?,
    };
    Ok(OutcomeRecord { id: row::get(row, "id")?, outcome })
}
