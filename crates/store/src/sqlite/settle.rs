//! The end of an attempt: what it spent only ever rises, and the ledger rises with it in the same transaction. What
//! it had set aside is free from then on.

use super::{
    SqliteStore,
    dispatch::refuse_running,
    event, reservation, row,
    script::{Script, Write},
    spend::{self, Change, Payer},
};
use crate::{AttemptEnd, AttemptRecord, ErrorKind, Result, Spent, StoreError};
use serde_json::json;
use sqlx::sqlite::SqliteRow;
use switchyard_core::{DispatchId, ErrorClass, Usage};

const ONE: &str = "SELECT * FROM attempt WHERE dispatch = ? AND ordinal = ?";

const SETTLE: &str = "
    UPDATE attempt
    SET input_tokens = ?, output_tokens = ?, reasoning_tokens = ?, cache_read_tokens = ?, cache_write_tokens = ?,
        cost_nano = ?, cost_known = ?, ended_at = ?, status = ?, error_class = ?, message = ?, answered_by = ?
    WHERE dispatch = ? AND ordinal = ?";

const RAISE: &str = "
    UPDATE attempt
    SET input_tokens = ?, output_tokens = ?, reasoning_tokens = ?, cache_read_tokens = ?, cache_write_tokens = ?,
        cost_nano = ?, cost_known = ?
    WHERE dispatch = ? AND ordinal = ?";

pub(super) async fn finish(store: &SqliteStore, dispatch: DispatchId, ordinal: u32, end: &AttemptEnd) -> Result<()> {
    refuse_running(end.status)?;
    let (mut look, mut script) = (Script::default(), Script::default());
    look.add(ONE).bind(dispatch.to_string()).bind(ordinal);
    let (write, rows) = Write::after(store, look, "finish the attempt").await?;
    let Some(row) = rows.first() else {
        return Err(StoreError::new(ErrorKind::NotFound, format!("there is no attempt {ordinal} of {dispatch}")));
    };
    settle(&mut script, row, dispatch, ordinal, end)?;
    write.commit(script).await
}

/// Settles the attempt of this row. One that was settled before is only raised.
fn settle(script: &mut Script, row: &SqliteRow, dispatch: DispatchId, ordinal: u32, end: &AttemptEnd) -> Result<()> {
    let before = row::attempt(row)?;
    let id = dispatch.to_string();
    reservation::release(script, dispatch, ordinal);
    let Some(ended_at) = before.ended_at else {
        // It did not end before it began, whatever the clock says now: its money was set aside under the limits of then.
        let (usage, at) = (storable(end.usage), end.at.max(before.began_at));
        let after = AttemptRecord { usage, cost: end.cost, cost_known: end.cost_known, ..before };
        amounts(script, SETTLE, &after);
        script.bind(at).bind(end.status.as_str()).bind(end.error_class.map(ErrorClass::as_str));
        script.bind(&end.message).bind(&end.answered_by).bind(&id).bind(ordinal);
        let data = json!({
            "ordinal": ordinal,
            "model": after.model,
            "status": end.status,
            "error_class": end.error_class,
            "cost_nano": end.cost,
            "cost_known": end.cost_known,
        });
        event::tell(script, at, "attempt.finished", &id, &data);
        spend::add(script, at, payer(row)?, Change::between(&Spent::default(), &counted(&after)));
        return Ok(());
    };
    let after = raised(&before, end);
    // Only a higher amount is news.
    if after != before {
        amounts(script, RAISE, &after);
        script.bind(&id).bind(ordinal);
        let data = json!({ "ordinal": ordinal, "cost_nano": after.cost, "cost_known": after.cost_known });
        event::tell(script, end.at, "attempt.raised", &id, &data);
        // What is learned later still belongs to the time at which the attempt ended.
        spend::add(script, ended_at, payer(row)?, Change::between(&counted(&before), &counted(&after)));
    }
    Ok(())
}

/// Of each amount the higher one.
fn raised(before: &AttemptRecord, end: &AttemptEnd) -> AttemptRecord {
    let (known, told) = (before.usage, storable(end.usage));
    AttemptRecord {
        usage: Usage {
            input: known.input.max(told.input),
            output: known.output.max(told.output),
            reasoning: known.reasoning.max(told.reasoning),
            cache_read: known.cache_read.max(told.cache_read),
            cache_write: known.cache_write.max(told.cache_write),
        },
        cost: before.cost.max(end.cost),
        cost_known: before.cost_known || end.cost_known,
        ..before.clone()
    }
}

/// As it is read back: SQLite's numbers end at half of ours.
fn storable(usage: Usage) -> Usage {
    let most = |count: u64| row::signed(count).unsigned_abs();
    Usage {
        input: most(usage.input),
        output: most(usage.output),
        reasoning: most(usage.reasoning),
        cache_read: most(usage.cache_read),
        cache_write: most(usage.cache_write),
    }
}

/// The parameters that settling and raising begin with.
fn amounts(script: &mut Script, statement: &'static str, attempt: &AttemptRecord) {
    let Usage { input, output, reasoning, cache_read, cache_write } = attempt.usage;
    script.add(statement);
    for count in [input, output, reasoning, cache_read, cache_write] {
        script.bind(row::signed(count));
    }
    script.bind(attempt.cost.0).bind(attempt.cost_known);
}

/// What the ledger holds of an attempt that has ended.
fn counted(attempt: &AttemptRecord) -> Spent {
    Spent { cost: attempt.cost, attempts: 1, unknown: u64::from(!attempt.cost_known), tokens: attempt.usage.total() }
}

fn payer(row: &SqliteRow) -> Result<Payer> {
    Ok(Payer {
        provider: row::get(row, "provider")?,
        model: row::get(row, "model")?,
        tier: row::get(row, "tier")?,
        task: row::get(row, "task")?,
        batch: row::get(row, "batch")?,
    })
}
