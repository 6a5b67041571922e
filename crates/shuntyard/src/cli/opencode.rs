//! `shuntyard opencode`: installing OpenCode, and the managed servers.

use super::Global;
use crate::{
    failure::Failure,
    ui::{self, Format},
};
use clap::Subcommand;
use indicatif::ProgressBar;
use serde_json::json;
use shuntyard_agents::opencode::TESTED_VERSION;
use shuntyard_core::values::size;
use shuntyard_engine::{
    Context,
    servers::{locate_binary, statuses, stop_all},
};
use shuntyard_host::npm::{InstallError, install_opencode};
use std::{path::PathBuf, process::ExitCode, time::Duration};

#[derive(Debug, Subcommand)]
pub enum OpencodeCommand {
    /// Install the tested OpenCode from npm into the data directory
    Install {
        /// Only say what would be done
        #[arg(long)]
        dry_run: bool,
    },
    /// Show which OpenCode is used, and the managed servers
    Status,
    /// End the managed servers
    Stop {
        /// Only say what would be ended
        #[arg(long)]
        dry_run: bool,
    },
}

pub async fn run(global: &Global, command: &OpencodeCommand) -> Result<ExitCode, Failure> {
    let context = global.context().await?;
    match command {
        OpencodeCommand::Install { dry_run: true } => {
            let target = context.installs_dir().join(TESTED_VERSION);
            match global.format() {
                Format::Json => ui::json(&json!({"would_install": TESTED_VERSION, "path": target})),
                Format::People => {
                    ui::result(&format!(
                        "would install opencode-ai {TESTED_VERSION} from npm into {}",
                        target.display()
                    ));
                }
            }
        }
        OpencodeCommand::Install { dry_run: false } => {
            let binary = install(&context)?;
            match global.format() {
                Format::Json => ui::json(&json!({"version": TESTED_VERSION, "path": binary})),
                Format::People => ui::result(&format!("OpenCode {TESTED_VERSION} is installed: {}", binary.display())),
            }
        }
        OpencodeCommand::Status => status(global, &context).await?,
        OpencodeCommand::Stop { dry_run: true } => {
            let count = statuses(&context).await?.len();
            match global.format() {
                Format::Json => ui::json(&json!({"would_stop": count})),
                Format::People => ui::result(&format!("would end {count} managed server{}", plural(count))),
            }
        }
        OpencodeCommand::Stop { dry_run: false } => {
            let stopped = stop_all(&context).await?;
            if stopped.left > 0 {
                let message = format!("{} of the managed servers did not end", stopped.left);
                return Err(Failure::unavailable("opencode_unhealthy", message, "look at `shuntyard opencode status`"));
            }
            let count = stopped.ended;
            match global.format() {
                Format::Json => ui::json(&json!({"stopped": count})),
                Format::People => ui::result(&format!("ended {count} managed server{}", plural(count))),
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn plural(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
}

/// Installs the tested version, with progress on a terminal.
pub fn install(context: &Context) -> Result<PathBuf, Failure> {
    let spinner = if ui::stderr_is_terminal() { ProgressBar::new_spinner() } else { ProgressBar::hidden() };
    spinner.enable_steady_tick(Duration::from_millis(120));
    let mut progress = |step: &str| {
        if ui::stderr_is_terminal() { spinner.set_message(step.to_owned()) } else { ui::note(step) }
    };
    let installed = install_opencode(&context.installs_dir(), TESTED_VERSION, &[], &mut progress);
    spinner.finish_and_clear();
    installed.map_err(|error| {
        let hint = match &error {
            InstallError::NpmMissing => {
                "install Node.js with npm, or name an OpenCode binary in SHUNTYARD_OPENCODE_BIN"
            }
            _ => "check the network and npm's proxy settings, or name an OpenCode binary in SHUNTYARD_OPENCODE_BIN",
        };
        Failure::unavailable("opencode_missing", error, hint)
    })
}

async fn status(global: &Global, context: &Context) -> Result<(), Failure> {
    let binary = locate_binary(context);
    let servers = statuses(context).await?;
    if global.format() == Format::Json {
        let servers: Vec<_> = servers
            .iter()
            .map(|server| {
                json!({
                    "id": server.record.id, "url": server.record.url, "state": server.record.state,
                    "version": server.record.version, "healthy": server.version.is_some(),
                    "resident_bytes": server.resident_bytes, "leases": server.leases,
                    "keeper_pid": server.record.keeper.pid, "started_at_us": server.record.started_at,
                })
            })
            .collect();
        let binary = binary.ok().map(|found| json!({"path": found.path, "found_in": found.found_in.as_str()}));
        ui::json(&json!({"binary": binary, "servers": servers}));
        return Ok(());
    }
    match binary {
        Ok(found) => ui::result(&format!("OpenCode: {} (from {})", found.path.display(), found.found_in.as_str())),
        Err(error) => ui::result(&format!("OpenCode: {error}; install it with `shuntyard opencode install`")),
    }
    if servers.is_empty() {
        ui::result("no managed server runs; the next dispatch starts one");
        return Ok(());
    }
    let rows: Vec<Vec<String>> = servers
        .iter()
        .map(|server| {
            let state = serde_json::to_value(server.record.state).unwrap_or_default();
            vec![
                server.record.url.clone(),
                state.as_str().unwrap_or_default().to_owned(),
                server.version.clone().unwrap_or_else(|| "does not answer".into()),
                size::show(server.resident_bytes),
                server.leases.to_string(),
                server.record.keeper.pid.to_string(),
            ]
        })
        .collect();
    ui::result(&ui::table(&["SERVER", "STATE", "VERSION", "MEMORY", "IN USE BY", "KEEPER"], &rows));
    Ok(())
}
