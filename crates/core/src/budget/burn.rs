//! How fast a limit is being used, and when it will be used up.

use serde::Serialize;

const MICROS_PER_HOUR: i128 = 3600 * 1_000_000;
/// A rate over less than this says nothing.
const SHORTEST: i64 = 60 * 1_000_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct BurnRate {
    /// Per hour since the window began, fractions of hours included.
    pub per_hour: i64,
    /// Per day over the days before, those without spending included.
    pub daily_mean: i64,
    /// When what is left is used up at the hourly rate; `None` when nothing is being used.
    pub exhausted_at: Option<i64>,
    /// Whether that is before the window ends.
    pub before_the_end: bool,
}

/// `spent` since `from`, `left` until the line, `earlier` over `days` full days before.
#[must_use]
pub fn burn_rate(spent: i64, from: i64, now: i64, until: i64, left: i64, earlier: i64, days: u32) -> BurnRate {
    let passed = i128::from((now - from).max(SHORTEST));
    let whole = |value: i128| i64::try_from(value).unwrap_or(i64::MAX);
    let per_hour = whole(i128::from(spent.max(0)) * MICROS_PER_HOUR / passed);
    let exhausted_at = if left <= 0 {
        Some(now)
    } else if spent <= 0 {
        None
    } else {
        let micros = i128::from(left) * passed / i128::from(spent);
        Some(now.saturating_add(whole(micros)))
    };
    BurnRate {
        per_hour,
        daily_mean: if days == 0 { 0 } else { earlier / i64::from(days) },
        exhausted_at,
        before_the_end: exhausted_at.is_some_and(|at| at < until),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: i64 = 3600 * 1_000_000;

    #[test]
    fn every_hour_of_the_day_has_a_rate() {
        // (spent, hours passed, left) → (per hour, hours until it is used up)
        let table = [
            (100, 1.0, 100, 100, Some(1.0)),
            (100, 0.5, 100, 200, Some(0.5)),
            (100, 10.0, 200, 10, Some(20.0)),
            (100, 0.0, 100, 6000, Some(1.0 / 60.0)),
            (0, 5.0, 100, 0, None),
            (100, 5.0, 0, 20, Some(0.0)),
            (100, 23.99, -5, 4, Some(0.0)),
        ];
        for (spent, hours, left, per_hour, gone) in table {
            #[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "a table of hours")]
            let micros = |hours: f64| (hours * HOUR as f64).round() as i64;
            let now = micros(hours);
            let rate = burn_rate(spent, 0, now, 24 * HOUR, left, 700, 7);
            assert_eq!((rate.per_hour, rate.daily_mean), (per_hour, 100), "{spent} in {hours}");
            assert_eq!(rate.exhausted_at, gone.map(|gone| now + micros(gone)), "{spent} in {hours}");
        }
        assert!(burn_rate(100, 0, HOUR, 24 * HOUR, 100, 0, 0).before_the_end);
        assert!(!burn_rate(1, 0, HOUR, 24 * HOUR, 100, 0, 0).before_the_end);
    }
}
