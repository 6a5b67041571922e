//! Trying another tier now and then, so that there is something to learn from. Each choice has a known probability,
//! which is kept with its outcome: only so can the log be judged later without bias.

use super::Standing;
use crate::settings::Patterns;

/// One million stands for certainty.
const CERTAIN: u32 = 1_000_000;
/// Outcomes that the chosen tier must have before another is tried: there must be something to compare with.
const LEAST_KNOWN: u64 = 10;
/// Of five tries so many go up when both ways are open: one upwards costs money, one downwards may cost a success.
const UPWARD_OF_FIVE: u32 = 4;
/// Where a stronger tier may do better by so many points, it is tried so many times as often.
const MUCH_TO_GAIN: f64 = 10.0;
const OFTENER: u32 = 3;

/// What is done, and how probable that was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exploration {
    /// Another tier than the chosen one, or `None` to stay.
    pub tier: Option<String>,
    /// In millionths.
    pub propensity: u32,
}

/// Decides with `roll`, a number below one million that the caller has drawn. Downwards the next tier is tried that
/// may still turn out as good. Upwards it is the strongest that may still turn out better: it shows soonest whether
/// there is anything to gain, and those between are tried when there is.
#[must_use]
pub fn explore(settings: &Patterns, tier_order: &[String], chosen: &str, tiers: &[Standing], roll: u32) -> Exploration {
    let stay = Exploration { tier: None, propensity: CERTAIN };
    let record = |tier: &String| tiers.iter().find(|standing| standing.name == *tier);
    let Some(place) = tier_order.iter().position(|tier| tier == chosen) else { return stay };
    let Some(own) = record(&tier_order[place]).filter(|own| own.samples >= LEAST_KNOWN) else { return stay };
    let tolerance = f64::from(settings.tolerance_points);
    let at_most = |tier: &String| record(tier).map_or(100.0, |other| other.upper_percent);
    let down = tier_order[..place].last().filter(|tier| at_most(tier) + tolerance >= own.lower_percent);
    let up = tier_order[place + 1..].iter().rev().find(|tier| at_most(tier) > own.lower_percent + tolerance);
    let share = settings.explore_percent.min(100) * (CERTAIN / 100);
    let (upward, downward) = match (up, down) {
        (Some(_), Some(_)) => (share / 5 * UPWARD_OF_FIVE, share / 5 * (5 - UPWARD_OF_FIVE)),
        (Some(_), None) => (share, 0),
        (None, Some(_)) => (0, share),
        (None, None) => return stay,
    };
    let much = up.is_some_and(|tier| at_most(tier) >= own.success_percent + MUCH_TO_GAIN);
    let upward = if much { (upward * OFTENER).min(CERTAIN - downward) } else { upward };
    if roll < upward {
        Exploration { tier: up.cloned(), propensity: upward }
    } else if roll < upward + downward {
        Exploration { tier: down.cloned(), propensity: downward }
    } else {
        Exploration { tier: None, propensity: CERTAIN - upward - downward }
    }
}
