//! Tables at every edge, and properties that hold for any record.

mod aging;
mod drift;
mod exploring;
mod following;
mod outcome;
mod properties;
mod recommending;
mod replaying;
mod text;

use super::*;
use crate::settings::{Config, Layered, Patterns};
use std::sync::LazyLock;

pub(super) const NOW: i64 = 1_794_700_000_000_000;
pub(super) const DAY: i64 = 86_400 * 1_000_000;
pub(super) const TIERS: [&str; 5] = ["haiku", "flash", "sonnet", "pro", "opus"];

pub(super) static BUILT_IN: LazyLock<Config> = LazyLock::new(|| Layered::merge(&[]).unwrap().config);

/// The built-in settings, so that the tables also show what a user gets without a configuration.
pub(super) fn settings() -> Patterns {
    BUILT_IN.patterns.clone()
}

pub(super) fn asked<'a>(settings: &'a Patterns, table: Option<&'a str>) -> Asked<'a> {
    Asked { settings, tier_order: &BUILT_IN.tier_order, table, hard: None, now: NOW }
}

/// Outcomes of today, each success proven.
pub(super) fn tally(tier: &str, successes: u64, failures: u64) -> Tally {
    let model = format!("some/{tier}-model");
    Tally { at: NOW, tier: tier.into(), model, successes, proven: successes, failures, ..Tally::default() }
}

/// Answers that came and were not checked.
pub(super) fn unproven(tier: &str, successes: u64, failures: u64) -> Tally {
    Tally { proven: 0, ..tally(tier, successes, failures) }
}

pub(super) fn aged(days: i64, tally: Tally) -> Tally {
    Tally { at: NOW - days * DAY, ..tally }
}

/// What is recommended, in one line.
pub(super) fn said(recommended: &Recommended) -> String {
    match recommended {
        Recommended::Tier { tier, .. } => tier.clone(),
        Recommended::Stronger { tier, .. } => format!("up to {tier}"),
        Recommended::Model { model, .. } => format!("model {model}"),
        Recommended::Nothing { .. } => "nothing".into(),
    }
}

pub(super) fn recommended(table: Option<&str>, tallies: &[Tally]) -> Recommended {
    recommend(&asked(&settings(), table), tallies).recommended
}

/// Where a choice goes by it.
pub(super) fn routed(table: Option<&str>, tallies: &[Tally]) -> Result<Followed, String> {
    let settings = settings();
    let asked = asked(&settings, table);
    follow(&asked, tallies, &recommend(&asked, tallies))
}
