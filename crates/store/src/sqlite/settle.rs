//! The end of an attempt: what it spent goes to the ledger and its reservation ends, in one transaction.
//!
//! Invariant: an attempt whose cost is not known counts as at least what it had reserved, until an exact figure
//! corrects it. The sums of the ledger follow every correction.

use super::{
    SqliteStore,
    dispatch::refuse_running,
    event, reservation, row,
    script::{Script, Write},
    spend::{self, Change, Payer},
};
use crate::{AttemptEnd, AttemptRecord, ErrorKind, Result, Settled, Spent, StoreError};
use serde_json::json;
use shuntyard_core::{DispatchId, ErrorClass, Nano, Usage, limits::Amount};
use sqlx::sqlite::SqliteRow;

/// With what it has reserved, while it has.
const ONE: &str = "
    SELECT attempt.*, reservation.cost_nano AS reserved_nano, reservation.tokens AS reserved_tokens
    FROM attempt LEFT JOIN reservation USING (dispatch, ordinal)
    WHERE attempt.dispatch = ? AND attempt.ordinal = ?";

const SETTLE: &str = "
    UPDATE attempt
    SET input_tokens = ?, output_tokens = ?, reasoning_tokens = ?, cache_read_tokens = ?, cache_write_tokens = ?,
        cost_nano = ?, cost_known = ?, ended_at = ?, status = ?, error_class = ?, message = ?, answered_by = ?
    WHERE dispatch = ? AND ordinal = ?";

const CORRECT: &str = "
    UPDATE attempt
    SET input_tokens = ?, output_tokens = ?, reasoning_tokens = ?, cache_read_tokens = ?, cache_write_tokens = ?,
        cost_nano = ?, cost_known = ?
    WHERE dispatch = ? AND ordinal = ?";

pub(super) async fn finish(
    store: &SqliteStore,
    dispatch: DispatchId,
    ordinal: u32,
    end: &AttemptEnd,
) -> Result<Settled> {
    refuse_running(end.status)?;
    let (mut look, mut script) = (Script::default(), Script::default());
    look.add(ONE).bind(dispatch.to_string()).bind(ordinal);
    let (write, rows) = Write::after(store, look, "finish the attempt").await?;
    let Some(row) = rows.first() else {
        return Err(StoreError::new(ErrorKind::NotFound, format!("there is no attempt {ordinal} of {dispatch}")));
    };
    let after = settle(&mut script, row, dispatch, ordinal, end)?;
    write.commit(script).await?;
    Ok(Settled { usage: after.usage, cost: after.cost, cost_known: after.cost_known })
}

/// Settles the attempt of this row, or corrects one that was settled before.
fn settle(
    script: &mut Script,
    row: &SqliteRow,
    dispatch: DispatchId,
    ordinal: u32,
    end: &AttemptEnd,
) -> Result<AttemptRecord> {
    let before = row::attempt(row)?;
    let id = dispatch.to_string();
    reservation::release(script, dispatch, ordinal);
    let Some(ended_at) = before.ended_at else {
        // It did not end before it began, whatever the clock shows now: its money was reserved under the limits of
        // then.
        let at = end.at.max(before.began_at);
        let after = settled(before, end, row)?;
        amounts(script, SETTLE, &after);
        script.bind(at).bind(end.status.as_str()).bind(end.error_class.map(ErrorClass::as_str));
        script.bind(&end.message).bind(&end.answered_by).bind(&id).bind(ordinal);
        let data = json!({
            "ordinal": ordinal,
            "model": after.model,
            "status": end.status,
            "error_class": end.error_class,
            "cost_nano": after.cost,
            "cost_known": after.cost_known,
        });
        event::tell(script, at, "attempt.finished", &id, &data);
        spend::add(script, at, payer(row)?, Change::between(&Spent::default(), &counted(&after)));
        return Ok(after);
    };
    let after = corrected(&before, end);
    // Only another amount is news.
    if after != before {
        amounts(script, CORRECT, &after);
        script.bind(&id).bind(ordinal);
        let became_known = after.cost_known && !before.cost_known;
        let kind = if became_known { "attempt.corrected" } else { "attempt.raised" };
        let data = json!({ "ordinal": ordinal, "cost_nano": after.cost, "cost_known": after.cost_known });
        event::tell(script, end.at, kind, &id, &data);
        // What is learned later still belongs to the time at which the attempt ended.
        spend::add(script, ended_at, payer(row)?, Change::between(&counted(&before), &counted(&after)));
    }
    Ok(after)
}

/// What the first end counts with.
fn settled(before: AttemptRecord, end: &AttemptEnd, row: &SqliteRow) -> Result<AttemptRecord> {
    let reserved_tokens = row::get::<Option<i64>>(row, "reserved_tokens")?.map(i64::unsigned_abs);
    let reserved_cost = row::get::<Option<i64>>(row, "reserved_nano")?.map(Nano);
    let mut usage = storable(end.usage);
    let tokens = Amount::new(usage.total(), end.usage_known).settled(reserved_tokens).value();
    // Their kind is unknown.
    usage.input = usage.input.saturating_add(tokens.saturating_sub(usage.total()));
    let cost = Amount::new(end.cost, end.cost_known).settled(reserved_cost);
    Ok(AttemptRecord { usage: storable(usage), cost: cost.value(), cost_known: cost.is_known(), ..before })
}

/// What a later report makes of an attempt that was settled.
fn corrected(before: &AttemptRecord, end: &AttemptEnd) -> AttemptRecord {
    let (known, told) = (before.usage, storable(end.usage));
    let is_correction = !before.cost_known && end.cost_known && end.usage_known;
    let usage = if is_correction {
        told
    } else {
        Usage {
            input: known.input.max(told.input),
            output: known.output.max(told.output),
            reasoning: known.reasoning.max(told.reasoning),
            cache_read: known.cache_read.max(told.cache_read),
            cache_write: known.cache_write.max(told.cache_write),
        }
    };
    let cost = Amount::new(before.cost, before.cost_known).corrected(Amount::new(end.cost, end.cost_known));
    AttemptRecord { usage, cost: cost.value(), cost_known: cost.is_known(), ..before.clone() }
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

/// The parameters that settling and correcting begin with.
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
