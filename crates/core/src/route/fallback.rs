//! Where work goes when a model failed: sideways when nobody could have helped it, up when the model was too weak.
//!
//! The needs of the request, the allowed providers and the budget hold for every hop as for the first choice.

use super::{
    Question, Resolution, RouteError, Rule, Step, TraceStep, Tried, Trigger,
    pooled::{Waiting, through_tag, through_tier},
    resolve,
    wish::{Wish, wish},
};
use crate::{ModelRef, config::Config, route::Selector};

/// Whether a model that was named may be exchanged for another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exchange {
    /// Only what was routed in the first place.
    Routed,
    /// The request said so.
    Asked,
}

/// Who laid down the order of what is tried next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChainOrigin {
    Agent,
    Tier,
    Default,
    BuiltIn,
}

impl ChainOrigin {
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Tier => "tier",
            Self::Default => "default",
            Self::BuiltIn => "built-in",
        }
    }
}

/// The chain that holds for a request: models and tiers by name. Built in, it is empty: the tier's own list.
#[must_use]
pub fn chain<'a>(config: &'a Config, agent: Option<&str>, tier: Option<&str>) -> (ChainOrigin, &'a [String]) {
    let fallback = &config.fallback;
    let of = |table: &'a std::collections::BTreeMap<String, Vec<String>>, name: Option<&str>| {
        name.and_then(|name| table.get(name)).filter(|chain| !chain.is_empty())
    };
    if let Some(chain) = of(&fallback.agents, agent) {
        (ChainOrigin::Agent, chain)
    } else if let Some(chain) = of(&fallback.tiers, tier) {
        (ChainOrigin::Tier, chain)
    } else if !fallback.default.is_empty() {
        (ChainOrigin::Default, &fallback.default)
    } else {
        (ChainOrigin::BuiltIn, &[])
    }
}

/// The next model after those that failed. `before` is the decision that led to the last of them.
pub fn next(
    question: &Question<'_>,
    before: &Resolution,
    tried: &[Tried],
    exchange: Exchange,
    agent: Option<&str>,
) -> Result<Resolution, RouteError> {
    let Some(last) = tried.last() else { return resolve(question) };
    let config = question.config;
    let exhausted = |why: String| RouteError::Exhausted { why };
    let (_, chain) = chain(config, agent, before.tier.as_deref());
    let named = matches!(before.rule, Rule::Explicit | Rule::Agent)
        || (before.rule == Rule::Default && before.considered == 1 && chain.is_empty());
    if named && exchange == Exchange::Routed {
        return Err(exhausted("the model was named, and `--fallback` was not".into()));
    }
    if !config.fallback.triggers.contains(&last.trigger) {
        return Err(exhausted(format!("`fallback.triggers` does not have {}", last.trigger)));
    }
    if tried.len() >= config.fallback.depth {
        return Err(exhausted(format!("{} were asked, which is `fallback.depth`", tried.len())));
    }
    let found = match last.trigger {
        Trigger::Capability => stronger(question, before, tried),
        _ if chain.is_empty() => equal(question, before, tried),
        _ => along(question, before, tried, chain),
    };
    found.map(|found| joined(before, last, found))
}

/// Up, tier by tier.
fn stronger(question: &Question<'_>, before: &Resolution, tried: &[Tried]) -> Result<Resolution, RouteError> {
    let config = question.config;
    let own = before.tier.clone().or_else(|| tier_of(config, &before.model));
    let mut tier = own.as_deref();
    while let Some(above) = tier.and_then(|tier| config.tier_above(tier)) {
        let wish = hop(before, format!("tier {above}, the next stronger one"));
        if let Ok(found) = through_tier(question, above, wish, tried, Waiting::Refused) {
            return Ok(found);
        }
        tier = Some(above);
    }
    Err(RouteError::Exhausted { why: "there is no stronger tier with a model that can be asked".into() })
}

