//! From what is asked for to the models that a batch goes to: known before anything is sent, each once.

use crate::{Context, catalogue::Refresh, choose::surroundings, dispatch::Refusal};
use std::path::Path;
use switchyard_core::{
    ModelRef,
    route::{Exchange, ModelPolicy, Needs, Question, Resolution, RouteError, Selector, Tried, Trigger, next, resolve},
};
use switchyard_host::clock::now_micros;

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
}

/// The targets, and what should be said about them. Two names for one model are refused: they would be paid twice.
pub async fn expand(
    context: &Context,
    targets: &Targets,
    needs: Needs,
    directory: &Path,
) -> Result<(Vec<Target>, Vec<String>), Refusal> {
    // What the dead had set aside must not stand in the way of the living.
    context.exchange.sweep(context).await;
    let around = surroundings(context, directory, Refresh::IfStale).await?;
    match targets {
        Targets::Named(names) => {
            let mut found: Vec<Target> = Vec::new();
            for name in names {
                let chosen = Selector::from_reference(name, &context.config)
                    .and_then(|selector| resolve(&around.question(context, &selector, needs)))
                    .map(|resolution| resolution.model)
                    .map_err(Refusal::from);
                if let Ok(model) = &chosen
                    && let Some(before) = found.iter().find(|other| other.chosen.as_ref().ok() == Some(model))
                {
                    return Err(Refusal::SameTarget {
                        model: model.to_string(),
                        names: format!("`{}` and `{name}`", before.name),
                    });
                }
                found.push(Target { name: name.clone(), chosen });
            }
            Ok((found, Vec::new()))
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
    let mut warnings = Vec::new();
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
    let target = |found: Resolution| Target { name: found.model.to_string(), chosen: Ok(found.model) };
    Ok((chosen.into_iter().map(target).collect(), warnings))
}

fn in_short(error: &RouteError) -> String {
    match error {
        RouteError::Exhausted { .. } => "there is no other".to_owned(),
        other => other.to_string(),
    }
}
