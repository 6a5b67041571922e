//! When the patience with a request ends. The same timers as those of a run with OpenCode.

use super::ask::Limits;
use crate::opencode::{Failure, GiveUp, Timer};
use std::{
    future::Future,
    time::{Duration, Instant},
};

#[derive(Debug)]
pub(super) struct Clock {
    limits: Limits,
    started: Instant,
    last_sign: Option<Instant>,
    first_token: Option<Duration>,
}

impl Clock {
    pub(super) fn new(limits: Limits, now: Instant) -> Self {
        Self { limits, started: now, last_sign: None, first_token: None }
    }

    /// The model did something. Keep-alives are no such thing.
    pub(super) fn sign_of_life(&mut self, now: Instant) {
        self.last_sign = Some(now);
        self.first_token.get_or_insert_with(|| now.saturating_duration_since(self.started));
    }

    pub(super) fn first_token(&self) -> Option<Duration> {
        self.first_token
    }

    /// The next moment at which patience ends, with the timer that ends it.
    pub(super) fn deadline(&self) -> Option<(Instant, HangUp)> {
        let silence = match self.last_sign {
            None => self.limits.first_token.map(|after| (self.started, Timer::FirstToken, after)),
            Some(last) => self.limits.inactivity.map(|after| (last, Timer::Inactivity, after)),
        };
        let total = self.limits.total.map(|after| (self.limits.began, Timer::Total, after));
        let ends = [total, silence].into_iter().flatten();
        // A limit beyond the end of time is no limit.
        let ends = ends.filter_map(|(from, timer, after)| Some((from.checked_add(after)?, timer, after)));
        let (at, timer, after) = ends.min_by_key(|(at, ..)| *at)?;
        Some((at, HangUp::Timeout { timer, after }))
    }

    /// Whether it would all be over before this wait is.
    pub(super) fn ends_within(&self, wait: Duration, now: Instant) -> bool {
        let deadline = self.deadline().map(|(at, _)| at);
        deadline.is_some_and(|deadline| now.checked_add(wait).is_none_or(|then| then >= deadline))
    }

    /// Waits for `future` for as long as patience lasts.
    pub(super) async fn within<T>(&self, future: impl Future<Output = T>) -> Result<T, HangUp> {
        match self.deadline() {
            None => Ok(future.await),
            Some((at, reason)) => tokio::time::timeout_at(at.into(), future).await.map_err(|_| reason),
        }
    }
}

/// Why we end a request ourselves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum HangUp {
    Timeout { timer: Timer, after: Duration },
    Cancelled,
}

impl HangUp {
    pub(super) fn failure(&self) -> Failure {
        GiveUp::from(self.clone()).failure()
    }
}

impl From<HangUp> for GiveUp {
    fn from(reason: HangUp) -> Self {
        match reason {
            HangUp::Timeout { timer, after } => Self::Timeout { timer, after },
            HangUp::Cancelled => Self::Cancelled,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn timer(clock: &Clock) -> Option<(Timer, Instant)> {
        clock.deadline().map(|(at, reason)| match reason {
            HangUp::Timeout { timer, .. } => (timer, at),
            HangUp::Cancelled => panic!("no timer cancels"),
        })
    }

    #[test]
    fn each_timer_has_its_time() {
        let began = Instant::now();
        let started = began + SECOND;
        let limits = Limits {
            first_token: Some(5 * SECOND),
            inactivity: Some(3 * SECOND),
            total: Some(10 * SECOND),
            began,
            retry_wait_cap: None,
            provider_retries: 0,
        };
        let mut clock = Clock::new(limits, started);
        assert_eq!(timer(&clock), Some((Timer::FirstToken, began + 6 * SECOND)));
        assert!(!clock.ends_within(4 * SECOND, started));
        assert!(clock.ends_within(5 * SECOND, started));
        assert!(clock.ends_within(Duration::MAX, started));
        clock.sign_of_life(began + 4 * SECOND);
        assert_eq!(timer(&clock), Some((Timer::Inactivity, began + 7 * SECOND)));
        clock.sign_of_life(began + 9 * SECOND);
        assert_eq!(timer(&clock), Some((Timer::Total, began + 10 * SECOND)));
        assert_eq!(clock.first_token(), Some(3 * SECOND));
        let endless = Limits { first_token: Some(Duration::MAX), inactivity: None, total: None, ..limits };
        let clock = Clock::new(endless, started);
        assert_eq!(timer(&clock), None);
        assert!(!clock.ends_within(Duration::MAX, started));
    }
}
