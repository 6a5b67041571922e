//! Attempts: what each one ran in and what it spent. What was spent only ever rises, and the ledger
//! rises with it in the same transaction.

use super::{
    SqliteStore,
    dispatch::refuse_running,
    event,
    fault::failed,
    reservation, row,
    spend::{self, Change, Payer},
};
use crate::{AttemptEnd, AttemptRecord, Begun, ErrorKind, NewAttempt, Result, Spent, StoreError};
use serde_json::json;
use sqlx::{SqliteConnection, query, sqlite::SqliteRow};
use switchyard_core::{DispatchId, ErrorClass};

const BEGIN: &str = "
    INSERT INTO attempt (dispatch, ordinal, began_at, model, server, status, provider, tier, task, batch)
    VALUES (?1, ?2, ?3, ?4, ?5, 'running', ?6, ?7, ?8, ?9)";

const SET_SESSION: &str = "UPDATE attempt SET session = ?3 WHERE dispatch = ?1 AND ordinal = ?2";

const SETTLE: &str = "
    UPDATE attempt
    SET input_tokens = ?3, output_tokens = ?4, reasoning_tokens = ?5, cache_read_tokens = ?6,
        cache_write_tokens = ?7, cost_nano = ?8, cost_known = ?9,
        ended_at = ?10, status = ?11, error_class = ?12, message = ?13, answered_by = ?14
    WHERE dispatch = ?1 AND ordinal = ?2
    RETURNING *";

const RAISE: &str = "
    UPDATE attempt
    SET input_tokens = max(input_tokens, ?3), output_tokens = max(output_tokens, ?4),
        reasoning_tokens = max(reasoning_tokens, ?5), cache_read_tokens = max(cache_read_tokens, ?6),
        cache_write_tokens = max(cache_write_tokens, ?7), cost_nano = max(cost_nano, ?8),
        cost_known = max(cost_known, ?9)
    WHERE dispatch = ?1 AND ordinal = ?2
        AND (input_tokens < ?3 OR output_tokens < ?4 OR reasoning_tokens < ?5 OR cache_read_tokens < ?6
             OR cache_write_tokens < ?7 OR cost_nano < ?8 OR cost_known < ?9)
    RETURNING *";

const ONE: &str = "SELECT * FROM attempt WHERE dispatch = ?1 AND ordinal = ?2";

pub(super) async fn begin(store: &SqliteStore, attempt: &NewAttempt) -> Result<Begun> {
    let mut transaction = store.write().await?;
    query(BEGIN)
        .bind(attempt.dispatch.to_string())
        .bind(attempt.ordinal)
        .bind(attempt.at)
        .bind(&attempt.model)
        .bind(attempt.server.map(|server| server.to_string()))
        .bind(row::provider(&attempt.model))
        .bind(&attempt.tier)
        .bind(&attempt.task)
        .bind(&attempt.batch)
        .execute(&mut *transaction)
        .await
        .map_err(failed("begin the attempt"))?;
    if let Some(reserve) = &attempt.reserve {
        if let Some(refused) = reservation::refusal(&mut transaction, reserve).await? {
            // The attempt was only written to learn first whether it may be there at all.
            transaction.rollback().await.map_err(failed("take back the attempt"))?;
            return Ok(refused);
        }
        reservation::take(&mut transaction, attempt, reserve).await?;
    }
    transaction.commit().await.map_err(failed("begin the attempt"))?;
    Ok(Begun::Started)
}

pub(super) async fn set_session(store: &SqliteStore, dispatch: DispatchId, ordinal: u32, session: &str) -> Result<()> {
    let mut transaction = store.write().await?;
    let set = query(SET_SESSION)
        .bind(dispatch.to_string())
        .bind(ordinal)
        .bind(session)
        .execute(&mut *transaction)
        .await
        .map_err(failed("note the session"))?;
    if set.rows_affected() == 0 {
        return Err(StoreError::new(ErrorKind::NotFound, format!("there is no attempt {ordinal} of {dispatch}")));
    }
    transaction.commit().await.map_err(failed("note the session"))
}

