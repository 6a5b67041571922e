//! Where a choice goes by experience, and why not where experience points. It is more careful than a recommendation,
//! since the work is at stake:
//!
//! - below the tier of the table only work counts that was checked; that answers came is not enough, and it
//!   must be as good as what the table's tier is known for;
//! - the tier of the table keeps the work until it fails, or until a stronger one probably does better. What is
//!   between the two is tried on the way up.

use super::{
    Asked, Recommendation, Recommended, Standing, Tally,
    recommend::{HAIR, Placed, entry, has_failed, placed, record, stronger},
    standing::Counting,
};

/// Outcomes that a tier must have to surpass a weaker one that qualifies.
const LEAST_TO_SURPASS: u64 = 5;

/// A tier that a choice goes to by experience.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Followed {
    pub tier: String,
    /// With why it is not the recommended one, when it is another.
    pub reason: String,
}

/// The tier to go to, or why the table's own stays.
pub fn follow(asked: &Asked<'_>, tallies: &[Tally], found: &Recommendation) -> Result<Followed, String> {
    let wanted = found.recommended.tier();
    let judged = judged(asked, tallies);
    let careful = match best(asked, &judged).or_else(|| stronger(asked, &judged)) {
        Some(Recommended::Tier { tier, .. }) if leaves_unseen(asked, found, &tier) => None,
        other => other,
    };
    let Some(chosen) = careful.as_ref().and_then(Recommended::tier) else {
        let reason = found.recommended.reason();
        return Err(match wanted {
            None => reason.to_owned(),
            Some(tier) => format!("{reason}; not followed: {}", why_not(asked, &judged, found, tier)),
        });
    };
    let tier = chosen.to_owned();
    let reason = careful.as_ref().map(Recommended::reason).unwrap_or_default();
    let reason = match wanted {
        Some(wanted) if wanted == tier => found.recommended.reason().to_owned(),
        Some(wanted) => {
            format!("{reason}; {wanted} would qualify, and is not taken: {}", why_not(asked, &judged, found, wanted))
        }
        None => reason.to_owned(),
    };
    Ok(Followed { tier, reason })
}

/// The records of the tiers; below that of the table only what was looked at is taken for a success.
fn judged(asked: &Asked<'_>, tallies: &[Tally]) -> Vec<Placed> {
    let table = asked.table_place();
    let mut judged = placed(asked, tallies, Counting::Proven);
    judged.retain(|(place, _)| Some(*place) < table);
    let rest = placed(asked, tallies, Counting::All);
    judged.extend(rest.into_iter().filter(|(place, _)| table.is_none_or(|table| *place >= table)));
    judged
}

/// A dear tier's success is no reason to leave a cheaper one that has not been seen failing.
fn leaves_unseen(asked: &Asked<'_>, found: &Recommendation, tier: &str) -> bool {
    let Some(table) = asked.table.filter(|table| asked.place(tier) > asked.place(table)) else { return false };
    let own = found.tiers.iter().find(|standing| standing.name == table);
    // With a record of its own it was weighed against the stronger one already.
    own.is_none_or(|own| own.samples < u64::from(asked.settings.samples))
}

/// The cheapest of those that qualify and are as good as the best that they are held against. Tiers on the way up to
/// it without outcomes come first: they are cheaper, and may do as well.
fn best(asked: &Asked<'_>, judged: &[Placed]) -> Option<Recommended> {
    let table = asked.table_place();
    let entered = entered(asked, judged);
    let (place, chosen) = entered
        .iter()
        .find(|(place, standing)| Some(*place) == table || better(asked, &entered, *place, standing).is_none())?;
    if let Some(next) = on_the_way(asked, judged, *place) {
        return Some(next);
    }
    Some(Recommended::Tier {
        tier: chosen.name.clone(),
        samples: chosen.samples,
        success_percent: chosen.success_percent,
        lower_percent: chosen.lower_percent,
        reason: record(chosen),
    })
}

