//! Money as whole nano-dollars, so that sums are exact and equal in every database.
//!
//! Prices are kept per million tokens; a product is taken in `i128` and rounded once, at the end.

use serde::{Deserialize, Serialize};
use std::{fmt, iter::Sum, ops::Add};

/// An amount in nano-dollars (10⁻⁹ USD).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Nano(pub i64);

impl Nano {
    pub const ZERO: Self = Self(0);

    /// Reads an amount that another program gives as a floating number of dollars.
    ///
    /// A value that is not a finite amount in range is `None`: it must not become a free run.
    #[must_use]
    pub fn from_usd(usd: f64) -> Option<Self> {
        let nano = (usd * 1e9).round();
        if !nano.is_finite() || nano.abs() >= 9.2e18 {
            return None;
        }
        #[expect(clippy::cast_possible_truncation, reason = "the range was checked just above")]
        Some(Self(nano as i64))
    }

    /// The amount as dollars, for showing and for JSON.
    #[must_use]
    pub fn as_usd(self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "f64 is exact to 9 million dollars here")]
        let nano = self.0 as f64;
        nano / 1e9
    }

    /// What is left after some of it is gone; never less than nothing.
    #[must_use]
    pub fn less(self, gone: Self) -> Self {
        Self(self.0.saturating_sub(gone.0).max(0))
    }

    #[must_use]
    pub fn saturating_add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl Add for Nano {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        self.saturating_add(other)
    }
}

impl Sum for Nano {
    fn sum<I: Iterator<Item = Self>>(amounts: I) -> Self {
        amounts.fold(Self::ZERO, Self::saturating_add)
    }
}

impl fmt::Display for Nano {
    /// Four digits for everyday amounts, more when the amount would otherwise read as nothing.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let usd = self.as_usd().abs();
        let sign = if self.0 < 0 { "-" } else { "" };
        match self.0.unsigned_abs() {
            0 => write!(f, "$0"),
            1..100_000 => write!(f, "{sign}${usd:.9}"),
            _ => write!(f, "{sign}${usd:.4}"),
        }
    }
}

/// What a model asks for, in nano-dollars per million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Price {
    pub input: Nano,
    pub output: Nano,
    pub cache_read: Nano,
    pub cache_write: Nano,
}

impl Price {
    /// Whether any token of this model costs money. A price of zero everywhere cannot be distinguished
    /// from a missing price.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        self.input.0 == 0 && self.output.0 == 0
    }

    /// The cost in millionths of a nano-dollar: exact, to be summed before it is rounded.
    #[must_use]
    pub fn exact(&self, usage: &crate::Usage) -> i128 {
        let part = |tokens: u64, price: Nano| i128::from(tokens) * i128::from(price.0);
        part(usage.input, self.input)
            + part(usage.output, self.output)
            + part(usage.reasoning, self.output)
            + part(usage.cache_read, self.cache_read)
            + part(usage.cache_write, self.cache_write)
    }
}

/// Rounds a sum of [`Price::exact`] amounts to nano-dollars, half away from zero.
#[must_use]
pub fn round_exact(sum: i128) -> Nano {
    let half = if sum >= 0 { 500_000 } else { -500_000 };
    Nano(i64::try_from((sum + half) / 1_000_000).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Usage;

    #[test]
    fn dollars_become_exact_nanos() {
        for (usd, nano) in [(0.0, 0), (0.00315, 3_150_000), (0.000_000_001, 1), (1_234.567_890_123, 1_234_567_890_123)]
        {
            assert_eq!(Nano::from_usd(usd), Some(Nano(nano)), "{usd}");
        }
        for bad in [f64::NAN, f64::INFINITY, 1e300] {
            assert_eq!(Nano::from_usd(bad), None);
        }
    }

    #[test]
    fn fractions_of_a_nano_are_rounded_once_at_the_end() {
        // 37.5 nano-dollars a token: two tokens are exactly 75, one rounds to 38.
        let price = Price { input: Nano(37_500_000), ..Price::default() };
        let one = price.exact(&Usage { input: 1, ..Usage::default() });
        assert_eq!(round_exact(one), Nano(38));
        assert_eq!(round_exact(one + one), Nano(75));
    }

    #[test]
    fn small_amounts_do_not_read_as_nothing() {
        assert_eq!(Nano(0).to_string(), "$0");
        assert_eq!(Nano(1_234).to_string(), "$0.000001234");
        assert_eq!(Nano(3_150_000).to_string(), "$0.0032");
        assert_eq!(Nano(-3_150_000).to_string(), "-$0.0032");
    }
}
