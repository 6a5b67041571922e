//! What a scene allows, computed apart from the resolver.

use super::{
    super::*,
    generate::{NOW, Scene},
};
use crate::values::Capability;

/// What a request comes down to.
#[derive(Debug, PartialEq)]
pub(super) enum Goal {
    /// One model, named by the request.
    One,
    Tier(String),
    Tag(String),
}

pub(super) fn goal(scene: &Scene) -> Goal {
    let of = |selector: &Selector| match selector {
        Selector::Exact(_) | Selector::Fuzzy(_) => Goal::One,
        Selector::Tier(tier) => Goal::Tier(own_name(scene, tier)),
        Selector::Tag(tag) => Goal::Tag(tag.name().to_owned()),
        other => panic!("{other:?} is not taken apart"),
    };
    let parsed = |text: &str| Selector::from_reference(text, &scene.config);
    if contest_decides(scene) {
        return Goal::One;
    }
    let advice = &scene.advice;
    let pattern = advice.pattern.as_ref().and_then(|pattern| pattern.tier.as_ref()).filter(|tier| *tier != "gone");
    match &scene.selector {
        Selector::TaskType(name) => {
            return Goal::Tier(pattern.map_or(scene.config.task_types[name].clone(), |tier| own_name(scene, tier)));
        }
        Selector::Profile(name) => return of(&parsed(&scene.config.profiles[name]).unwrap()),
        Selector::Default => {}
        said => return of(said),
    }
    let agent = advice.agent.as_ref().and_then(|wish| parsed(&wish.model).ok());
    match (agent, pattern, &advice.classified) {
        (Some(agent), ..) => of(&agent),
        (None, Some(tier), _) => Goal::Tier(own_name(scene, tier)),
        (None, None, Some(classified)) => Goal::Tier(classified.tier.clone()),
        (None, None, None) if scene.config.default_model.is_empty() && scene.catalogue.default_model.is_none() => {
            Goal::Tag("any".into())
        }
        (None, None, None) => Goal::One,
    }
}

/// Whether the winner of an earlier contest is asked.
fn contest_decides(scene: &Scene) -> bool {
    let winner = scene.advice.contest.as_ref().and_then(|contest| contest.winner.as_ref());
    let is_open = matches!(scene.selector, Selector::Default | Selector::TaskType(_));
    winner.filter(|_| is_open).is_some_and(|winner| {
        let lists = |tier: &&String| {
            scene.config.tiers[*tier]
                .iter()
                .filter_map(|name| name.parse::<ModelRef>().ok())
                .any(|listed| listed.provider == winner.provider && listed.model == winner.model)
        };
        let tier = scene.config.tier_order.iter().find(lists);
        found_in(scene, winner).is_some_and(|model| suits(scene, &Goal::One, model))
            && usable(scene, &winner.provider)
            && !barred(scene, &winner.provider, &winner.model)
            && !tier.is_some_and(|tier| scene.advice.budget.degraded.contains_key(tier))
    })
}

pub(super) fn own_name(scene: &Scene, tier: &str) -> String {
    scene.config.tier_aliases.get(tier).cloned().unwrap_or_else(|| tier.to_owned())
}

pub(super) fn can(model: &Model, capability: Capability) -> bool {
    match capability {
        Capability::Vision => model.image_input,
        Capability::Tools => model.tool_calls,
        Capability::Reasoning => model.reasoning,
        Capability::Structured => model.tool_calls || model.structured_output,
    }
}

/// Whether the model has what the request needs, and what its tag does.
pub(super) fn suits(scene: &Scene, goal: &Goal, model: &Model) -> bool {
    let Needs { images, tools, structured, reasoning, context } = scene.needs;
    let by_tag = match goal {
        Goal::Tag(tag) => scene.config.tags[tag].needs.iter().all(|need| can(model, *need)),
        Goal::One | Goal::Tier(_) => true,
    };
    by_tag
        && model.text_output
        && (images == 0 || can(model, Capability::Vision))
        && (!tools || can(model, Capability::Tools))
        && (!structured || can(model, Capability::Structured))
        && (!reasoning || can(model, Capability::Reasoning))
        && (model.context == 0 || model.context >= context)
}

