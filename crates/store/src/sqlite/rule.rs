//! Rules of the budget: one for each key, the newest of which stands.

use super::{SqliteStore, event, fault::failed, row};
use crate::{Billing, BudgetRule, Result, SpendKey, SpendKind};
use serde_json::json;
use shuntyard_core::Nano;
use sqlx::{query, sqlite::SqliteRow};

const PUT: &str = "
    INSERT INTO budget_rule
        (kind, name, billing, daily_nano, degrade_percent, stop_percent, unknown_allowed, changed_at)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
    ON CONFLICT (kind, name) DO UPDATE SET
        billing = excluded.billing, daily_nano = excluded.daily_nano, degrade_percent = excluded.degrade_percent,
        stop_percent = excluded.stop_percent, unknown_allowed = excluded.unknown_allowed,
        changed_at = excluded.changed_at";

const REMOVE: &str = "DELETE FROM budget_rule WHERE kind = ?1 AND name = ?2";

const ALL: &str = "SELECT * FROM budget_rule ORDER BY kind, name";

pub(super) async fn put(store: &SqliteStore, rule: &BudgetRule) -> Result<()> {
    let mut transaction = store.write().await?;
    query(PUT)
        .bind(rule.key.kind.as_str())
        .bind(&rule.key.name)
        .bind(rule.billing.as_str())
        .bind(rule.daily.map(|daily| daily.0))
        .bind(rule.degrade_percent)
        .bind(rule.stop_percent)
        .bind(rule.unknown_allowed)
        .bind(rule.changed_at)
        .execute(&mut *transaction)
        .await
        .map_err(failed("keep the budget rule"))?;
    let data = json!({
        "what": "rule",
        "change": "put",
        "billing": rule.billing,
        "daily_nano": rule.daily,
        "degrade_percent": rule.degrade_percent,
        "stop_percent": rule.stop_percent,
        "unknown_allowed": rule.unknown_allowed,
    });
    event::append(&mut transaction, rule.changed_at, "budget.changed", &rule.key.subject(), &data).await?;
    transaction.commit().await.map_err(failed("keep the budget rule"))
}

pub(super) async fn remove(store: &SqliteStore, key: &SpendKey, now: i64) -> Result<bool> {
    let mut transaction = store.write().await?;
    let removed = query(REMOVE).bind(key.kind.as_str()).bind(&key.name).execute(&mut *transaction).await;
    if removed.map_err(failed("remove the budget rule"))?.rows_affected() == 0 {
        return Ok(false);
    }
    let data = json!({ "what": "rule", "change": "removed" });
    event::append(&mut transaction, now, "budget.changed", &key.subject(), &data).await?;
    transaction.commit().await.map_err(failed("remove the budget rule"))?;
    Ok(true)
}

pub(super) async fn all(store: &SqliteStore) -> Result<Vec<BudgetRule>> {
    let rows = query(ALL).fetch_all(&store.connections.readers).await;
    rows.map_err(failed("read the budget rules"))?.iter().map(rule).collect()
}

fn rule(row: &SqliteRow) -> Result<BudgetRule> {
    Ok(BudgetRule {
        key: SpendKey { kind: row::word(row, "kind", SpendKind::parse)?, name: row::get(row, "name")? },
        billing: row::word(row, "billing", Billing::parse)?,
        daily: row::get::<Option<i64>>(row, "daily_nano")?.map(Nano),
        degrade_percent: row::get(row, "degrade_percent")?,
        stop_percent: row::get(row, "stop_percent")?,
        unknown_allowed: row::get(row, "unknown_allowed")?,
        changed_at: row::get(row, "changed_at")?,
    })
}
