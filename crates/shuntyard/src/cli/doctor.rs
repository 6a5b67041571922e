//! `shuntyard doctor`: what is here, what is wrong, and the command that fixes it.

use super::Global;
use crate::{
    failure::{Exit, Failure},
    settings::Settings,
    ui::{self, Format},
};
use clap::Args;
use indicatif::ProgressBar;
use serde_json::json;
use shuntyard_core::{
    ErrorClass,
    settings::{Layered, Origin},
};
use shuntyard_engine::ops::{
    conformance::{Check, Outcome},
    doctor::{Area, Depth, Diagnosis, Finding, Patient, State, Trouble, Verdict, examine, quoted},
};
use std::{collections::BTreeSet, path::Path, process::ExitCode, time::Duration};

const CHECK: &str = "shuntyard doctor --quick  # once the setting is fixed";

#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// Leave out the conformance check, which runs the installed OpenCode against a scripted model
    #[arg(long)]
    quick: bool,
}

pub async fn run(global: &Global, args: &DoctorArgs) -> Result<ExitCode, Failure> {
    let depth = if args.quick { Depth::Quick } else { Depth::Full };
    let spinner = if ui::stderr_is_terminal() { ProgressBar::new_spinner() } else { ProgressBar::hidden() };
    spinner.enable_steady_tick(Duration::from_millis(120));
    let progress = |step: &str| {
        if ui::stderr_is_terminal() { spinner.set_message(step.to_owned()) } else { ui::note(step) }
    };
    // Dropping the examination ends what it has started.
    let diagnosis = tokio::select! {
        diagnosis = diagnose(global, depth, &progress) => diagnosis,
        () = super::input::interrupted() => Err(Failure::classed(ErrorClass::Cancelled, "interrupted")),
    };
    spinner.finish_and_clear();
    let diagnosis = diagnosis?;
    let verdict = diagnosis.verdict();
    match global.format() {
        Format::Json => ui::json(&document(&diagnosis)),
        Format::People => show(&diagnosis),
    }
    Ok(match verdict {
        Verdict::Well => ExitCode::SUCCESS,
        Verdict::Unwell => ExitCode::from(Exit::Work as u8),
        Verdict::OpencodeUnusable => ExitCode::from(Exit::Unavailable as u8),
        Verdict::ConfigurationBroken => ExitCode::from(Exit::Usage as u8),
    })
}

async fn diagnose(global: &Global, depth: Depth, progress: &dyn Fn(&str)) -> Result<Diagnosis, Failure> {
    let (settings, mut configuration) = match global.settings() {
        Ok(settings) => {
            let sources = sources(&settings.layered);
            (settings, Ok(sources))
        }
        Err(failure) => (Settings::without_files(&global.overrides())?, Err(broken(&failure))),
    };
    let (config, paths) = (settings.layered.config.clone(), settings.paths.clone());
    let environment = settings.environment.clone();
    let program = std::env::current_exe().map_err(|error| {
        Failure::unavailable("host", format!("this program cannot find itself: {error}"), "reinstall shuntyard")
    })?;
    let directory = std::env::current_dir().unwrap_or_else(|_| paths.data_dir.clone());
    let store_path = settings.store_path();
    let opened = match &store_path {
        Ok(path) => settings.into_context_with(path.clone()).await,
        Err(failure) => {
            configuration = configuration.and(Err(broken(failure)));
            Err(Failure { message: "not opened: the configuration has to be fixed first".into(), ..failure.clone() })
        }
    };
    let context = opened.as_ref().map_err(|failure| store_trouble(failure, store_path.ok().as_deref()));
    let patient = Patient {
        config: &config,
        paths: &paths,
        environment: &environment,
        program: &program,
        directory: &directory,
        configuration,
        context,
    };
    Ok(examine(&patient, depth, progress).await)
}

fn store_trouble(failure: &Failure, path: Option<&Path>) -> Trouble {
    let directory = path.and_then(Path::parent);
    let fix = match (failure.class.as_str(), path, directory) {
        ("store_unusable", Some(path), _) => set_aside(path),
        ("store_unavailable", _, Some(directory)) => format!("ls -ld {}  # is it there, and yours?", quoted(directory)),
        ("store_busy", ..) => "shuntyard doctor  # another process was writing: try again".to_owned(),
        _ => CHECK.to_owned(),
    };
    Trouble { problem: failure.message.clone(), fix }
}

