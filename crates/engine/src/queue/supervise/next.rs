//! The next task of a worker that has none, claimed by itself: the same order, the same limits and the same claim as
//! in a pass, without the start of a process or a word from anybody in between.

use super::{
    change::ChangeError,
    claim::{Claimed, For, claim},
    outlook::{limits_of, outlook},
};
use crate::Context;
use shuntyard_core::work::task::{Breaker, order};
use shuntyard_store::TaskRecord;

/// Of every line so many are looked at: whoever is held back further down is for a pass to find.
const EACH: u32 = 4;
/// How often somebody else may be faster.
const TRIES: u32 = 8;

/// The claim and its beginning are one. Nothing when there is nothing, when nothing may start, or when it is the turn
/// of something that a worker of a crew is not for. That is left to the next pass, and is not passed over.
pub(super) async fn claim_next(context: &Context, batch: Option<&str>) -> Result<Option<Box<TaskRecord>>, ChangeError> {
    for _ in 0..TRIES {
        let outlook = outlook(context, batch, EACH).await?;
        if outlook.ready.candidates.is_empty() || matches!(outlook.breaker, Breaker::Open { .. }) {
            return Ok(None);
        }
        let limits = limits_of(context, &outlook.batches).await;
        let turnout = order(&outlook.ready.candidates, &outlook.live, &limits);
        let first = turnout.start.first();
        let Some(first) = outlook.ready.candidates.iter().find(|candidate| Some(&candidate.id) == first) else {
            return Ok(None);
        };
        match claim(context, first, &limits, For::Itself).await? {
            Claimed::Begun(record) => return Ok(Some(record)),
            Claimed::PutOff | Claimed::Gone => {}
            Claimed::Started | Claimed::NoSlot(_) | Claimed::Nowhere(_) | Claimed::Unsuited => return Ok(None),
        }
    }
    Ok(None)
}
