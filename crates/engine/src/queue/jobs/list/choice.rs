//! What a choice is made from: profiles, models, workflows, and the choices that were made.

use super::super::{
    JobError,
    show::rfc3339,
    workers::{base_choice, profile},
};
use crate::{
    Context,
    routing::catalogue::{Extent, Refresh, current},
};
use serde_json::{Value, json};
use shuntyard_core::{ModelRef, Nano};
use shuntyard_store::StoreError;
use std::path::Path;

/// Each with the model that it means here and now, and where the setting is from.
pub(super) async fn profiles(context: &Context, directory: &Path) -> Vec<Value> {
    let mut rows = Vec::new();
    for (name, reference) in &context.config.profiles {
        let Ok((_, settings)) = profile(&context.config, name) else { continue };
        let chosen = base_choice(context, name, &settings, directory, None).await;
        let (model, reason) = match chosen {
            Ok(choice) => (Some(choice.model.to_string()), choice.reason),
            Err(error) => (None, error.message),
        };
        let source = context.origins.get(&format!("profiles.{name}")).cloned().unwrap_or_else(|| "built in".to_owned());
        rows.push(json!({"profile": name, "reference": reference, "model": model, "reason": reason,
            "description": settings.description, "mode": settings.mode, "access": settings.access,
            "needs": settings.needs, "backend": settings.backend, "source": source}));
    }
    rows
}

pub(super) async fn models(context: &Context, directory: &Path) -> Result<Vec<Value>, JobError> {
    let listed = current(context, directory, Refresh::IfStale, Extent::Connected).await?;
    let rows = listed.catalogue.models().map(|(provider, about, model)| {
        let name = ModelRef { provider: provider.to_owned(), model: model.id.clone(), variant: None };
        let price = |price: Nano| (!model.price.is_zero()).then(|| price.as_usd());
        let tiers: Vec<&String> = context
            .config
            .tiers
            .iter()
            .filter(|(_, models)| models.iter().any(|one| one.split('@').next() == Some(name.to_string().as_str())))
            .map(|(tier, _)| tier)
            .collect();
        json!({"model": name.to_string(), "usable": about.is_usable(), "tiers": tiers, "vision": model.image_input,
            "tools": model.tool_calls, "reasoning": model.reasoning, "context": model.context,
            "variants": model.variants, "usd_per_million_input": price(model.price.input),
            "usd_per_million_output": price(model.price.output)})
    });
    Ok(rows.collect())
}

pub(super) fn workflows(context: &Context) -> Vec<Value> {
    let row = |(name, workflow): (&String, &shuntyard_core::settings::Workflow)| {
        let steps: Vec<Value> = workflow
            .steps
            .iter()
            .map(|step| {
                json!({"name": step.name, "profile": step.profile, "model": step.model, "judges": step.judges,
                "unless_approved_by": step.unless_approved_by})
            })
            .collect();
        json!({"workflow": name, "description": workflow.description, "steps": steps})
    };
    context.config.workflows.iter().map(row).collect()
}

/// The choices that were made, the newest first.
pub async fn recent_dispatches(context: &Context, limit: u32) -> Result<Vec<Value>, StoreError> {
    let dispatches = context.store.recent_dispatches(limit).await?;
    let row = |dispatch: &shuntyard_store::DispatchRecord| {
        let models: Vec<&str> = dispatch.attempts.iter().map(|attempt| attempt.model.as_str()).collect();
        let cost: Nano = dispatch.attempts.iter().map(|attempt| attempt.cost).sum();
        json!({"at": rfc3339(dispatch.began_at), "requested": dispatch.requested, "models": models,
            "rule": dispatch.route["rule"], "reason": dispatch.route["reason"], "tier": dispatch.route["tier"],
            "status": dispatch.status.as_str(), "error_class": dispatch.error_class, "cost_usd": cost.as_usd(),
            "mode": dispatch.mode, "dispatch": dispatch.id})
    };
    Ok(dispatches.iter().map(row).collect())
}
