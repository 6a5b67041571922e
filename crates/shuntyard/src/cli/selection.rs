//! From flags to a selector, the same for every command that chooses a model.

use crate::failure::Failure;
use clap::Args;
use shuntyard_core::{
    routing::{RouteError, Selector, TagRef},
    settings::Config,
};
use shuntyard_engine::base::refusal::Refusal;

/// How to choose, when no model is named.
#[derive(Debug, Args)]
pub struct SelectionArgs {
    /// Choose the model by the kind of task (see `shuntyard task-types`)
    #[arg(long, value_name = "TYPE")]
    pub task_type: Option<String>,
    /// Choose the model by tier (see `shuntyard tiers`)
    #[arg(long, value_name = "TIER")]
    pub tier: Option<String>,
    /// Choose the model by tag, like auto:fast (see `shuntyard tags`)
    #[arg(long, value_name = "TAG")]
    pub tag: Option<String>,
    /// Choose the model of a worker's profile, like coder
    #[arg(long, value_name = "NAME")]
    pub profile: Option<String>,
}

impl SelectionArgs {
    /// The strongest of the flags: a task type beats a tier, which beats a tag, which beats a profile.
    pub fn selector(&self, config: &Config) -> Result<Selector, Failure> {
        Ok(if let Some(name) = &self.task_type {
            Selector::TaskType(name.clone())
        } else if let Some(name) = &self.tier {
            Selector::Tier(name.clone())
        } else if let Some(tag) = &self.tag {
            Selector::Tag(TagRef::require(tag, config).map_err(Refusal::Route)?)
        } else if let Some(name) = &self.profile {
            Selector::Profile(name.clone())
        } else {
            Selector::Default
        })
    }
}

/// What follows `-m`: a bare name is a model, never a tier.
pub fn model(config: &Config, text: &str) -> Result<Selector, Failure> {
    Selector::from_flag(text, config).map_err(refused)
}

/// What a flag takes for which a tier is as good as a model.
pub fn model_or_tier(config: &Config, text: &str) -> Result<Selector, Failure> {
    Selector::from_reference(text, config).map_err(refused)
}

/// Each `-m`, as it can be kept and read later.
pub fn references(config: &Config, texts: &[String]) -> Vec<String> {
    texts.iter().map(|text| Selector::flag_reference(text, config)).collect()
}

fn refused(error: RouteError) -> Failure {
    match error {
        RouteError::BadName { problem } => Failure::usage(problem, "see `shuntyard models`"),
        other => Refusal::Route(other).into(),
    }
}
