//! Claims: slots and money are looked at and taken in one transaction, so that any number of processes together stay
//! below every limit. One that is refused has written nothing.

use super::{
    reservation, row, run,
    script::{Script, Write},
    task::json,
};
use crate::{Begun, Changed, ErrorKind, NewAttempt, NewRun, Result, StoreError, TaskRecord};
use sqlx::sqlite::SqliteRow;

/// The first slot of which all are taken. The provider is what the model's name begins with, or all of it.
pub(super) const FULL: &str = "
    SELECT (SELECT slot.key FROM json_each(?) AS slot
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
    ORDER BY slot.key LIMIT 1) AS full";

/// Another's reservation must not be replaced.
const USED: &str = "
    SELECT EXISTS (SELECT 1 FROM reservation WHERE dispatch = ?) OR EXISTS (SELECT 1 FROM dispatch WHERE id = ?) AS used";

#[derive(Debug)]
#[must_use = "a claim that was refused must not be acted on"]
pub(super) enum Claimed {
    Done,
    Refused(Changed),
}

/// Asks for a slot that is taken. The answer is one row.
pub(super) fn ask_full(look: &mut Script, new: &NewRun) -> Result<()> {
    look.add(FULL).bind(json(&new.slots)?);
    Ok(())
}

/// Claims, as a part of the caller's script, by the answer to [`ask_full`]. A task that waits for others, or whose
/// batch was paused, is not what the caller has seen: it is stale.
pub(super) async fn claim(
    write: &mut Write,
    script: &mut Script,
    (before, full): (&TaskRecord, Option<&SqliteRow>),
    epoch: i64,
    new: &NewRun,
) -> Result<Claimed> {
    if before.paused || before.open_blockers > 0 {
        return Ok(Claimed::Refused(Changed::Stale));
    }
    let full = full.map_or(Ok(None), |row| row::get::<Option<i64>>(row, "full"))?;
    if let Some(slot) = full.and_then(|place| new.slots.get(usize::try_from(place).ok()?)) {
        return Ok(Claimed::Refused(Changed::NoSlot(slot.clone())));
    }
    if let Some(refused) = set_aside(write, script, before, new).await? {
        return Ok(Claimed::Refused(refused));
    }
    run::begin(script, &before.task, epoch, new);
    Ok(Claimed::Done)
}

/// Reserves what the first attempt of the run's dispatch may cost. That attempt takes it over when it begins.
async fn set_aside(
    write: &mut Write,
    script: &mut Script,
    before: &TaskRecord,
    new: &NewRun,
) -> Result<Option<Changed>> {
    let Some(reserve) = &new.reserve else { return Ok(None) };
    let Some(dispatch) = new.dispatch else {
        let what = "failed to claim: money is set aside under a dispatch, and none is given";
        return Err(StoreError::new(ErrorKind::Conflict, what));
    };
    let attempt = NewAttempt {
        dispatch,
        ordinal: 1,
        at: new.at,
        model: new.model.clone().unwrap_or_default(),
        server: None,
        tier: new.tier.clone(),
        task: Some(before.task.charged_to().to_string()),
        batch: before.task.batch.clone(),
        reserve: None,
    };
    let mut look = Script::default();
    look.add(USED).bind(dispatch.to_string()).bind(dispatch.to_string());
    reservation::ask_ceilings(&mut look, &attempt, reserve);
    let rows = write.look(look).await?;
    if rows.first().map_or(Ok(false), |row| row::get(row, "used"))? {
        return Err(StoreError::new(ErrorKind::Conflict, format!("failed to claim: {dispatch} was used before")));
    }
    match reservation::refused(rows.get(1..).unwrap_or_default(), reserve)? {
        Some(Begun::Refused { ceiling, settled, reserved }) => {
            Ok(Some(Changed::NoMoney { ceiling, settled, reserved }))
        }
        Some(Begun::Started) | None => {
            reservation::set_aside(script, &attempt, reserve);
            Ok(None)
        }
    }
}
