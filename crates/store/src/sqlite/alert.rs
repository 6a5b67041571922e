//! Alerts of the budget: each is raised once a day, by the first process that notices it.

use super::{SqliteStore, event, fault::failed};
use crate::{Alert, Result, SpendKey};
use serde_json::Value;
use shuntyard_core::work::task::Effect;
use sqlx::query;

const RAISE: &str =
    "INSERT INTO budget_alert (day_start, kind, name, level) VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING";

pub(super) async fn raise(
    store: &SqliteStore,
    day_start: i64,
    key: &SpendKey,
    level: &str,
    now: i64,
    data: &Value,
    notice: Option<(&Effect, i64)>,
) -> Result<Alert> {
    let mut transaction = store.write().await?;
    let raised = query(RAISE)
        .bind(day_start)
        .bind(key.kind.as_str())
        .bind(&key.name)
        .bind(level)
        .execute(&mut *transaction)
        .await
        .map_err(failed("raise the alert"))?;
    if raised.rows_affected() == 0 {
        return Ok(Alert::Known);
    }
    event::append(&mut transaction, now, "budget.alert", &key.subject(), data).await?;
    let effect = match notice {
        Some((effect, free_at)) => Some(super::effect::add(&mut transaction, effect, now, free_at).await?),
        None => None,
    };
    transaction.commit().await.map_err(failed("raise the alert"))?;
    Ok(Alert::Raised { effect })
}
