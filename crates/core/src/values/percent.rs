//! A share in whole percent, so that a rule gives the same on every machine.

use serde::{Deserialize, Serialize};
use std::fmt;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "u8", into = "u8")]
pub struct Percent(u8);

impl Percent {
    /// More than a hundred is a hundred.
    #[must_use]
    pub const fn new(percent: u8) -> Self {
        if percent > 100 { Self(100) } else { Self(percent) }
    }

    #[must_use]
    pub fn get(self) -> u8 {
        self.0
    }

    /// The smallest count that is at least this share of `whole`.
    #[must_use]
    pub fn of(self, whole: usize) -> usize {
        let exact = (whole as u128 * u128::from(self.0)).div_ceil(100);
        usize::try_from(exact).unwrap_or(usize::MAX)
    }

    /// The share that `part` is of `whole`, rounded down; of nothing it is nothing.
    #[must_use]
    pub fn share(part: usize, whole: usize) -> Self {
        let percent = (part as u128 * 100).checked_div(whole as u128).unwrap_or(0);
        Self(u8::try_from(percent.min(100)).unwrap_or(100))
    }
}

impl TryFrom<u8> for Percent {
    type Error = String;

    fn try_from(percent: u8) -> Result<Self, Self::Error> {
        if percent > 100 { Err(format!("{percent} is more than 100 percent")) } else { Ok(Self(percent)) }
    }
}

impl From<Percent> for u8 {
    fn from(percent: Percent) -> Self {
        percent.0
    }
}

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} %", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_reached_by_the_next_whole_count() {
        let table = [(40, 5, 2), (60, 5, 3), (40, 1, 1), (50, 2, 1), (51, 2, 2), (0, 9, 0), (100, 9, 9), (34, 3, 2)];
        for (percent, whole, count) in table {
            assert_eq!(Percent::new(percent).of(whole), count, "{percent} of {whole}");
        }
        assert_eq!(Percent::new(100).of(usize::MAX), usize::MAX);
        assert_eq!(Percent::share(2, 3), Percent::new(66));
        assert_eq!(Percent::share(2, 0), Percent::new(0));
        assert_eq!(Percent::share(usize::MAX, 1), Percent::new(100));
        assert!(serde_json::from_str::<Percent>("101").is_err());
    }
}
