//! Reservations: what running attempts may still cost. Checking a ceiling and reserving under it are
//! one transaction, so that any number of processes together stay below a ceiling.

use super::{
    SqliteStore,
    fault::failed,
    row,
    script::Script,
    spend::{self, sum},
    spend_window,
};
use crate::{Begun, NewAttempt, Reserve, Result, SpendKey, SpendKind, Spent};
use shuntyard_core::DispatchId;
use sqlx::{SqliteConnection, query, sqlite::SqliteRow};

/// What was set aside for the attempt before it began is replaced.
const TAKE: &str = "
    INSERT INTO reservation (dispatch, ordinal, at, provider, model, tier, task, batch, cost_nano, tokens)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (dispatch, ordinal) DO UPDATE SET
        at = excluded.at, provider = excluded.provider, model = excluded.model, tier = excluded.tier,
        task = excluded.task, batch = excluded.batch, cost_nano = excluded.cost_nano, tokens = excluded.tokens";

const DROP: &str = "DELETE FROM reservation WHERE dispatch = ? AND ordinal = ?";

/// What a live run has set aside for an attempt that is still to begin is in use.
const DROP_UNUSED: &str = "
    DELETE FROM reservation WHERE dispatch = ? AND ordinal = ?
        AND (EXISTS (SELECT 1 FROM attempt WHERE attempt.dispatch = ? AND attempt.ordinal = ?)
             OR NOT EXISTS (SELECT 1 FROM run WHERE run.dispatch = ? AND run.ended_at IS NULL))";

macro_rules! reserved {
    ($which:literal) => {
        concat!(
            "SELECT ",
            sum!("cost_nano"),
            ", count(*) AS attempts, 0 AS unknown, ",
            sum!("tokens"),
            " FROM reservation WHERE ",
            $which,
            "(dispatch, ordinal) <> (?, ?)"
        )
    };
}

pub(super) const OVERALL: &str = reserved!("");
pub(super) const OF_PROVIDER: &str = reserved!("provider = ? AND ");
pub(super) const OF_TIER: &str = reserved!("tier = ? AND ");
pub(super) const OF_BATCH: &str = reserved!("batch = ? AND ");
pub(super) const OF_TASK: &str = reserved!("task = ? AND ");

pub(super) const STALE: &str = "
    SELECT reservation.dispatch, reservation.ordinal
    FROM reservation LEFT JOIN attempt USING (dispatch, ordinal)
    WHERE reservation.at < ?1 AND (attempt.ended_at IS NOT NULL OR attempt.dispatch IS NULL AND NOT EXISTS (
        SELECT 1 FROM run WHERE run.dispatch = reservation.dispatch AND run.ended_at IS NULL))
    ORDER BY reservation.at, reservation.dispatch, reservation.ordinal";

/// The first ceiling that the reservation would pass. What is set aside for the attempt already does not count twice.
pub(super) async fn refusal(
    connection: &mut SqliteConnection,
    attempt: &NewAttempt,
    reserve: &Reserve,
) -> Result<Option<Begun>> {
    let mut script = Script::default();
    ask_ceilings(&mut script, attempt, reserve);
    refused(&script.run(connection).await.map_err(failed("sum what is reserved"))?, reserve)
}

/// Asks how far each ceiling is used. The answer is two rows for each: what is settled, and what is reserved.
///
/// The window after it counts as well. Something is there only when the clock was set back; what begins now may end
/// there, and would find its share taken.
pub(super) fn ask_ceilings(script: &mut Script, attempt: &NewAttempt, reserve: &Reserve) {
    for ceiling in &reserve.ceilings {
        let until = ceiling.until.saturating_add(ceiling.until.saturating_sub(ceiling.from).max(0));
        spend_window::ask(script, &ceiling.key, ceiling.from, until);
        ask(script, &ceiling.key, Some(attempt));
    }
}

