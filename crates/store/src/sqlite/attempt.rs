//! Attempts: what each one ran in and what it spent. What was spent only ever rises.

use super::{SqliteStore, dispatch::refuse_running, event, fault::failed, row};
use crate::{AttemptEnd, ErrorKind, NewAttempt, Result, StoreError};
use serde_json::json;
use sqlx::{SqliteConnection, query};
use switchyard_core::{DispatchId, ErrorClass};

const BEGIN: &str = "
    INSERT INTO attempt (dispatch, ordinal, began_at, model, server, status) VALUES (?1, ?2, ?3, ?4, ?5, 'running')";

const SET_SESSION: &str = "UPDATE attempt SET session = ?3 WHERE dispatch = ?1 AND ordinal = ?2";

const SETTLE: &str = "
    UPDATE attempt
    SET input_tokens = ?3, output_tokens = ?4, reasoning_tokens = ?5, cache_read_tokens = ?6,
        cache_write_tokens = ?7, cost_nano = ?8, cost_known = ?9,
        ended_at = ?10, status = ?11, error_class = ?12, message = ?13, answered_by = ?14
    WHERE dispatch = ?1 AND ordinal = ?2 AND ended_at IS NULL
    RETURNING model";

const RAISE: &str = "
    UPDATE attempt
    SET input_tokens = max(input_tokens, ?3), output_tokens = max(output_tokens, ?4),
        reasoning_tokens = max(reasoning_tokens, ?5), cache_read_tokens = max(cache_read_tokens, ?6),
        cache_write_tokens = max(cache_write_tokens, ?7), cost_nano = max(cost_nano, ?8),
        cost_known = max(cost_known, ?9)
    WHERE dispatch = ?1 AND ordinal = ?2
        AND (input_tokens < ?3 OR output_tokens < ?4 OR reasoning_tokens < ?5 OR cache_read_tokens < ?6
             OR cache_write_tokens < ?7 OR cost_nano < ?8 OR cost_known < ?9)
    RETURNING cost_nano, cost_known";

const ONE: &str = "SELECT ordinal FROM attempt WHERE dispatch = ?1 AND ordinal = ?2";

pub(super) async fn begin(store: &SqliteStore, attempt: &NewAttempt) -> Result<()> {
    let mut transaction = store.write().await?;
    query(BEGIN)
        .bind(attempt.dispatch.to_string())
        .bind(attempt.ordinal)
        .bind(attempt.at)
        .bind(&attempt.model)
        .bind(attempt.server.map(|server| server.to_string()))
        .execute(&mut *transaction)
        .await
        .map_err(failed("begin the attempt"))?;
    transaction.commit().await.map_err(failed("begin the attempt"))
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
    let settled = spent(SETTLE, dispatch, ordinal, end)
        .bind(end.at)
        .bind(end.status.as_str())
        .bind(end.error_class.map(ErrorClass::as_str))
        .bind(&end.message)
        .bind(&end.answered_by)
        .fetch_optional(&mut *transaction)
        .await
        .map_err(failed("finish the attempt"))?;
    if let Some(settled) = settled {
        let data = json!({
            "ordinal": ordinal,
            "model": row::get::<String>(&settled, "model")?,
            "status": end.status,
            "error_class": end.error_class,
            "cost_nano": end.cost,
            "cost_known": end.cost_known,
        });
        event::append(&mut transaction, end.at, "attempt.finished", &dispatch.to_string(), &data).await?;
    } else {
        raise(&mut transaction, dispatch, ordinal, end).await?;
    }
    transaction.commit().await.map_err(failed("finish the attempt"))
}

/// The attempt was settled before: only a higher amount is news.
async fn raise(connection: &mut SqliteConnection, dispatch: DispatchId, ordinal: u32, end: &AttemptEnd) -> Result<()> {
    let raised = spent(RAISE, dispatch, ordinal, end)
        .fetch_optional(&mut *connection)
        .await
        .map_err(failed("raise what the attempt spent"))?;
    let Some(raised) = raised else {
        let known = query(ONE).bind(dispatch.to_string()).bind(ordinal).fetch_one(connection).await;
        return known.map(drop).map_err(failed("finish the attempt"));
    };
    let data = json!({
        "ordinal": ordinal,
        "cost_nano": row::get::<i64>(&raised, "cost_nano")?,
        "cost_known": row::get::<bool>(&raised, "cost_known")?,
    });
    event::append(connection, end.at, "attempt.raised", &dispatch.to_string(), &data).await.map(drop)
}

/// The parameters that settling and raising share.
fn spent<'end>(
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
