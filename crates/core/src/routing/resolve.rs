//! The one resolver: from what is wanted to the model, with the reason. Every path ends in the same checks.

use super::{
    Question, Resolution, RouteError, Rule, Selector, Step, TraceStep,
    downgrade::through_tier,
    error::suggest,
    fuzzy,
    pool::waits,
    pooled::through_tag,
    question::{budget_note, tier_of},
    terms::Terms,
    wish::{Wish, wish},
};
use crate::{ModelRef, settings::Config};

/// Checks the names in a selector against the tables. Needs no catalogue, so that a mistyped name is
/// refused before any server is asked.
pub fn check_names(selector: &Selector, config: &Config) -> Result<(), RouteError> {
    match selector {
        Selector::TaskType(name) if !config.task_types.contains_key(name) => {
            let (suggestion, valid) = suggest(name, config.task_types.keys());
            Err(RouteError::UnknownTaskType { name: name.clone(), suggestion, valid })
        }
        Selector::Tier(name) if config.tier_named(name).is_none() => {
            let (suggestion, valid) = suggest(name, config.tiers.keys().chain(config.tier_aliases.keys()));
            Err(RouteError::UnknownTier { name: name.clone(), suggestion, valid })
        }
        Selector::Profile(name) if !config.profiles.contains_key(name) => {
            let (suggestion, valid) = suggest(name, config.profiles.keys());
            Err(RouteError::UnknownProfile { name: name.clone(), suggestion, valid })
        }
        Selector::TaskType(_)
        | Selector::Tier(_)
        | Selector::Profile(_)
        | Selector::Tag(_)
        | Selector::Exact(_)
        | Selector::Fuzzy(_)
        | Selector::Default => Ok(()),
    }
}

/// Chooses the model.
pub fn resolve(question: &Question<'_>) -> Result<Resolution, RouteError> {
    check_names(question.selector, question.config)?;
    if let Some(why) = &question.advice.budget.closed {
        return Err(RouteError::Closed { why: why.clone() });
    }
    let mut wish = wish(question)?;
    match std::mem::replace(&mut wish.selector, Selector::Default) {
        Selector::Exact(model) => exact(question, model, wish),
        Selector::Fuzzy(name) => {
            let found = fuzzy::find(&name, question.catalogue, &question.config.policy);
            let model = found.map_err(|error| error.or_tier(question.config))?;
            wish.said = format!("{}: `{name}` is {model} and nothing else", wish.said);
            exact(question, model, wish)
        }
        Selector::Tier(tier) => through_tier(question, &tier, wish, Terms::FIRST),
        Selector::Tag(tag) => through_tag(question, tag.name(), wish, Terms::FIRST),
        // These were taken apart before.
        Selector::TaskType(_) | Selector::Profile(_) | Selector::Default => default_model(question, wish),
    }
}

fn default_model(question: &Question<'_>, mut wish: Wish) -> Result<Resolution, RouteError> {
    wish.rule = Rule::Default;
    if let Some((model, setting)) = set_as_default(question) {
        wish.said = setting.into();
        return exact(question, model, wish);
    }
    wish.trace.push(TraceStep::note(Step::Default, "neither `default_model` nor OpenCode's `model` is set"));
    wish.said = "no model is set as default".into();
    through_tag(question, "any", wish, Terms::FIRST)
}

/// The model for requests that name none, and the setting that names it.
pub(super) fn set_as_default(question: &Question<'_>) -> Option<(ModelRef, &'static str)> {
    let ours = question.config.default_model.parse().ok();
    ours.map(|model| (model, "`default_model` in Shuntyard's configuration")).or_else(|| {
        let theirs = question.catalogue.default_model.clone();
        theirs.map(|model| (model, "`model` in OpenCode's configuration"))
    })
}

/// A model that the request named. It is taken or refused, never exchanged.
pub(super) fn exact(question: &Question<'_>, model: ModelRef, wish: Wish) -> Result<Resolution, RouteError> {
    let found = question.catalogue.find(&model)?;
    let policy = &question.config.policy;
    if !policy.allows(&model.provider) {
        let allowed = if policy.deny_providers.contains(&model.provider) {
            "it is in `policy.deny_providers`".to_owned()
        } else {
            format!("`policy.allow_providers` has: {}", policy.allow_providers.join(", "))
        };
        return Err(RouteError::NotAllowed { provider: format!("provider `{}`", model.provider), allowed });
    }
    if let Some(lack) = question.needs.lacking(found) {
        let able = able(question).join(", ");
        let able = if able.is_empty() { "none".to_owned() } else { able };
        return Err(RouteError::CapabilityMissing { model: model.to_string(), need: lack.to_string(), able });
    }
    if let Some(why) = question.advice.budget.exhausted.get(&model.provider) {
        return Err(RouteError::OverBudget { model: model.to_string(), why: why.clone() });
    }
    let Wish { rule, said, task_type, mut trace, mut warnings, propensity, .. } = wish;
    let step = match rule {
        Rule::Default => Step::Default,
        Rule::Agent => Step::Agent,
        Rule::Contest => Step::Contest,
        _ => Step::Explicit,
    };
    trace.push(TraceStep::chosen(step, &model, said.clone()));
    trace.push(budget_note(question, &model.provider));
    if !question.catalogue.is_usable(&model.provider) {
        warnings.push(format!("provider {} has no key", model.provider));
    }
    if let Some(barred) = question.availability.of(&model.provider, &model.model, question.now) {
        let waits = waits(&barred, question.now);
        trace.push(TraceStep::about(Step::Availability, &model, format!("{waits}; asked all the same")));
        warnings.push(format!("{model} should be {waits}; it is asked because it was named"));
    }
    Ok(Resolution {
        rule,
        reason: said,
        policy: question.policy,
        // Work that fails can rise from there, as any that was routed.
        tier: (rule == Rule::Contest).then(|| tier_of(question.config, &model)).flatten(),
        task_type,
        requested_tier: None,
        trace,
        candidates: Vec::new(),
        considered: 1,
        rejected: Vec::new(),
        propensity,
        model,
        warnings,
    })
}

/// Models that have what is needed, a few of them.
fn able(question: &Question<'_>) -> Vec<String> {
    let usable = question.catalogue.models().filter(|(id, provider, model)| {
        provider.is_usable() && question.config.policy.allows(id) && question.needs.lacking(model).is_none()
    });
    usable.map(|(id, _, model)| format!("{id}/{}", model.id)).take(5).collect()
}
