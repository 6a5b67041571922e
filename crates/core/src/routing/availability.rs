//! What is known of who can answer now: health of providers, and cooldowns after failures.
//!
//! Both end by themselves. What has ended is not here for a decision, whatever the store still holds.

use crate::values::Trigger;
use crate::{ErrorClass, ModelRef};
use std::{cmp::Ordering, fmt};

word_enum! {
    /// The result of the last health check of a provider.
    pub enum HealthStatus {
        Available = "available",
        Unavailable = "unavailable",
        RateLimited = "rate_limited",
        KeyInvalid = "key_invalid",
        KeyMissing = "key_missing",
    }
}

impl HealthStatus {
    /// The status of a provider after a failure; `None` when the failure is no evidence, as with an answer that was cut
    /// off.
    #[must_use]
    pub fn after(class: ErrorClass) -> Option<Self> {
        match class {
            ErrorClass::AuthMissing => Some(Self::KeyMissing),
            ErrorClass::AuthInvalid => Some(Self::KeyInvalid),
            ErrorClass::RateLimited | ErrorClass::QuotaExhausted => Some(Self::RateLimited),
            ErrorClass::Overloaded
            | ErrorClass::Timeout
            | ErrorClass::ServerError
            | ErrorClass::Network
            | ErrorClass::EmptyResponse => Some(Self::Unavailable),
            ErrorClass::ModelNotFound
            | ErrorClass::ProviderNotConnected
            | ErrorClass::Truncated
            | ErrorClass::ContentFiltered
            | ErrorClass::ContextOverflow
            | ErrorClass::StructuredOutputFailed
            | ErrorClass::PermissionWaiting
            | ErrorClass::CapabilityMissing
            | ErrorClass::BudgetRefused
            | ErrorClass::Cancelled
            | ErrorClass::OpencodeMissing
            | ErrorClass::OpencodeUnhealthy => None,
        }
    }
}

impl fmt::Display for HealthStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.as_str().replace('_', " "))
    }
}

impl Trigger {
    /// Whether the whole provider cools down, or only the model that failed: a key and an allowance belong
    /// to the account.
    #[must_use]
    pub fn scope(self) -> Scope {
        match self {
            Self::Quota | Self::AuthError => Scope::Provider,
            Self::RateLimit | Self::Overloaded | Self::Timeout | Self::ApiError | Self::Capability => Scope::Model,
        }
    }
}

impl fmt::Display for Trigger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    Provider,
    Model,
}

impl Scope {
    /// The name under which a cooldown of this scope is kept.
    #[must_use]
    pub fn target(self, model: &ModelRef) -> String {
        match self {
            Self::Provider => model.provider.clone(),
            Self::Model => model.base(),
        }
    }
}

/// A cooldown of a provider or a model until a moment, and its reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bar {
    /// Microseconds since the Unix epoch.
    pub until: i64,
    pub why: String,
}

/// What is cooling down now. Targets are `provider` or `provider/model`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Availability {
    /// In the order of their targets, so that one is found without putting its name together: a decision asks
    /// for thousands of models.
    bars: Vec<(String, Bar)>,
}

/// A cooldown that applies to a model now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Barred<'a> {
    pub(super) scope: Scope,
    pub(super) bar: &'a Bar,
}

impl Availability {
    /// Adds a cooldown; of several for one target the one that lasts longest counts.
    pub fn bar(&mut self, target: impl Into<String>, bar: Bar) {
        let target = target.into();
        match self.bars.binary_search_by(|(known, _)| known.cmp(&target)) {
            // Of two that end together the order in which they came must not decide.
            Ok(place) => {
                let known = &mut self.bars[place].1;
                if (known.until, &known.why) < (bar.until, &bar.why) {
                    *known = bar;
                }
            }
            Err(place) => self.bars.insert(place, (target, bar)),
        }
    }

