//! Who decides: the precedence of contest, request, agent, experience, looks of the text, and default.
//!
//! Each that was asked and did not decide leaves a line in the trace.

use super::{Advice, Question, RouteError, Rule, Selector, Step, TraceStep, contest::not_usable};
use crate::settings::Config;

/// What is wanted in the end, by whom, and what was looked at before.
#[derive(Debug, Clone)]
pub(super) struct Wish {
    pub(super) selector: Selector,
    pub(super) rule: Rule,
    /// How the reason begins.
    pub(super) said: String,
    pub(super) task_type: Option<String>,
    pub(super) trace: Vec<TraceStep>,
    pub(super) warnings: Vec<String>,
    /// How probable the choice was, in millionths, when it was left to chance.
    pub(super) propensity: Option<u32>,
}

pub(super) fn wish(question: &Question<'_>) -> Result<Wish, RouteError> {
    let Question { selector, config, advice, .. } = question;
    let mut trace = Vec::new();
    let mut warnings = Vec::new();
    if let Some(wish) = contest(question, &mut trace) {
        return Ok(wish);
    }
    if **selector != Selector::Default {
        return requested(selector, config, advice, trace);
    }
    trace.push(TraceStep::note(Step::Explicit, "the request names no model"));
    if let Some((selector, said)) = agents_own(advice, config, &mut trace, &mut warnings) {
        return Ok(made(selector, Rule::Agent, said, trace, warnings));
    }
    if let Some((tier, said)) = experience(advice, config, &mut trace) {
        let mut wish = made(Selector::Tier(tier), Rule::Pattern, said, trace, warnings);
        wish.task_type = advice.classified.as_ref().and_then(|classified| classified.task_type.clone());
        wish.propensity = propensity(advice);
        return Ok(wish);
    }
    if let Some(classified) = &advice.classified {
        trace.push(TraceStep::note(Step::Classifier, classified.why.clone()));
        let tier = config.tier_named(&classified.tier).unwrap_or(&classified.tier);
        let said = format!("{}; tier {tier}", classified.why);
        let mut wish = made(Selector::Tier(tier.to_owned()), Rule::Classifier, said, trace, warnings);
        wish.task_type.clone_from(&classified.task_type);
        wish.propensity = propensity(advice);
        return Ok(wish);
    }
    Ok(made(Selector::Default, Rule::Default, String::new(), trace, warnings))
}

/// The winner of an earlier contest, for a request that leaves the model to us. One that cannot be asked now is passed
/// over: the request did not name it.
fn contest(question: &Question<'_>, trace: &mut Vec<TraceStep>) -> Option<Wish> {
    let Question { selector, advice, .. } = question;
    let task_type = match selector {
        Selector::TaskType(name) => Some(name.clone()),
        Selector::Default => advice.classified.as_ref().and_then(|classified| classified.task_type.clone()),
        Selector::Exact(_) | Selector::Fuzzy(_) | Selector::Tier(_) | Selector::Tag(_) | Selector::Profile(_) => {
            trace.push(TraceStep::note(Step::Contest, "the request says itself where it goes"));
            return None;
        }
    };
    let Some(advice) = &advice.contest else {
        trace.push(TraceStep::note(Step::Contest, "none was held"));
        return None;
    };
    let Some(winner) = &advice.winner else {
        trace.push(TraceStep::note(Step::Contest, advice.said.clone()));
        return None;
    };
    if let Some(why) = not_usable(question, winner) {
        let said = format!("{}, but is passed over: {why}", advice.said);
        trace.push(TraceStep::about(Step::Contest, winner, said));
        return None;
    }
    let mut wish =
        made(Selector::Exact(winner.clone()), Rule::Contest, advice.said.clone(), std::mem::take(trace), Vec::new());
    wish.task_type = task_type;
    Some(wish)
}

fn made(selector: Selector, rule: Rule, said: String, trace: Vec<TraceStep>, warnings: Vec<String>) -> Wish {
    Wish { selector, rule, said, task_type: None, trace, warnings, propensity: None }
}

/// The request's own words, down to a model, a tier or a tag.
fn requested(
    selector: &Selector,
    config: &Config,
    advice: &Advice,
    mut trace: Vec<TraceStep>,
) -> Result<Wish, RouteError> {
    let (selector, rule, said) = match selector {
        Selector::Exact(_) | Selector::Fuzzy(_) => {
            return Ok(made(selector.clone(), Rule::Explicit, "named in the request".into(), trace, Vec::new()));
        }
        Selector::Tier(tier) => {
            let tier = config.tier_named(tier).unwrap_or(tier);
            (Selector::Tier(tier.to_owned()), Rule::Tier, format!("tier {tier}"))
        }
        Selector::TaskType(name) => {
            let tier = config.task_types.get(name).cloned().unwrap_or_default();
            let by_table = format!("task type {name} goes to tier {tier}");
            trace.push(TraceStep::note(Step::Explicit, by_table.clone()));
            // Who names the kind of task leaves the tier to us: what has worked comes before the table.
            let (tier, said) = match experience(advice, config, &mut trace) {
                Some((learned, said)) if learned != tier => (learned.clone(), format!("{by_table}, but {said}")),
                _ => (tier, by_table),
            };
            let mut wish = made(Selector::Tier(tier), Rule::TaskType, said, trace, Vec::new());
            wish.task_type = Some(name.clone());
            wish.propensity = propensity(advice);
            return Ok(wish);
        }
        Selector::Tag(tag) => (selector.clone(), Rule::Tag, format!("tag {tag}")),
        Selector::Profile(name) => {
            let model = config.profiles.get(name).map_or("", String::as_str);
            (Selector::from_reference(model, config)?, Rule::Profile, format!("profile {name}, which runs on {model}"))
        }
        Selector::Default => (Selector::Default, Rule::Default, String::new()),
    };
    trace.push(TraceStep::note(Step::Explicit, format!("the request asks for {said}")));
    Ok(made(selector, rule, said, trace, Vec::new()))
}

fn agents_own(
    advice: &Advice,
    config: &Config,
    trace: &mut Vec<TraceStep>,
    warnings: &mut Vec<String>,
) -> Option<(Selector, String)> {
    let Some(own) = &advice.agent else {
        trace.push(TraceStep::note(Step::Agent, "no agent asks for a model of its own"));
        return None;
    };
    let said = format!("agent {} asks for {}", own.agent, own.model);
    match Selector::from_reference(&own.model, config) {
        Ok(selector) => {
            trace.push(TraceStep::note(Step::Agent, said.clone()));
            Some((selector, said))
        }
        Err(error) => {
            trace.push(TraceStep::note(Step::Agent, format!("{said}: {error}")));
            warnings.push(format!("{said}, which is passed over: {error}"));
            None
        }
    }
}

fn experience(advice: &Advice, config: &Config, trace: &mut Vec<TraceStep>) -> Option<(String, String)> {
    let Some(pattern) = &advice.pattern else {
        trace.push(TraceStep::note(Step::Pattern, "no experience with such tasks yet"));
        return None;
    };
    trace.push(TraceStep::note(Step::Pattern, pattern.said.clone()));
    let learned = pattern.tier.as_ref()?;
    let Some(tier) = config.tier_named(learned) else {
        trace.push(TraceStep::note(Step::Pattern, format!("there is no tier {learned} any more")));
        return None;
    };
    Some((tier.to_owned(), pattern.said.clone()))
}

fn propensity(advice: &Advice) -> Option<u32> {
    advice.pattern.as_ref().and_then(|pattern| pattern.propensity)
}
