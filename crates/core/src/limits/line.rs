//! One limit in one window, and how far it is used.

use super::Rate;
use crate::Nano;
use serde::{Deserialize, Serialize};
use std::fmt;

word_enum! {
    /// What a limit is about.
    #[derive(PartialOrd, Ord, Hash)]
    pub enum Kind {
        Overall = "overall",
        Provider = "provider",
        Tier = "tier",
        Batch = "batch",
        Task = "task",
    }
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Key {
    pub kind: Kind,
    /// Empty for `Overall`; for `Tier` an empty name is what ran without a tier.
    pub name: String,
}

impl Key {
    #[must_use]
    pub fn overall() -> Self {
        Self::new(Kind::Overall, "")
    }

    #[must_use]
    pub fn new(kind: Kind, name: impl Into<String>) -> Self {
        Self { kind, name: name.into() }
    }

    /// As events are about it: `overall`, or a kind and a name as in `provider:openai`.
    #[must_use]
    pub fn subject(&self) -> String {
        match self.kind {
            Kind::Overall => self.kind.as_str().to_owned(),
            kind => format!("{}:{}", kind.as_str(), self.name),
        }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            Kind::Overall => f.write_str("overall"),
            kind => write!(f, "{} {}", kind.as_str(), self.name),
        }
    }
}

word_enum! {
    /// How a provider is paid.
    #[derive(Default)]
    pub enum Billing {
        /// For each token.
        #[default]
        Token = "token",
        /// For a time, with an allowance.
        Subscription = "subscription",
    }
}

word_enum! {
    /// What is counted.
    pub enum Unit {
        Usd = "usd",
        Requests = "requests",
        Tokens = "tokens",
    }
}

impl Unit {
    /// An amount as people read it.
    #[must_use]
    pub fn show(self, amount: i64) -> String {
        match self {
            Self::Usd => Nano(amount).to_string(),
            Self::Requests => format!("{amount} requests"),
            Self::Tokens => format!("{amount} tokens"),
        }
    }

    /// So much in a time, as people read it.
    #[must_use]
    pub fn show_rate(self, rate: Rate) -> String {
        match self {
            Self::Usd => Nano(rate.whole()).to_string(),
            Self::Requests | Self::Tokens => format!("{} {}", rate.as_f64(), self.as_str()),
        }
    }
}

/// How near the limit is. The order is that of the exit codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    Fine,
    Degraded,
    Exhausted,
}

/// A limit with what counts against it: nano-dollars, requests or tokens.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Line {
    pub key: Key,
    pub billing: Billing,
    /// Which of the allowances it is, when it is one: a provider may have several of a kind.
    pub period: Option<i64>,
    pub unit: Unit,
    pub limit: i64,
    /// The window, in microseconds since the Unix epoch.
    pub from: i64,
    pub until: i64,
    pub degrade_percent: u32,
    pub stop_percent: u32,
    /// Whether a model without a price may be used under it.
    pub unknown_allowed: bool,
    pub settled: i64,
    /// What runs now may come to.
    pub reserved: i64,
    /// Attempts in the window of unknown cost.
    pub unknown: u64,
}

impl Line {
    #[must_use]
    pub fn used(&self) -> i64 {
        self.settled.saturating_add(self.reserved)
    }

    /// Whole percent, rounded down.
    #[must_use]
    pub fn percent(&self) -> u32 {
        if self.limit <= 0 {
            return u32::from(self.used() >= 0) * 100;
        }
        let percent = i128::from(self.used().max(0)) * 100 / i128::from(self.limit);
        u32::try_from(percent).unwrap_or(u32::MAX)
    }

    /// Where spending stops. A part of a request cannot be made, so the last one may be.
    #[must_use]
    pub fn stop_at(&self) -> i64 {
        let stop = (i128::from(self.limit.max(0)) * i128::from(self.stop_percent) + 99) / 100;
        i64::try_from(stop).unwrap_or(i64::MAX)
    }

    #[must_use]
    pub fn level(&self) -> Level {
        let reaches = |percent: u32| i128::from(self.used()) * 100 >= i128::from(self.limit) * i128::from(percent);
        if self.limit <= 0 || reaches(self.stop_percent) {
            Level::Exhausted
        } else if reaches(self.degrade_percent) {
            Level::Degraded
        } else {
            Level::Fine
        }
    }

    /// What is left before spending stops; negative by how much the line was passed.
    #[must_use]
    pub fn left(&self) -> i64 {
        self.stop_at().saturating_sub(self.used())
    }

    /// `81 % of $50.0000 are used`
    #[must_use]
    pub fn told(&self) -> String {
        format!("{} has used {} % of {}", self.key, self.percent(), self.unit.show(self.limit))
    }
}

impl Line {
    /// ` ($0.9503 spent, $0.0034 reserved by running requests)`
    #[must_use]
    pub fn told_use(&self) -> String {
        let spent = self.unit.show(self.settled);
        if self.reserved == 0 {
            return format!(" ({spent} spent)");
        }
        format!(" ({spent} spent, {} reserved by running requests)", self.unit.show(self.reserved))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in super::super) fn line(kind: Kind, name: &str, settled: i64) -> Line {
        Line {
            key: Key { kind, name: name.into() },
            billing: Billing::Token,
            period: None,
            unit: Unit::Usd,
            limit: 1000,
            from: 0,
            until: 10,
            degrade_percent: 80,
            stop_percent: 95,
            unknown_allowed: false,
            settled,
            reserved: 0,
            unknown: 0,
        }
    }

    #[test]
    fn levels_change_exactly_at_their_lines() {
        let table = [
            (0, 0, 1000, Level::Fine, 0),
            (799, 0, 1000, Level::Fine, 79),
            (800, 0, 1000, Level::Degraded, 80),
            (700, 100, 1000, Level::Degraded, 80),
            (949, 0, 1000, Level::Degraded, 94),
            (950, 0, 1000, Level::Exhausted, 95),
            (900, 50, 1000, Level::Exhausted, 95),
            (2000, 0, 1000, Level::Exhausted, 200),
            (0, 0, 0, Level::Exhausted, 100),
            (i64::MAX, i64::MAX, i64::MAX, Level::Exhausted, 100),
        ];
        for (settled, reserved, limit, level, percent) in table {
            let line = Line { settled, reserved, limit, ..line(Kind::Overall, "", 0) };
            assert_eq!((line.level(), line.percent()), (level, percent), "{settled} + {reserved} of {limit}");
        }
        assert_eq!(line(Kind::Overall, "", 960).left(), -10);
    }
}
