//! `shuntyard config set`: one setting in the user's own file. What the checks refuse is not written.

use super::Global;
use crate::{
    failure::Failure,
    settings::Settings,
    ui::{self, Format},
};
use clap::Args;
use serde_json::json;
use shuntyard_core::{
    settings::{ChangeError, Layered, Origin},
    values::redact::redact,
};
use shuntyard_engine::roles::user_config::{UserConfigEdit, UserConfigError, plan, write};
use std::process::ExitCode;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  shuntyard config set dispatch.text_timeout 3m
  shuntyard config set policy.deny_providers acme,north
  shuntyard config set 'repository.\"/home/ann/app\".setup' 'npm ci' --dry-run")]
pub struct SetArgs {
    /// The setting, with its section: dispatch.text_timeout
    key: String,
    /// Its value: text without quotation marks, a list with commas between, or any value in TOML
    #[arg(allow_hyphen_values = true)]
    value: String,
    /// Show the change, and write nothing
    #[arg(long)]
    dry_run: bool,
}

pub fn run(global: &Global, args: &SetArgs) -> Result<ExitCode, Failure> {
    let edit = plan(&Settings::user_file()?, &args.key, &args.value).map_err(failure)?;
    // The file is valid by itself; it must also be valid with the other files and variables.
    let layered = Settings::with_user_text(&global.overrides(), edit.change.text.clone())?;
    if !args.dry_run {
        write(&edit).map_err(failure)?;
    }
    let stronger = stronger(&layered, &edit);
    match global.format() {
        Format::Json => ui::json(&json!({
            "key": edit.change.key, "value": redact(&edit.change.after),
            "before": edit.change.before.as_deref().map(redact), "file": edit.file, "changed": edit.changes(),
            "written": edit.changes() && !args.dry_run, "diff": edit.diff,
            "overridden_by": stronger.as_ref().map(ToString::to_string),
        })),
        Format::People => show(&edit, args.dry_run),
    }
    if let Some(stronger) = stronger {
        ui::warn(&format!("{} has no effect here: {stronger} sets it too, and comes first", edit.change.key));
    }
    Ok(ExitCode::SUCCESS)
}

/// The source that overrides this setting of the user's own file.
fn stronger<'a>(layered: &'a Layered, edit: &UserConfigEdit) -> Option<&'a Origin> {
    let origin = layered.origins.get(&edit.change.key)?;
    let own = Settings::user_file().ok()?;
    (*origin != Origin::File(own.display().to_string())).then_some(origin)
}

fn show(edit: &UserConfigEdit, dry_run: bool) {
    let file = edit.file.display();
    if edit.changes() {
        ui::result(edit.diff.trim_end());
        let would = if dry_run { "would be" } else { "is" };
        ui::note(&format!("{file} {would} written"));
    } else {
        ui::note(&format!("{file} says so already; nothing is changed"));
    }
}

fn failure(error: UserConfigError) -> Failure {
    let message = error.to_string();
    match error {
        UserConfigError::Refused(ChangeError::Refused(_)) => Failure {
            hint: "nothing was written; see `shuntyard config show` for the settings and their values".into(),
            ..Failure::configuration(message)
        },
        UserConfigError::Refused(_) => {
            Failure::usage(message, "nothing was written; see `shuntyard config show` for the settings")
        }
        UserConfigError::Unreadable { .. } => Failure::configuration(message),
        UserConfigError::Changed(_) => Failure::unavailable("configuration_busy", message, "do it again"),
        UserConfigError::Unwritable(_) => {
            Failure::unavailable("host", message, "check the rights and the space of that directory")
        }
    }
}
