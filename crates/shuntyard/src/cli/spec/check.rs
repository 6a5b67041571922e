//! `shuntyard spec check`: what is wrong, as `path:line: message`.

use super::{Where, read};
use crate::{
    cli::Global,
    failure::{Exit, Failure},
    ui::{self, Format},
};
use clap::Args;
use serde_json::json;
use shuntyard_core::values::clean_line;
use shuntyard_engine::roles::spec::{Checked, check};
use std::{collections::BTreeSet, process::ExitCode};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  shuntyard spec check
  shuntyard spec check 7
  shuntyard spec check add-export .ai/tasks/008-import/01-parser/task-spec.md")]
pub struct CheckArgs {
    /// Tasks by number or name, or files; all tasks by default
    #[arg(value_name = "PATH|ID")]
    what: Vec<String>,
    #[command(flatten)]
    at: Where,
}

pub fn run(global: &Global, args: &CheckArgs) -> Result<ExitCode, Failure> {
    let (place, here) = args.at.place()?;
    let checked = check(&place, &here, &args.what).map_err(read)?;
    let ok = checked.faults.is_empty();
    match global.format() {
        Format::Json => ui::json(&json!({"ok": ok, "files": checked.files, "faults": checked.faults})),
        Format::People => show(&checked),
    }
    Ok(if ok { ExitCode::SUCCESS } else { ExitCode::from(Exit::Work as u8) })
}

fn show(checked: &Checked) {
    for found in &checked.faults {
        let fault = &found.fault;
        ui::result(&format!("{}:{}: {}", clean_line(&found.path, 300), fault.line, fault.message));
        ui::result(&format!("    {}", fault.hint));
    }
    let files = count(checked.files.len(), "file");
    if checked.faults.is_empty() {
        ui::result(&format!("{files}, no faults"));
        return;
    }
    let places: BTreeSet<&str> = checked.faults.iter().map(|found| found.path.as_str()).collect();
    ui::note(&format!("{} in {}; {files} checked", count(checked.faults.len(), "fault"), count(places.len(), "place")));
}

fn count(number: usize, word: &str) -> String {
    if number == 1 { format!("1 {word}") } else { format!("{number} {word}s") }
}
