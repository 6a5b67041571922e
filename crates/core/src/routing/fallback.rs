//! Where work goes when a model failed: sideways when the provider was at fault, up when the model was too weak.
//!
//! The needs of the request, the allowed providers and the budget hold for every fallback as for the first choice.

use super::{
    Question, Resolution, RouteError, Rule, Selector, Step, TraceStep, Tried,
    downgrade::through_tier,
    pool::{Pool, waits},
    pooled::{through_tag, with_needs_of},
    question::{listed, tier_of},
    resolve,
    resolve::{exact, set_as_default},
    score::strength,
    terms::{GivingWay, StandIns, Terms, Waiting},
    wish::{Wish, wish},
};
use crate::values::Trigger;
use crate::{
    ModelRef,
    settings::{Config, Score},
};

/// Whether a model that was named may be exchanged for another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exchange {
    /// Only what was routed in the first place.
    Routed,
    /// The request asked for it.
    Asked,
}

word_enum! {
    /// Who laid down the order of what is tried next.
    pub enum ChainOrigin {
        Agent = "agent",
        Tier = "tier",
        Default = "default",
        BuiltIn = "built-in",
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

/// The next model after those that failed. `before` is the decision that led to the last of them, and `question`
/// is the one that the first decision answered, with what has been learned since.
pub fn next(
    question: &Question<'_>,
    before: &Resolution,
    tried: &[Tried],
    exchange: Exchange,
    agent: Option<&str>,
) -> Result<Resolution, RouteError> {
    let Some(last) = tried.last() else { return resolve(question) };
    let config = question.config;
    let (_, chain) = chain(config, agent, before.tier.as_deref());
    let asked = wish(question)?;
    let tag = tag_of(question, &asked);
    if exchange == Exchange::Routed
        && let Some(why) = held_to(&asked, tag, chain)
    {
        return Err(RouteError::Held { why });
    }
    if !config.fallback.triggers.contains(&last.trigger) {
        return Err(exhausted(format!("`fallback.triggers` does not have {}", last.trigger)));
    }
    if tried.len() >= config.fallback.depth {
        return Err(exhausted(format!("{} were asked, which is `fallback.depth`", tried.len())));
    }
    // What the tag needs is needed wherever the work goes, also to a tier or along a chain.
    let needs =
        tag.and_then(|tag| config.tags.get(tag)).map_or(question.needs, |tag| with_needs_of(question.needs, tag));
    let question = &Question { needs, ..*question };
    let found = match last.trigger {
        Trigger::Capability => stronger(question, before, tried),
        _ if chain.is_empty() => equal(question, before, tried, tag),
        _ => along(question, before, tried, chain),
    };
    found.map(|found| joined(before, last, found))
}

/// The tag that the request is routed by, if it is by one.
fn tag_of<'a>(question: &Question<'_>, asked: &'a Wish) -> Option<&'a str> {
    match &asked.selector {
        Selector::Tag(tag) => Some(tag.name()),
        Selector::Default => set_as_default(question).is_none().then_some("any"),
        Selector::Exact(_) | Selector::Fuzzy(_) | Selector::TaskType(_) | Selector::Tier(_) | Selector::Profile(_) => {
            None
        }
    }
}

/// Why the request is held to its one model, if it is. One that only a setting names may have a chain.
fn held_to(asked: &Wish, tag: Option<&str>, chain: &[String]) -> Option<String> {
    let by_setting = matches!(asked.rule, Rule::Default | Rule::Profile | Rule::Agent);
    // The winner of an earlier contest was not named for this request.
    if asked.rule == Rule::Contest {
        return None;
    }
    let one = match asked.selector {
        Selector::Exact(_) | Selector::Fuzzy(_) => true,
        Selector::Default => tag.is_none(),
        Selector::TaskType(_) | Selector::Tier(_) | Selector::Tag(_) | Selector::Profile(_) => false,
    };
    if !one || (by_setting && !chain.is_empty()) {
        None
    } else if by_setting {
        Some("the model is set without a chain, and `--fallback` was not given".into())
    } else {
        Some("the model was named, and `--fallback` was not".into())
    }
}

fn exhausted(why: String) -> RouteError {
    RouteError::Exhausted { why }
}

/// Models of the tiers that are asked for come first, in each of them; only then does any other model substitute for
/// one.
const PASSES: [StandIns<'static>; 2] = [StandIns::Refused, StandIns::Allowed];

/// Up, tier by tier.
fn stronger(question: &Question<'_>, before: &Resolution, tried: &[Tried]) -> Result<Resolution, RouteError> {
    let config = question.config;
    let Some(own) = before.tier.clone().or_else(|| tier_of(config, &before.model)) else {
        return Err(exhausted(format!("{} is of no tier, so none is known to be stronger", before.model)));
    };
    let place = config.tier_order.iter().position(|tier| *tier == own);
    let Some((weaker, above)) = place.map(|place| config.tier_order.split_at(place + 1)) else {
        return Err(exhausted(format!("tier {own} is not in `tier_order`, so none is known to be stronger")));
    };
    let weaker: Vec<ModelRef> = weaker.iter().flat_map(|tier| listed(config, tier)).collect();
    // A substitute has to be stronger than what failed, or it would be a step to the side.
    let failed = tried.iter().filter(|tried| tried.trigger == Trigger::Capability);
    let strengths = failed.filter_map(|tried| question.catalogue.find(&tried.model).ok()).map(strength);
    let stronger_than = strengths.max().unwrap_or(-1);
    let mut reasons = Vec::new();
    for stand_ins in PASSES {
        reasons.clear();
        for tier in above {
            // A downgrade to a cheaper tier would lead back to where the work comes from.
            if let Some(why) = question.advice.budget.downgraded_tier(tier) {
                reasons.push(format!("tier {tier}: is downgraded, {why}"));
                continue;
            }
            let wish = hop(before, format!("tier {tier}, a stronger one"));
            let downgrade = GivingWay::Refused;
            let waiting = Waiting::Refused;
            let terms = Terms { tried, weaker: &weaker, stronger_than, stand_ins, waiting, downgrade, ..Terms::FIRST };
            match through_tier(question, tier, wish, terms) {
                Ok(found) => return Ok(found),
                Err(error) => reasons.push(format!("tier {tier}: {}", in_short(error))),
            }
        }
    }
    let reasons = if reasons.is_empty() { format!("{own} is the strongest") } else { reasons.join("; ") };
    Err(exhausted(format!("there is no stronger tier with a model that can be asked ({reasons})")))
}

/// Sideways: the same question again, without those that failed.
fn equal(
    question: &Question<'_>,
    before: &Resolution,
    tried: &[Tried],
    tag: Option<&str>,
) -> Result<Resolution, RouteError> {
    let again = |error: RouteError| exhausted(error.to_string());
    let terms = Terms { tried, weaker: &[], stand_ins: StandIns::Allowed, waiting: Waiting::Refused, ..Terms::FIRST };
    let named = || tag.is_none().then(|| tier_of(question.config, &before.model)).flatten();
    // A substitute chosen for the budget may be of no tier; the tier that it replaced is still what is wanted.
    if let Some(tier) = before.tier.clone().or_else(|| before.requested_tier.clone()).or_else(named) {
        let wish = hop(before, format!("another of tier {tier}"));
        return through_tier(question, &tier, wish, terms).map_err(again);
    }
    let tag = tag.unwrap_or("any");
    let shown = if tag == "any" { "auto".to_owned() } else { format!("auto:{tag}") };
    through_tag(question, tag, hop(before, format!("another by tag {shown}")), terms).map_err(again)
}

/// Along a chain that the configuration lays down.
fn along(
    question: &Question<'_>,
    before: &Resolution,
    tried: &[Tried],
    chain: &[String],
) -> Result<Resolution, RouteError> {
    let mut passed: Vec<(&String, String)> = Vec::new();
    for stand_ins in PASSES {
        passed.clear();
        for entry in chain {
            let terms = Terms { tried, weaker: &[], stand_ins, waiting: Waiting::Refused, ..Terms::FIRST };
            let found = if let Some(tier) = question.config.tier_named(entry) {
                let wish = hop(before, format!("tier {tier} of the chain"));
                through_tier(question, tier, wish, terms).map_err(in_short)
            } else {
                one(question, before, terms, entry)
            };
            match found {
                Ok(found) => return Ok(after(found, &passed)),
                Err(why) => passed.push((entry, why)),
            }
        }
    }
    let reasons: Vec<String> = passed.iter().map(|(entry, why)| format!("{entry}: {why}")).collect();
    Err(exhausted(format!("the chain has no other ({})", reasons.join("; "))))
}

/// One model of a chain, under the same conditions as a routed one, or why not.
fn one(question: &Question<'_>, before: &Resolution, terms: Terms<'_>, entry: &str) -> Result<Resolution, String> {
    let model: ModelRef = entry.parse().map_err(|error: crate::values::model::ModelRefError| error.to_string())?;
    let nothing = Score::default();
    let judged =
        Pool::new(question, question.needs, &nothing, &[], terms).add_named(&model).map_err(|why| why.to_string())?;
    if let Some(barred) = judged.barred {
        return Err(waits(&barred, question.now));
    }
    let mut wish = hop(before, "the next of the chain".into());
    wish.rule = Rule::Explicit;
    let mut found = exact(question, model, wish).map_err(in_short)?;
    found.tier.clone_from(&before.tier);
    Ok(found)
}

/// The same with what stood before it in the chain.
fn after(mut found: Resolution, passed: &[(&String, String)]) -> Resolution {
    if !passed.is_empty() {
        let names: Vec<String> = passed.iter().map(|(entry, why)| format!("{entry} ({why})")).collect();
        found.reason = format!("{}; passed over: {}", found.reason, names.join(", "));
    }
    let notes = passed.iter().map(|(entry, why)| TraceStep::about(Step::Availability, entry, why.clone()));
    found.trace.splice(..0, notes);
    found
}

/// Without the part that the surrounding message states already.
fn in_short(error: RouteError) -> String {
    match error {
        RouteError::NothingFits { rejected, .. } => rejected,
        other => other.to_string(),
    }
}

fn hop(before: &Resolution, said: String) -> Wish {
    Wish {
        selector: Selector::Default,
        rule: before.rule,
        said,
        task_type: before.task_type.clone(),
        trace: Vec::new(),
        warnings: Vec::new(),
        // A fallback is never chosen at random.
        propensity: None,
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
    // The earlier warnings stay in the result, once.
    let own = std::mem::replace(&mut found.warnings, before.warnings.clone());
    for warning in std::iter::once(moved).chain(own) {
        if !found.warnings.contains(&warning) {
            found.warnings.push(warning);
        }
    }
    found
}
