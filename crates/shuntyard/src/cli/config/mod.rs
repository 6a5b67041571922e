//! `shuntyard config`: what is in force, where each value came from, and changing it.

mod set;

use super::Global;
use crate::{
    failure::Failure,
    ui::{self, Format},
};
use clap::Subcommand;
use serde_json::json;
use shuntyard_core::settings::Origin;
use std::process::ExitCode;
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
    /// Change a setting in your own config.toml; comments and everything else in it stay
    Set(set::SetArgs),
    /// Print the JSON Schema of config.toml, for editors and scripts
    Schema,
}

pub fn run(global: &Global, command: &ConfigCommand) -> Result<ExitCode, Failure> {
    match command {
        ConfigCommand::Show { origin } => show(global, *origin),
        ConfigCommand::Check => check(global),
        ConfigCommand::Set(args) => set::run(global, args),
        ConfigCommand::Schema => {
            ui::json(&shuntyard_core::settings::schema());
            Ok(ExitCode::SUCCESS)
        }
    }
}

fn check(global: &Global) -> Result<ExitCode, Failure> {
    global.settings()?;
    match global.format() {
        Format::Json => ui::json(&json!({"ok": true})),
        Format::People => ui::result("the configuration is fine"),
    }
    Ok(ExitCode::SUCCESS)
}

fn show(global: &Global, with_origin: bool) -> Result<ExitCode, Failure> {
    let settings = global.settings()?;
    let layered = &settings.layered;
    let mut rows = Vec::new();
    leaves("", &Value::Table(layered.values()), &mut rows);
    match global.format() {
        Format::Json => {
            let entries: Vec<_> = rows
                .iter()
                .map(|(key, value)| json!({"key": key, "value": value, "origin": origin(layered.origins.get(key))}))
                .collect();
            ui::json(&json!({"settings": entries}));
        }
        Format::People if !with_origin => {
            for (key, value) in &rows {
                ui::result(&format!("{key} = {value}"));
            }
        }
        Format::People => {
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
