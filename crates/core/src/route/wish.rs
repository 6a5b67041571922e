//! Who decides: the precedence of contest, request, agent, experience, looks of the text, and default.
//!
//! Each that was asked and did not decide leaves a line in the trace.

use super::{Advice, Question, RouteError, Rule, Selector, Step, TraceStep};
use crate::config::Config;

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
}

pub(super) fn wish(question: &Question<'_>) -> Result<Wish, RouteError> {
    let Question { selector, config, advice, .. } = question;
    let mut trace = Vec::new();
    let mut warnings = Vec::new();
    if let Some(winner) = &advice.contest {
        let said = "it won the contest that was held".to_owned();
        return Ok(made(Selector::Exact(winner.clone()), Rule::Explicit, said, trace, warnings));
    }
    trace.push(TraceStep::note(Step::Contest, "none was held"));
    if **selector != Selector::Default {
        return requested(selector, config, trace);
    }
    trace.push(TraceStep::note(Step::Explicit, "the request names no model"));
    if let Some((selector, said)) = agents_own(advice, config, &mut trace, &mut warnings) {
        return Ok(made(selector, Rule::Agent, said, trace, warnings));
    }
    if let Some((tier, said)) = experience(advice, config, &mut trace) {
        return Ok(made(Selector::Tier(tier), Rule::Pattern, said, trace, warnings));
    }
    if let Some(classified) = &advice.classified {
        trace.push(TraceStep::note(Step::Classifier, classified.why.clone()));
        let tier = config.tier_named(&classified.tier).unwrap_or(&classified.tier);
        let said = format!("{}; tier {tier}", classified.why);
        let mut wish = made(Selector::Tier(tier.to_owned()), Rule::Classifier, said, trace, warnings);
        wish.task_type.clone_from(&classified.task_type);
        return Ok(wish);
    }
    Ok(made(Selector::Default, Rule::Default, String::new(), trace, warnings))
}

fn made(selector: Selector, rule: Rule, said: String, trace: Vec<TraceStep>, warnings: Vec<String>) -> Wish {
    Wish { selector, rule, said, task_type: None, trace, warnings }
}

/// The request's own words, down to a model, a tier or a tag.
fn requested(selector: &Selector, config: &Config, mut trace: Vec<TraceStep>) -> Result<Wish, RouteError> {
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
            let said = format!("task type {name} goes to tier {tier}");
            trace.push(TraceStep::note(Step::Explicit, said.clone()));
            let mut wish = made(Selector::Tier(tier), Rule::TaskType, said, trace, Vec::new());
            wish.task_type = Some(name.clone());
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
    let said =
        format!("tier {} did {} % of {} such tasks well", pattern.tier, pattern.success_percent, pattern.samples);
    let Some(tier) = config.tier_named(&pattern.tier) else {
        trace.push(TraceStep::note(Step::Pattern, format!("{said}, but there is no such tier any more")));
        return None;
    };
    if !pattern.counts() {
        trace.push(TraceStep::note(Step::Pattern, format!("{said}, which is not enough to go by")));
        return None;
    }
    trace.push(TraceStep::note(Step::Pattern, said.clone()));
    Some((tier.to_owned(), said))
}