/// Sideways: the same question again, without those that failed.
fn equal(question: &Question<'_>, before: &Resolution, tried: &[Tried]) -> Result<Resolution, RouteError> {
    let exhausted = |error: RouteError| RouteError::Exhausted { why: error.to_string() };
    let tier = before.tier.clone().or_else(|| {
        let named = matches!(before.rule, Rule::Explicit | Rule::Agent | Rule::Default);
        named.then(|| tier_of(question.config, &before.model)).flatten()
    });
    if let Some(tier) = tier {
        let wish = hop(before, format!("another of tier {tier}"));
        return through_tier(question, &tier, wish, tried, Waiting::Refused).map_err(exhausted);
    }
    let wish = wish(question)?;
    let tag = match &wish.selector {
        Selector::Tag(tag) => tag.name().to_owned(),
        _ => "any".to_owned(),
    };
    through_tag(question, &tag, hop(before, format!("another by tag auto:{tag}")), tried, Waiting::Refused)
        .map_err(exhausted)
}

/// Along a chain that the configuration lays down.
fn along(
    question: &Question<'_>,
    before: &Resolution,
    tried: &[Tried],
    chain: &[String],
) -> Result<Resolution, RouteError> {
    let mut reasons = Vec::new();
    for entry in chain {
        let found = if let Some(tier) = question.config.tier_named(entry) {
            through_tier(question, tier, hop(before, format!("tier {tier} of the chain")), tried, Waiting::Refused)
        } else {
            one(question, before, tried, entry)
        };
        match found {
            Ok(found) => return Ok(found),
            Err(error) => reasons.push(format!("{entry}: {error}")),
        }
    }
    Err(RouteError::Exhausted { why: format!("the chain has no other ({})", reasons.join("; ")) })
}

/// One model of a chain, under the same conditions as a routed one.
fn one(question: &Question<'_>, before: &Resolution, tried: &[Tried], entry: &str) -> Result<Resolution, RouteError> {
    let model: ModelRef = entry
        .parse()
        .map_err(|error: crate::model::ModelRefError| RouteError::BadName { problem: error.to_string() })?;
    if let Some(tried) = tried.iter().find(|tried| tried.model.base() == model.base()) {
        return Err(RouteError::Exhausted { why: format!("was asked already ({})", tried.trigger) });
    }
    if !question.catalogue.is_usable(&model.provider) {
        return Err(RouteError::Exhausted { why: "its provider is not connected or has no key".into() });
    }
    if let Some(barred) = question.availability.of(&model.provider, &model.model, question.now) {
        return Err(RouteError::Exhausted { why: super::pool::waits(&barred, question.now) });
    }
    let selector = Selector::Exact(model);
    let mut found = resolve(&Question { selector: &selector, ..*question })?;
    found.reason = "next of the chain".into();
    found.tier.clone_from(&before.tier);
    found.trace.retain(|step| step.step != Step::Contest);
    Ok(found)
}

fn hop(before: &Resolution, said: String) -> Wish {
    Wish {
        selector: Selector::Default,
        rule: before.rule,
        said,
        task_type: before.task_type.clone(),
        trace: Vec::new(),
        warnings: Vec::new(),
    }
}

/// One story of both decisions.
fn joined(before: &Resolution, last: &Tried, mut found: Resolution) -> Resolution {
    let moved = format!("{} failed ({}), so {} is asked", last.model, last.trigger, found.model);
    let mut trace = before.trace.clone();
    // What was chosen first was given up again.
    trace.iter_mut().for_each(|step| step.chosen = false);
    trace.push(TraceStep::about(Step::Fallback, &found.model, moved.clone()));
    trace.append(&mut found.trace);
    found.trace = trace;
    found.rule = before.rule;
    found.task_type.clone_from(&before.task_type);
    found.requested_tier =
        before.requested_tier.clone().or_else(|| before.tier.clone()).filter(|tier| found.tier.as_ref() != Some(tier));
    found.reason = format!("{}; {moved}: {}", before.reason, found.reason);
    found.warnings.push(moved);
    found
}

/// The weakest tier that lists the model.
fn tier_of(config: &Config, model: &ModelRef) -> Option<String> {
    let lists = |tier: &&String| {
        config
            .tiers
            .get(*tier)
            .into_iter()
            .flatten()
            .any(|name| name.parse::<ModelRef>().is_ok_and(|own| own.base() == model.base()))
    };
    config.tier_order.iter().find(lists).cloned()
}
