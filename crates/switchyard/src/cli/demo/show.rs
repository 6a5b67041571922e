//! The demo as people see it: a few lines for each stage as it ends, then one table.

use crate::ui::{self, Format};
use indicatif::{ProgressBar, ProgressStyle};
use std::{
    path::Path,
    sync::{Mutex, PoisonError},
    time::Duration,
};
use switchyard_agents::opencode::{Progress, TESTED_VERSION};
use switchyard_core::{Nano, duration};
use switchyard_engine::demo::{DemoEvent, DemoReport, Stage, StageReport};

/// Narrower than most terminals, so that the indented lines stay indented.
const WIDTH: usize = 78;
const INDENT: usize = 12;

#[derive(Debug)]
pub struct Show {
    format: Format,
    spinner: ProgressBar,
    /// The tools of the stage that runs, in order.
    tools: Mutex<Vec<String>>,
}

impl Show {
    pub fn new(format: Format) -> Self {
        let spinner = if ui::stderr_is_terminal() { ProgressBar::new_spinner() } else { ProgressBar::hidden() };
        let style = ProgressStyle::with_template("{spinner} {msg} {elapsed}");
        spinner.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
        Self { format, spinner, tools: Mutex::default() }
    }

    pub fn introduce(&self) {
        self.say(|| {
            ui::frame("Switchyard demo");
            ui::result("The real OpenCode, with scripted models in place of paid ones and a scratch git repository.");
            ui::result("No keys, nothing to pay, nothing sent anywhere; your settings and files are left alone.");
        });
    }

    pub fn installed(&self, binary: &Path) {
        self.say(|| {
            ui::result("");
            ui::result(&format!(
                "OpenCode {TESTED_VERSION} is installed, for later commands too: {}",
                binary.display()
            ));
        });
    }

    pub fn event(&self, event: DemoEvent) {
        match event {
            DemoEvent::ServerStarting => self.wait_for("starting OpenCode"),
            DemoEvent::ServerStarted { version, took } => self.say(|| {
                ui::result("");
                ui::result(&format!("OpenCode {version} is up ({})", duration::show(took)));
            }),
            DemoEvent::Begun(stage) => {
                self.tools().clear();
                self.wait_for(stage.title());
            }
            DemoEvent::Ended(report) => {
                let lines = narrate(&report, &self.tools());
                self.say(|| {
                    ui::result("");
                    ui::frame(&format!("{}. {}", number(report.stage), report.title));
                    lines.iter().for_each(|line| ui::result(line));
                });
            }
            DemoEvent::CleaningUp => self.wait_for("cleaning up"),
        }
    }

    pub fn progress(&self, progress: Progress) {
        if let Progress::Tool { tool, title } = progress {
            let call = format!("{tool} {title}").trim_end().to_owned();
            self.spinner.set_message(call.clone());
            self.tools().push(call);
        }
    }

    pub fn finish(&self) {
        self.spinner.finish_and_clear();
    }

    pub fn conclude(&self, report: &DemoReport) {
        let rows: Vec<_> = report.stages.iter().map(row).collect();
        ui::result("");
        ui::result(&ui::table(&["WHAT", "MODEL", "RESULT", "TIME", "TOKENS", "COST"], &rows));
        ui::result("");
        closing(report).iter().for_each(|line| ui::result(line));
    }

    fn wait_for(&self, what: &str) {
        self.spinner.set_message(what.to_owned());
        self.spinner.enable_steady_tick(Duration::from_millis(120));
    }

    fn say(&self, words: impl FnOnce()) {
        if self.format == Format::People {
            self.spinner.suspend(words);
        }
    }

