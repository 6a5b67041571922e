//! What keeps a model from being chosen, or speaks for it: limits, experience, health.

use super::super::{JobError, show::rfc3339};
use crate::{
    Context,
    routing::{
        availability,
        budget::{Concern, lines},
        catalogue::{Extent, Refresh, current},
        experience::since,
    },
};
use serde_json::{Value, json};
use shuntyard_core::limits::Level;
use shuntyard_host::clock::now_micros;
use std::{collections::BTreeMap, path::Path};

pub(super) async fn budget(context: &Context) -> Result<Vec<Value>, JobError> {
    let lines = lines(context, Concern { everybody: true, ..Concern::default() }).await?;
    let row = |line: &shuntyard_core::limits::Line| {
        let level = match line.level() {
            Level::Fine => "fine",
            Level::Degraded => "degraded",
            Level::Exhausted => "exhausted",
        };
        json!({"limit": line.told(), "level": level, "percent": line.percent()})
    };
    Ok(lines.iter().map(row).collect())
}

/// How each model has done at each kind of task, over the weeks that count.
pub(super) async fn patterns(context: &Context) -> Result<Vec<Value>, JobError> {
    let from = since(&context.config, now_micros());
    let mut sums: BTreeMap<(String, String, String), (u64, u64, u64)> = BTreeMap::new();
    for tally in context.store.outcome_tallies(None, None, from).await? {
        let sum = sums.entry((tally.task_type, tally.tier, tally.model)).or_default();
        *sum = (sum.0 + tally.successes, sum.1 + tally.failures, sum.2 + tally.proven);
    }
    let row =
        |((task_type, tier, model), (successes, failures, proven)): ((String, String, String), (u64, u64, u64))| {
            json!({"task_type": task_type, "tier": tier, "model": model, "successes": successes, "failures": failures,
            "proven": proven})
        };
    Ok(sums.into_iter().map(row).collect())
}

pub(super) async fn providers(context: &Context, directory: &Path) -> Result<Vec<Value>, JobError> {
    let now = now_micros();
    let known = availability::load(context, now).await?;
    let listed = current(context, directory, Refresh::IfStale, Extent::Connected).await?;
    let row = |(name, provider): (&String, &shuntyard_core::routing::Provider)| {
        let health = known.health_of(name, now).map(|health| {
            json!({"status": health.status, "class": health.class,
            "until": rfc3339(health.expires_at)})
        });
        let own = |target: &str| target == name || target.starts_with(&format!("{name}/"));
        let cooldowns: Vec<Value> = known
            .cooldowns
            .iter()
            .filter(|cooldown| own(&cooldown.target))
            .map(|cooldown| json!({"target": cooldown.target, "class": cooldown.class, "until": rfc3339(cooldown.until)}))
            .collect();
        json!({"provider": name, "usable": provider.is_usable(), "source": provider.source, "models": provider.models.len(),
            "health": health, "cooldowns": cooldowns})
    };
    Ok(listed.catalogue.providers.iter().map(row).collect())
}
