//! Money before and after an attempt: how far each limit is used, what that means for the next choice, and what an
//! attempt sets aside before it may run.

mod alert;
mod lines;
mod reserve;

pub(crate) use lines::limit_of_task;
pub use lines::{Concern, day_clock, lines};
pub(crate) use reserve::{OverBudget, Planned, Reservation, reserve_for};

use crate::Context;
use serde_json::json;
use shuntyard_core::{
    limits::{Billing, Kind, Level, Line, advise},
    routing::Budget,
    values::Urgency,
};
use shuntyard_host::clock::now_micros;
use shuntyard_store::Result;

/// Who pays for a choice, and how much that may ask of the limits.
#[derive(Debug, Clone, Copy, Default)]
pub struct CostCheck<'a> {
    pub concern: Concern<'a>,
    pub urgency: Urgency,
}

impl From<Urgency> for CostCheck<'_> {
    fn from(urgency: Urgency) -> Self {
        Self { urgency, ..Self::default() }
    }
}

/// What the limits mean for a choice.
#[must_use]
pub fn advice(context: &Context, lines: &[Line], urgency: Urgency) -> Budget {
    advise(lines, urgency, context.config.tier_order.iter())
}

/// Announces each limit that has come near or was reached, once a day and level. Returns what is new.
pub async fn alert(context: &Context, lines: &[Line]) -> Result<Vec<String>> {
    let mut told = Vec::new();
    for line in lines {
        let (level, meaning) = match (line.level(), line.billing, line.key.kind) {
            (Level::Fine, ..) => continue,
            (Level::Degraded, Billing::Subscription, _) => ("degraded", "the allowance comes to its end"),
            (Level::Degraded, ..) => ("degraded", "cheaper models are used from now on"),
            (Level::Exhausted, _, Kind::Tier) => ("exhausted", "the next cheaper tier is used from now on"),
            (Level::Exhausted, ..) => ("exhausted", "nothing more is spent"),
        };
        let day = day_clock(context).map_or(line.from, |clock| clock.day_of(now_micros()).from);
        let data = json!({"level": level, "unit": line.unit, "limit": line.limit, "settled": line.settled,
            "reserved": line.reserved, "percent": line.percent()});
        // A provider may have several limits, also of one kind; each has its own story.
        let period = line.period.map_or_else(String::new, |id| format!(" {id}"));
        let which = format!("{level} {} {}{period}", line.unit.as_str(), line.billing.as_str());
        let text = format!("budget: {}; {meaning}", line.told());
        if alert::raise(context, day, &line.key, &which, &data, &text).await? {
            told.push(text);
        }
    }
    Ok(told)
}
