//! `switchyard config`: what is in force, and where each value came from.

use super::Global;
use crate::{
    failure::Failure,
    ui::{self, Format},
};
use clap::Subcommand;
use serde_json::json;
use std::process::ExitCode;
use switchyard_core::config::Origin;
use toml::Value;

#[derive(Debug, Subcommand)]
pub enum ConfigCommand {
    /// Print every setting
    Show {
        /// Say where each value came from
        #[arg(long)]
        origin: bool,
    },
    /// Check the configuration files and variables
    Check,
}

pub fn run(global: &Global, command: &ConfigCommand) -> Result<ExitCode, Failure> {
    let settings = global.settings()?;
    let layered = &settings.layered;
    let mut rows = Vec::new();
    leaves("", &Value::Table(layered.values()), &mut rows);
    match (command, global.format()) {
        (ConfigCommand::Check, Format::Json) => ui::json(&json!({"ok": true})),
        (ConfigCommand::Check, Format::People) => ui::result("the configuration is fine"),
        (ConfigCommand::Show { .. }, Format::Json) => {
            let entries: Vec<_> = rows
                .iter()
                .map(|(key, value)| json!({"key": key, "value": value, "origin": origin(layered.origins.get(key))}))
                .collect();
            ui::json(&json!({"settings": entries}));
        }
        (ConfigCommand::Show { origin: false }, Format::People) => {
            for (key, value) in &rows {
                ui::result(&format!("{key} = {value}"));
            }
        }
        (ConfigCommand::Show { origin: true }, Format::People) => {
            let rows: Vec<Vec<String>> = rows
                .iter()
                .map(|(key, value)| vec![key.clone(), shorten(value), origin(layered.origins.get(key))])
                .collect();
            ui::result(&ui::table(&["SETTING", "VALUE", "FROM"], &rows));
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn origin(origin: Option<&Origin>) -> String {
    origin.unwrap_or(&Origin::BuiltIn).to_string()
}

fn shorten(value: &Value) -> String {
    let text = value.to_string();
    if text.chars().count() <= 60 { text } else { format!("{}…", text.chars().take(59).collect::<String>()) }
}

fn leaves(path: &str, value: &Value, rows: &mut Vec<(String, Value)>) {
    match value {
        Value::Table(table) => {
            for (key, value) in table {
                let full = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                leaves(&full, value, rows);
            }
        }
        other => rows.push((path.to_owned(), other.clone())),
    }
}
