//! Trying another tier now and then, so that there is something to learn from. Each choice has a known probability,
//! which is kept with its outcome: only so can the log be judged later without bias.

use super::Standing;
use crate::config::Patterns;

/// One million stands for certainty.
const CERTAIN: u32 = 1_000_000;

/// What is done, and how probable that was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exploration {
    /// Another tier than the chosen one, or `None` to stay.
    pub tier: Option<String>,
    /// In millionths.
    pub propensity: u32,
}

/// Of five tries so many go up when both ways are open: a try upwards costs money, one downwards may cost a success.
const UPWARD: u32 = 4;

/// Decides with `roll`, a number below one million that the caller has drawn. Downwards the next tier is tried that
/// may still turn out as good. Upwards it is the strongest that may still turn out better: it shows at once whether
/// there is anything to gain, and those between are tried when there is.
#[must_use]
pub fn explore(settings: &Patterns, order: &[String], chosen: &str, tiers: &[Standing], roll: u32) -> Exploration {
    let stay = Exploration { tier: None, propensity: CERTAIN };
    let share = settings.explore_percent.min(100) * (CERTAIN / 100);
    let Some(place) = order.iter().position(|tier| tier == chosen) else { return stay };
    let record = |tier: &String| tiers.iter().find(|standing| standing.name == *tier);
    let own = record(&order[place]).map_or(0.0, |own| own.lower_percent);
    let highest = |tier: &String| record(tier).map_or(100.0, |other| other.upper_percent);
    let tolerance = f64::from(settings.tolerance_points);
    let down = place.checked_sub(1).map(|next| &order[next]).filter(|tier| highest(tier) + tolerance >= own);
    let up = order[place + 1..].iter().rev().find(|tier| highest(tier) > own + tolerance);
    let (upward, downward) = match (up, down) {
        (Some(_), Some(_)) => (share / 5 * UPWARD, share - share / 5 * UPWARD),
        (Some(_), None) => (share, 0),
        (None, Some(_)) => (0, share),
        (None, None) => (0, 0),
    };
    if roll < upward {
        Exploration { tier: up.cloned(), propensity: upward }
    } else if roll < upward + downward {
        Exploration { tier: down.cloned(), propensity: downward }
    } else {
        Exploration { tier: None, propensity: CERTAIN - upward - downward }
    }
}
