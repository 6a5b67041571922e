//! Whether a request that failed is made again, and when. Pure, but for the dice.

use super::{ask::Limits, clock::Clock, complaint::Complaint};
use crate::{
    opencode::{Failure, GiveUp},
    provider_error::is_quota_wait,
};
use shuntyard_core::{ErrorClass, values::duration};
use std::{
    hash::{BuildHasher, RandomState},
    time::{Duration, Instant},
};

const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(8);

/// What went wrong with one exchange.
#[derive(Debug)]
pub(super) struct Trouble {
    pub(super) failure: Failure,
    pub(super) may_pass: bool,
    /// How long the provider wants us to wait.
    pub(super) wait: Option<Duration>,
    pub(super) complaint: Option<Complaint>,
}

impl Trouble {
    pub(super) fn lasting(class: ErrorClass, message: impl Into<String>) -> Self {
        Self { failure: Failure::new(class, message), may_pass: false, wait: None, complaint: None }
    }

    pub(super) fn passing(class: ErrorClass, message: impl Into<String>) -> Self {
        Self { may_pass: true, ..Self::lasting(class, message) }
    }

    /// A burst of requests passes; a wait this long means an allowance that is used up.
    pub(super) fn with_wait(mut self, wait: Option<Duration>) -> Self {
        self.wait = wait;
        if self.failure.class == ErrorClass::RateLimited && wait.is_some_and(is_quota_wait) {
            self.failure.class = ErrorClass::QuotaExhausted;
        }
        self
    }

    /// The pause before the next try, or `None` when there is none that could still lead to an answer in time.
    pub(super) fn pause(&self, retries: u32, limits: &Limits, clock: &Clock, now: Instant) -> Option<Duration> {
        let is_hopeless = !self.may_pass || self.failure.class == ErrorClass::QuotaExhausted;
        if is_hopeless || retries >= limits.provider_retries {
            return None;
        }
        let longest = limits.retry_wait_cap.unwrap_or(Duration::MAX);
        let pause = self.wait.unwrap_or_else(|| own_pause(retries).min(longest));
        (pause <= longest && !clock.ends_within(pause, now)).then_some(pause)
    }

    /// The end of the story: the failure with what was tried, and the wait that was asked for.
    pub(super) fn conclude(self, retries: u32) -> (Failure, Option<GiveUp>) {
        let Self { failure, wait, .. } = self;
        let attempt = retries.saturating_add(1);
        let told = failure.message.clone();
        let message = match wait {
            Some(wait) => format!("{told} (the provider asks to wait {})", duration::show(wait)),
            None => told.clone(),
        };
        let message = if retries > 0 { format!("failed {attempt} times, at last with: {message}") } else { message };
        let gave_up = wait.map(|wait| GiveUp::ProviderRetry { message: told, wait, attempt });
        (Failure { message, ..failure }, gave_up)
    }
}

/// Doubles with each retry, and differs by up to a quarter so that many requests do not come back as one.
fn own_pause(retries: u32) -> Duration {
    let pause = FIRST_PAUSE.saturating_mul(1 << retries.min(8)).min(LONGEST_PAUSE);
    let dice = RandomState::new().hash_one(retries) % 501;
    let permille = 750 + u32::try_from(dice).unwrap_or_default();
    pause * permille / 1000
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn limits(began: Instant) -> Limits {
        Limits {
            first_token: Some(60 * SECOND),
            inactivity: None,
            total: Some(20 * SECOND),
            began,
            retry_wait_cap: Some(10 * SECOND),
            provider_retries: 2,
        }
    }

    #[test]
    fn a_wait_is_taken_only_when_it_can_lead_to_an_answer() {
        let now = Instant::now();
        let limits = limits(now);
        let clock = Clock::new(limits, now);
        let passing =
            |wait: Option<u64>| Trouble::passing(ErrorClass::RateLimited, "x").with_wait(wait.map(Duration::from_secs));
        let pause = |trouble: &Trouble, retries| trouble.pause(retries, &limits, &clock, now);
        assert_eq!(pause(&passing(Some(3)), 0), Some(3 * SECOND));
        assert_eq!(pause(&passing(Some(0)), 1), Some(Duration::ZERO));
        assert_eq!(pause(&passing(Some(3)), 2), None, "as often as allowed");
        assert_eq!(pause(&passing(Some(11)), 0), None, "longer than the cap");
        assert_eq!(pause(&Trouble::lasting(ErrorClass::AuthInvalid, "x"), 0), None);
        let late = limits.began + 15 * SECOND;
        assert_eq!(passing(Some(6)).pause(0, &limits, &clock, late), None, "past the end");
        let uncapped = Limits { retry_wait_cap: None, total: None, first_token: None, ..limits };
        let endless = Clock::new(uncapped, now);
        assert_eq!(passing(Some(299)).pause(0, &uncapped, &endless, now), Some(299 * SECOND));
        assert_eq!(passing(Some(301)).pause(0, &uncapped, &endless, now), None, "the allowance is used up");
    }

    #[test]
    fn a_pause_of_our_own_grows_and_stays_below_the_cap() {
        let now = Instant::now();
        let limits = Limits { retry_wait_cap: Some(Duration::from_millis(700)), provider_retries: 99, ..limits(now) };
        let clock = Clock::new(limits, now);
        let trouble = Trouble::passing(ErrorClass::ServerError, "x");
        for retries in 0..40 {
            let pause = trouble.pause(retries, &limits, &clock, now).unwrap();
            assert!(pause >= Duration::from_millis(375) && pause <= Duration::from_millis(700), "{retries}: {pause:?}");
            assert!(own_pause(retries) <= LONGEST_PAUSE * 5 / 4);
        }
        assert!(own_pause(6) > 2 * own_pause(0));
    }

    #[test]
    fn a_long_wait_is_a_quota_and_is_told() {
        let limited = || Trouble::passing(ErrorClass::RateLimited, "slow down");
        let (failure, gave_up) = limited().with_wait(Some(3600 * SECOND)).conclude(1);
        assert_eq!(failure.class, ErrorClass::QuotaExhausted);
        assert_eq!(failure.message, "failed 2 times, at last with: slow down (the provider asks to wait 1h)");
        assert!(matches!(gave_up, Some(GiveUp::ProviderRetry { attempt: 2, .. })));
        let (failure, gave_up) = limited().with_wait(None).conclude(0);
        assert_eq!((failure, gave_up), (Failure::new(ErrorClass::RateLimited, "slow down"), None));
        let overloaded = Trouble::passing(ErrorClass::Overloaded, "x").with_wait(Some(3600 * SECOND));
        assert_eq!(overloaded.failure.class, ErrorClass::Overloaded);
    }
}
