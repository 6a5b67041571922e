//! `shuntyard task-types`, `tiers` and `tags`: the routing tables in force.

use super::Global;
use crate::{
    failure::Failure,
    ui::{self, Format},
};
use serde_json::{Value, json};
use shuntyard_core::{
    settings::{Config, FirstChoice, Tag},
    values::Capability,
};
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
    let names = tier_names(&config);
    match global.format() {
        Format::Json => {
            let tier = |name: &&String| {
                let score = config.tier_scores.get(*name);
                json!({"tier": name, "models": config.tiers[*name], "aliases": aliases(&config, name), "score": score})
            };
            ui::json(&json!({"tiers": names.iter().map(tier).collect::<Vec<_>>()}));
        }
        Format::People => {
            let row = |name: &&String| {
                let others = aliases(&config, name).iter().map(|alias| format!("\n= {alias}")).collect::<String>();
                vec![format!("{name}{others}"), config.tiers[*name].join("\n")]
            };
            let rows: Vec<_> = names.iter().map(row).collect();
            ui::result(&ui::table(&["TIER", "MODELS, IN ORDER"], &rows));
            ui::note("what would be asked here and now: shuntyard fallback");
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// From the weakest to the strongest, then those without a place.
pub(super) fn tier_names(config: &Config) -> Vec<&String> {
    let ordered = config.tier_order.iter().filter(|name| config.tiers.contains_key(*name));
    ordered.chain(config.tiers.keys().filter(|name| !config.tier_order.contains(name))).collect()
}

fn aliases<'a>(config: &'a Config, tier: &str) -> Vec<&'a String> {
    config.tier_aliases.iter().filter(|(_, own)| *own == tier).map(|(alias, _)| alias).collect()
}

pub fn tags(global: &Global) -> Result<ExitCode, Failure> {
    let config = global.settings()?.layered.config;
    let profiles = |written: &[String]| -> Vec<&String> {
        config.profiles.iter().filter(|(_, model)| written.contains(model)).map(|(name, _)| name).collect()
    };
    let tags = config.tags.iter().map(|(name, tag)| {
        let written = if name == "any" {
            vec!["auto".to_owned(), "node".to_owned()]
        } else {
            vec![format!("auto:{name}"), format!("node:{name}")]
        };
        (written, tag)
    });
    match global.format() {
        Format::Json => {
            let tags: Vec<Value> = tags
                .map(|(written, tag)| {
                    json!({"tag": written[0], "also": written[1], "first": tag.first, "needs": tag.needs,
                        "wants": tag.wants, "score": tag.score, "profiles": profiles(&written)})
                })
                .collect();
            ui::json(&json!({"tags": tags, "profiles": config.profiles}));
        }
        Format::People => {
            let rows: Vec<_> = tags
                .map(|(written, tag)| {
                    let users = profiles(&written).iter().map(|name| name.as_str()).collect::<Vec<_>>().join(", ");
                    vec![written.join(", "), how(tag), users]
                })
                .collect();
            ui::result(&ui::table(&["TAG", "HOW IT CHOOSES", "PROFILES"], &rows));
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn how(tag: &Tag) -> String {
    let mut how = Vec::new();
    match tag.first {
        Some(FirstChoice::Model) => how.push("OpenCode's model first".to_owned()),
        Some(FirstChoice::SmallModel) => how.push("OpenCode's small_model first".to_owned()),
        None => {}
    }
    let words = |list: &[Capability]| {
        list.iter().map(|one| format!("{one:?}").to_lowercase()).collect::<Vec<_>>().join(" and ")
    };
    if !tag.needs.is_empty() {
        how.push(format!("must have {}", words(&tag.needs)));
    }
    if !tag.wants.is_empty() {
        how.push(format!("rather with {}", words(&tag.wants)));
    }
    how.push(format!("best by score {}", tag.score));
    how.join("; ")
}
