//! Reservations: what running attempts may still cost. Looking whether there is room and taking it are
//! one transaction, so that any number of processes together stay below a ceiling.

use super::{
    SqliteStore,
    fault::failed,
    row,
    spend::{self, sum},
};
use crate::{Begun, NewAttempt, Reserve, Result, SpendKey, SpendKind, Spent};
use sqlx::{SqliteConnection, SqliteExecutor, query};
use switchyard_core::DispatchId;

const TAKE: &str = "
    INSERT INTO reservation (dispatch, ordinal, at, provider, model, tier, task, batch, cost_nano, tokens)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";

const DROP: &str = "DELETE FROM reservation WHERE dispatch = ?1 AND ordinal = ?2";

macro_rules! reserved {
    ($rest:literal) => {
        concat!(
            "SELECT ",
            sum!("cost_nano"),
            ", count(*) AS attempts, 0 AS unknown, ",
            sum!("tokens"),
            " FROM reservation",
            $rest
        )
    };
}

pub(super) const OVERALL: &str = reserved!("");
pub(super) const OF_PROVIDER: &str = reserved!(" WHERE provider = ?1");
pub(super) const OF_TIER: &str = reserved!(" WHERE tier = ?1");
pub(super) const OF_BATCH: &str = reserved!(" WHERE batch = ?1");
pub(super) const OF_TASK: &str = reserved!(" WHERE task = ?1");

pub(super) const STALE: &str = "
    SELECT reservation.dispatch, reservation.ordinal
    FROM reservation LEFT JOIN attempt USING (dispatch, ordinal)
    WHERE reservation.at < ?1 AND (attempt.dispatch IS NULL OR attempt.ended_at IS NOT NULL)
    ORDER BY reservation.at, reservation.dispatch, reservation.ordinal";

/// The first ceiling that the reservation would pass.
pub(super) async fn refusal(connection: &mut SqliteConnection, reserve: &Reserve) -> Result<Option<Begun>> {
    let share = Spent { cost: reserve.cost, attempts: 1, unknown: 0, tokens: reserve.tokens };
    for (index, ceiling) in reserve.ceilings.iter().enumerate() {
        let settled = spend::settled(&mut *connection, &ceiling.key, ceiling.from, ceiling.until).await?;
        let reserved = of(&mut *connection, &ceiling.key).await?;
        let [settled, reserved, share] = [settled, reserved, share].map(|spent| spent.measured(ceiling.measure));
        if i128::from(settled) + i128::from(reserved) + i128::from(share) > i128::from(ceiling.limit) {
            return Ok(Some(Begun::Refused { ceiling: index, settled, reserved }));
        }
    }
    Ok(None)
}

pub(super) async fn take(connection: &mut SqliteConnection, attempt: &NewAttempt, reserve: &Reserve) -> Result<()> {
    let taken = query(TAKE)
        .bind(attempt.dispatch.to_string())
        .bind(attempt.ordinal)
        .bind(attempt.at)
        .bind(row::provider(&attempt.model))
        .bind(&attempt.model)
        .bind(attempt.tier.as_deref().unwrap_or_default())
        .bind(&attempt.task)
        .bind(&attempt.batch)
        .bind(reserve.cost.0)
        .bind(row::signed(reserve.tokens))
        .execute(connection)
        .await;
    taken.map(drop).map_err(failed("take the reservation"))
}

/// Within the caller's transaction. One that is gone already is no error.
pub(super) async fn release(connection: &mut SqliteConnection, dispatch: DispatchId, ordinal: u32) -> Result<()> {
    let released = query(DROP).bind(dispatch.to_string()).bind(ordinal).execute(connection).await;
    released.map(drop).map_err(failed("release the reservation"))
}

pub(super) async fn release_alone(store: &SqliteStore, dispatch: DispatchId, ordinal: u32) -> Result<()> {
    let mut transaction = store.write().await?;
    release(&mut transaction, dispatch, ordinal).await?;
    transaction.commit().await.map_err(failed("release the reservation"))
}

/// What is reserved for a key by all that run.
pub(super) async fn of(executor: impl SqliteExecutor<'_>, key: &SpendKey) -> Result<Spent> {
    let sums = match key.kind {
        SpendKind::Overall => query(OVERALL),
        SpendKind::Provider => query(OF_PROVIDER).bind(&key.name),
        SpendKind::Tier => query(OF_TIER).bind(&key.name),
        SpendKind::Batch => query(OF_BATCH).bind(&key.name),
        SpendKind::Task => query(OF_TASK).bind(&key.name),
    };
    spend::spent(&sums.fetch_one(executor).await.map_err(failed("sum what is reserved"))?)
}

pub(super) async fn stale(store: &SqliteStore, before: i64) -> Result<Vec<(DispatchId, u32)>> {
    let rows = query(STALE).bind(before).fetch_all(&store.connections.readers).await;
    let rows = rows.map_err(failed("read stale reservations"))?;
    rows.iter().map(|row| Ok((row::parsed(row, "dispatch")?, row::ordinal(row)?))).collect()
}
