//! What was spent: sums by quarter of an hour, and over all time for tasks and batches. They change in
//! the transaction that settles the attempt, so that they equal the attempts' own amounts.

use super::{SqliteStore, event, fault::failed, row, script::Script};
use crate::{GroupBy, NewSpend, Result, SpendKey, SpendKind, Spent, ledger::bucket};
use serde_json::json;
use sqlx::{query, sqlite::SqliteRow};
use switchyard_core::Nano;

/// A sum that stays at the greatest number where SQLite's own would fail: the halves are too small to,
/// and a product or sum that is too large becomes a float, of which the smaller is that number.
macro_rules! sum {
    ($column:literal) => {
        concat!(
            "min(coalesce(sum(",
            $column,
            " >> 32), 0) * 4294967296 + coalesce(sum(",
            $column,
            " & 4294967295), 0), 9223372036854775807) AS ",
            $column
        )
    };
}
pub(super) use sum;

macro_rules! summed {
    ($name:literal) => {
        concat!(
            "SELECT ",
            $name,
            " AS name, ",
            sum!("cost_nano"),
            ", ",
            sum!("attempts"),
            ", ",
            sum!("unknown"),
            ", ",
            sum!("tokens")
        )
    };
}

macro_rules! in_window {
    ($name:literal, $rest:literal) => {
        concat!(summed!($name), " FROM spend WHERE bucket >= ? AND bucket < ?", $rest)
    };
}

pub(super) const OVERALL: &str = in_window!("''", "");
pub(super) const OF_PROVIDER: &str = in_window!("''", " AND provider = ?");
pub(super) const OF_TIER: &str = in_window!("''", " AND tier = ?");
pub(super) const TOTAL: &str = concat!(summed!("''"), " FROM spend_total WHERE kind = ? AND name = ?");

pub(super) const BY_PROVIDER: &str = in_window!("provider", " GROUP BY provider ORDER BY provider");
pub(super) const BY_TIER: &str = in_window!("tier", " GROUP BY tier ORDER BY tier");
pub(super) const BY_MODEL: &str = in_window!("model", " GROUP BY model ORDER BY model");
pub(super) const BY_BUCKET: &str = in_window!("CAST(bucket AS TEXT)", " GROUP BY bucket ORDER BY bucket");
pub(super) const TOTALS: &str = "SELECT * FROM spend_total WHERE kind = ? ORDER BY name";

macro_rules! raise {
    ($key:literal) => {
        concat!(
            " ON CONFLICT (",
            $key,
            ") DO UPDATE SET
                 cost_nano = min(cost_nano + excluded.cost_nano, 9223372036854775807),
                 attempts = min(attempts + excluded.attempts, 9223372036854775807),
                 unknown = min(unknown + excluded.unknown, 9223372036854775807),
                 tokens = min(tokens + excluded.tokens, 9223372036854775807)"
        )
    };
}

const ADD: &str = concat!(
    "INSERT INTO spend (cost_nano, attempts, unknown, tokens, bucket, provider, model, tier)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
    raise!("bucket, provider, model, tier")
);

const ADD_TOTAL: &str = concat!(
    "INSERT INTO spend_total (cost_nano, attempts, unknown, tokens, kind, name) VALUES (?, ?, ?, ?, ?, ?)",
    raise!("kind, name")
);

/// A change of what is counted. It can be negative: a cost that becomes known is one unknown less.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Change {
    cost: i64,
    attempts: i64,
    unknown: i64,
    tokens: i64,
}

impl Change {
    pub fn between(before: &Spent, after: &Spent) -> Self {
        let grown = |before: u64, after: u64| row::signed(after).saturating_sub(row::signed(before));
        Self {
            cost: after.cost.0.saturating_sub(before.cost.0),
            attempts: grown(before.attempts, after.attempts),
            unknown: grown(before.unknown, after.unknown),
            tokens: grown(before.tokens, after.tokens),
        }
    }

