//! The beginning of attempts, with what they set aside, and what they run in. Their end is a file of its own.

use super::{SqliteStore, fault::failed, reservation, row, script::Script};
use crate::{Begun, ErrorKind, NewAttempt, Result, StoreError};
use shuntyard_core::DispatchId;
use sqlx::query;

const BEGIN: &str = "
    INSERT INTO attempt (dispatch, ordinal, began_at, model, server, status, provider, tier, task, batch)
    VALUES (?, ?, ?, ?, ?, 'running', ?, ?, ?, ?)";

const SET_SESSION: &str = "UPDATE attempt SET session = ?3 WHERE dispatch = ?1 AND ordinal = ?2";

pub(super) async fn begin(store: &SqliteStore, attempt: &NewAttempt) -> Result<Begun> {
    let mut transaction = store.write().await?;
    let mut script = Script::default();
    add(&mut script, attempt);
    script.run(&mut transaction).await.map_err(failed("begin the attempt"))?;
    if let Some(reserve) = &attempt.reserve {
        if let Some(refused) = reservation::refusal(&mut transaction, attempt, reserve).await? {
            // The attempt was only written to learn first whether it may be there at all.
            transaction.rollback().await.map_err(failed("take back the attempt"))?;
            return Ok(refused);
        }
        reservation::take(&mut transaction, attempt, reserve).await?;
    }
    transaction.commit().await.map_err(failed("begin the attempt"))?;
    Ok(Begun::Started)
}

/// The attempt alone, without its reservation.
pub(super) fn add(script: &mut Script, attempt: &NewAttempt) {
    script
        .add(BEGIN)
        .bind(attempt.dispatch.to_string())
        .bind(attempt.ordinal)
        .bind(attempt.at)
        .bind(&attempt.model)
        .bind(attempt.server.map(|server| server.to_string()))
        .bind(row::provider(&attempt.model))
        .bind(&attempt.tier)
        .bind(&attempt.task)
        .bind(&attempt.batch);
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
