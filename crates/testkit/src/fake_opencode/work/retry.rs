//! How long OpenCode waits before it asks a provider again: two seconds, twice as long each time, at most thirty; or as
//! long as the provider's answer requires, be it hours. After five retries it gives up.

use super::{super::machine::Machine, provider::Failure};
use std::time::Duration;

const MOST: u32 = 5;
const FIRST: Duration = Duration::from_secs(2);
const LONGEST: Duration = Duration::from_secs(30);

/// The wait before retry number `attempt`; none when the failure is final.
pub(super) fn wait(machine: &Machine, failure: &Failure, attempt: u32) -> Option<Duration> {
    if !failure.retryable || attempt > MOST {
        return None;
    }
    let usual = || machine.scaled((FIRST * 2_u32.pow(attempt - 1)).min(LONGEST));
    Some(failure.retry_after.unwrap_or_else(usual))
}
