//! Which tier to give a kind of task to, by what is known of it.
//!
//! A tier enters with enough samples and a good share of successes. The lower end of the range in which its true rate
//! lies then says how much that is worth: the cheapest tier that is as good as the best one wins. To go below the
//! tier of the table, somebody must have looked at the work; that answers came is not enough. The tier of the table
//! itself keeps the work until a stronger one has surpassed it, and what is between the two is tried on the way up.

use super::{
    Standing, Tally,
    standing::{Counting, grouped},
};
use crate::config::Patterns;
use serde::Serialize;

/// Rates that are equal on paper may differ by this much in a float.
const HAIR: f64 = 1e-6;
/// Outcomes that a tier must have to surpass a weaker one that qualifies.
const LEAST_TO_SURPASS: u64 = 5;
/// Outcomes of which age has left less than one whole say nothing any more.
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

/// What experience says.
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

#[must_use]
pub fn recommend(asked: &Asked<'_>, tallies: &[Tally]) -> Recommendation {
    let half_life = asked.settings.half_life_micros();
    let records = |counting| grouped(tallies, asked.now, half_life, counting, |tally| &tally.tier);
    let (all, proven) = (records(Counting::All), records(Counting::Proven));
    let place = |tier: &str| asked.tier_order.iter().position(|name| name == tier);
    let table = asked.table.and_then(place);
    // A tier that the configuration has no longer is nothing to recommend.
    let mut tiers: Vec<(usize, Standing)> =
        all.into_iter().filter_map(|standing| Some((place(&standing.name)?, standing))).collect();
    tiers.sort_by_key(|(place, _)| *place);
    let mut models = grouped(tallies, asked.now, half_life, Counting::All, |tally| &tally.model);
    models.sort_by(|a, b| b.lower_percent.total_cmp(&a.lower_percent).then_with(|| a.name.cmp(&b.name)));
    // Below the table's tier only what was looked at is taken for a success.
    let judged: Vec<(usize, &Standing)> = tiers
        .iter()
        .filter_map(|(place, standing)| match table {
            Some(table) if *place < table => {
                proven.iter().find(|proven| proven.name == standing.name).map(|proven| (*place, proven))
            }
            _ => Some((*place, standing)),
        })
        .collect();
    let recommended = best_tier(asked, table, &judged)
        .or_else(|| stronger(asked, table, &judged))
        .or_else(|| without_tier(asked, tallies))
        .unwrap_or_else(|| Recommended::Nothing { reason: refusal(asked, table, &tiers, &judged, &models) });
    Recommendation { recommended, tiers: tiers.into_iter().map(|(_, standing)| standing).collect(), models }
}

/// The cheapest of those that entered and are as good as the best of them. Tiers on the way up to it that nobody
/// knows come first: they are cheaper, and may do as well.
fn best_tier(asked: &Asked<'_>, table: Option<usize>, judged: &[(usize, &Standing)]) -> Option<Recommended> {
    let mut entered: Vec<&(usize, &Standing)> =
        judged.iter().filter(|(place, standing)| entry(asked, table, *place, standing).is_ok()).collect();
    let only = entered.len() == 1;
    entered.retain(|(place, standing)| surpassed(asked, judged, *place, standing).is_none());
    let best = entered.iter().map(|(_, standing)| standing.lower_percent).fold(f64::MIN, f64::max);
    let tolerance = f64::from(asked.settings.tolerance_points);
    let (place, chosen) = entered
        .iter()
        .find(|(place, standing)| Some(*place) == table || standing.lower_percent + tolerance + HAIR >= best)?;
    if let Some(next) = on_the_way(asked, table, judged, *place) {
        return Some(next);
    }
    let stronger = entered.iter().any(|(_, other)| other.lower_percent > chosen.lower_percent + HAIR);
    let why = match (only, stronger) {
        (true, _) => "the only tier that qualifies",
        (false, false) => "the cheapest of the best",
        (false, true) => "the cheapest that is as good as the best",
    };
    Some(Recommended::Tier {
        tier: chosen.name.clone(),
        samples: chosen.samples,
        success_percent: chosen.success_percent,
        lower_percent: chosen.lower_percent,
        reason: format!("{}; {why}", record(chosen)),
    })
}