pub(super) async fn finish(store: &SqliteStore, dispatch: DispatchId, ordinal: u32, end: &AttemptEnd) -> Result<()> {
    refuse_running(end.status)?;
    let mut transaction = store.write().await?;
    let before = query(ONE).bind(dispatch.to_string()).bind(ordinal).fetch_one(&mut *transaction).await;
    let before = row::attempt(&before.map_err(failed("finish the attempt"))?)?;
    let changed = match before.ended_at {
        None => Some(settle(&mut transaction, dispatch, ordinal, end).await?),
        Some(_) => raise(&mut transaction, dispatch, ordinal, end).await?,
    };
    if let Some(changed) = changed {
        let after = row::attempt(&changed)?;
        let change = Change::between(&counted(&before), &counted(&after));
        // What is learned later still belongs to the time at which the attempt ended.
        spend::add(&mut transaction, after.ended_at.unwrap_or(end.at), payer(&changed)?, change).await?;
    }
    reservation::release(&mut transaction, dispatch, ordinal).await?;
    transaction.commit().await.map_err(failed("finish the attempt"))
}

async fn settle(
    connection: &mut SqliteConnection,
    dispatch: DispatchId,
    ordinal: u32,
    end: &AttemptEnd,
) -> Result<SqliteRow> {
    let settled = amounts(SETTLE, dispatch, ordinal, end)
        .bind(end.at)
        .bind(end.status.as_str())
        .bind(end.error_class.map(ErrorClass::as_str))
        .bind(&end.message)
        .bind(&end.answered_by)
        .fetch_one(&mut *connection)
        .await
        .map_err(failed("finish the attempt"))?;
    let data = json!({
        "ordinal": ordinal,
        "model": row::get::<String>(&settled, "model")?,
        "status": end.status,
        "error_class": end.error_class,
        "cost_nano": end.cost,
        "cost_known": end.cost_known,
    });
    event::append(connection, end.at, "attempt.finished", &dispatch.to_string(), &data).await?;
    Ok(settled)
}

/// The attempt was settled before: only a higher amount is news.
async fn raise(
    connection: &mut SqliteConnection,
    dispatch: DispatchId,
    ordinal: u32,
    end: &AttemptEnd,
) -> Result<Option<SqliteRow>> {
    let raised = amounts(RAISE, dispatch, ordinal, end).fetch_optional(&mut *connection).await;
    let Some(raised) = raised.map_err(failed("raise what the attempt spent"))? else {
        return Ok(None);
    };
    let data = json!({
        "ordinal": ordinal,
        "cost_nano": row::get::<i64>(&raised, "cost_nano")?,
        "cost_known": row::get::<bool>(&raised, "cost_known")?,
    });
    event::append(connection, end.at, "attempt.raised", &dispatch.to_string(), &data).await?;
    Ok(Some(raised))
}

/// The parameters that settling and raising share.
fn amounts<'end>(
    sql: &'static str,
    dispatch: DispatchId,
    ordinal: u32,
    end: &'end AttemptEnd,
) -> sqlx::query::Query<'end, sqlx::Sqlite, sqlx::sqlite::SqliteArguments> {
    query(sql)
        .bind(dispatch.to_string())
        .bind(ordinal)
        .bind(row::signed(end.usage.input))
        .bind(row::signed(end.usage.output))
        .bind(row::signed(end.usage.reasoning))
        .bind(row::signed(end.usage.cache_read))
        .bind(row::signed(end.usage.cache_write))
        .bind(end.cost.0)
        .bind(end.cost_known)
}

/// What the ledger holds of an attempt: nothing until it has ended.
fn counted(attempt: &AttemptRecord) -> Spent {
    match attempt.ended_at {
        None => Spent::default(),
        Some(_) => Spent {
            cost: attempt.cost,
            attempts: 1,
            unknown: u64::from(!attempt.cost_known),
            tokens: attempt.usage.total(),
        },
    }
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
