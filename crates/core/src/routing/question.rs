//! What a choice is made from.

use super::{Advice, Availability, Catalogue, Needs, Selector, Step, TraceStep};
use crate::{ModelRef, settings::Config, values::ModelPolicy};

/// Everything that a decision depends on.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    pub selector: &'a Selector,
    pub needs: Needs,
    pub policy: ModelPolicy,
    pub catalogue: &'a Catalogue,
    pub config: &'a Config,
    pub availability: &'a Availability,
    pub advice: &'a Advice,
    /// Microseconds since the Unix epoch.
    pub now: i64,
}

/// The note of the budget about the choice of this provider.
pub(super) fn budget_note(question: &Question<'_>, provider: &str) -> TraceStep {
    let budget = &question.advice.budget;
    let mut said = if let Some(paid) = budget.preferred.get(provider) {
        format!("{provider} is paid for already and comes first: {paid}")
    } else if let Some(low) = budget.low.get(provider) {
        format!("running low: {low}")
    } else if budget.is_set {
        "within it".to_owned()
    } else {
        "none is set".to_owned()
    };
    for note in &budget.notes {
        said = format!("{said}; {note}");
    }
    TraceStep::note(Step::Budget, said)
}

/// The weakest tier that lists the model.
pub(super) fn tier_of(config: &Config, model: &ModelRef) -> Option<String> {
    let is_own = |own: ModelRef| own.provider == model.provider && own.model == model.model;
    config.tier_order.iter().find(|tier| listed(config, tier).any(is_own)).cloned()
}

/// The models that a tier lists.
pub(super) fn listed<'a>(config: &'a Config, tier: &str) -> impl Iterator<Item = ModelRef> + use<'a> {
    config.tiers.get(tier).into_iter().flatten().filter_map(|name| name.parse().ok())
}