/// Moved, not deleted: its content may still be needed. Its log and index are moved with it.
fn set_aside(store: &Path) -> String {
    let aside = quoted(&store.with_file_name("unusable"));
    format!("mkdir -p {aside} && mv {}* {aside}", quoted(store))
}

fn broken(failure: &Failure) -> Trouble {
    Trouble { problem: failure.message.clone(), fix: CHECK.to_owned() }
}

/// The files, variables and flags that set anything.
fn sources(layered: &Layered) -> Vec<String> {
    let named = layered.origins.values().filter(|origin| **origin != Origin::BuiltIn);
    named.map(ToString::to_string).collect::<BTreeSet<_>>().into_iter().collect()
}

fn document(diagnosis: &Diagnosis) -> serde_json::Value {
    json!({
        "findings": diagnosis.findings,
        "conformance": diagnosis.conformance,
        "conformance_skipped": diagnosis.conformance_skipped,
        "ok": diagnosis.verdict() == Verdict::Well,
    })
}

fn show(diagnosis: &Diagnosis) {
    ui::result(&ui::table(&["", "STATE", "WHAT", "DETAIL"], &finding_rows(&diagnosis.findings)));
    ui::result("");
    match &diagnosis.conformance_skipped {
        Some(why) => ui::result(&format!("Conformance was not checked: {why}.")),
        None => {
            ui::frame("Conformance: the installed OpenCode against a scripted model");
            ui::result(&ui::table(&["", "OUTCOME", "DETAIL"], &check_rows(&diagnosis.conformance)));
        }
    }
    ui::result("");
    ui::frame(&summary(diagnosis));
}

/// One row for a finding, with its area only where a new one begins.
fn finding_rows(findings: &[Finding]) -> Vec<Vec<String>> {
    let mut before = None;
    let row = |finding: &Finding| {
        let area = if before == Some(finding.area) { "" } else { area(finding.area) };
        before = Some(finding.area);
        let next = finding.fix.as_ref().map(|fix| format!("\nnext: {fix}")).unwrap_or_default();
        vec![
            area.to_owned(),
            state(finding.state).to_owned(),
            finding.subject.clone(),
            format!("{}{next}", finding.detail),
        ]
    };
    findings.iter().map(row).collect()
}

fn check_rows(checks: &[Check]) -> Vec<Vec<String>> {
    let row = |check: &Check| {
        let (outcome, detail) = match &check.outcome {
            Outcome::Holds => ("holds", check.detail.clone()),
            Outcome::WorkedAround { how } => ("worked around", format!("{}\nso: {how}", check.detail)),
            Outcome::Fails { problem } => ("fails", format!("{problem}\nrelied on: {}", check.detail)),
        };
        vec![check.name.to_owned(), outcome.to_owned(), detail]
    };
    checks.iter().map(row).collect()
}

fn area(area: Area) -> &'static str {
    match area {
        Area::Configuration => "Configuration",
        Area::Opencode => "OpenCode",
        Area::Server => "Servers",
        Area::Provider => "Providers",
        Area::Store => "Store",
        Area::Machine => "Tools",
    }
}

fn state(state: State) -> &'static str {
    match state {
        State::Ok => "ok",
        State::Warning => "warning",
        State::Problem => "problem",
    }
}

fn summary(diagnosis: &Diagnosis) -> String {
    let count = |state| diagnosis.findings.iter().filter(|finding| finding.state == state).count();
    let failing = diagnosis.conformance.iter().filter(|check| check.fails()).count();
    let counted = |count: usize, what: &str| match count {
        0 => None,
        1 => Some(format!("1 {what}")),
        _ => Some(format!("{count} {what}s")),
    };
    let parts = [
        counted(count(State::Problem), "problem"),
        counted(failing, "failing conformance check"),
        counted(count(State::Warning), "warning"),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    match (diagnosis.verdict(), parts.is_empty()) {
        (Verdict::Well, true) => "All is well.".to_owned(),
        (Verdict::Well, false) => format!("Ready, with {}.", parts.join(", ")),
        _ => format!("Not ready: {}.", parts.join(", ")),
    }
}

#[cfg(test)]
mod tests;