/// Those that qualify and are not surpassed.
fn entered<'a>(asked: &Asked<'_>, judged: &'a [Placed]) -> Vec<(usize, &'a Standing)> {
    let fit = judged.iter().filter(|(place, standing)| {
        entry(asked, *place, standing).is_ok() && surpassed(asked, judged, *place, standing).is_none()
    });
    fit.map(|(place, standing)| (*place, standing)).collect()
}

/// One that is known for more. Below the table's tier only those up to it are looked at: dearer ones would not get
/// the work anyway.
fn better<'a>(
    asked: &Asked<'_>,
    entered: &[(usize, &'a Standing)],
    place: usize,
    standing: &Standing,
) -> Option<&'a Standing> {
    let last = asked.table_place().filter(|table| place < *table).unwrap_or(usize::MAX);
    let line = standing.lower_percent + f64::from(asked.settings.tolerance_points) + HAIR;
    let others = entered.iter().filter(|(other, _)| *other <= last).map(|(_, other)| *other);
    let best = others.max_by(|a, b| a.lower_percent.total_cmp(&b.lower_percent))?;
    (best.lower_percent > line).then_some(best)
}

/// The stronger tier that probably does better: half of each range lies apart. It takes less than a proof, as giving
/// work to a stronger tier costs money and no success, and what it does with it soon shows. One that has hardly
/// failed is not surpassed by any other.
fn surpassed<'a>(asked: &Asked<'_>, judged: &'a [Placed], place: usize, standing: &Standing) -> Option<&'a Standing> {
    if !has_failed(asked.settings, standing) {
        return None;
    }
    let reaches = f64::midpoint(standing.success_percent, standing.upper_percent);
    let line = reaches + f64::from(asked.settings.tolerance_points) + HAIR;
    let least = u64::from(asked.settings.samples).max(LEAST_TO_SURPASS);
    // Successes, and not samples: a failure more must never be what makes a tier known for doing better.
    let known = |record: &Standing| record.samples.saturating_sub(record.failures) >= least;
    let stronger = judged.iter().filter(|(other, record)| *other > place && known(record));
    stronger.map(|(_, other)| other).find(|other| f64::midpoint(other.success_percent, other.lower_percent) > line)
}

/// The first tier above that of the table which has not shown that it cannot, below one that can.
fn on_the_way(asked: &Asked<'_>, judged: &[Placed], below: usize) -> Option<Recommended> {
    let table = asked.table_place()?;
    let short = |place: usize| {
        let (_, standing) = judged.iter().find(|(found, _)| *found == place)?;
        surpassed(asked, judged, place, standing).map(|_| standing)
    };
    let failing = short(table)?;
    let next = (table + 1..below).find(|place| short(*place).is_none())?;
    let reason = format!("{}, and a stronger tier does better; this one is on the way there", record(failing));
    Some(Recommended::Stronger { tier: asked.tier_order[next].clone(), reason })
}

/// What keeps a choice from a tier that is recommended.
fn why_not(asked: &Asked<'_>, judged: &[Placed], found: &Recommendation, tier: &str) -> String {
    let table = asked.table.unwrap_or_default();
    let all = found.tiers.iter().find(|standing| standing.name == tier);
    let Some((place, standing)) = judged.iter().find(|(_, standing)| standing.name == tier) else {
        return format!("{table} stays");
    };
    let unseen = all.map_or(0, |all| all.successes.saturating_sub(standing.successes));
    match entry(asked, *place, standing) {
        Err(_) if unseen > 0 => {
            return format!(
                "nobody has looked at {unseen} of its answers, and below {table} only looked-at work counts"
            );
        }
        Err(why) => return why,
        Ok(()) => {}
    }
    if let Some(other) = surpassed(asked, judged, *place, standing) {
        return format!("{} probably does better ({})", other.name, shown(other));
    }
    if let Some(other) = better(asked, &entered(asked, judged), *place, standing) {
        return format!("{} is known for more ({})", other.name, shown(other));
    }
    format!("{table}, the tier of the table, has not been seen failing")
}

fn shown(standing: &Standing) -> String {
    format!("{} of {}, at least {:.0} %", standing.successes, standing.samples, standing.lower_percent)
}
