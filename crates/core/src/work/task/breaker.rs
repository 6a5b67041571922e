//! The breaker: when one environment fails task after task, all claims rest for a while.

use crate::experience::FailureMode;

/// How a run ended, the newest first in a list of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ending {
    pub at: i64,
    /// `None`: it went well.
    pub failure: Option<FailureMode>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Breaker {
    Closed,
    /// Nothing is claimed before that moment.
    Open {
        until: i64,
    },
}

/// `cleared_at` is when a person reset it.
#[must_use]
pub fn breaker(newest_first: &[Ending], failures: usize, pause: i64, cleared_at: i64, now: i64) -> Breaker {
    let Some(newest) = newest_first.first() else { return Breaker::Closed };
    // Measured from the newest one and not from now: else it would close before the moment that it names, as soon as
    // the oldest is too old.
    let in_a_row = newest_first
        .iter()
        .take_while(|ending| ending.at > cleared_at && newest.at.saturating_sub(ending.at) < pause)
        .take_while(|ending| ending.failure == Some(FailureMode::Environment))
        .count();
    let until = newest.at.saturating_add(pause);
    if failures > 0 && in_a_row >= failures && now < until { Breaker::Open { until } } else { Breaker::Closed }
}
