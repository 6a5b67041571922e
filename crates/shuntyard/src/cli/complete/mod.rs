//! Shell completion: `completions` prints a script for a shell, and the script asks the hidden `__complete` what is
//! valid at the cursor. The description of the commands is the only source, so the two cannot differ, and no other
//! command pays for it: `__complete` is recognised before the command line is parsed.
//!
//! Invariant: it only reads. No server is started, no store is made, and a failure prints nothing.

mod place;
mod values;

use super::{Cli, Global};
use crate::{failure::Failure, ui};
use clap::{Args, CommandFactory, ValueEnum};
use place::{Candidate, Wanted, wanted};
use std::{ffi::OsString, process::ExitCode};

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  source <(shuntyard completions bash)      in ~/.bashrc
  source <(shuntyard completions zsh)       in ~/.zshrc, after compinit
  shuntyard completions fish > ~/.config/fish/completions/shuntyard.fish")]
pub struct CompletionsArgs {
    /// The shell that the script is for
    shell: Shell,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Shell {
    Bash,
    Zsh,
    Fish,
}

pub fn script(args: &CompletionsArgs) -> ExitCode {
    let script = match args.shell {
        Shell::Bash => include_str!("scripts/shuntyard.bash"),
        Shell::Zsh => include_str!("scripts/shuntyard.zsh"),
        Shell::Fish => include_str!("scripts/shuntyard.fish"),
    };
    ui::result(script.trim_end());
    ExitCode::SUCCESS
}

/// The words up to the cursor, when this is a question of a completion script.
pub fn asked(mut arguments: impl Iterator<Item = OsString>) -> Option<Vec<String>> {
    (arguments.next()? == "__complete").then(|| arguments.map(|word| word.to_string_lossy().into_owned()).collect())
}

/// Answers a script: what kind of thing is wanted, then the candidates, each with a tab before its description.
pub async fn answer(words: &[String]) -> Result<ExitCode, Failure> {
    let mut command = Cli::command();
    command.build();
    let (kind, candidates) = match wanted(&command, words) {
        Wanted::Files => ("files", Vec::new()),
        Wanted::Directories => ("directories", Vec::new()),
        Wanted::Candidates(candidates) => ("values", candidates),
        Wanted::Dynamic { source, head, typed } => {
            let global = Global { json: false, server: None };
            let found = values::of(&global, source).await;
            let fitting = found.into_iter().filter(|candidate| candidate.value.starts_with(&typed));
            ("values", fitting.map(|found| Candidate { value: format!("{head}{}", found.value), ..found }).collect())
        }
    };
    ui::result(kind);
    for Candidate { value, about } in candidates {
        ui::result(&format!("{value}\t{about}"));
    }
    Ok(ExitCode::SUCCESS)
}
