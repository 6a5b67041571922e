//! From flags to a selector, the same for every command that chooses a model.

use crate::failure::Failure;
use switchyard_core::{
    config::Config,
    route::{RouteError, Selector, TagRef},
};
use switchyard_engine::dispatch::Refusal;

/// What the flags of a command say, beside a model.
#[derive(Debug, Clone, Copy, Default)]
pub struct Selection<'a> {
    pub task_type: Option<&'a str>,
    pub tier: Option<&'a str>,
    pub tag: Option<&'a str>,
    pub profile: Option<&'a str>,
}

/// The strongest of the flags.
pub fn of(config: &Config, selection: &Selection<'_>) -> Result<Selector, Failure> {
    Ok(if let Some(name) = selection.task_type {
        Selector::TaskType(name.to_owned())
    } else if let Some(name) = selection.tier {
        Selector::Tier(name.to_owned())
    } else if let Some(tag) = selection.tag {
        Selector::Tag(TagRef::require(tag, config).map_err(Refusal::Route)?)
    } else if let Some(name) = selection.profile {
        Selector::Profile(name.to_owned())
    } else {
        Selector::Default
    })
}

/// What a person writes for a model.
pub fn model(config: &Config, text: &str) -> Result<Selector, Failure> {
    Selector::from_reference(text, config).map_err(|error| match error {
        RouteError::BadName { problem } => Failure::usage(problem, "see `switchyard models`"),
        other => Refusal::Route(other).into(),
    })
}