/// The same by the rows of [`ask_ceilings`].
pub(super) fn refused(rows: &[SqliteRow], reserve: &Reserve) -> Result<Option<Begun>> {
    let share = Spent { cost: reserve.cost, attempts: 1, unknown: 0, tokens: reserve.tokens };
    let mut rows = rows.iter();
    for (index, ceiling) in reserve.ceilings.iter().enumerate() {
        let mut next = || rows.next().map_or(Ok(Spent::default()), spend::spent);
        let [settled, reserved, share] = [next()?, next()?, share].map(|spent| spent.measured(ceiling.measure));
        if i128::from(settled) + i128::from(reserved) + i128::from(share) > i128::from(ceiling.limit) {
            return Ok(Some(Begun::Refused { ceiling: index, settled, reserved }));
        }
    }
    Ok(None)
}

pub(super) async fn take(connection: &mut SqliteConnection, attempt: &NewAttempt, reserve: &Reserve) -> Result<()> {
    let mut script = Script::default();
    set_aside(&mut script, attempt, reserve);
    script.run(connection).await.map(drop).map_err(failed("take the reservation"))
}

pub(super) fn set_aside(script: &mut Script, attempt: &NewAttempt, reserve: &Reserve) {
    script
        .add(TAKE)
        .bind(attempt.dispatch.to_string())
        .bind(attempt.ordinal)
        .bind(attempt.at)
        .bind(row::provider(&attempt.model))
        .bind(&attempt.model)
        .bind(attempt.tier.as_deref().unwrap_or_default())
        .bind(&attempt.task)
        .bind(&attempt.batch)
        .bind(reserve.cost.0)
        .bind(row::signed(reserve.tokens));
}

/// One that is gone already is no error.
pub(super) fn release(script: &mut Script, dispatch: DispatchId, ordinal: u32) {
    script.add(DROP).bind(dispatch.to_string()).bind(ordinal);
}

pub(super) async fn release_alone(store: &SqliteStore, dispatch: DispatchId, ordinal: u32) -> Result<()> {
    let mut script = Script::default();
    let id = dispatch.to_string();
    script.add(DROP_UNUSED).bind(&id).bind(ordinal).bind(&id).bind(ordinal).bind(&id);
    script.commit(store, "release the reservation").await
}

/// Asks what is reserved for a key by all that run, or by all but one. The answer is one row.
fn ask(script: &mut Script, key: &SpendKey, but: Option<&NewAttempt>) {
    match key.kind {
        SpendKind::Overall => script.add(OVERALL),
        SpendKind::Provider => script.add(OF_PROVIDER).bind(&key.name),
        SpendKind::Tier => script.add(OF_TIER).bind(&key.name),
        SpendKind::Batch => script.add(OF_BATCH).bind(&key.name),
        SpendKind::Task => script.add(OF_TASK).bind(&key.name),
    };
    // No reservation has this ordinal.
    script.bind(but.map_or_else(String::new, |but| but.dispatch.to_string())).bind(but.map_or(0, |but| but.ordinal));
}

pub(super) async fn of(store: &SqliteStore, key: &SpendKey) -> Result<Spent> {
    let mut script = Script::default();
    ask(&mut script, key, None);
    let rows = script.read(store, "sum what is reserved").await?;
    rows.first().map_or(Ok(Spent::default()), spend::spent)
}

/// What is settled and what is reserved, for each key in its window.
pub(super) async fn standings(store: &SqliteStore, wanted: &[(SpendKey, i64, i64)]) -> Result<Vec<(Spent, Spent)>> {
    let mut script = Script::default();
    for (key, from, until) in wanted {
        spend_window::ask(&mut script, key, *from, *until);
        ask(&mut script, key, None);
    }
    if script.is_empty() {
        return Ok(Vec::new());
    }
    let rows = script.read(store, "sum what is spent and reserved").await?;
    rows.chunks_exact(2).map(|pair| Ok((spend::spent(&pair[0])?, spend::spent(&pair[1])?))).collect()
}

pub(super) async fn stale(store: &SqliteStore, before: i64) -> Result<Vec<(DispatchId, u32)>> {
    let rows = query(STALE).bind(before).fetch_all(&store.connections.readers).await;
    let rows = rows.map_err(failed("read stale reservations"))?;
    rows.iter().map(|row| Ok((row::parsed(row, "dispatch")?, row::ordinal(row)?))).collect()
}
