//! Which model a job gets: the one resolver, asked in a caller's words.

use super::JobError;
use crate::{
    Context,
    base::refusal::Refusal,
    dispatch::ask_ahead,
    routing::{
        budget::CostCheck,
        catalogue::Refresh,
        choose::{Task, decide},
    },
};
use shuntyard_core::{
    routing::{Needs, Selector},
    settings::WorkerProfile,
    values::{Mode, ModelPolicy},
    work::job::{Choice, TierPart},
};
use std::path::Path;

/// What a choice is made for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wish<'a> {
    /// What was written for a model.
    pub reference: Option<&'a str>,
    pub profile: Option<&'a str>,
    pub task_type: Option<&'a str>,
    pub text: &'a str,
    pub needs: Needs,
    pub directory: &'a Path,
    pub policy: ModelPolicy,
}

pub(super) async fn pick(context: &Context, wish: &Wish<'_>) -> Result<Choice, JobError> {
    let (selector, reference) = selector(context, wish)?;
    let named = match &selector {
        Selector::Profile(_) => {
            Selector::from_reference(&reference, &context.config).is_ok_and(|own| own.is_explicit())
        }
        other => other.is_explicit(),
    };
    let classify = wish.profile.is_none() && selector == Selector::Default;
    if classify {
        ask_ahead(context, wish.text, wish.needs.images, wish.directory).await;
    }
    let task = Task {
        selector,
        text: classify.then_some(wish.text),
        needs: wish.needs,
        directory: wish.directory,
        agent: None,
        avoid: &[],
        cost_check: CostCheck::default(),
    };
    let found = decide(context, &task, Refresh::IfStale).await?.resolution;
    let tier = (found.tier.is_some() || found.requested_tier.is_some()).then_some(TierPart {
        rule: found.rule,
        taken: found.tier,
        requested: found.requested_tier,
    });
    Ok(Choice {
        reference,
        model: found.model,
        policy: wish.policy,
        reason: found.reason,
        warnings: found.warnings,
        named,
        tier,
    })
}

fn selector(context: &Context, wish: &Wish<'_>) -> Result<(Selector, String), JobError> {
    let config = &context.config;
    if let Some(reference) = wish.reference {
        let selector = Selector::from_reference(reference, config).map_err(Refusal::Route)?;
        return Ok((selector, reference.trim().to_owned()));
    }
    Ok(match (wish.profile, wish.task_type) {
        (Some(profile), _) => {
            let reference = config.profiles.get(profile).cloned().unwrap_or_default();
            (Selector::Profile(profile.to_owned()), reference)
        }
        (None, Some(task_type)) => (Selector::TaskType(task_type.to_owned()), format!("task type {task_type}")),
        (None, None) => (Selector::Default, "auto".to_owned()),
    })
}

/// What the workers of a profile need their model to do, whatever they are asked.
pub(super) fn needs_of(profile: &WorkerProfile, images: usize) -> Needs {
    let needs = Needs { images, tools: profile.mode == Mode::Agent, ..Needs::default() };
    profile.needs.iter().fold(needs, |needs, capability| needs.and(*capability))
}
