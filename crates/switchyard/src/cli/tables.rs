//! `switchyard task-types` and `switchyard tiers`: the routing tables in force.

use super::Global;
use crate::{
    failure::Failure,
    ui::{self, Format},
};
use serde_json::json;
use std::process::ExitCode;

pub fn task_types(global: &Global) -> Result<ExitCode, Failure> {
    let config = global.settings()?.layered.config;
    match global.format() {
        Format::Json => {
            let types: Vec<_> =
                config.task_types.iter().map(|(name, tier)| json!({"task_type": name, "tier": tier})).collect();
            ui::json(&json!({"task_types": types}));
        }
        Format::People => {
            let rows: Vec<_> = config.task_types.iter().map(|(name, tier)| vec![name.clone(), tier.clone()]).collect();
            ui::result(&ui::table(&["TASK TYPE", "TIER"], &rows));
        }
    }
    Ok(ExitCode::SUCCESS)
}

pub fn tiers(global: &Global) -> Result<ExitCode, Failure> {
    let config = global.settings()?.layered.config;
    match global.format() {
        Format::Json => {
            let tiers: Vec<_> =
                config.tiers.iter().map(|(name, models)| json!({"tier": name, "models": models})).collect();
            ui::json(&json!({"tiers": tiers}));
        }
        Format::People => {
            let rows: Vec<_> =
                config.tiers.iter().map(|(name, models)| vec![name.clone(), models.join("\n")]).collect();
            ui::result(&ui::table(&["TIER", "MODELS, IN ORDER"], &rows));
        }
    }
    Ok(ExitCode::SUCCESS)
}
