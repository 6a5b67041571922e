//! The rules and periods of a budget, as rows: kept for whoever applies them.

use crate::{ledger::SpendKey, words::words};
use serde::{Deserialize, Serialize};
use switchyard_core::Nano;

/// How somebody is paid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Billing {
    Token,
    Subscription,
}

/// One rule for each key. What is `None` is left to the configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BudgetRule {
    pub key: SpendKey,
    pub billing: Billing,
    pub daily: Option<Nano>,
    pub degrade_percent: Option<u32>,
    pub stop_percent: Option<u32>,
    /// Whether attempts of unknown cost may run.
    pub unknown_allowed: Option<bool>,
    pub changed_at: i64,
}

/// What an allowance is counted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PeriodUnit {
    Usd,
    Requests,
    Tokens,
}

/// What a provider allows for a time. Those of one provider, unit and rolling length never overlap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewPeriod {
    pub provider: String,
    pub starts_at: i64,
    /// The first moment that is no longer in it; `None` while it has no end. Always after `starts_at`.
    pub ends_at: Option<i64>,
    pub unit: PeriodUnit,
    /// Nano-dollars for `Usd`. Never negative.
    pub allowance: i64,
    /// The length of the window that moves within the period, for an allowance per such a window.
    pub rolling_micros: Option<i64>,
    pub changed_at: i64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BudgetPeriod {
    /// Never given twice.
    pub id: i64,
    pub provider: String,
    pub starts_at: i64,
    pub ends_at: Option<i64>,
    pub unit: PeriodUnit,
    pub allowance: i64,
    pub rolling_micros: Option<i64>,
    pub changed_at: i64,
}

words!(Billing { Token => "token", Subscription => "subscription" });
words!(PeriodUnit { Usd => "usd", Requests => "requests", Tokens => "tokens" });

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_words_are_the_words_of_json() {
        for billing in Billing::ALL {
            assert_eq!(serde_json::to_value(billing).unwrap(), billing.as_str());
        }
        for unit in PeriodUnit::ALL {
            assert_eq!(serde_json::to_value(unit).unwrap(), unit.as_str());
        }
    }
}
