//! Health of providers: the newest check of each one. A check with the same result is no event.

use super::{SqliteStore, event, fault::failed, row};
use crate::{HealthRecord, Result};
use serde_json::json;
use shuntyard_core::{ErrorClass, routing::HealthStatus};
use sqlx::query;

const ONE: &str = "SELECT * FROM health WHERE provider = ?1";

const PUT: &str = "
    INSERT INTO health (provider, status, class, message, source, latency_ms, checked_at, expires_at)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
    ON CONFLICT (provider) DO UPDATE SET
        status = excluded.status, class = excluded.class, message = excluded.message, source = excluded.source,
        latency_ms = excluded.latency_ms, checked_at = excluded.checked_at, expires_at = excluded.expires_at";

const ALL: &str = "SELECT * FROM health ORDER BY provider";

const FORGET: &str = "DELETE FROM health WHERE ?1 IS NULL OR provider = ?1";

pub(super) async fn put(store: &SqliteStore, health: &HealthRecord) -> Result<()> {
    let mut transaction = store.write().await?;
    let known = query(ONE).bind(&health.provider).fetch_optional(&mut *transaction).await;
    let known = known.map_err(failed("read the provider's health"))?.as_ref().map(row::health).transpose()?;
    if known.as_ref().is_some_and(|known| known.checked_at > health.checked_at) {
        return Ok(());
    }
    query(PUT)
        .bind(&health.provider)
        .bind(health.status.as_str())
        .bind(health.class.map(ErrorClass::as_str))
        .bind(&health.message)
        .bind(health.source.as_str())
        .bind(health.latency_ms.map(row::signed))
        .bind(health.checked_at)
        .bind(health.expires_at)
        .execute(&mut *transaction)
        .await
        .map_err(failed("keep the provider's health"))?;
    let before = known.map(|known| known.status);
    if before != Some(health.status) {
        let data = json!({
            "from": before.map(HealthStatus::as_str),
            "to": health.status.as_str(),
            "source": health.source,
            "class": health.class,
        });
        event::append(&mut transaction, health.checked_at, "provider.health", &health.provider, &data).await?;
    }
    transaction.commit().await.map_err(failed("keep the provider's health"))
}

pub(super) async fn all(store: &SqliteStore) -> Result<Vec<HealthRecord>> {
    let rows = query(ALL).fetch_all(&store.connections.readers).await;
    rows.map_err(failed("read the providers' health"))?.iter().map(row::health).collect()
}

pub(super) async fn forget(store: &SqliteStore, provider: Option<&str>) -> Result<()> {
    let mut transaction = store.write().await?;
    let forgotten = query(FORGET).bind(provider).execute(&mut *transaction).await;
    forgotten.map_err(failed("forget the health"))?;
    transaction.commit().await.map_err(failed("forget the health"))
}