    fn tools(&self) -> std::sync::MutexGuard<'_, Vec<String>> {
        self.tools.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn number(stage: Stage) -> usize {
    Stage::ALL.iter().position(|other| *other == stage).unwrap_or_default() + 1
}

/// What a stage was asked, where it went and why, and what came of it.
fn narrate(report: &StageReport, tools: &[String]) -> Vec<String> {
    let dispatch = &report.dispatch;
    let mut lines = Vec::new();
    let mut tell = |label: &str, text: &str| lines.extend(labelled(label, text));
    tell("asked", report.prompt);
    tell("route", &dispatch.route.reason);
    if report.stage == Stage::Routed {
        for step in dispatch.route.trace.iter().filter(|step| !step.chosen) {
            tell("", &format!("({} was passed over: {})", step.candidate, step.why));
        }
    }
    report.refused_values().for_each(|fault| tell("refused", fault));
    if report.stage == Stage::Agent && !tools.is_empty() {
        tell("tools", &tools.join(", "));
    }
    match (&dispatch.structured, &dispatch.error) {
        (_, Some(error)) => {
            tell("error", &format!("{}: {}", error.class, error.message));
            tell("next", &error.hint);
        }
        (Some(value), None) => tell("answer", &value.to_string()),
        (None, None) => tell("answer", &dispatch.text),
    }
    if let Some(proof) = &report.commit {
        let changes =
            proof.files.iter().map(|(path, added, deleted)| format!("{} +{added} -{deleted}", path.display()));
        let changes = changes.collect::<Vec<_>>().join(", ");
        tell("commit", &format!("{} {} ({changes})", proof.commit, proof.subject));
        if proof.main_untouched {
            tell("", &format!("on branch {} in its worktree; the main checkout is untouched", proof.branch));
        }
    }
    report.faults.iter().for_each(|fault| tell("WRONG", fault));
    lines
}

/// A label, and the text beside it in as many lines as it needs.
fn labelled(label: &str, text: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.is_empty() => line.push_str(word),
            Some(line) if line.chars().count() + 1 + word.chars().count() <= WIDTH - INDENT => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    let labels = std::iter::once(label).chain(std::iter::repeat(""));
    let width = INDENT - 4;
    labels.zip(lines).map(|(label, line)| format!("   {label:<width$} {line}")).collect()
}

fn row(report: &StageReport) -> Vec<String> {
    let dispatch = &report.dispatch;
    let what = match report.stage {
        Stage::Routed => "routed prompt",
        Stage::Structured => "structured answer",
        Stage::Agent => "agent in a worktree",
        Stage::Quota => "used-up allowance",
    };
    let result = match (&dispatch.error, &report.commit) {
        _ if !report.faults.is_empty() => "WRONG".to_owned(),
        (Some(error), _) => format!("{}, as it should", error.class),
        (None, Some(proof)) => format!("ok, commit {}", proof.commit),
        (None, None) => match report.refused_values().count() {
            0 => "ok".to_owned(),
            refused => format!("ok, at try {}", refused + 1),
        },
    };
    let took = duration::show(Duration::from_millis(dispatch.duration_ms));
    let cost = Nano::from_usd(dispatch.cost_usd).map_or_else(|| "unknown".to_owned(), |cost| cost.to_string());
    vec![what.into(), dispatch.model.to_string(), result, took, dispatch.usage.total().to_string(), cost]
}

fn closing(report: &DemoReport) -> Vec<String> {
    let cost = &report.cost;
    let took = duration::show(Duration::from_millis(report.duration_ms));
    let bill = if cost.equal {
        format!(
            "{} at the scripted prices, for {} model requests: equal to the provider's own ledger to the nano-dollar.",
            cost.reported_nano_usd, cost.provider_requests
        )
    } else {
        format!(
            "WRONG: {} nano-dollars were reported, but the provider's own ledger says {}.",
            cost.reported_nano_usd.0, cost.ledger_nano_usd.0
        )
    };
    if !report.ok {
        let wrong = report.stages.iter().filter(|stage| !stage.faults.is_empty()).count();
        return vec![
            bill,
            format!(
                "{wrong} of {} stages went WRONG, in {took}. Everything that ran is ended, and the scratch files are gone.",
                report.stages.len()
            ),
            "Next: `switchyard doctor` looks for the cause.".into(),
        ];
    }
    vec![
        bill,
        format!("All as it should be, in {took}. Everything that ran is ended, and the scratch files are gone."),
        String::new(),
        "Next, with your own models:".into(),
        "  switchyard doctor                                       what is here, and what is missing".into(),
        "  switchyard dispatch --task-type code-review @file.rs    the best model that you have for it".into(),
    ]
}