/// Whether the provider may be used at all, also when it is named.
pub(super) fn permitted(scene: &Scene, id: &str) -> bool {
    let policy = &scene.config.policy;
    let is_in = |list: &[String]| list.iter().any(|own| own == id);
    scene.catalogue.providers.get(id).is_some_and(|provider| provider.connected)
        && (policy.allow_providers.is_empty() || is_in(&policy.allow_providers))
        && !is_in(&policy.deny_providers)
        && !scene.advice.budget.exhausted.contains_key(id)
}

/// Whether it may be chosen by itself.
pub(super) fn usable(scene: &Scene, id: &str) -> bool {
    let keyed = |provider: &Provider| provider.has_key || provider.source != Source::Api;
    permitted(scene, id) && keyed(&scene.catalogue.providers[id])
}

pub(super) fn barred(scene: &Scene, provider: &str, model: &str) -> bool {
    let full = format!("{provider}/{model}");
    scene.bars.iter().any(|(target, bar)| bar.until > NOW && (*target == full || target == provider))
}

/// All that may be chosen by a tier or a tag, with whether it waits.
pub(super) fn fitting<'a>(scene: &'a Scene, goal: &'a Goal) -> impl Iterator<Item = (&'a str, &'a Model, bool)> {
    scene
        .catalogue
        .models()
        .filter(|(id, _, model)| usable(scene, id) && suits(scene, goal, model))
        .map(|(id, _, model)| (id, model, barred(scene, id, &model.id)))
}

pub(super) fn found_in<'a>(scene: &'a Scene, model: &ModelRef) -> Option<&'a Model> {
    let found = scene.catalogue.providers.get(&model.provider)?.models.get(&model.model)?;
    model.variant.as_ref().is_none_or(|variant| found.variants.contains(variant)).then_some(found)
}

/// The models that a tier lists and that would do, whatever they cost.
pub(super) fn own<'a>(scene: &'a Scene, goal: &'a Goal, tier: &str) -> impl Iterator<Item = ModelRef> + use<'a> {
    let mut rich = scene.clone();
    rich.advice.budget.exhausted.clear();
    let would_do = move |name: &ModelRef| {
        found_in(&rich, name).is_some_and(|model| suits(&rich, goal, model)) && usable(&rich, &name.provider)
    };
    scene.config.tiers[tier].iter().map(|name| name.parse::<ModelRef>().unwrap()).filter(would_do)
}

/// The first of them that can be asked now.
pub(super) fn ready(scene: &Scene, goal: &Goal, tier: &str) -> Option<ModelRef> {
    own(scene, goal, tier).find(|name| usable(scene, &name.provider) && !barred(scene, &name.provider, &name.model))
}

/// Whether the budget affects a tier at all: it is downgraded, or one of its own waits for nothing but money.
pub(super) fn restrained(scene: &Scene, goal: &Goal, tier: &str) -> bool {
    let only_money = |name: &ModelRef| !barred(scene, &name.provider, &name.model);
    scene.advice.budget.degraded.contains_key(tier)
        || (ready(scene, goal, tier).is_none() && own(scene, goal, tier).any(|name| only_money(&name)))
}

/// The tiers from one down to the cheapest.
pub(super) fn downwards<'a>(scene: &'a Scene, tier: &str) -> impl Iterator<Item = &'a String> {
    let order = &scene.config.tier_order;
    let place = order.iter().position(|own| own == tier).unwrap();
    order[..=place].iter().rev()
}

pub(super) fn names_are_known(scene: &Scene) -> bool {
    !matches!(&scene.selector, Selector::TaskType(name) | Selector::Tier(name) | Selector::Profile(name) if name == "lost")
}
