//! `shuntyard service`: what the system runs so that tasks are supervised without a terminal.

mod show;

use super::Global;
use crate::{
    failure::Failure,
    settings::Settings,
    ui::{self, Format},
};
use clap::{Args, Subcommand, ValueEnum};
use serde_json::json;
use shuntyard_engine::ops::service::{self as engine, Beside, Installation, Mode, ServiceError, ToolError};
use shuntyard_host::service::{Manager, Work};
use std::process::ExitCode;

#[derive(Debug, Subcommand)]
pub enum ServiceCommand {
    /// Have the system run a supervisor, or a pass every 2 minutes
    Install(InstallArgs),
    /// Remove what `install` made; what is at work goes on
    Uninstall {
        #[command(flatten)]
        with: With,
        /// Print what would be removed and run, and do nothing
        #[arg(long)]
        dry_run: bool,
    },
    /// Show what is installed, whether it runs, and when it last ran
    Status,
}

#[derive(Debug, Args)]
pub struct InstallArgs {
    #[command(flatten)]
    with: With,
    /// Make a pass every 2 minutes in place of a supervisor that stays; with cron it is always so
    #[arg(long)]
    timer: bool,
    /// Install although something else supervises already
    #[arg(long)]
    force: bool,
    /// Print what would be written and run, and do nothing
    #[arg(long)]
    dry_run: bool,
}

#[derive(Debug, Args)]
pub struct With {
    /// What runs it; by itself systemd where it answers, launchd on macOS, else cron
    #[arg(long, value_name = "SYSTEM")]
    with: Option<System>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum System {
    Systemd,
    Cron,
    Launchd,
}

impl With {
    fn manager(&self) -> Option<Manager> {
        self.with.map(|system| match system {
            System::Systemd => Manager::Systemd,
            System::Cron => Manager::Cron,
            System::Launchd => Manager::Launchd,
        })
    }
}

pub fn run(global: &Global, command: &ServiceCommand) -> Result<ExitCode, Failure> {
    match command {
        ServiceCommand::Install(args) => install(global, args),
        ServiceCommand::Uninstall { with, dry_run } => uninstall(global, with, mode(*dry_run)),
        ServiceCommand::Status => status(global),
    }
}

fn mode(dry_run: bool) -> Mode {
    if dry_run { Mode::Show } else { Mode::Do }
}

fn install(global: &Global, args: &InstallArgs) -> Result<ExitCode, Failure> {
    // A service with settings that cannot be read would only fail again and again.
    let installation = installation(global.settings()?)?;
    let work = if args.timer { Work::Pulse } else { Work::Supervise };
    let beside = if args.force { Beside::Allowed } else { Beside::Refused };
    let mode = mode(args.dry_run);
    let installed =
        engine::install(&installation, args.with.manager(), work, beside, mode).map_err(|error| failure(&error))?;
    match global.format() {
        Format::Json => ui::json(&json!({
            "manager": installed.manager, "work": installed.work, "instance": installed.instance.suffix(),
            "outcome": installed.change.outcome, "dry_run": args.dry_run,
            "steps": installed.change.steps, "warnings": installed.change.warnings,
        })),
        Format::People => show::installed(&installed, mode),
    }
    Ok(ExitCode::SUCCESS)
}

fn uninstall(global: &Global, with: &With, mode: Mode) -> Result<ExitCode, Failure> {
    // Removing works also when the configuration files are invalid.
    let installation = installation(Settings::without_files(&global.overrides())?)?;
    let (managers, change) = engine::uninstall(&installation, with.manager(), mode).map_err(|error| failure(&error))?;
    match global.format() {
        Format::Json => ui::json(&json!({
            "managers": managers, "outcome": change.outcome, "dry_run": mode == Mode::Show,
            "steps": change.steps, "warnings": change.warnings,
        })),
        Format::People => show::uninstalled(&managers, &change, mode),
    }
    Ok(ExitCode::SUCCESS)
}

fn status(global: &Global) -> Result<ExitCode, Failure> {
    let installation = installation(Settings::without_files(&global.overrides())?)?;
    let status = engine::status(&installation).map_err(|error| failure(&error))?;
    match global.format() {
        Format::Json => {
            let services: Vec<_> = status.services.iter().map(show::document).collect();
            ui::json(&json!({
                "instance": status.instance.suffix(), "services": services,
                "by_hand": status.by_hand, "warnings": status.warnings,
            }));
        }
        Format::People => show::status(&status),
    }
    Ok(ExitCode::SUCCESS)
}

fn installation(settings: Settings) -> Result<Installation, Failure> {
    let lost = |what: &str, error| Failure::unavailable("host", format!("{what}: {error}"), "try it from elsewhere");
    let program = std::env::current_exe().map_err(|error| lost("this program cannot find itself", error))?;
    let here = std::env::current_dir().map_err(|error| lost("there is no current directory", error))?;
    Ok(Installation { environment: settings.environment, paths: settings.paths, program, here })
}

fn failure(error: &ServiceError) -> Failure {
    let host = |hint: &str| Failure::unavailable("host", error, hint);
    match error {
        ServiceError::NoManager => host("run `shuntyard supervise` yourself, or name a system with --with"),
        ServiceError::NoHome | ServiceError::NotText(_) | ServiceError::Unsayable(_) => {
            Failure::usage(error, "use plainer paths, or another system with --with")
        }
        ServiceError::NoProgram(_) => host("run the one that is installed now"),
        ServiceError::BrokenBlock(_) => Failure::refused(error, "fix it with `crontab -e`"),
        ServiceError::Duplicates(_) => Failure::refused(
            error,
            "remove it (`shuntyard service uninstall` removes what was installed), or have both with --force",
        ),
        ServiceError::Foreign(_) => Failure::refused(error, "move it away, or use another system with --with"),
        ServiceError::CrontabChanged => host("try again"),
        ServiceError::CrontabLost => host("look at `crontab -l`"),
        ServiceError::File { .. } => host("see who may write there, then do it again"),
        ServiceError::Tool(ToolError::Missing { .. }) => host("use another system with --with"),
        ServiceError::Tool(ToolError::Failed { .. }) => host("fix that, then do it again: it goes on from there"),
    }
}
