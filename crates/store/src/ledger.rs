//! The ledger's rows, as values: what was spent, what is set aside for work under way, and the rules of
//! a budget. What a rule means is decided elsewhere; here it is only kept.

pub use shuntyard_core::limits::{Key as SpendKey, Kind as SpendKind};
use shuntyard_core::{Nano, word_enum};
use std::ops::Add;

/// How long one row of the rollup lasts, in microseconds: a quarter of an hour. Every offset from UTC in use is
/// a multiple of it, so that a day is a whole number of them wherever it begins.
pub const BUCKET_MICROS: i64 = 900 * 1_000_000;

/// The beginning of the bucket that a moment lies in.
#[must_use]
pub fn bucket(at: i64) -> i64 {
    at.div_euclid(BUCKET_MICROS).saturating_mul(BUCKET_MICROS)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Spent {
    pub cost: Nano,
    pub attempts: u64,
    /// Those of the attempts whose cost is not known.
    pub unknown: u64,
    /// Of all kinds.
    pub tokens: u64,
}

impl Spent {
    #[must_use]
    pub fn measured(&self, measure: Measure) -> i64 {
        let signed = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
        match measure {
            Measure::Cost => self.cost.0,
            Measure::Attempts => signed(self.attempts),
            Measure::Tokens => signed(self.tokens),
        }
    }
}

impl Add for Spent {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            cost: self.cost.saturating_add(other.cost),
            attempts: self.attempts.saturating_add(other.attempts),
            unknown: self.unknown.saturating_add(other.unknown),
            tokens: self.tokens.saturating_add(other.tokens),
        }
    }
}

word_enum! {
    pub enum Measure {
        /// In nano-dollars.
        Cost = "cost",
        Attempts = "attempts",
        Tokens = "tokens",
    }
}

/// What a reservation may not pass: what is settled in the window, what is reserved by all that run, and
/// its own share come to no more than `limit`. What is settled in the window after it counts as well: a clock that was
/// set back has been there already.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ceiling {
    pub key: SpendKey,
    pub measure: Measure,
    /// The window, on the edges of buckets. For a batch or a task it is ignored: they count all time.
    pub from: i64,
    pub until: i64,
    pub limit: i64,
}

/// What an attempt sets aside while it runs; it always counts as one attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reserve {
    /// Never negative.
    pub cost: Nano,
    pub tokens: u64,
    pub ceilings: Vec<Ceiling>,
}

/// Whether an attempt may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use = "an attempt that was refused must not run"]
pub enum Begun {
    Started,
    /// It would pass the ceiling at this index, and nothing was written.
    Refused {
        ceiling: usize,
        settled: i64,
        reserved: i64,
    },
}

/// An amount that a person enters by hand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewSpend {
    pub at: i64,
    pub provider: String,
    /// `provider/model[@variant]`, or empty.
    pub model: String,
    pub tier: Option<String>,
    pub task: Option<String>,
    pub batch: Option<String>,
    pub spent: Spent,
}

word_enum! {
    pub enum GroupBy {
        Provider = "provider",
        Tier = "tier",
        Model = "model",
        Bucket = "bucket",
        Task = "task",
        Batch = "batch",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_words_are_the_words_of_json() {
        for measure in Measure::ALL {
            assert_eq!(serde_json::to_value(measure).unwrap(), measure.as_str());
        }
        for by in GroupBy::ALL {
            assert_eq!(serde_json::to_value(by).unwrap(), by.as_str());
        }
    }

    #[test]
    fn a_bucket_begins_at_or_before_its_moment() {
        for (at, begins) in [
            (0, 0),
            (BUCKET_MICROS - 1, 0),
            (BUCKET_MICROS, BUCKET_MICROS),
            (-1, -BUCKET_MICROS),
            (1_760_000_003_000_000, 1_759_999_500_000_000),
        ] {
            assert_eq!(bucket(at), begins, "{at}");
        }
    }
}
