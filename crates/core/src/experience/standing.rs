//! How well a tier or a model has done: successes and failures, older ones counting less, and the range in which
//! its true rate of success probably lies. Where nothing ages, nothing is forgotten either.

use crate::Nano;
use serde::Serialize;
use std::collections::BTreeMap;

/// How many standard deviations the range of a rate reaches to each side. With one, three successes out of three
/// are worth 75 %.
const REACH: f64 = 1.0;
/// What is not older than this can show that a model has changed: the week that runs and the one before.
const RECENT_MICROS: i64 = 14 * 86_400 * 1_000_000;
/// So many failures of late, or successes, must speak for a change.
const LEAST_RECENT: u64 = 5;

/// Outcomes of one kind that ended in the same week, counted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tally {
    /// The beginning of the week, in microseconds since the Unix epoch.
    pub at: i64,
    pub task_type: String,
    /// Empty when it is not known.
    pub tier: String,
    /// `provider/model[@variant]`.
    pub model: String,
    /// Only those that count for the model.
    pub successes: u64,
    /// Successes that rest on proof.
    pub proven: u64,
    pub failures: u64,
    /// Those that do not count for the model.
    pub uncounted: u64,
    pub cost: Nano,
    /// Runs whose cost is known.
    pub priced: u64,
    pub tokens: u64,
    pub duration_ms: u64,
    pub retries: u64,
    /// The sum of all qualities that were given, and how many were.
    pub quality: u64,
    pub rated: u64,
}

impl Tally {
    /// All runs, whether they count or not.
    #[must_use]
    pub fn runs(&self) -> u64 {
        self.successes.saturating_add(self.failures).saturating_add(self.uncounted)
    }

    /// Adds another of whatever kind; the names stay.
    pub fn add(&mut self, other: &Self) {
        for (mine, more) in [
            (&mut self.successes, other.successes),
            (&mut self.proven, other.proven),
            (&mut self.failures, other.failures),
            (&mut self.uncounted, other.uncounted),
            (&mut self.priced, other.priced),
            (&mut self.tokens, other.tokens),
            (&mut self.duration_ms, other.duration_ms),
            (&mut self.retries, other.retries),
            (&mut self.quality, other.quality),
            (&mut self.rated, other.rated),
        ] {
            *mine = mine.saturating_add(more);
        }
        self.cost = self.cost + other.cost;
    }

    /// What a run costs on the mean.
    #[must_use]
    pub fn mean_cost(&self) -> Option<Nano> {
        let runs = i64::try_from(self.priced).ok().filter(|runs| *runs > 0)?;
        Some(Nano(self.cost.0 / runs))
    }
}

/// A tier or a model with its record.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Standing {
    pub name: String,
    /// Outcomes that count, whatever their age.
    pub samples: u64,
    pub successes: u64,
    pub proven: u64,
    pub failures: u64,
    /// Shares of success in percent, older outcomes counting less: the rate itself, and where it lies at least and
    /// at most.
    pub success_percent: f64,
    pub lower_percent: f64,
    pub upper_percent: f64,
    pub mean_cost_usd: Option<f64>,
    /// How many outcomes the shares rest on, older ones counting less.
    #[serde(skip)]
    pub weight: f64,
    #[serde(skip)]
    pub mean_cost: Option<Nano>,
}

/// Which successes count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Counting {
    All,
    /// Only those that a person or a check has judged.
    Proven,
}

/// Successes and failures, older ones counting less.
#[derive(Debug, Clone, Copy, Default)]
struct Weighed {
    successes: f64,
    failures: f64,
}

#[derive(Debug, Default)]
struct Sums {
    whole: Tally,
    older: Weighed,
    /// Those of the last weeks, and how many they are.
    recent: Weighed,
    recent_successes: u64,
    recent_failures: u64,
}

/// The records of the tiers. What has no tier is left out.
#[must_use]
pub fn by_tier(tallies: &[Tally], now: i64, half_life_micros: i64) -> Vec<Standing> {
    grouped(tallies, now, half_life_micros, Counting::All, |tally| &tally.tier)
}