    fn add(self, script: &mut Script, statement: &'static str) {
        script.add(statement).bind(self.cost).bind(self.attempts).bind(self.unknown).bind(self.tokens);
    }
}

/// Who pays for a change.
#[derive(Debug)]
pub(super) struct Payer {
    pub provider: String,
    pub model: String,
    pub tier: Option<String>,
    pub task: Option<String>,
    pub batch: Option<String>,
}

/// Adds to the bucket of `at` and to the totals of task and batch.
pub(super) fn add(script: &mut Script, at: i64, payer: Payer, change: Change) {
    change.add(script, ADD);
    script.bind(bucket(at)).bind(payer.provider).bind(payer.model).bind(payer.tier.unwrap_or_default());
    for (kind, name) in [(SpendKind::Task, payer.task), (SpendKind::Batch, payer.batch)] {
        if let Some(name) = name {
            change.add(script, ADD_TOTAL);
            script.bind(kind.as_str()).bind(name);
        }
    }
}

pub(super) async fn record(store: &SqliteStore, new: &NewSpend) -> Result<()> {
    let NewSpend { at, provider, model, tier, task, batch, spent } = new.clone();
    let data = json!({
        "model": model, "tier": tier, "task": task, "batch": batch, "cost_nano": spent.cost,
        "attempts": spent.attempts, "unknown": spent.unknown, "tokens": spent.tokens,
    });
    let mut script = Script::default();
    event::tell(&mut script, at, "spend.recorded", &provider, &data);
    let change = Change::between(&Spent::default(), &spent);
    add(&mut script, at, Payer { provider, model, tier, task, batch }, change);
    script.commit(store, "record what was spent").await
}

/// Asks what is settled for a key in a window, or over all time where no window is kept. The answer is one row.
pub(super) fn ask(script: &mut Script, key: &SpendKey, from: i64, until: i64) {
    match key.kind {
        SpendKind::Overall => script.add(OVERALL).bind(from).bind(until),
        SpendKind::Provider => script.add(OF_PROVIDER).bind(from).bind(until).bind(&key.name),
        SpendKind::Tier => script.add(OF_TIER).bind(from).bind(until).bind(&key.name),
        SpendKind::Batch | SpendKind::Task => script.add(TOTAL).bind(key.kind.as_str()).bind(&key.name),
    };
}

pub(super) async fn settled(store: &SqliteStore, key: &SpendKey, from: i64, until: i64) -> Result<Spent> {
    let mut script = Script::default();
    ask(&mut script, key, from, until);
    let rows = script.read(store, "sum what was spent").await?;
    rows.first().map_or(Ok(Spent::default()), spent)
}

pub(super) async fn grouped(store: &SqliteStore, from: i64, until: i64, by: GroupBy) -> Result<Vec<(String, Spent)>> {
    let sums = match by {
        GroupBy::Provider => query(BY_PROVIDER).bind(from).bind(until),
        GroupBy::Tier => query(BY_TIER).bind(from).bind(until),
        GroupBy::Model => query(BY_MODEL).bind(from).bind(until),
        GroupBy::Bucket => query(BY_BUCKET).bind(from).bind(until),
        GroupBy::Task => query(TOTALS).bind(SpendKind::Task.as_str()),
        GroupBy::Batch => query(TOTALS).bind(SpendKind::Batch.as_str()),
    };
    let rows = sums.fetch_all(&store.connections.readers).await.map_err(failed("read what was spent"))?;
    rows.iter().map(|row| Ok((row::get(row, "name")?, spent(row)?))).collect()
}

pub(super) fn spent(row: &SqliteRow) -> Result<Spent> {
    Ok(Spent {
        cost: Nano(row::get(row, "cost_nano")?),
        attempts: row::count(row, "attempts")?,
        unknown: row::count(row, "unknown")?,
        tokens: row::count(row, "tokens")?,
    })
}
