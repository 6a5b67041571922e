//! How queued tasks are supervised.

use crate::values::{Diagnose, Rules, duration::Limit};
use serde::{Deserialize, Serialize};
use std::time::Duration;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Supervise {
    pub concurrency: u32,
    pub most: u32,
    pub adaptive: bool,
    pub per_repository: u32,
    pub per_provider: u32,
    pub per_model: u32,
    pub siblings: u32,
    pub worktrees: String,
    pub start_timeout: Limit,
    pub lease: Limit,
    pub effect_lease: Limit,
    pub silence: Limit,
    pub grace: Limit,
    pub deadline: Limit,
    pub deadline_least: Limit,
    pub deadline_most: Limit,
    pub verify_timeout: Limit,
    pub gh_timeout: Limit,
    pub ci_wait: Limit,
    pub steps: u32,
    pub repeats: usize,
    pub reinforcements: u32,
    pub rises: u32,
    pub rests: Vec<Limit>,
    pub trouble_rests: Vec<Limit>,
    pub losses: u32,
    pub judge_model: String,
    pub diagnose: bool,
    pub breaker_failures: usize,
    pub breaker_pause: Limit,
    #[serde(deserialize_with = "crate::values::size::mebibytes")]
    pub disk_reserve_mib: u64,
    pub prune_after: Limit,
    pub look_every: Limit,
    pub todo_every: Limit,
    pub notify_command: String,
    pub notify_url: String,
    pub notify_desktop: bool,
    pub identity: String,
    pub offline_claims: OfflineClaims,
}

/// Whether a task may be worked on while its claim cannot be shared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OfflineClaims {
    Wait,
    Allow,
}

impl Supervise {
    #[must_use]
    pub fn rules(&self, tier_order: &[String]) -> Rules {
        let micros = |limits: &[Limit]| limits.iter().copied().map(micros).collect();
        Rules {
            reinforcements: self.reinforcements,
            rises: self.rises,
            tier_order: tier_order.to_vec(),
            rests: micros(&self.rests),
            trouble_rests: micros(&self.trouble_rests),
            losses: self.losses,
            diagnose: if self.diagnose { Diagnose::Once } else { Diagnose::Never },
        }
    }

    /// Whether a notice reaches a person at all.
    #[must_use]
    pub fn notifies(&self) -> bool {
        self.notify_desktop || !self.notify_command.is_empty() || !self.notify_url.is_empty()
    }

    /// The most tasks at work at the same time. What is not set depends on the machine, unless its load is not to
    /// count.
    #[must_use]
    pub fn most_at_once(&self, cores: usize) -> u32 {
        match (self.most, self.adaptive) {
            (0, true) => u32::try_from(cores.saturating_mul(2)).unwrap_or(u32::MAX),
            (0, false) => self.concurrency,
            (most, _) => most,
        }
    }

    /// How long one try may take: twice what a person expects, within bounds.
    #[must_use]
    pub fn deadline_for(&self, estimate_seconds: Option<u64>) -> Option<Duration> {
        let most = self.deadline_most.0;
        let wanted = match estimate_seconds {
            None => self.deadline.0,
            Some(seconds) => {
                let twice = Duration::from_secs(seconds.saturating_mul(2));
                Some(self.deadline_least.0.map_or(twice, |least| twice.max(least)))
            }
        };
        match (wanted, most) {
            (Some(wanted), Some(most)) => Some(wanted.min(most)),
            (wanted, most) => wanted.or(most),
        }
    }
}

/// In microseconds; a limit that is switched off counts as none at all.
#[must_use]
pub fn micros(limit: Limit) -> i64 {
    limit.0.map_or(0, |duration| i64::try_from(duration.as_micros()).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::Supervise;
    use crate::settings::{Config, DEFAULTS};
    use std::time::Duration;

    #[test]
    fn the_most_at_once_is_twice_the_cores_unless_it_is_set() {
        let config: Config = toml::from_str(DEFAULTS).unwrap();
        for (most, adaptive, cores, expected) in [
            (0, true, 1, 2),
            (0, true, 16, 32),
            (0, true, usize::MAX, u32::MAX),
            (0, false, 1, 4),
            (3, true, 16, 3),
            (3, false, 1, 3),
        ] {
            let supervise = Supervise { most, adaptive, ..config.supervise.clone() };
            assert_eq!(supervise.most_at_once(cores), expected, "{most} {adaptive} {cores}");
        }
    }

    #[test]
    fn a_deadline_is_twice_the_estimate_within_bounds() {
        let config: Config = toml::from_str(DEFAULTS).unwrap();
        let minutes = |minutes: u64| Some(Duration::from_secs(minutes * 60));
        for (estimate, deadline) in [
            (None, 120),
            (Some(60), 30),
            (Some(15 * 60), 30),
            (Some(3600), 120),
            (Some(3 * 3600), 240),
            (Some(1 << 40), 240),
        ] {
            assert_eq!(config.supervise.deadline_for(estimate), minutes(deadline), "{estimate:?}");
        }
    }
}
