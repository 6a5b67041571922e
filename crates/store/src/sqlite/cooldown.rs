//! Cooldowns: what cools down after a failure, and until when. Of several for one target the one that ends last counts,
//! whatever the order in which they are recorded.

use super::{SqliteStore, event, fault::failed, row};
use crate::{CooldownRecord, Result};
use serde_json::{Value, json};
use sqlx::query;

/// None ends before it begins, so a row that had ended by the new `since` also ends before the new one.
const PUT: &str = "
    INSERT INTO cooldown (target, trigger, class, message, since, until) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
    ON CONFLICT (target) DO UPDATE SET
        trigger = excluded.trigger, class = excluded.class, message = excluded.message,
        since = excluded.since, until = excluded.until
    WHERE excluded.until > cooldown.until";

const ACTIVE: &str = "SELECT * FROM cooldown WHERE until > ?1 ORDER BY target";

const END: &str = "
    DELETE FROM cooldown WHERE until <= ?2 OR (since <= ?3 AND target IN (SELECT value FROM json_each(?1)))
    RETURNING target, trigger, until";

pub(super) async fn put(store: &SqliteStore, cooldown: &CooldownRecord) -> Result<()> {
    let mut transaction = store.write().await?;
    let put = query(PUT)
        .bind(&cooldown.target)
        .bind(cooldown.trigger.as_str())
        .bind(cooldown.class.as_str())
        .bind(&cooldown.message)
        .bind(cooldown.since)
        .bind(cooldown.until)
        .execute(&mut *transaction)
        .await
        .map_err(failed("keep the cooldown"))?;
    if put.rows_affected() == 1 {
        let data = json!({ "trigger": cooldown.trigger.as_str(), "until": cooldown.until });
        event::append(&mut transaction, cooldown.since, "cooldown.began", &cooldown.target, &data).await?;
    }
    transaction.commit().await.map_err(failed("keep the cooldown"))
}

pub(super) async fn active(store: &SqliteStore, now: i64) -> Result<Vec<CooldownRecord>> {
    let rows = query(ACTIVE).bind(now).fetch_all(&store.connections.readers).await;
    rows.map_err(failed("read the cooldowns"))?.iter().map(row::cooldown).collect()
}

pub(super) async fn end(store: &SqliteStore, targets: &[&str], began_by: i64, now: i64) -> Result<u64> {
    let mut transaction = store.write().await?;
    let removed =
        query(END).bind(Value::from(targets).to_string()).bind(now).bind(began_by).fetch_all(&mut *transaction).await;
    let mut active = Vec::new();
    for removed in &removed.map_err(failed("end the cooldowns"))? {
        let until: i64 = row::get(removed, "until")?;
        if until > now {
            active.push((row::get::<String>(removed, "target")?, row::get::<String>(removed, "trigger")?, until));
        }
    }
    // SQLite returns what it deletes in no promised order.
    active.sort();
    let mut ended = 0;
    for (target, trigger, until) in active {
        let data = json!({ "trigger": trigger, "until": until });
        event::append(&mut transaction, now, "cooldown.ended", &target, &data).await?;
        ended += 1;
    }
    transaction.commit().await.map_err(failed("end the cooldowns"))?;
    Ok(ended)
}
