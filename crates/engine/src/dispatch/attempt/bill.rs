//! What an attempt really used: read from the server. Where that cannot be read, the attempt is settled at its
//! reservation.

use super::{Seen, ServerAttempt, prompts::Ran};
use shuntyard_agents::opencode::{ApiError, StopOutcome, TreeUsage, read_steps, read_tree};
use shuntyard_core::{
    Nano, Usage,
    limits::{Steps, with_cut_off},
    values::Mode,
};

/// What an attempt cost, as far as it can be known.
#[derive(Debug)]
pub(super) struct Bill {
    pub(super) seen: Seen,
    pub(super) warning: Option<String>,
}

/// What the attempt really used, over the session and all its descendants, read from the server. `began` is when the
/// attempt began, in milliseconds since the Unix epoch.
pub(super) async fn read_bill(
    seat: &ServerAttempt<'_>,
    session: &str,
    before: &TreeUsage,
    ran: &Ran,
    began: i64,
) -> Bill {
    let read = match ran.report.stop {
        Some(StopOutcome::Unreachable) => Err(ApiError::Unreachable(seat.server_handle.client.address())),
        // A new text session was denied every tool, so nothing can hang below it: its messages are all.
        _ if ran.is_complete
            && seat.attempt.run.request.mode == Mode::Text
            && seat.attempt.run.request.session.is_none() =>
        {
            Ok(TreeUsage { usage: ran.usage, cost: ran.cost, cost_known: true, sessions: Vec::new() })
        }
        _ => read_tree(&seat.server_handle.client, session).await,
    };
    match read {
        Ok(tree) => {
            let steps = cut_off_steps(seat, &tree, ran, began).await;
            let (usage, cost) = tree.since(before);
            let model = seat.attempt.model();
            let price = seat.attempt.catalogue.find(model).map(|model| model.price).unwrap_or_default();
            let priceless = price.is_zero() && cost == Nano::ZERO && usage.total() > 0;
            let usage_known = !ran.report.verdict.unreported && steps.cut_off == 0;
            let warning = if priceless {
                Some(format!("no price is known for {model}, so the cost is not known"))
            } else if !usage_known {
                Some("the answer was cut off before its tokens were reported, so the cost is an estimate".into())
            } else {
                None
            };
            let cost_known = tree.cost_known && warning.is_none();
            Bill { seen: Seen { usage, usage_known, cost: with_cut_off(cost, steps), cost_known }, warning }
        }
        Err(error) => Bill {
            seen: Seen { usage: Usage::NONE, usage_known: false, cost: Nano::ZERO, cost_known: false },
            warning: Some(format!("the cost could not be read, so it is an estimate: {error}")),
        },
    }
}

/// The steps of a run that did not end by itself. A child that was stopped with its parent has steps of its own.
async fn cut_off_steps(seat: &ServerAttempt<'_>, tree: &TreeUsage, ran: &Ran, began: i64) -> Steps {
    if ran.report.gave_up.is_none() && !ran.report.verdict.unreported {
        return Steps::default();
    }
    // What cannot be read is unknown already.
    read_steps(&seat.server_handle.client, &tree.sessions, began).await.unwrap_or_default()
}
