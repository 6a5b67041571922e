//! How often work ends up in another tier than the one that was asked for: a sign that a limit, an outage or a table
//! no longer fits what people want.

use serde::Serialize;
use std::collections::BTreeMap;

/// Runs that asked for one tier and were done by one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Move {
    pub asked: String,
    pub tier: String,
    pub runs: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DriftLevel {
    None,
    Notice,
    Warning,
}

/// The moves of one tier.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Moves {
    pub asked: String,
    pub runs: u64,
    pub moved: u64,
    pub drift_percent: f64,
    pub level: DriftLevel,
    /// Where they went, most first.
    pub to: Vec<Move>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Drift {
    pub level: DriftLevel,
    pub runs: u64,
    pub moved: u64,
    pub drift_percent: f64,
    pub tiers: Vec<Moves>,
}

/// Counts the moves; a level begins where the share reaches it.
#[must_use]
pub fn drift(moves: &[Move], notice_percent: u32, warning_percent: u32) -> Drift {
    let mut by_tier: BTreeMap<&str, Vec<&Move>> = BTreeMap::new();
    for found in moves.iter().filter(|found| !found.asked.is_empty() && !found.tier.is_empty() && found.runs > 0) {
        by_tier.entry(&found.asked).or_default().push(found);
    }
    let level = |moved: u64, runs: u64| {
        let reaches = |percent: u32| u128::from(moved) * 100 >= u128::from(runs) * u128::from(percent);
        match (moved, reaches(warning_percent), reaches(notice_percent)) {
            (0, _, _) => DriftLevel::None,
            (_, true, _) => DriftLevel::Warning,
            (_, false, true) => DriftLevel::Notice,
            (_, false, false) => DriftLevel::None,
        }
    };
    let tiers: Vec<Moves> = by_tier
        .into_iter()
        .map(|(asked, found)| {
            let runs = sum(found.iter().map(|found| found.runs));
            let mut to: Vec<Move> = found.into_iter().filter(|found| found.tier != asked).cloned().collect();
            to.sort_by(|a, b| b.runs.cmp(&a.runs).then_with(|| a.tier.cmp(&b.tier)));
            let moved = sum(to.iter().map(|found| found.runs));
            let drift_percent = percent(moved, runs);
            Moves { asked: asked.to_owned(), runs, moved, drift_percent, level: level(moved, runs), to }
        })
        .collect();
    let runs = sum(tiers.iter().map(|tier| tier.runs));
    let moved = sum(tiers.iter().map(|tier| tier.moved));
    Drift { level: level(moved, runs), runs, moved, drift_percent: percent(moved, runs), tiers }
}

fn sum(counts: impl Iterator<Item = u64>) -> u64 {
    counts.fold(0, u64::saturating_add)
}

fn percent(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { super::standing::as_real(part) * 100.0 / super::standing::as_real(whole) }
}
