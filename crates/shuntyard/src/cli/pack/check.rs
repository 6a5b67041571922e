//! `shuntyard pack check`: agent files through the linter, each finding at its line.

use super::{
    Where,
    age::{Standing, standing},
    failure, visible,
};
use crate::{
    cli::Global,
    failure::{Exit, Failure},
    pack::{AGENTS, accepted, as_first_form},
    ui::{self, Format},
};
use clap::Args;
use serde_json::{Value, json};
use shuntyard_core::roles::pack::{Finding, Severity, lint};
use shuntyard_engine::roles::pack::{FileReport, Part, Place, installed, rivals};
use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

#[derive(Debug, Args)]
pub struct CheckArgs {
    /// Any directory of agents; by default the pack itself and what is installed of it
    #[arg(value_name = "DIR")]
    directory: Option<PathBuf>,
    #[command(flatten)]
    at: Where,
}

/// Files that are judged together: which agent may call which is decided among them.
#[derive(Debug, Default)]
struct Checked {
    files: usize,
    findings: Vec<Finding>,
    accepted: Vec<(Finding, &'static str)>,
}

pub fn run(global: &Global, args: &CheckArgs) -> Result<ExitCode, Failure> {
    let mut checked = Checked::default();
    let mut there = None;
    let mut mixed = Vec::new();
    match &args.directory {
        Some(directory) => checked.add(&agents_in(directory)?),
        None => {
            checked.add(&AGENTS.map(|(path, text)| (format!("pack:{path}"), text.to_owned())));
            let place = args.at.place(global)?;
            checked.add(&of_manifest(&place)?);
            mixed = mixed_with(&place)?;
            there = standing(global, &args.at)?;
        }
    }
    let errors = checked.findings.iter().filter(|finding| finding.severity == Severity::Error).count();
    match global.format() {
        Format::Json => ui::json(&json!({
            "ok": errors == 0, "files": checked.files, "installed": there.as_ref().map(Standing::document),
            "mixed": mixed,
            "findings": checked.findings.iter().map(document).collect::<Vec<_>>(),
            "accepted": checked.accepted.iter().map(|(finding, reason)| {
                json!({"file": finding.file, "line": finding.line, "rule": finding.rule.as_str(), "reason": reason})
            }).collect::<Vec<_>>(),
        })),
        Format::People => {
            show(&checked, errors);
            there.iter().for_each(Standing::tell);
            for file in &mixed {
                let note = file.note.as_deref().unwrap_or_default();
                ui::warn(&format!("{}: {}", visible::line(&file.path), visible::line(note)));
            }
        }
    }
    Ok(match (errors, mixed.is_empty()) {
        (0, true) => ExitCode::SUCCESS,
        (0, false) => ExitCode::from(Exit::Refused as u8),
        (_, _) => ExitCode::from(Exit::Work as u8),
    })
}

/// Files with the name of an installed one, so that OpenCode does not use ours alone.
fn mixed_with(place: &Place) -> Result<Vec<FileReport>, Failure> {
    let Some(manifest) = installed(place).map_err(failure)? else { return Ok(Vec::new()) };
    rivals(place, manifest.files.keys().map(String::as_str)).map_err(failure)
}

impl Checked {
    fn add(&mut self, files: &[(String, String)]) {
        let read: Vec<(&str, &str)> =
            files.iter().map(|(path, text)| (path.as_str(), as_first_form(path, text))).collect();
        self.files += read.len();
        for finding in lint(&read) {
            let text = read.iter().find(|(path, _)| *path == finding.file).map_or("", |(_, text)| text);
            match accepted(&finding, text) {
                Some(known) => self.accepted.push((finding, known.reason)),
                None => self.findings.push(finding),
            }
        }
    }
}

/// The installed files, without the other files of the user beside them.
fn of_manifest(place: &Place) -> Result<Vec<(String, String)>, Failure> {
    let Some(manifest) = installed(place).map_err(failure)? else { return Ok(Vec::new()) };
    let agents = manifest.files.keys().filter(|path| Part::of(path) == Some(Part::Agents));
    let agents = agents.map(|path| place.file(path)).filter(|file| file.exists());
    agents.map(|file| read(&file)).collect()
}

/// All agents below a directory, or below its `agent` and `agents` when it has those.
fn agents_in(directory: &Path) -> Result<Vec<(String, String)>, Failure> {
    let within = ["agent", "agents"].map(|name| directory.join(name));
    let roots: Vec<PathBuf> = within.into_iter().filter(|root| root.is_dir()).collect();
    let mut open = if roots.is_empty() { vec![directory.to_path_buf()] } else { roots };
    let mut files = Vec::new();
    while let Some(next) = open.pop() {
        let unreadable = |error: std::io::Error| {
            Failure::usage(format!("{}: {error}", next.display()), "name a directory with agent files")
        };
        for entry in std::fs::read_dir(&next).map_err(unreadable)? {
            let path = entry.map_err(unreadable)?.path();
            if path.is_dir() && !path.is_symlink() {
                open.push(path);
            } else if path.extension().is_some_and(|ending| ending == "md") {
                files.push(path);
            }
        }
    }
    if files.is_empty() {
        let message = format!("there are no agent files in {}", directory.display());
        return Err(Failure::usage(message, "name a directory with files that end in .md"));
    }
    files.sort();
    files.iter().map(|file| read(file)).collect()
}

fn read(file: &Path) -> Result<(String, String), Failure> {
    let text = std::fs::read_to_string(file)
        .map_err(|error| Failure::usage(format!("{}: {error}", file.display()), "make it a readable text in UTF-8"))?;
    Ok((file.display().to_string(), text))
}

fn document(finding: &Finding) -> Value {
    json!({
        "file": finding.file, "line": finding.line, "severity": severity(finding), "rule": finding.rule.as_str(),
        "message": finding.message, "hint": finding.hint,
    })
}

fn severity(finding: &Finding) -> &'static str {
    match finding.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    }
}

fn show(checked: &Checked, errors: usize) {
    for finding in &checked.findings {
        let rule = finding.rule.as_str();
        let (file, message) = (visible::line(&finding.file), visible::line(&finding.message));
        ui::result(&format!("{file}:{}: {}: {message} [{rule}]", finding.line, severity(finding)));
        ui::result(&format!("    {}", visible::line(&finding.hint)));
    }
    // One line for a file and a rule: the reason is the same for all of them.
    let alike = |(left, _): &(Finding, &str), (right, _): &(Finding, &str)| {
        (&left.file, left.rule.as_str()) == (&right.file, right.rule.as_str())
    };
    for group in checked.accepted.chunk_by(alike) {
        let (finding, reason) = &group[0];
        let more = if group.len() > 1 { format!(" and {} more", group.len() - 1) } else { String::new() };
        let place = format!("{}:{}{more}", visible::line(&finding.file), finding.line);
        ui::note(&format!("{place}: accepted [{}]: {reason}", finding.rule.as_str()));
    }
    let warnings = checked.findings.len() - errors;
    let count = |number: usize, what: &str| format!("{number} {what}{}", if number == 1 { "" } else { "s" });
    let found = match (errors, warnings) {
        (0, 0) => "nothing found".to_owned(),
        _ => format!("{}, {}", count(errors, "error"), count(warnings, "warning")),
    };
    ui::result(&format!("{}: {found}", count(checked.files, "agent")));
}