    /// The cooldowns as they are kept, by target.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Bar)> {
        self.bars.iter().map(|(target, bar)| (target.as_str(), bar))
    }

    /// The cooldown of a model: its own before its provider's.
    pub(super) fn of(&self, provider: &str, model: &str, now: i64) -> Option<Barred<'_>> {
        self.of_provider(provider, now).of(model)
    }

    /// All that concerns one provider, looked up once for all its models.
    pub(super) fn of_provider(&self, provider: &str, now: i64) -> ProviderBars<'_> {
        let own = self.bars.binary_search_by(|(target, _)| target.as_str().cmp(provider)).ok();
        let from = self.bars.partition_point(|(target, _)| against(target, provider, "") == Ordering::Less);
        let models = &self.bars[from..];
        let is_its =
            |target: &str| target.as_bytes().get(provider.len()) == Some(&b'/') && target.starts_with(provider);
        let count = models.iter().take_while(|(target, _)| is_its(target)).count();
        ProviderBars {
            own: own.map(|place| &self.bars[place].1).filter(|bar| bar.until > now),
            models: &models[..count],
            skip: provider.len() + 1,
            now,
        }
    }
}

/// The cooldowns of one provider and its models now.
#[derive(Debug, Clone, Copy)]
pub(super) struct ProviderBars<'a> {
    own: Option<&'a Bar>,
    /// Those of its models, with the provider's name and a slash before each.
    models: &'a [(String, Bar)],
    skip: usize,
    now: i64,
}

impl<'a> ProviderBars<'a> {
    /// The cooldown of a model: its own before its provider's.
    pub(super) fn of(&self, model: &str) -> Option<Barred<'a>> {
        let own = || {
            let place = self.models.binary_search_by(|(target, _)| target[self.skip..].cmp(model)).ok()?;
            Some(&self.models[place].1).filter(|bar| bar.until > self.now)
        };
        let of_model = if self.models.is_empty() { None } else { own() };
        of_model
            .map(|bar| Barred { scope: Scope::Model, bar })
            .or_else(|| self.own.map(|bar| Barred { scope: Scope::Provider, bar }))
    }
}

/// The order of a target and `provider/model`, which is not put together for it.
fn against(target: &str, provider: &str, model: &str) -> Ordering {
    let (target, provider) = (target.as_bytes(), provider.as_bytes());
    let Some((head, rest)) = target.split_at_checked(provider.len()) else { return target.cmp(provider) };
    head.cmp(provider).then_with(|| match rest.split_first() {
        None => Ordering::Less,
        Some((mark, rest)) => mark.cmp(&b'/').then_with(|| rest.cmp(model.as_bytes())),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_round_trip() {
        for status in HealthStatus::ALL {
            assert_eq!(HealthStatus::parse(status.as_str()), Some(status));
        }
        for trigger in Trigger::ALL {
            assert_eq!(Trigger::parse(trigger.as_str()), Some(trigger));
            assert_eq!(serde_json::to_value(trigger).unwrap(), trigger.as_str());
        }
    }

    #[test]
    fn a_bar_ends_and_the_longest_counts() {
        let mut now = Availability::default();
        let bar = |until, why: &str| Bar { until, why: why.into() };
        now.bar("p", bar(10, "short"));
        now.bar("p", bar(30, "long"));
        now.bar("p", bar(20, "middle"));
        now.bar("p/m", bar(15, "own"));
        assert_eq!(now.of("p", "m", 5).map(|barred| barred.bar.why.as_str()), Some("own"));
        assert_eq!(now.of("p", "m", 15).map(|barred| barred.bar.why.as_str()), Some("long"));
        assert_eq!(now.of("p", "m", 30), None);
        assert_eq!(now.of("q", "m", 5), None);
        // Names that begin alike, unsorted.
        for target in ["z", "p/m/x", "p-2", "a/b", "p/", "p/a"] {
            now.bar(target, bar(40, target));
        }
        let found = |provider, model| now.of(provider, model, 35).map(|barred| barred.bar.why.as_str());
        assert_eq!(found("p", "m/x"), Some("p/m/x"));
        assert_eq!(found("p-2", "any"), Some("p-2"));
        assert_eq!(found("a", "b"), Some("a/b"));
        assert_eq!((found("a", "c"), found("p", "m"), found("p", "mm")), (None, None, None));
        assert!(now.iter().map(|(target, _)| target).is_sorted());
        let parts = ["", "a", "ab", "a-", "b", "a/b"];
        for target in parts {
            for (provider, model) in parts.iter().flat_map(|provider| parts.map(|model| (provider, model))) {
                assert_eq!(against(target, provider, model), target.cmp(format!("{provider}/{model}").as_str()));
            }
        }
    }
}
