//! The models that a group can be given, the recommended one first, each with a reason.

use serde::Serialize;
use shuntyard_core::{
    ModelRef,
    routing::{Catalogue, Model, Resolution},
};

/// More than these are no help in choosing.
pub(super) const MOST_ALTERNATIVES: usize = 5;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Offer {
    pub model: ModelRef,
    pub reason: String,
    /// What may be written after `@`.
    pub variants: Vec<String>,
}

/// A model that the configuration names has no rivals: then any others that can use tools are offered.
pub(super) fn offers(resolution: &Resolution, catalogue: &Catalogue) -> Vec<Offer> {
    let chosen = &resolution.model;
    let first = offer(catalogue, chosen.clone(), &resolution.reason);
    let rivals = resolution.candidates.iter().filter_map(|rival| {
        let waits = rival.waits.as_ref().map_or_else(String::new, |why| format!(", not now: {why}"));
        offer(catalogue, rival.model.parse().ok()?, &format!("{} points{waits}", rival.score))
    });
    let mut others: Vec<Offer> = rivals.filter(|rival| rival.model.base() != chosen.base()).collect();
    if others.is_empty() {
        let usable = catalogue.models().filter(|(_, provider, model)| provider.is_usable() && model.tool_calls);
        let named = usable.filter_map(|(id, _, model)| format!("{id}/{}", model.id).parse().ok());
        let different = named.filter(|model: &ModelRef| model.base() != chosen.base());
        others.extend(different.filter_map(|model| offer(catalogue, model, "can use tools")));
    }
    first.into_iter().chain(others.into_iter().take(MOST_ALTERNATIVES)).collect()
}

/// Of the catalogue; nothing for a model that is not in it.
pub(super) fn offer(catalogue: &Catalogue, model: ModelRef, why: &str) -> Option<Offer> {
    let known = catalogue.find(&model).ok()?;
    Some(Offer { reason: format!("{why}; {}", traits(known)), variants: known.variants.clone(), model })
}

/// What matters for a choice between models: the price, the context window, and whether it thinks first.
fn traits(model: &Model) -> String {
    let price = match model.price.is_zero() {
        true => "no price is known".to_owned(),
        false => {
            let (input, output) = (model.price.input.as_usd(), model.price.output.as_usd());
            format!("${input} in and ${output} out per million tokens")
        }
    };
    let context = match model.context {
        0 => String::new(),
        tokens => format!(", {}k of context", tokens / 1000),
    };
    let reasoning = if model.reasoning { ", reasoning" } else { "" };
    format!("{price}{context}{reasoning}")
}
