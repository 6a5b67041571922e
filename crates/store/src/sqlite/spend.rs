//! What was spent: sums by quarter of an hour and by day, and over all time for tasks and batches. They change in
//! the transaction that settles the attempt, so that they equal the attempts' own amounts.

use super::{
    SqliteStore, event, row,
    script::Script,
    spend_window::{self, Span},
};
use crate::{GroupBy, NewSpend, Result, SpendKey, SpendKind, Spent, ledger::bucket};
use serde_json::json;
use shuntyard_core::Nano;
use sqlx::sqlite::SqliteRow;

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

pub(super) use summed;

pub(super) const BY_MODEL: &str =
    concat!(summed!("model"), " FROM spend WHERE bucket >= ? AND bucket < ? GROUP BY model ORDER BY model");
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

/// One row for each span of each of those that a window is summed for.
const ADD_SUMS: &str = concat!(
    "INSERT INTO spend_sum (cost_nano, attempts, unknown, tokens, kind, name, span, start)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?), (?, ?, ?, ?, ?, ?, ?, ?), (?, ?, ?, ?, ?, ?, ?, ?), (?, ?, ?, ?, ?, ?, ?, ?),
            (?, ?, ?, ?, ?, ?, ?, ?), (?, ?, ?, ?, ?, ?, ?, ?)",
    raise!("kind, name, span, start")
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
        script.add(statement);
        self.bind(script);
    }

    fn bind(self, script: &mut Script) {
        script.bind(self.cost).bind(self.attempts).bind(self.unknown).bind(self.tokens);
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

/// Adds to the bucket and to the day of `at`, and to the totals of task and batch.
pub(super) fn add(script: &mut Script, at: i64, payer: Payer, change: Change) {
    let (bucket, tier) = (bucket(at), payer.tier.unwrap_or_default());
    script.add(ADD_SUMS);
    for (kind, name) in [(SpendKind::Overall, ""), (SpendKind::Provider, &payer.provider), (SpendKind::Tier, &tier)] {
        for span in Span::ALL {
            change.bind(script);
            script.bind(kind.as_str()).bind(name).bind(span.as_str()).bind(span.start(bucket));
        }
    }
    change.add(script, ADD);
    script.bind(bucket).bind(payer.provider).bind(payer.model).bind(tier);
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

pub(super) async fn settled(store: &SqliteStore, key: &SpendKey, from: i64, until: i64) -> Result<Spent> {
    let mut script = Script::default();
    spend_window::ask(&mut script, key, from, until);
    let rows = script.read(store, "sum what was spent").await?;
    rows.first().map_or(Ok(Spent::default()), spent)
}

pub(super) async fn grouped(store: &SqliteStore, from: i64, until: i64, by: GroupBy) -> Result<Vec<(String, Spent)>> {
    let mut script = Script::default();
    match by {
        GroupBy::Provider => spend_window::bind(&mut script, spend_window::BY_PROVIDER, from, until, None),
        GroupBy::Tier => spend_window::bind(&mut script, spend_window::BY_TIER, from, until, None),
        GroupBy::Model => {
            script.add(BY_MODEL).bind(from).bind(until);
        }
        GroupBy::Bucket => {
            script.add(spend_window::BY_BUCKET).bind(from).bind(until);
        }
        GroupBy::Task => {
            script.add(TOTALS).bind(SpendKind::Task.as_str());
        }
        GroupBy::Batch => {
            script.add(TOTALS).bind(SpendKind::Batch.as_str());
        }
    }
    let rows = script.read(store, "read what was spent").await?;
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
