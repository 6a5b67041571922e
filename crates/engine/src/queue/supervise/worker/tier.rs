//! The tier that a claim has chosen its model from: the work is charged to it, and what it teaches is about it.

use crate::{Context, dispatch::ChosenFor, queue::supervise::claim::selector, routing::experience::asked_by_text};
use shuntyard_core::{
    routing::{Rule, Selector},
    work::task::Task,
};
use shuntyard_store::RunRecord;

/// Nothing when the model was named, and no tier had a part in it.
pub(super) fn chosen_for(context: &Context, task: &Task, run: Option<&RunRecord>) -> Option<ChosenFor> {
    let wanted = selector(context, task).ok()?;
    let tier = run.and_then(|run| run.tier.clone());
    let requested_tier = match &wanted {
        Selector::Tier(name) => Some(context.config.tier_named(name).unwrap_or(name).to_owned()),
        _ => None,
    };
    let rule = match &wanted {
        Selector::Tier(_) => Rule::Tier,
        Selector::TaskType(_) => Rule::TaskType,
        Selector::Tag(_) => Rule::Tag,
        Selector::Profile(_) => Rule::Profile,
        Selector::Default => Rule::Classifier,
        Selector::Exact(_) | Selector::Fuzzy(_) => return None,
    };
    let of = tier.as_ref().or(requested_tier.as_ref())?;
    let reason = format!("chosen for tier {of} when the task was claimed");
    let requested = if wanted == Selector::Default { asked_by_text() } else { wanted.to_json() };
    Some(ChosenFor { rule, requested_tier, reason, requested: Some(requested), tier })
}
