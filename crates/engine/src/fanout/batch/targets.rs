//! From what is asked for to the models that a batch goes to: known before anything is sent, each once.

use crate::{
    Context,
    base::refusal::Refusal,
    dispatch::{ChosenFor, transport::close_abandoned},
    routing::{budget::CostCheck, catalogue::Refresh, choose::gather_inputs_for},
};
use shuntyard_core::{
    ModelRef,
    routing::{Exchange, MODEL, Needs, Question, Resolution, RouteError, Selector, Tried, next, resolve},
    values::{ModelPolicy, Trigger},
};
use shuntyard_host::clock::now_micros;
use std::path::Path;

/// What a batch is to be sent to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Targets {
    /// Each of these: a model, a part of a name, a tag or a tier.
    Named(Vec<String>),
    /// So many different models of a tier, a task type or a tag.
    Of(Selector, usize),
}

/// A model of the batch, or why what was named leads to none.
#[derive(Debug)]
pub struct Target {
    /// As it was asked for.
    pub name: String,
    pub chosen: Result<ModelRef, Refusal>,
    /// The tier that it was chosen for, when it was not named itself.
    pub chosen_for: Option<ChosenFor>,
}

/// The targets, and warnings about them. Two names for one model are refused: they would be paid twice.
pub async fn expand(
    context: &Context,
    targets: &Targets,
    needs: Needs,
    directory: &Path,
) -> Result<(Vec<Target>, Vec<String>), Refusal> {
    expand_for(context, targets, needs, directory, CostCheck::default()).await
}

/// The same with the limits and the urgency that apply to this work.
pub async fn expand_for<'a>(
    context: &Context,
    targets: &Targets,
    needs: Needs,
    directory: &Path,
    cost_check: impl Into<CostCheck<'a>>,
) -> Result<(Vec<Target>, Vec<String>), Refusal> {
    // The limits count what dead processes had reserved; settled first, it counts as exactly as it can be known.
    close_abandoned(context).await;
    let around = gather_inputs_for(context, directory, Refresh::IfStale, cost_check.into()).await?;
    match targets {
        Targets::Named(names) => {
            let mut found: Vec<Target> = Vec::new();
            let mut warnings = Vec::new();
            for name in names {
                let resolution = Selector::from_reference(name, &context.config)
                    .and_then(|selector| resolve(&around.question(context, &selector, needs)));
                let chosen_for = resolution.as_ref().ok().and_then(|found| ChosenFor::by(found, found.reason.clone()));
                if let (Ok(resolution), Some(_)) = (&resolution, &chosen_for) {
                    warnings.extend(resolution.warnings.iter().cloned());
                }
                let chosen = resolution.map(|resolution| resolution.model).map_err(Refusal::from);
                if let Ok(model) = &chosen
                    && let Some(before) = found.iter().find(|other| other.chosen.as_ref().ok() == Some(model))
                {
                    return Err(Refusal::SameTarget {
                        model: model.to_string(),
                        names: format!("`{}` and `{name}`", before.name),
                    });
                }
                let name = name.strip_prefix(MODEL).unwrap_or(name).to_owned();
                found.push(Target { name, chosen, chosen_for });
            }
            Ok((found, warnings))
        }
        Targets::Of(selector, count) => {
            // The depth of a chain has nothing to do with how many are asked at once.
            let mut config = context.config.clone();
            config.fallback.depth = count.saturating_add(1);
            let (known, advice) = (&around.known, &around.advice);
            let question = Question {
                selector,
                needs,
                policy: ModelPolicy::Dynamic,
                catalogue: &around.listed.catalogue,
                config: &config,
                availability: &known.availability,
                advice,
                now: now_micros(),
            };
            several(&question, *count)
        }
    }
}

/// The first choice, then what would be asked if that failed, and so on.
fn several(question: &Question<'_>, count: usize) -> Result<(Vec<Target>, Vec<String>), Refusal> {
    let mut chosen: Vec<Resolution> = vec![resolve(question)?];
    let mut tried: Vec<Tried> = Vec::new();
    let first = chosen.first();
    // The warnings of a model that was named are repeated by its dispatch.
    let routed = first.filter(|first| first.tier.is_some() || first.requested_tier.is_some());
    let mut warnings = routed.map_or_else(Vec::new, |first| first.warnings.clone());
    while chosen.len() < count {
        let Some(last) = chosen.last() else { break };
        tried.push(Tried { model: last.model.clone(), trigger: Trigger::RateLimit });
        match next(question, last, &tried, Exchange::Asked, None) {
            Ok(following) => chosen.push(following),
            Err(error) => {
                warnings.push(format!("only {} of {count} models can be asked: {}", chosen.len(), in_short(&error)));
                break;
            }
        }
    }
    if chosen.len() < 2 && count > 1 {
        let only = chosen.first().map(|only| only.model.to_string()).unwrap_or_default();
        warnings.push(format!("there is nobody to compare {only} with"));
    }
    let all = chosen.len();
    let target = |found: Resolution| {
        // Nothing has failed: that the others come after the first one is only how they are found.
        let tier = found.tier.as_deref().or(found.requested_tier.as_deref()).unwrap_or_default();
        let reason = format!("one of {all} that were asked for, for tier {tier}");
        let chosen_for = ChosenFor::by(&found, reason);
        Target { name: found.model.to_string(), chosen: Ok(found.model), chosen_for }
    };
    Ok((chosen.into_iter().map(target).collect(), warnings))
}

fn in_short(error: &RouteError) -> String {
    match error {
        RouteError::Exhausted { .. } => "there is no other".to_owned(),
        other => other.to_string(),
    }
}
