//! Periods of the budget: what providers allow, and when. The check for an overlap and the insertion are
//! one statement, so that two who enter the same period at once cannot both succeed.

use super::{SqliteStore, event, fault::failed, row};
use crate::{BudgetPeriod, ErrorKind, NewPeriod, PeriodUnit, Result, SpendKey, SpendKind, StoreError};
use serde_json::json;
use sqlx::{query, query_scalar, sqlite::SqliteRow};

/// A period without an end goes on until the end of time.
const PUT: &str = "
    INSERT INTO budget_period (provider, starts_at, ends_at, unit, allowance, rolling_micros, changed_at)
    SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7 WHERE NOT EXISTS (
        SELECT 1 FROM budget_period
        WHERE provider = ?1 AND unit = ?4 AND rolling_micros IS ?6
            AND starts_at < coalesce(?3, 9223372036854775807) AND ?2 < coalesce(ends_at, 9223372036854775807))";

const REMOVE: &str = "DELETE FROM budget_period WHERE id = ?1 RETURNING provider";

const ALL: &str = "SELECT * FROM budget_period ORDER BY provider, starts_at, id";

pub(super) async fn put(store: &SqliteStore, period: &NewPeriod) -> Result<i64> {
    let mut transaction = store.write().await?;
    let put = query(PUT)
        .bind(&period.provider)
        .bind(period.starts_at)
        .bind(period.ends_at)
        .bind(period.unit.as_str())
        .bind(period.allowance)
        .bind(period.rolling_micros)
        .bind(period.changed_at)
        .execute(&mut *transaction)
        .await
        .map_err(failed("keep the budget period"))?;
    if put.rows_affected() == 0 {
        let what = format!("failed to keep the budget period: another of {} overlaps with it", period.provider);
        return Err(StoreError::new(ErrorKind::Conflict, what));
    }
    let id = put.last_insert_rowid();
    let data = json!({
        "what": "period",
        "change": "put",
        "id": id,
        "starts_at": period.starts_at,
        "ends_at": period.ends_at,
        "unit": period.unit,
        "allowance": period.allowance,
        "rolling_micros": period.rolling_micros,
    });
    event::append(&mut transaction, period.changed_at, "budget.changed", &subject(&period.provider), &data).await?;
    transaction.commit().await.map_err(failed("keep the budget period"))?;
    Ok(id)
}

pub(super) async fn remove(store: &SqliteStore, id: i64, now: i64) -> Result<bool> {
    let mut transaction = store.write().await?;
    let removed = query_scalar::<_, String>(REMOVE).bind(id).fetch_optional(&mut *transaction).await;
    let Some(provider) = removed.map_err(failed("remove the budget period"))? else {
        return Ok(false);
    };
    let data = json!({ "what": "period", "change": "removed", "id": id });
    event::append(&mut transaction, now, "budget.changed", &subject(&provider), &data).await?;
    transaction.commit().await.map_err(failed("remove the budget period"))?;
    Ok(true)
}

pub(super) async fn all(store: &SqliteStore) -> Result<Vec<BudgetPeriod>> {
    let rows = query(ALL).fetch_all(&store.connections.readers).await;
    rows.map_err(failed("read the budget periods"))?.iter().map(period).collect()
}

fn subject(provider: &str) -> String {
    SpendKey::new(SpendKind::Provider, provider).subject()
}

fn period(row: &SqliteRow) -> Result<BudgetPeriod> {
    Ok(BudgetPeriod {
        id: row::get(row, "id")?,
        provider: row::get(row, "provider")?,
        starts_at: row::get(row, "starts_at")?,
        ends_at: row::get(row, "ends_at")?,
        unit: row::word(row, "unit", PeriodUnit::parse)?,
        allowance: row::get(row, "allowance")?,
        rolling_micros: row::get(row, "rolling_micros")?,
        changed_at: row::get(row, "changed_at")?,
    })
}
