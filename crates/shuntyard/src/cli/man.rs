//! `shuntyard man`: the manual pages, one for each command, made of the same description as `--help`.

use super::{Cli, Global};
use crate::{
    failure::Failure,
    ui::{self, Format},
};
use clap::{Args, Command, CommandFactory};
use clap_mangen::Man;
use serde_json::json;
use std::{
    fs, io,
    path::{Path, PathBuf},
    process::ExitCode,
};

#[derive(Debug, Args)]
#[command(after_help = "Example:
  shuntyard man ~/.local/share/man/man1 && man shuntyard-task-add")]
pub struct ManArgs {
    /// The directory to write them into; it is made when it is not there
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    /// Only name the files
    #[arg(long)]
    dry_run: bool,
}

struct Page {
    name: String,
    text: Vec<u8>,
}

pub fn run(global: &Global, args: &ManArgs) -> Result<ExitCode, Failure> {
    let directory = &args.directory;
    let failed = |error: io::Error| {
        let message = format!("the manual pages cannot be written into {}: {error}", directory.display());
        Failure::unavailable("host", message, "name a directory that you can write to")
    };
    let mut command = Cli::command().disable_help_subcommand(true);
    command.build();
    let mut pages = Vec::new();
    collect(&command, &mut pages).map_err(failed)?;
    if !args.dry_run {
        write(directory, &pages).map_err(failed)?;
    }
    let files: Vec<PathBuf> = pages.iter().map(|page| directory.join(&page.name)).collect();
    match global.format() {
        Format::Json => ui::json(&json!({"files": files, "written": !args.dry_run})),
        Format::People if args.dry_run => files.iter().for_each(|file| ui::result(&file.display().to_string())),
        Format::People => ui::result(&format!("{} manual pages are in {}", files.len(), directory.display())),
    }
    Ok(ExitCode::SUCCESS)
}

/// The page of a command and those of the commands below it; hidden ones have none.
fn collect(command: &Command, pages: &mut Vec<Page>) -> io::Result<()> {
    let man = Man::new(command.clone());
    let mut text = Vec::new();
    man.render(&mut text)?;
    pages.push(Page { name: man.get_filename(), text });
    for inner in command.get_subcommands().filter(|inner| !inner.is_hide_set()) {
        collect(inner, pages)?;
    }
    Ok(())
}

fn write(directory: &Path, pages: &[Page]) -> io::Result<()> {
    fs::create_dir_all(directory)?;
    pages.iter().try_for_each(|page| fs::write(directory.join(&page.name), &page.text))
}
