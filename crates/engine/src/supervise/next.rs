//! The next task of a worker that has ended its own, claimed by itself: the same order, the same limits and the same
//! claim as in a pass, without the start of a process in between.

use super::{
    change::ChangeError,
    claim::{Claimed, For, claim},
    pulse::{breaker_now, limits_now, live_of},
};
use crate::Context;
use switchyard_core::task::{Breaker, Live, order};
use switchyard_store::TaskRecord;

/// Of every line so many are looked at: whoever is held back further down is for a pass to find.
const EACH: u32 = 4;
/// How often somebody else may be faster.
const TRIES: u32 = 8;

/// Nothing when there is nothing, when nothing may start, or when it is the turn of something that a worker of a crew
/// is not for. That is left to the next pass, and is not passed over.
pub(super) async fn claim_next(context: &Context, batch: Option<&str>) -> Result<Option<Box<TaskRecord>>, ChangeError> {
    for _ in 0..TRIES {
        let ready = context.store.ready_tasks(batch, 0, EACH).await?;
        if ready.candidates.is_empty() || matches!(breaker_now(context).await?, Breaker::Open { .. }) {
            return Ok(None);
        }
        let limits = limits_now(context).await?;
        let live: Vec<Live> = context.store.live_runs().await?.iter().map(live_of).collect();
        let turnout = order(&ready.candidates, &live, &limits);
        let first = turnout.start.first();
        let Some(first) = ready.candidates.iter().find(|candidate| Some(&candidate.id) == first) else {
            return Ok(None);
        };
        match claim(context, first, &limits, For::Itself).await? {
            Claimed::Own(record) => return Ok(Some(record)),
            Claimed::PutOff | Claimed::Gone => {}
            Claimed::Started | Claimed::NoSlot(_) | Claimed::Nowhere(_) | Claimed::Unsuited => return Ok(None),
        }
    }
    Ok(None)
}
