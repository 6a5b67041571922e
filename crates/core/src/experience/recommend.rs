//! Which tier to give a kind of task to, by what is known of it.
//!
//! A tier qualifies with enough samples and a good share of successes, and the cheapest tier that qualifies is
//! recommended. The lower end of the range in which its true rate lies is the measure of how much that is worth.
//! Whether a choice goes there is another question (see [`super::follow`]).

use super::{
    Standing, Tally,
    standing::{Counting, grouped},
};
use crate::settings::Patterns;
use serde::Serialize;

/// Rates that are equal on paper may differ by this much in a float.
pub(super) const HAIR: f64 = 1e-6;
/// Outcomes whose total weight has aged below one no longer count.
const LEAST_WEIGHT: f64 = 1.0;

/// What a recommendation is wanted for.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    pub settings: &'a Patterns,
    /// From the weakest to the strongest.
    pub tier_order: &'a [String],
    /// The tier that the task would go to without any experience.
    pub table: Option<&'a str>,
    /// What in the text marks the task as a hard one.
    pub hard: Option<&'a str>,
    /// Microseconds since the Unix epoch.
    pub now: i64,
}

/// The recommendation from experience.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Recommendation {
    #[serde(flatten)]
    pub recommended: Recommended,
    /// The records of all tiers, from the weakest to the strongest.
    pub tiers: Vec<Standing>,
    /// The records of all models, the best first.
    pub models: Vec<Standing>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "recommends", rename_all = "snake_case")]
pub enum Recommended {
    /// This tier has shown that it can.
    Tier {
        tier: String,
        samples: u64,
        success_percent: f64,
        lower_percent: f64,
        reason: String,
    },
    /// The tier of the table has shown that it cannot, and this is the next stronger one.
    Stronger {
        tier: String,
        reason: String,
    },
    /// Only a model that belongs to no tier has shown that it can.
    Model {
        model: String,
        samples: u64,
        success_percent: f64,
        lower_percent: f64,
        reason: String,
    },
    Nothing {
        reason: String,
    },
}

impl Recommended {
    #[must_use]
    pub fn tier(&self) -> Option<&str> {
        match self {
            Self::Tier { tier, .. } | Self::Stronger { tier, .. } => Some(tier),
            Self::Model { .. } | Self::Nothing { .. } => None,
        }
    }

    #[must_use]
    pub fn reason(&self) -> &str {
        match self {
            Self::Tier { reason, .. }
            | Self::Stronger { reason, .. }
            | Self::Model { reason, .. }
            | Self::Nothing { reason } => reason,
        }
    }
}

/// A tier with its place in the order.
pub(super) type Placed = (usize, Standing);

#[must_use]
pub fn recommend(asked: &Asked<'_>, tallies: &[Tally]) -> Recommendation {
    let half_life = asked.settings.half_life_micros();
    let tiers = placed(asked, tallies, Counting::All);
    let mut models = grouped(tallies, asked.now, half_life, Counting::All, |tally| &tally.model);
    models.sort_by(|a, b| b.lower_percent.total_cmp(&a.lower_percent).then_with(|| a.name.cmp(&b.name)));
    let recommended = cheapest(asked, &tiers)
        .or_else(|| stronger(asked, &tiers))
        .or_else(|| without_tier(asked, tallies))
        .unwrap_or_else(|| Recommended::Nothing { reason: refusal(asked, &tiers, &models) });
    Recommendation { recommended, tiers: tiers.into_iter().map(|(_, standing)| standing).collect(), models }
}

/// The records of the tiers, from the weakest to the strongest. One that the configuration has no longer is left out.
pub(super) fn placed(asked: &Asked<'_>, tallies: &[Tally], counting: Counting) -> Vec<Placed> {
    let all = grouped(tallies, asked.now, asked.settings.half_life_micros(), counting, |tally| &tally.tier);
    let mut tiers: Vec<Placed> =
        all.into_iter().filter_map(|standing| Some((asked.place(&standing.name)?, standing))).collect();
    tiers.sort_by_key(|(place, _)| *place);
    tiers
}

impl Asked<'_> {
    pub(super) fn place(&self, tier: &str) -> Option<usize> {
        self.tier_order.iter().position(|name| name == tier)
    }

    /// The place of the tier of the table.
    pub(super) fn table_place(&self) -> Option<usize> {
        self.table.and_then(|table| self.place(table))
    }
}

/// The cheapest of those that qualify.
fn cheapest(asked: &Asked<'_>, tiers: &[Placed]) -> Option<Recommended> {
    let mut qualified = tiers.iter().filter(|(place, standing)| entry(asked, *place, standing).is_ok());
    let (_, chosen) = qualified.next()?;
    let why = match qualified.count() {
        0 => "the only tier that qualifies".to_owned(),
        others => format!("the cheapest of {} tiers that qualify", others + 1),
    };
    Some(Recommended::Tier {
        tier: chosen.name.clone(),
        samples: chosen.samples,
        success_percent: chosen.success_percent,
        lower_percent: chosen.lower_percent,
        reason: format!("{}; {why}", record(chosen)),
    })
}