#[must_use]
pub fn by_model(tallies: &[Tally], now: i64, half_life_micros: i64) -> Vec<Standing> {
    grouped(tallies, now, half_life_micros, Counting::All, |tally| &tally.model)
}

pub(super) fn grouped<'a>(
    tallies: &'a [Tally],
    now: i64,
    half_life_micros: i64,
    counting: Counting,
    name: impl Fn(&'a Tally) -> &'a str,
) -> Vec<Standing> {
    let mut sums: BTreeMap<&str, Sums> = BTreeMap::new();
    for tally in tallies {
        let name = name(tally);
        if name.is_empty() {
            continue;
        }
        let sum = sums.entry(name).or_default();
        let weight = weight(now, tally.at, half_life_micros);
        let successes = if counting == Counting::Proven { tally.proven } else { tally.successes };
        sum.whole.add(tally);
        let part = if half_life_micros > 0 && now.saturating_sub(tally.at) < RECENT_MICROS {
            sum.recent_successes = sum.recent_successes.saturating_add(successes);
            sum.recent_failures = sum.recent_failures.saturating_add(tally.failures);
            &mut sum.recent
        } else {
            &mut sum.older
        };
        part.successes += as_real(successes) * weight;
        part.failures += as_real(tally.failures) * weight;
    }
    sums.into_iter().map(|(name, sums)| standing(name, &sums, counting)).collect()
}

fn standing(name: &str, sums: &Sums, counting: Counting) -> Standing {
    let whole = &sums.whole;
    let successes = if counting == Counting::Proven { whole.proven } else { whole.successes };
    let counted = sums.counted();
    let (rate, lower, upper) = range(counted.successes, counted.failures);
    let mean_cost = whole.mean_cost();
    Standing {
        name: name.to_owned(),
        samples: successes.saturating_add(whole.failures),
        successes,
        proven: whole.proven,
        failures: whole.failures,
        success_percent: rate * 100.0,
        lower_percent: lower * 100.0,
        upper_percent: upper * 100.0,
        mean_cost_usd: mean_cost.map(Nano::as_usd),
        weight: counted.successes + counted.failures,
        mean_cost,
    }
}

impl Sums {
    /// All outcomes; but when the last weeks are clearly worse or better than what was before, only those. The
    /// model has changed then, and its earlier results are no evidence about it.
    fn counted(&self) -> Weighed {
        let (recent, older) = (self.recent, self.older);
        let (_, recent_lower, recent_upper) = range(recent.successes, recent.failures);
        let (_, older_lower, older_upper) = range(older.successes, older.failures);
        let worse = self.recent_failures >= LEAST_RECENT && recent_upper < older_lower;
        let better = self.recent_successes >= LEAST_RECENT && recent_lower > older_upper;
        if worse || better {
            return recent;
        }
        Weighed { successes: recent.successes + older.successes, failures: recent.failures + older.failures }
    }
}

/// What an outcome of that age counts: half after each half-life. One from the future counts whole.
fn weight(now: i64, at: i64, half_life_micros: i64) -> f64 {
    let age = now.saturating_sub(at).max(0);
    if half_life_micros <= 0 {
        return 1.0;
    }
    (-(age as f64) / half_life_micros as f64).exp2()
}

/// A rate with its range, by Wilson's score: honest also for few samples and for rates near 0 and 1.
pub(super) fn range(successes: f64, failures: f64) -> (f64, f64, f64) {
    let samples = successes + failures;
    if samples <= 0.0 {
        return (0.0, 0.0, 1.0);
    }
    let rate = successes / samples;
    let spread = REACH * REACH / samples;
    let middle = (rate + spread / 2.0) / (1.0 + spread);
    let half = (spread * rate * (1.0 - rate) + spread * spread / 4.0).max(0.0).sqrt() / (1.0 + spread);
    (rate, (middle - half).max(0.0), (middle + half).min(1.0))
}

#[expect(clippy::cast_precision_loss, reason = "a count beyond 2^53 is not counted to the last one")]
pub(super) fn as_real(count: u64) -> f64 {
    count as f64
}
