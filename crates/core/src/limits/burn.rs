//! How fast a limit is being used, and when it will be used up.

const MICROS_PER_HOUR: i128 = 3600 * 1_000_000;
/// A rate over less than this is not meaningful.
const SHORTEST: i64 = 60 * 1_000_000;

/// So much in a time, to the thousandth: few requests a day are less than one an hour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Rate {
    thousandths: i64,
}

impl Rate {
    fn of(amount: i128, parts: i128) -> Self {
        let thousandths = if parts <= 0 { 0 } else { amount.saturating_mul(1000) / parts };
        Self { thousandths: i64::try_from(thousandths).unwrap_or(i64::MAX) }
    }

    /// Without the fraction.
    #[must_use]
    pub fn whole(self) -> i64 {
        self.thousandths / 1000
    }

    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a rate is no sum of money")]
    pub fn as_f64(self) -> f64 {
        self.thousandths as f64 / 1000.0
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BurnRate {
    /// Since the window began, fractions of hours included.
    pub per_hour: Rate,
    /// Over the days before, those without spending included.
    pub daily_mean: Rate,
    /// When what is left is used up at the hourly rate; `None` when nothing is being used, or there is no limit.
    pub exhausted_at: Option<i64>,
    /// Whether that is before the window ends.
    pub before_the_end: bool,
}

/// `spent` since `from`, `left` until the line if there is one, `earlier` over `days` full days before.
#[must_use]
pub fn burn_rate(
    spent: i64,
    (from, until): (i64, i64),
    now: i64,
    left: Option<i64>,
    (earlier, days): (i64, u32),
) -> BurnRate {
    let passed = i128::from(now.saturating_sub(from).max(SHORTEST));
    let exhausted_at = match left {
        None => None,
        Some(left) if left <= 0 => Some(now),
        Some(_) if spent <= 0 => None,
        Some(left) => {
            let micros = i128::from(left) * passed / i128::from(spent);
            Some(now.saturating_add(i64::try_from(micros).unwrap_or(i64::MAX)))
        }
    };
    BurnRate {
        per_hour: Rate::of(i128::from(spent.max(0)) * MICROS_PER_HOUR, passed),
        daily_mean: Rate::of(i128::from(earlier.max(0)), i128::from(days)),
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
            let rate = burn_rate(spent, (0, 24 * HOUR), now, Some(left), (700, 7));
            assert_eq!((rate.per_hour.whole(), rate.daily_mean.whole()), (per_hour, 100), "{spent} in {hours}");
            assert_eq!(rate.exhausted_at, gone.map(|gone| now + micros(gone)), "{spent} in {hours}");
        }
        assert!(burn_rate(100, (0, 24 * HOUR), HOUR, Some(100), (0, 0)).before_the_end);
        assert!(!burn_rate(1, (0, 24 * HOUR), HOUR, Some(100), (0, 0)).before_the_end);
    }

    #[test]
    fn small_counts_have_a_rate_and_what_has_no_limit_has_no_end() {
        let rate = burn_rate(86, (0, i64::MAX), 15 * 24 * HOUR, Some(14), (10, 7));
        assert!((rate.per_hour.as_f64() - 0.238).abs() < 1e-9, "{rate:?}");
        assert!((rate.daily_mean.as_f64() - 1.428).abs() < 1e-9, "{rate:?}");
        let endless = burn_rate(500, (0, 24 * HOUR), HOUR, None, (0, 7));
        assert_eq!((endless.per_hour.whole(), endless.exhausted_at, endless.before_the_end), (500, None, false));
        let huge = burn_rate(i64::MAX, (0, 1), 0, Some(i64::MAX), (i64::MAX, 1));
        assert_eq!(huge.per_hour.whole(), i64::MAX / 1000);
    }
}
