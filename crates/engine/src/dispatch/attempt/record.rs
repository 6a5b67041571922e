//! The beginning of an attempt in the store, before anything can cost money: the dispatch with the first one, and
//! what each reserves.

use super::Attempt;
use crate::base::{owner::this_process, refusal::Refusal};
use shuntyard_core::ServerId;
use shuntyard_host::clock::now_micros;
use shuntyard_store::{Begun, NewAttempt, NewDispatch};

pub(super) async fn record_begin(attempt: &Attempt<'_>, server: Option<ServerId>) -> Result<(), Refusal> {
    let store = &attempt.run.context.store;
    let new = NewAttempt {
        dispatch: attempt.run.id,
        ordinal: attempt.ordinal,
        at: now_micros(),
        model: attempt.model().to_string(),
        server,
        tier: attempt.resolution.tier.clone(),
        task: attempt.run.options.task.clone(),
        batch: attempt.run.options.batch.clone(),
        reserve: attempt.reservation.as_ref().map(|reservation| reservation.reserve.clone()),
    };
    let begun = if attempt.recorded {
        store.begin_attempt(&new).await?
    } else {
        store.begin_dispatch_with(&new_dispatch(attempt)?, &new).await?
    };
    match begun {
        Begun::Started => Ok(()),
        Begun::Refused { ceiling, settled, reserved } => {
            let Some(reservation) = &attempt.reservation else {
                return Err(Refusal::Budget { why: "a limit has no room".into(), next: None });
            };
            Err(reservation.refused(ceiling, settled, reserved).into())
        }
    }
}

fn new_dispatch(attempt: &Attempt<'_>) -> std::io::Result<NewDispatch> {
    let request = attempt.run.request;
    Ok(NewDispatch {
        id: attempt.run.id,
        at: now_micros(),
        owner: this_process()?,
        mode: request.mode.to_string(),
        requested: request.selector.to_json(),
        route: serde_json::to_value(attempt.resolution).unwrap_or_default(),
        directory: request.directory.to_string_lossy().into_owned(),
        prompt_chars: request.prompt.chars().count() as u64,
    })
}
