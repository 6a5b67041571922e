//! `shuntyard pack`: agents and commands for OpenCode, installed where it reads them, and removed again.
//! Configuration, store and a running OpenCode are not needed for it.

mod age;
mod check;
mod install;
mod restore;
mod show;
mod uninstall;
mod visible;

use super::{Global, input};
use crate::{failure::Failure, pack::Form, settings::Settings, ui};
use clap::{Args, Subcommand, ValueEnum};
use shuntyard_engine::roles::pack::{PackError, Part, Place};
use std::{path::PathBuf, process::ExitCode};

#[derive(Debug, Subcommand)]
pub enum PackCommand {
    /// Put the agents and commands where OpenCode finds them
    Install(install::InstallArgs),
    /// Take them away, so that what was there before is there again
    Uninstall(uninstall::UninstallArgs),
    /// Put back what was there before a change, from its backup
    Restore(restore::RestoreArgs),
    /// Look for what is open, dead or incomplete in agent files: exit 1 when there are errors
    Check(check::CheckArgs),
    /// Show what `install` would change
    Diff(install::DiffArgs),
}

#[derive(Debug, Args)]
struct Where {
    /// Use .opencode of this project in place of your own directory of OpenCode
    #[arg(long, value_name = "DIR", num_args = 0..=1, default_missing_value = ".")]
    project: Option<PathBuf>,
}

impl Where {
    fn place(&self, global: &Global) -> Result<Place, Failure> {
        let settings = settings_here(global)?;
        let place = match &self.project {
            Some(directory) if !directory.is_dir() => {
                let message = format!("{} is no directory", directory.display());
                return Err(Failure::usage(message, "name the project with --project DIR"));
            }
            Some(directory) => Place::project(&input::directory(Some(directory))?, &settings.paths.data_dir),
            None => {
                // OpenCode keeps its own beside ours, by the same rules.
                let all = settings.paths.config_dir.parent().map(PathBuf::from).unwrap_or_default();
                Place::user(&all.join("opencode"), &settings.paths.data_dir)
            }
        };
        Ok(place.telling(waits))
    }
}

fn waits(holder: &str) {
    let holder = if holder.is_empty() { "another process".to_owned() } else { visible::line(holder) };
    ui::note(&format!("waiting for {holder}, which is changing the same target"));
}

/// Works also when the configuration files are invalid.
fn settings_here(global: &Global) -> Result<Settings, Failure> {
    Settings::without_files(&global.overrides())
}

#[derive(Debug, Args)]
struct What {
    /// Only this part of the pack
    #[arg(long, value_name = "PART")]
    only: Option<OnlyPart>,
    /// How agents say what they may do: v1 for OpenCode 1, v2 for OpenCode 2, which OpenCode 1 does not read
    #[arg(long, value_name = "FORM", default_value = "v1")]
    format: FormName,
    /// Also register the MCP server in opencode.json or opencode.jsonc
    #[arg(long)]
    mcp: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum OnlyPart {
    Agents,
    Commands,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum FormName {
    V1,
    V2,
}

impl What {
    fn parts(&self) -> &'static [Part] {
        match self.only {
            None => &Part::ALL,
            Some(OnlyPart::Agents) => &[Part::Agents],
            Some(OnlyPart::Commands) => &[Part::Commands],
        }
    }

    fn form(&self) -> Form {
        match self.format {
            FormName::V1 => Form::V1,
            FormName::V2 => Form::V2,
        }
    }
}

pub fn run(global: &Global, command: &PackCommand) -> Result<ExitCode, Failure> {
    match command {
        PackCommand::Install(args) => install::run(global, args),
        PackCommand::Uninstall(args) => uninstall::run(global, args),
        PackCommand::Restore(args) => restore::run(global, args),
        PackCommand::Check(args) => check::run(global, args),
        PackCommand::Diff(args) => install::diff(global, args),
    }
}

fn failure(error: PackError) -> Failure {
    match &error {
        PackError::Io { .. } => {
            Failure::unavailable("host", error, "look at who may write there, then do it again: it goes on from there")
        }
        PackError::NotFile(_) => Failure::refused(error, "move it away, then do it again"),
        PackError::Unreadable { .. } => {
            Failure::refused(error, "put a backup back with `shuntyard pack restore`, or move the file away")
        }
        PackError::Foreign { .. } => {
            Failure::refused(error, "move the file away: what it lists is from then on as if you had written it")
        }
        PackError::Newer(_) => Failure::refused(error, "use the newer program, or `shuntyard pack restore`"),
        PackError::Config { .. } => Failure::refused(error, "fix the file, or leave --mcp out"),
        PackError::BackupLost(_) => Failure::failed(error, "move the file away if nothing else needs it"),
        PackError::NoBackup { there, .. } => {
            let hint = format!("there are {}; `shuntyard pack restore --list` says more", there.join(", "));
            Failure::usage(&error, hint)
        }
        PackError::NoBackups(_) => Failure::usage(error, "backups are made by `shuntyard pack install`"),
    }
}
