//! What the attempts of a dispatch teach about their models.

use super::{
    Learning, Options,
    attempts::{AttemptLoop, Made},
    notes::is_total_timeout,
};
use crate::{
    Context,
    routing::{
        classification::classified_before,
        experience::{asked_by_text, repository_name},
    },
};
use shuntyard_core::{
    DispatchId,
    experience::{Deadline, Evidence, FailureMode, Verdict, remembered},
    routing::request::{Request, Selector},
};
use shuntyard_host::clock::now_micros;
use shuntyard_store::NewOutcome;

/// One outcome for each conclusive attempt. A run that was cancelled shows nothing.
pub(crate) fn learned(
    context: &Context,
    request: &Request,
    options: &Options,
    id: DispatchId,
    hops: &AttemptLoop,
) -> Vec<NewOutcome> {
    if options.observed_as.is_some() || options.learning == Learning::Nothing {
        // A probe asks for nothing that a model could be good at.
        return Vec::new();
    }
    let made: Vec<&Made> = hops.all().collect();
    let Some(first) = made.first() else { return Vec::new() };
    let asked_tier = first.resolution.requested_tier.clone().or_else(|| first.resolution.tier.clone());
    let task_type = task_type(context, request, options, first);
    let repository = repository_name(&request.directory);
    // A choice made by the text must be distinguished from one that took the default.
    let by_text = options.classify && request.selector == Selector::Default;
    let before = options.chosen_for.as_ref().and_then(|chosen| chosen.requested.clone());
    let asked = || before.unwrap_or_else(|| request.selector.to_json());
    let requested = if by_text { asked_by_text() } else { asked() };
    let limit = if options.learning == Learning::NoText { 0 } else { context.config.patterns.text_limit };
    let text = remembered(subject(request, options), limit);
    let outcomes = made.iter().zip(1_u32..).filter_map(|(made, ordinal)| {
        let (verdict, failure_mode) = verdict(made)?;
        let evidence = if request.schema.is_some() { Evidence::Structured } else { Evidence::Answered };
        let model = &made.resolution.model;
        Some(NewOutcome {
            at: now_micros(),
            attempt: Some((id, ordinal)),
            task: options.task.clone(),
            batch: options.batch.clone(),
            task_type: task_type.clone(),
            requested: requested.clone(),
            asked_tier: asked_tier.clone(),
            tier: made.resolution.tier.clone().or_else(|| context.config.only_tier_of(model).map(str::to_owned)),
            model: model.to_string(),
            strategy: request.mode.to_string(),
            verdict,
            failure_mode,
            error_class: made.outcome.result.as_ref().err().map(|failure| failure.class),
            evidence,
            quality: None,
            tokens: made.outcome.usage.total(),
            cost: made.outcome.cost,
            cost_known: made.outcome.cost_known,
            duration_ms: u64::try_from(made.outcome.duration.as_millis()).unwrap_or(u64::MAX),
            retries: ordinal - 1,
            repository: repository.clone(),
            propensity: made.resolution.propensity,
            text: text.clone(),
        })
    });
    outcomes.collect()
}

/// What the requester or the route says it is, else what it looks like.
fn task_type(context: &Context, request: &Request, options: &Options, first: &Made) -> String {
    if let Selector::TaskType(name) = &request.selector {
        return name.clone();
    }
    let said = options.task_type.clone().or_else(|| first.resolution.task_type.clone());
    let looks = || classified_before(context, subject(request, options), request.images.len()).task_type;
    said.or_else(looks).unwrap_or_default()
}

/// What it is about, without what we put around it.
fn subject<'a>(request: &'a Request, options: &'a Options) -> &'a str {
    options.subject.as_deref().unwrap_or(&request.prompt)
}

fn verdict(made: &Made) -> Option<(Verdict, Option<FailureMode>)> {
    let Err(failure) = &made.outcome.result else { return Some((Verdict::Success, None)) };
    let deadline = if is_total_timeout(&made.outcome) { Deadline::Whole } else { Deadline::Silence };
    Some((Verdict::Failure, Some(FailureMode::of(failure.class, deadline)?)))
}
