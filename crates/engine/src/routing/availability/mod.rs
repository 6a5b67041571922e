//! Who can answer now: read from the store before a choice, and written to it after every attempt, so that what one
//! process has met keeps all others away.

pub(crate) mod feed;
mod renewed;

pub use feed::{Observed, observe};
pub(crate) use renewed::note_refused_key;

use crate::Context;
use shuntyard_core::{
    ErrorClass,
    routing::{Availability, Bar, HealthStatus},
};
use shuntyard_store::{CooldownRecord, HealthRecord, HealthSource, Result};
use std::path::Path;

/// What the store knows, as of a moment.
#[derive(Debug, Clone, Default)]
pub struct Known {
    pub availability: Availability,
    pub health: Vec<HealthRecord>,
    pub cooldowns: Vec<CooldownRecord>,
}

impl Known {
    /// The provider's row, while it is valid.
    #[must_use]
    pub fn health_of(&self, provider: &str, now: i64) -> Option<&HealthRecord> {
        self.health.iter().find(|row| row.provider == provider && row.expires_at > now)
    }
}

/// What is known, after findings about keys that have been changed since are forgotten.
pub(crate) async fn load_for(context: &Context, directory: &Path, now: i64) -> Result<Known> {
    let known = load(context, now).await?;
    if renewed::forget_old_keys(context, directory, &known).await? { load(context, now).await } else { Ok(known) }
}

pub async fn load(context: &Context, now: i64) -> Result<Known> {
    let (health, cooldowns) = tokio::join!(context.store.health(), context.store.cooldowns(now));
    let (health, cooldowns) = (health?, cooldowns?);
    let mut availability = Availability::default();
    for row in health.iter().filter(|row| row.expires_at > now && is_about_the_provider(row)) {
        let told = row.message.as_deref().map_or_else(String::new, |message| format!(", {}", shortened(message)));
        let why = format!("provider {} is {}{told}", row.provider, row.status);
        availability.bar(&row.provider, Bar { until: row.expires_at, why });
    }
    for row in &cooldowns {
        let why = format!("{}, {}", row.trigger, shortened(&row.message));
        availability.bar(&row.target, Bar { until: row.until, why });
    }
    Ok(Known { availability, health, cooldowns })
}

/// Whether a finding keeps away from all models of a provider. What one model's prompt met says little about the
/// others, unless it is the key or the line; a probe asks for nothing special, so its findings always count.
fn is_about_the_provider(row: &HealthRecord) -> bool {
    match row.status {
        HealthStatus::Available => false,
        HealthStatus::KeyInvalid | HealthStatus::KeyMissing => true,
        HealthStatus::RateLimited | HealthStatus::Unavailable => {
            row.source == HealthSource::Probe || row.class == Some(ErrorClass::Network)
        }
    }
}

/// A reason is one line of many; the whole message is with the attempt.
fn shortened(message: &str) -> String {
    const MOST: usize = 120;
    if message.chars().count() <= MOST {
        return message.to_owned();
    }
    message.chars().take(MOST).chain(['…']).collect()
}