/// The stronger tier that probably does better: half of each range lies apart. It takes less than a proof, as giving
/// work to a stronger tier costs money and no success, and what it does with it soon shows. One that has hardly
/// failed is not surpassed by anybody.
fn surpassed<'a>(
    asked: &Asked<'_>,
    judged: &[(usize, &'a Standing)],
    place: usize,
    standing: &Standing,
) -> Option<&'a Standing> {
    if !has_failed(asked.settings, standing) {
        return None;
    }
    let reaches = f64::midpoint(standing.success_percent, standing.upper_percent);
    let line = reaches + f64::from(asked.settings.tolerance_points) + HAIR;
    let least = u64::from(asked.settings.samples).max(LEAST_TO_SURPASS);
    // Successes, and not samples: a failure more must never be what makes a tier known for doing better.
    let known = |record: &Standing| record.samples.saturating_sub(record.failures) >= least;
    let stronger = judged.iter().filter(|(other, record)| *other > place && known(record));
    stronger.map(|(_, other)| *other).find(|other| f64::midpoint(other.success_percent, other.lower_percent) > line)
}

/// The first tier above that of the table which has not shown that it cannot, below one that can.
fn on_the_way(
    asked: &Asked<'_>,
    table: Option<usize>,
    judged: &[(usize, &Standing)],
    below: usize,
) -> Option<Recommended> {
    let table = table?;
    let short = |place: usize| {
        let (_, standing) = judged.iter().find(|(found, _)| *found == place)?;
        surpassed(asked, judged, place, standing).map(|_| *standing)
    };
    let failing = short(table)?;
    let next = (table + 1..below).find(|place| short(*place).is_none())?;
    let reason = format!("{}, and a stronger tier does better; this one is on the way there", record(failing));
    Some(Recommended::Stronger { tier: asked.tier_order[next].clone(), reason })
}

/// Often enough to say something about it. Successes must not count here: one more of them would make a tier known,
/// and with that a failing one.
fn has_failed(settings: &Patterns, standing: &Standing) -> bool {
    standing.failures >= u64::from(settings.samples)
}

/// Whether a tier may be considered at all; otherwise why not.
fn entry(asked: &Asked<'_>, table: Option<usize>, place: usize, standing: &Standing) -> Result<(), String> {
    let settings = asked.settings;
    enough(settings, standing)?;
    let top = asked.tier_order.len().checked_sub(1);
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

/// A tier that fails for sure makes way for the next stronger one that does not.
fn stronger(asked: &Asked<'_>, table: Option<usize>, judged: &[(usize, &Standing)]) -> Option<Recommended> {
    let table = table?;
    let line = f64::from(asked.settings.success_percent);
    let fails = |place: usize| {
        let (_, standing) = judged.iter().find(|(found, _)| *found == place)?;
        (has_failed(asked.settings, standing) && standing.upper_percent < line).then_some(*standing)
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

fn refusal(
    asked: &Asked<'_>,
    table: Option<usize>,
    tiers: &[(usize, Standing)],
    judged: &[(usize, &Standing)],
    models: &[Standing],
) -> String {
    if judged.is_empty() {
        return match models.first() {
            None => "no experience with such tasks yet".to_owned(),
            Some(model) => match enough(asked.settings, model) {
                Err(why) => why,
                Ok(()) => format!("{}, but its tier is not known any more", record(model)),
            },
        };
    }
    let whys = judged.iter().zip(tiers).filter_map(|((place, standing), (_, all))| {
        let why = entry(asked, table, *place, standing).err()?;
        let unjudged = all.successes.saturating_sub(standing.successes);
        Some(match (standing.samples, unjudged) {
            (_, 0) => why,
            (0, _) => format!("{} gave answers that nobody has judged", standing.name),
            (_, _) => format!("{why}; {unjudged} more answers of it nobody has judged"),
        })
    });
    whys.collect::<Vec<String>>().join("; ")
}

/// What stands behind a name, in a few words.
fn record(standing: &Standing) -> String {
    format!(
        "{} did {} of {} such tasks well ({:.0} %, at least {:.0} %)",
        standing.name, standing.successes, standing.samples, standing.success_percent, standing.lower_percent
    )
}
