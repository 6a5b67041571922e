//! Which model a group of agents should have, by the same resolver that every dispatch goes through.

use super::choices::{MOST_ALTERNATIVES, Offer, offer, offers};
use crate::{
    Context,
    base::refusal::Refusal,
    routing::{
        budget::CostCheck,
        catalogue::Refresh,
        choose::{Decision, Task, decide},
    },
};
use serde::Serialize;
use shuntyard_core::{
    ModelRef,
    routing::{Needs, Selector},
    settings::AgentGroup,
    values::Capability,
};
use std::path::Path;

#[derive(Debug, Clone, Serialize)]
pub struct Recommendation {
    pub group: AgentGroup,
    /// What the configuration asks to be recommended.
    pub by: String,
    /// None when nothing fits.
    pub model: Option<ModelRef>,
    pub reason: String,
    /// The next best, the best first.
    pub alternatives: Vec<String>,
    /// What there is to pick from, the recommended one first.
    pub offers: Vec<Offer>,
    pub warnings: Vec<String>,
}

pub async fn recommend(context: &Context, directory: &Path, group: AgentGroup) -> Result<Recommendation, Refusal> {
    let by = context.config.agent_groups.model(group).to_owned();
    let selector = Selector::from_reference(&by, &context.config)?;
    match resolve_named(context, directory, selector).await {
        Ok(Decision { resolution, listed, .. }) => {
            let offers = offers(&resolution, &listed.catalogue);
            let chosen = resolution.model.to_string();
            let others = resolution.candidates.into_iter().map(|candidate| candidate.model);
            let alternatives = others.filter(|model| *model != chosen).take(MOST_ALTERNATIVES).collect();
            let (model, reason, warnings) = (Some(resolution.model), resolution.reason, resolution.warnings);
            Ok(Recommendation { group, by, model, reason, alternatives, offers, warnings })
        }
        Err(Refusal::Route(error)) => {
            let (alternatives, offers, warnings) = (Vec::new(), Vec::new(), Vec::new());
            Ok(Recommendation { group, by, model: None, reason: error.to_string(), alternatives, offers, warnings })
        }
        Err(other) => Err(other),
    }
}

/// A model that a person names, with what there is to know about it.
pub async fn offered(context: &Context, directory: &Path, selector: Selector) -> Result<Offer, Refusal> {
    let Decision { resolution, listed, .. } = resolve_named(context, directory, selector).await?;
    let (model, reason) = (resolution.model, resolution.reason);
    let unknown = || Offer { model: model.clone(), reason: reason.clone(), variants: Vec::new() };
    Ok(offer(&listed.catalogue, model.clone(), &reason).unwrap_or_else(unknown))
}

/// A model by the name that the user wrote for it, checked as for a dispatch: it is there, has the variant, and can use
/// tools.
pub async fn resolve_named(context: &Context, directory: &Path, selector: Selector) -> Result<Decision, Refusal> {
    let needs = Needs::default().and(Capability::Tools);
    let task =
        Task { selector, text: None, needs, directory, agent: None, avoid: &[], cost_check: CostCheck::default() };
    decide(context, &task, Refresh::IfStale).await
}
