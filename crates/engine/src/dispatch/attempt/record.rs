//! The beginning of an attempt in the store, before anything can cost money: the dispatch with the first one, and
//! what each sets aside.

use super::Attempt;
use crate::{
    budget::{OverBudget, no_room},
    dispatch::refusal::Refusal,
    owner::this_process,
};
use switchyard_core::ServerId;
use switchyard_host::clock::now_micros;
use switchyard_store::{Begun, NewAttempt, NewDispatch};

pub(super) async fn record_begin(attempt: &Attempt<'_>, server: Option<ServerId>) -> Result<(), Refusal> {
    if !attempt.recorded {
        record_dispatch(attempt).await?;
    }
    let new = NewAttempt {
        dispatch: attempt.run.id,
        ordinal: attempt.ordinal,
        at: now_micros(),
        model: attempt.model().to_string(),
        server,
        tier: attempt.resolution.tier.clone(),
        task: attempt.run.options.task.clone(),
        batch: attempt.run.options.batch.clone(),
        reserve: attempt.reserve.clone(),
    };
    match attempt.run.context.store.begin_attempt(&new).await? {
        Begun::Started => Ok(()),
        Begun::Refused { ceiling, settled, reserved } => {
            let Some(reserve) = &attempt.reserve else {
                return Err(Refusal::Budget { why: "a limit has no room".into() });
            };
            let OverBudget(why) = no_room(reserve, ceiling, settled, reserved);
            Err(Refusal::Budget { why })
        }
    }
}

async fn record_dispatch(attempt: &Attempt<'_>) -> Result<(), Refusal> {
    let request = attempt.run.request;
    let dispatch = NewDispatch {
        id: attempt.run.id,
        at: now_micros(),
        owner: this_process()?,
        mode: request.mode.to_string(),
        requested: request.selector.to_json(),
        route: serde_json::to_value(attempt.resolution).unwrap_or_default(),
        directory: request.directory.to_string_lossy().into_owned(),
        prompt_chars: request.prompt.chars().count() as u64,
    };
    Ok(attempt.run.context.store.begin_dispatch(&dispatch).await?)
}
