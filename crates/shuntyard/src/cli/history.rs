//! `shuntyard history`: the dispatches of all commands and tasks, the newest first.

use super::Global;
use crate::{
    failure::Failure,
    ui::{self, Format},
};
use clap::Args;
use serde_json::{Value, json};
use shuntyard_core::Nano;
use shuntyard_engine::queue::jobs::recent_dispatches;
use std::process::ExitCode;

#[derive(Debug, Args)]
pub struct HistoryArgs {
    /// So many at most
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
}

pub async fn run(global: &Global, args: &HistoryArgs) -> Result<ExitCode, Failure> {
    let context = global.context().await?;
    let dispatches = recent_dispatches(&context, args.limit).await?;
    match global.format() {
        Format::Json => ui::json(&json!({ "dispatches": dispatches })),
        Format::People if dispatches.is_empty() => ui::note("nothing was dispatched yet"),
        Format::People => {
            let rows: Vec<Vec<String>> = dispatches.iter().map(row).collect();
            ui::result(&ui::table(&["AT", "STATUS", "MODEL", "RULE", "COST", "DISPATCH"], &rows));
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn row(dispatch: &Value) -> Vec<String> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let models: Vec<String> = dispatch["models"].as_array().into_iter().flatten().map(text).collect();
    let status = match dispatch["error_class"].as_str() {
        Some(class) => format!("{} ({class})", text(&dispatch["status"])),
        None => text(&dispatch["status"]),
    };
    let cost = dispatch["cost_usd"].as_f64().and_then(Nano::from_usd).unwrap_or_default();
    vec![
        text(&dispatch["at"]),
        status,
        models.join(" → "),
        text(&dispatch["rule"]),
        cost.to_string(),
        text(&dispatch["dispatch"]),
    ]
}
