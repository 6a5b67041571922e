//! The figures of single attempts about money, where no sums are kept: what a model's attempts usually come to, and
//! when a task or a batch began to spend.

use super::{SqliteStore, fault::failed, row, spend};
use crate::{Result, SpendKey, SpendKind, Spent};
use sqlx::query;

/// Only what used anything is a sample: a refused key costs nothing, and would make the next attempt look free. Of a
/// model that is asked all day the newest are enough, so that it takes no longer than for any other.
pub(super) const USUAL: &str = concat!(
    "SELECT ",
    spend::sum!("cost_nano"),
    ", count(*) AS attempts, 0 AS unknown, ",
    spend::sum!("tokens"),
    " FROM (
         SELECT dispatch, strategy, cost_nano, cost_known, tokens FROM outcome
         WHERE model = ?1 AND at >= ?2 ORDER BY at DESC LIMIT 1000
     ) WHERE dispatch IS NOT NULL AND strategy = ?3 AND cost_known = 1 AND (cost_nano > 0 OR tokens > 0)"
);

macro_rules! charged {
    ($column:literal) => {
        concat!(
            "WITH paid (at, cost_nano, attempts, unknown, tokens) AS (
                 SELECT ended_at, cost_nano, 1, cost_known = 0,
                        input_tokens + output_tokens + reasoning_tokens + cache_read_tokens + cache_write_tokens
                 FROM attempt WHERE ",
            $column,
            " = ?1 AND ended_at IS NOT NULL
                 UNION ALL
                 SELECT at, data ->> '$.cost_nano', data ->> '$.attempts', data ->> '$.unknown', data ->> '$.tokens'
                 FROM event WHERE kind = 'spend.recorded' AND data ->> '$.",
            $column,
            "' = ?1
             )
             SELECT (SELECT min(at) FROM paid) AS first, ",
            spend::sum!("cost_nano"),
            ", ",
            spend::sum!("attempts"),
            ", ",
            spend::sum!("unknown"),
            ", ",
            spend::sum!("tokens"),
            " FROM paid WHERE at >= ?2 AND at < ?3"
        )
    };
}

/// They read every attempt, because only the display of the rate of one task or batch asks for this.
const TO_TASK: &str = charged!("task");
const TO_BATCH: &str = charged!("batch");

pub(super) async fn usual(store: &SqliteStore, model: &str, mode: &str, from: i64) -> Result<Spent> {
    let row = query(USUAL).bind(model).bind(from).bind(mode).fetch_one(&store.connections.readers).await;
    spend::spent(&row.map_err(failed("read what a model usually costs"))?)
}

pub(super) async fn to(store: &SqliteStore, key: &SpendKey, from: i64, until: i64) -> Result<(Option<i64>, Spent)> {
    let sql = match key.kind {
        SpendKind::Task => TO_TASK,
        SpendKind::Batch => TO_BATCH,
        SpendKind::Overall | SpendKind::Provider | SpendKind::Tier => {
            return Ok((None, spend::settled(store, key, from, until).await?));
        }
    };
    let row = query(sql).bind(&key.name).bind(from).bind(until).fetch_one(&store.connections.readers).await;
    let row = row.map_err(failed("read what was charged"))?;
    Ok((row::get(&row, "first")?, spend::spent(&row)?))
}
