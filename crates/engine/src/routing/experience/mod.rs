//! Experience with models: read before a choice, and written after a run.

mod replay;

pub(crate) use replay::asked_by_text;
pub use replay::replay_past;

use crate::Context;
use shuntyard_core::{
    experience::{Asked, Exploration, Followed, Recommendation, Tally, explore, follow, recommend},
    routing::{Pattern, Selector, hard_mark},
    settings::Config,
};
use shuntyard_host::{clock::now_micros, repository::repository_of};
use shuntyard_store::Result;
use std::path::Path;
use uuid::Uuid;

/// Outcomes that are older than so many half-lives count next to nothing, and are not read.
const HALF_LIVES: i64 = 8;

/// Whose experience a recommendation rests on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scope {
    /// One repository has enough of its own.
    Repository(String),
    Everywhere,
}

/// What is known about a kind of task, and on whose experience that rests.
#[derive(Debug, Clone)]
pub struct Known {
    pub recommendation: Recommendation,
    /// The tier that a choice goes to by it, or why it stays with the table.
    pub follow: std::result::Result<Followed, String>,
    pub scope: Scope,
    /// What marks it as a hard task of the top tier.
    pub hard: Option<String>,
}

/// A task that a tier is wanted for.
#[derive(Debug, Clone, Copy)]
pub struct Task<'a> {
    pub task_type: &'a str,
    /// Its text, to see whether it is a hard one.
    pub text: Option<&'a str>,
    pub repository: Option<&'a str>,
    /// The tier that it would go to without any experience.
    pub table: Option<&'a str>,
}

/// What experience says about a task.
pub async fn known(context: &Context, task: &Task<'_>) -> Result<Known> {
    let config = &context.config;
    let now = now_micros();
    let (tallies, scope) = tallies(context, task, now).await?;
    let top = config.tier_order.last().map(String::as_str);
    // Only a task of the top tier can be too hard for the others.
    let hard = task.text.filter(|_| task.table.is_some() && task.table == top);
    let hard = hard.and_then(|text| hard_mark(text, config));
    let asked = Asked {
        settings: &config.patterns,
        tier_order: &config.tier_order,
        table: task.table,
        hard: hard.as_deref(),
        now,
    };
    let recommendation = recommend(&asked, &tallies);
    let follow = follow(&asked, &tallies, &recommendation);
    Ok(Known { recommendation, follow, scope, hard })
}

/// From when on outcomes are read.
#[must_use]
pub fn since(config: &Config, now: i64) -> i64 {
    match config.patterns.half_life_micros() {
        0 => i64::MIN,
        half_life => now.saturating_sub(half_life.saturating_mul(HALF_LIVES)),
    }
}

/// A repository's own outcomes when there are enough of them, and all of them otherwise.
async fn tallies(context: &Context, task: &Task<'_>, now: i64) -> Result<(Vec<Tally>, Scope)> {
    let from = since(&context.config, now);
    if let Some(repository) = task.repository.filter(|repository| !repository.is_empty()) {
        let own = context.store.outcome_tallies(Some(task.task_type), Some(repository), from).await?;
        let samples =
            own.iter().fold(0_u64, |sum, tally| sum.saturating_add(tally.successes).saturating_add(tally.failures));
        if samples >= u64::from(context.config.patterns.repository_samples) {
            return Ok((own, Scope::Repository(repository.to_owned())));
        }
    }
    Ok((context.store.outcome_tallies(Some(task.task_type), None, from).await?, Scope::Everywhere))
}

/// Whether another tier may be tried to learn about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trying {
    Allowed,
    /// It is only a question, or too important.
    Never,
}

/// The advice for a choice. Who names a model, a tier or a tag gets that, so there is nothing to advise.
pub(crate) async fn advice(
    context: &Context,
    selector: &Selector,
    classified: Option<&str>,
    text: Option<&str>,
    directory: &Path,
    trying: Trying,
) -> Result<Option<Pattern>> {
    let config = &context.config;
    let task_type = match selector {
        Selector::TaskType(name) => Some(name.as_str()),
        Selector::Default => classified,
        Selector::Exact(_) | Selector::Fuzzy(_) | Selector::Tier(_) | Selector::Tag(_) | Selector::Profile(_) => None,
    };
    let Some(task_type) = task_type else { return Ok(None) };
    if !config.patterns.choose {
        let said = "experience does not choose: `patterns.choose` is off".to_owned();
        return Ok(Some(Pattern { said, ..Pattern::default() }));
    }
    let table = config.task_types.get(task_type).map(String::as_str);
    let repository = repository_name(directory);
    let known = known(context, &Task { task_type, text, repository: Some(&repository), table }).await?;
    let place = match &known.scope {
        Scope::Repository(_) => " in this repository",
        Scope::Everywhere => "",
    };
    let mut pattern = Pattern {
        tier: known.follow.as_ref().ok().map(|followed| followed.tier.clone()),
        said: match &known.follow {
            Ok(followed) => format!("by experience{place}: {}", followed.reason),
            Err(why) if place.is_empty() => why.clone(),
            Err(why) => format!("by experience{place}: {why}"),
        },
        propensity: None,
    };
    if config.patterns.explore_percent > 0
        && trying == Trying::Allowed
        // A hard task is nothing to experiment with.
        && known.hard.is_none()
        && let Some(chosen) = pattern.tier.clone().or_else(|| table.map(str::to_owned))
    {
        let tiers = &known.recommendation.tiers;
        let Exploration { tier, propensity } = explore(&config.patterns, &config.tier_order, &chosen, tiers, roll());
        pattern.propensity = Some(propensity);
        if let Some(tier) = tier {
            pattern.said = format!("{}; tier {tier} is tried instead of {chosen} to learn about it", pattern.said);
            pattern.tier = Some(tier);
        }
    }
    Ok(Some(pattern))
}

/// A number below one million, drawn.
fn roll() -> u32 {
    let drawn = Uuid::new_v4().as_u128() % 1_000_000;
    u32::try_from(drawn).unwrap_or_default()
}

/// The repository of a directory as outcomes name it; empty when there is none.
#[must_use]
pub fn repository_name(directory: &Path) -> String {
    repository_of(directory).map(|top| top.to_string_lossy().into_owned()).unwrap_or_default()
}
