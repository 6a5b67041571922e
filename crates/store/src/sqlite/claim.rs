//! Claims: slots and money are looked at and taken in one transaction, so that any number of processes together stay
//! below every limit. One that is refused has written nothing.

use super::{fault::failed, reservation, run, task::json};
use crate::{Begun, Changed, ErrorKind, NewAttempt, NewRun, Result, StoreError, TaskRecord};
use sqlx::{SqliteConnection, query_scalar};
use switchyard_core::task::Slot;

/// The first slot of which all are taken. The provider is what the model's name begins with, or all of it.
pub(super) const FULL: &str = "
    SELECT slot.key FROM json_each(?1) AS slot
    WHERE (
        SELECT count(*) FROM run
        WHERE run.ended_at IS NULL AND CASE slot.value ->> 'kind'
            WHEN 'total' THEN 1
            WHEN 'repository' THEN run.repository = slot.value ->> 'name'
            WHEN 'batch' THEN run.batch = slot.value ->> 'name'
            WHEN 'siblings' THEN run.parent = slot.value ->> 'name'
            WHEN 'provider' THEN substr(run.model, 1, instr(run.model || '/', '/') - 1) = slot.value ->> 'name'
            WHEN 'model' THEN run.model = slot.value ->> 'name'
        END
    ) >= slot.value ->> 'limit'
    ORDER BY slot.key LIMIT 1";

/// Another's reservation must not be replaced.
pub(super) const USED: &str = "
    SELECT EXISTS (SELECT 1 FROM reservation WHERE dispatch = ?1) OR EXISTS (SELECT 1 FROM dispatch WHERE id = ?1)";

#[derive(Debug)]
#[must_use = "a claim that was refused must not be acted on"]
pub(super) enum Claimed {
    Done,
    Refused(Changed),
}

/// A task that waits for others, or whose batch was paused, is not what the caller has seen: it is stale.
pub(super) async fn claim(
    connection: &mut SqliteConnection,
    before: &TaskRecord,
    epoch: i64,
    new: &NewRun,
) -> Result<Claimed> {
    if before.paused || before.open_blockers > 0 {
        return Ok(Claimed::Refused(Changed::Stale));
    }
    if let Some(slot) = full(connection, &new.slots).await? {
        return Ok(Claimed::Refused(Changed::NoSlot(slot)));
    }
    if let Some(refused) = set_aside(connection, before, new).await? {
        return Ok(Claimed::Refused(refused));
    }
    run::begin(connection, &before.task, epoch, new).await?;
    Ok(Claimed::Done)
}

async fn full(connection: &mut SqliteConnection, slots: &[Slot]) -> Result<Option<Slot>> {
    let full: Option<i64> =
        query_scalar(FULL).bind(json(&slots)?).fetch_optional(connection).await.map_err(failed("count the slots"))?;
    Ok(full.and_then(|place| slots.get(usize::try_from(place).ok()?)).cloned())
}

/// Reserves what the first attempt of the run's dispatch may cost. That attempt takes it over when it begins.
async fn set_aside(connection: &mut SqliteConnection, before: &TaskRecord, new: &NewRun) -> Result<Option<Changed>> {
    let Some(reserve) = &new.reserve else { return Ok(None) };
    let Some(dispatch) = new.dispatch else {
        let what = "failed to claim: money is set aside under a dispatch, and none is given";
        return Err(StoreError::new(ErrorKind::Conflict, what));
    };
    let used: bool = query_scalar(USED)
        .bind(dispatch.to_string())
        .fetch_one(&mut *connection)
        .await
        .map_err(failed("look for the dispatch"))?;
    if used {
        return Err(StoreError::new(ErrorKind::Conflict, format!("failed to claim: {dispatch} was used before")));
    }
    let attempt = NewAttempt {
        dispatch,
        ordinal: 1,
        at: new.at,
        model: new.model.clone().unwrap_or_default(),
        server: None,
        tier: new.tier.clone(),
        task: Some(before.task.id.to_string()),
        batch: before.task.batch.clone(),
        reserve: None,
    };
    match reservation::refusal(connection, &attempt, reserve).await? {
        Some(Begun::Refused { ceiling, settled, reserved }) => {
            Ok(Some(Changed::NoMoney { ceiling, settled, reserved }))
        }
        Some(Begun::Started) | None => {
            reservation::take(connection, &attempt, reserve).await?;
            Ok(None)
        }
    }
}
