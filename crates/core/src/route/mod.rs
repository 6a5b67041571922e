//! Which model a request goes to, and why.
//!
//! The only place that turns a selector into a model; the tables are data in the configuration.

mod catalogue;

pub use catalogue::{Catalogue, Model, Provider};

use crate::{ModelRef, config::Config, dispatch::Selector, nearest::nearest};
use serde::Serialize;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    Explicit,
    TaskType,
    Tier,
    Default,
}

/// A model that was looked at on the way, and what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TraceStep {
    pub candidate: String,
    pub chosen: bool,
    pub why: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Route {
    pub rule: Rule,
    pub reason: String,
    pub trace: Vec<TraceStep>,
    #[serde(skip)]
    pub model: ModelRef,
    /// The tier that a task type or tier selector went through.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tier: Option<String>,
    /// What the requester should be told although the choice stands.
    #[serde(skip)]
    pub warnings: Vec<String>,
}

/// What the answer has to be able to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Needs {
    pub images: usize,
    pub tools: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RouteError {
    #[error("unknown task type `{name}`{suggestion}; there are: {valid}")]
    UnknownTaskType { name: String, suggestion: String, valid: String },
    #[error("unknown tier `{name}`{suggestion}; there are: {valid}")]
    UnknownTier { name: String, suggestion: String, valid: String },
    #[error("no model was named, and neither Switchyard's `default_model` nor OpenCode's `model` is set")]
    NoDefault,
    #[error("provider `{provider}` is not connected; connected: {connected}")]
    ProviderNotConnected { provider: String, connected: String },
    #[error("provider `{provider}` has no model `{model}`{suggestion}")]
    ModelNotFound { provider: String, model: String, suggestion: String },
    #[error("model {model} has no variant `{variant}`; it has: {valid}")]
    VariantNotFound { model: String, variant: String, valid: String },
    #[error("model {model} cannot take {need}; connected models that can: {able}")]
    CapabilityMissing { model: String, need: &'static str, able: String },
}

/// Checks the names in a selector against the tables. Needs no catalogue, so that a mistyped name is
/// refused before any server is asked.
pub fn check_names(selector: &Selector, config: &Config) -> Result<(), RouteError> {
    match selector {
        Selector::TaskType(name) if !config.task_types.contains_key(name) => {
            let (suggestion, valid) = suggest(name, config.task_types.keys());
            Err(RouteError::UnknownTaskType { name: name.clone(), suggestion, valid })
        }
        Selector::Tier(name) if !config.tiers.contains_key(name) => {
            let (suggestion, valid) = suggest(name, config.tiers.keys());
            Err(RouteError::UnknownTier { name: name.clone(), suggestion, valid })
        }
        Selector::TaskType(_) | Selector::Tier(_) | Selector::Exact(_) | Selector::Default => Ok(()),
    }
}

/// Chooses the model. Every path ends in the same capability check.
pub fn resolve(selector: &Selector, needs: Needs, catalogue: &Catalogue, config: &Config) -> Result<Route, RouteError> {
    check_names(selector, config)?;
    let route = match selector {
        Selector::Exact(model) => {
            catalogue.find(model)?;
            single(Rule::Explicit, model.clone(), "named in the request".to_owned())
        }
        Selector::Default => default_model(catalogue, config)?,
        Selector::Tier(tier) => through_tier(Rule::Tier, tier, format!("tier {tier}"), needs, catalogue, config)?,
        Selector::TaskType(task_type) => {
            let tier = &config.task_types[task_type];
            let what = format!("task type {task_type} goes to tier {tier}");
            through_tier(Rule::TaskType, tier, what, needs, catalogue, config)?
        }
    };
    let model = catalogue.find(&route.model)?;
    if let Some(need) = missing(model, needs) {
        return Err(capability_missing(&route.model, need, needs, catalogue));
    }
    let mut route = route;
    if !catalogue.is_usable(&route.model.provider) {
        route.warnings.push(format!("provider {} has no key", route.model.provider));
    }
    Ok(route)
}

fn single(rule: Rule, model: ModelRef, reason: String) -> Route {
    let trace = vec![TraceStep { candidate: model.to_string(), chosen: true, why: reason.clone() }];
    Route { rule, reason, trace, model, tier: None, warnings: Vec::new() }
}

fn default_model(catalogue: &Catalogue, config: &Config) -> Result<Route, RouteError> {
    if let Ok(model) = config.default_model.parse::<ModelRef>() {
        catalogue.find(&model)?;
        return Ok(single(Rule::Default, model, "`default_model` in Switchyard's configuration".to_owned()));
    }
    let model = catalogue.default_model.clone().ok_or(RouteError::NoDefault)?;
    catalogue.find(&model)?;
    Ok(single(Rule::Default, model, "`model` in OpenCode's configuration".to_owned()))
}

/// The first model of the tier that is there and fits. When none is, the default model stands in,
/// and the reason and a warning say so: never a silent change.
fn through_tier(
    rule: Rule,
    tier: &str,
    what: String,
    needs: Needs,
    catalogue: &Catalogue,
    config: &Config,
) -> Result<Route, RouteError> {
    let mut trace = Vec::new();
    for name in &config.tiers[tier] {
        let Ok(model) = name.parse::<ModelRef>() else { continue };
        let why = match catalogue.find(&model) {
            Err(error) => short_reason(&error),
            Ok(_) if !catalogue.is_usable(&model.provider) => "no key for its provider".to_owned(),
            Ok(found) => match missing(found, needs) {
                Some(need) => format!("cannot take {need}"),
                None => {
                    let reason = format!("{what}; {model} is the first of it that is connected");
                    trace.push(TraceStep { candidate: name.clone(), chosen: true, why: "first that fits".into() });
                    return Ok(Route { rule, reason, trace, model, tier: Some(tier.into()), warnings: Vec::new() });
                }
            },
        };
        trace.push(TraceStep { candidate: name.clone(), chosen: false, why });
    }
    let stand_in = default_model(catalogue, config)?;
    let reason =
        format!("{what}; none of its models is connected, so {} stands in ({})", stand_in.model, stand_in.reason);
    trace.extend(stand_in.trace);
    let warnings = vec![format!("tier {tier}: none of its models is connected; {} stands in", stand_in.model)];
    Ok(Route { rule, reason, trace, model: stand_in.model, tier: Some(tier.into()), warnings })
}

fn missing(model: &Model, needs: Needs) -> Option<&'static str> {
    if needs.images > 0 && !model.image_input {
        Some("images")
    } else if needs.tools && !model.tool_calls {
        Some("tools")
    } else {
        None
    }
}

fn capability_missing(model: &ModelRef, need: &'static str, needs: Needs, catalogue: &Catalogue) -> RouteError {
    let able: Vec<String> = catalogue
        .models()
        .filter(|(_, candidate)| missing(candidate, needs).is_none())
        .map(|(provider, candidate)| format!("{provider}/{}", candidate.id))
        .take(5)
        .collect();
    let able = if able.is_empty() { "none".to_owned() } else { able.join(", ") };
    RouteError::CapabilityMissing { model: model.to_string(), need, able }
}

fn short_reason(error: &RouteError) -> String {
    match error {
        RouteError::ProviderNotConnected { provider, .. } => format!("provider {provider} is not connected"),
        RouteError::ModelNotFound { provider, .. } => format!("provider {provider} does not have it"),
        other => other.to_string(),
    }
}

fn suggest<'a>(name: &str, valid: impl Iterator<Item = &'a String> + Clone) -> (String, String) {
    let names: Vec<&str> = valid.map(String::as_str).collect();
    let suggestion = nearest(name, names.iter().copied(), 1)
        .first()
        .map_or_else(String::new, |near| format!(", did you mean `{near}`?"));
    (suggestion, names.join(", "))
}

#[cfg(test)]
mod tests;
