//! How an exact model came to be asked for, when that was decided before its dispatch: by a batch for each of its
//! targets, or by the claim of a task. The dispatch asks that model and no other, and still belongs to the tier.

use serde_json::Value;
use shuntyard_core::routing::{Resolution, Rule, Step};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChosenFor {
    pub rule: Rule,
    /// The tier that the model was taken from.
    pub tier: Option<String>,
    /// The tier that was asked for, when it is another one.
    pub requested_tier: Option<String>,
    pub reason: String,
    /// What was asked for, when the outcome should not say that it was this model.
    pub requested: Option<Value>,
}

impl ChosenFor {
    /// What a decision is to be remembered by; nothing when no tier had a part in it.
    pub(crate) fn by(found: &Resolution, reason: String) -> Option<Self> {
        let (tier, requested_tier) = (found.tier.clone(), found.requested_tier.clone());
        let had_a_part = tier.is_some() || requested_tier.is_some();
        had_a_part.then_some(Self { rule: found.rule, tier, requested_tier, reason, requested: None })
    }

    /// Puts the earlier decision in the place of "it was named".
    pub(super) fn explain(&self, found: &mut Resolution) {
        if found.rule != Rule::Explicit || found.tier.is_some() {
            return;
        }
        found.rule = self.rule;
        found.tier.clone_from(&self.tier);
        found.requested_tier = self.requested_tier.clone().filter(|asked| self.tier.as_ref() != Some(asked));
        found.reason.clone_from(&self.reason);
        for step in found.trace.iter_mut().filter(|step| step.chosen) {
            step.step = Step::Tier;
            step.why.clone_from(&self.reason);
        }
    }
}
