//! What an attempt really used: read from the server, never from an estimate.

use super::{Seat, prompts::Ran};
use switchyard_agents::opencode::{ApiError, StopOutcome, TreeUsage, read_tree};
use switchyard_core::{Nano, Usage, dispatch::Mode};

/// What an attempt cost, as far as it can be known.
#[derive(Debug)]
pub(super) struct Bill {
    pub(super) usage: Usage,
    pub(super) cost: Nano,
    pub(super) known: bool,
    pub(super) warning: Option<String>,
}

/// What the attempt really used, over the session and all its descendants, read from the server.
pub(super) async fn read_bill(seat: &Seat<'_>, session: &str, before: &TreeUsage, ran: &Ran) -> Bill {
    let read = match ran.report.stop {
        Some(StopOutcome::Unreachable) => Err(ApiError::Unreachable(seat.station.client.address())),
        // A new text session was denied every tool, so nothing can hang below it: its messages are all.
        _ if ran.is_complete
            && seat.attempt.run.request.mode == Mode::Text
            && seat.attempt.run.request.session.is_none() =>
        {
            Ok(TreeUsage { usage: ran.usage, cost: ran.cost, cost_known: true, sessions: Vec::new() })
        }
        _ => read_tree(&seat.station.client, session).await,
    };
    match read {
        Ok(tree) => {
            let (usage, cost) = tree.since(before);
            let model = seat.attempt.model();
            let price = seat.attempt.catalogue.find(model).map(|model| model.price).unwrap_or_default();
            let priceless = price.is_zero() && cost == Nano::ZERO && usage.total() > 0;
            let warning = if priceless {
                Some(format!("no price is known for {model}, so the cost is not known"))
            } else if ran.report.verdict.unreported {
                Some("the answer was cut off before its tokens were reported, so the cost is a lower bound".into())
            } else {
                None
            };
            Bill { usage, cost, known: tree.cost_known && warning.is_none(), warning }
        }
        Err(error) => Bill {
            usage: Usage::default(),
            cost: Nano::ZERO,
            known: false,
            warning: Some(format!("the cost could not be read: {error}")),
        },
    }
}