/// Often enough to draw a conclusion. Successes must not count here: one more of them would make a tier known,
/// and with that a failing one.
pub(super) fn has_failed(settings: &Patterns, standing: &Standing) -> bool {
    standing.failures >= u64::from(settings.samples)
}

/// Whether a tier qualifies; otherwise why not.
pub(super) fn entry(asked: &Asked<'_>, place: usize, standing: &Standing) -> Result<(), String> {
    let settings = asked.settings;
    enough(settings, standing)?;
    let (table, top) = (asked.table_place(), asked.tier_order.len().checked_sub(1));
    if table.is_some() && table == top && Some(place) < top {
        if let Some(hard) = asked.hard {
            return Err(format!("{}, but the task looks hard ({hard})", record(standing)));
        }
        let needed = settings.below_top_percent;
        if standing.success_percent + HAIR < f64::from(needed) {
            return Err(format!("{}, and to go below the top tier it takes {needed} %", record(standing)));
        }
    }
    Ok(())
}

fn enough(settings: &Patterns, standing: &Standing) -> Result<(), String> {
    if standing.samples < u64::from(settings.samples) {
        return Err(format!("{}, and it takes {} samples", record(standing), settings.samples));
    }
    if standing.weight < LEAST_WEIGHT {
        return Err(format!("{}, but that was long ago", record(standing)));
    }
    if standing.success_percent + HAIR < f64::from(settings.success_percent) {
        return Err(format!("{}, and it takes {} %", record(standing), settings.success_percent));
    }
    Ok(())
}

/// A tier of the table that fails for sure makes way for the next stronger one that does not.
pub(super) fn stronger(asked: &Asked<'_>, tiers: &[Placed]) -> Option<Recommended> {
    let table = asked.table_place()?;
    let line = f64::from(asked.settings.success_percent);
    let fails = |place: usize| {
        let (_, standing) = tiers.iter().find(|(found, _)| *found == place)?;
        (has_failed(asked.settings, standing) && standing.upper_percent < line).then_some(standing)
    };
    let failing = fails(table)?;
    let next = (table + 1..asked.tier_order.len()).find(|place| fails(*place).is_none())?;
    let tier = asked.tier_order[next].clone();
    let reason = format!("{}, so the next stronger tier that has not failed is asked", record(failing));
    Some(Recommended::Stronger { tier, reason })
}

/// Work that was recorded without a tier teaches about its models.
fn without_tier(asked: &Asked<'_>, tallies: &[Tally]) -> Option<Recommended> {
    let alone: Vec<Tally> = tallies.iter().filter(|tally| tally.tier.is_empty()).cloned().collect();
    let half_life = asked.settings.half_life_micros();
    let models = grouped(&alone, asked.now, half_life, Counting::All, |tally| &tally.model);
    let mut entered: Vec<&Standing> =
        models.iter().filter(|standing| enough(asked.settings, standing).is_ok()).collect();
    let best = entered.iter().map(|standing| standing.lower_percent).fold(f64::MIN, f64::max);
    let tolerance = f64::from(asked.settings.tolerance_points);
    entered.retain(|standing| standing.lower_percent + tolerance + HAIR >= best);
    // What has no price could cost anything.
    entered.sort_by_key(|standing| (standing.mean_cost.is_none(), standing.mean_cost));
    let chosen = entered.first()?;
    Some(Recommended::Model {
        model: chosen.name.clone(),
        samples: chosen.samples,
        success_percent: chosen.success_percent,
        lower_percent: chosen.lower_percent,
        reason: format!("{}; it belongs to no tier", record(chosen)),
    })
}

fn refusal(asked: &Asked<'_>, tiers: &[Placed], models: &[Standing]) -> String {
    if !tiers.is_empty() {
        let whys = tiers.iter().filter_map(|(place, standing)| entry(asked, *place, standing).err());
        return whys.collect::<Vec<String>>().join("; ");
    }
    match models.first() {
        None => "no experience with such tasks yet".to_owned(),
        Some(model) => match enough(asked.settings, model) {
            Err(why) => why,
            Ok(()) => format!("{}, but its tier is not known any more", record(model)),
        },
    }
}

/// The evidence for a name, in a few words.
pub(super) fn record(standing: &Standing) -> String {
    format!(
        "{} did {} of {} such tasks well ({:.0} %, at least {:.0} %)",
        standing.name, standing.successes, standing.samples, standing.success_percent, standing.lower_percent
    )
}
