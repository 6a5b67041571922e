//! The rules and periods of a budget, as rows: the engine applies them.

use crate::ledger::SpendKey;
use shuntyard_core::Nano;
pub use shuntyard_core::limits::{Billing, Unit as PeriodUnit};

/// What became of an alert.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Alert {
    /// It was raised today already.
    Known,
    /// It is the first of its day, key and level. With the effect that its notice became, if there was one.
    Raised { effect: Option<i64> },
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
