//! The demo on the screen: a sign of life while it runs, a few lines for each stage as it ends, one table.

use super::words::{closing, narrate, row};
use crate::ui::{self, Format};
use indicatif::{ProgressBar, ProgressStyle};
use std::{
    path::Path,
    sync::{Mutex, PoisonError},
    time::Duration,
};
use switchyard_agents::opencode::{Progress, TESTED_VERSION};
use switchyard_core::duration;
use switchyard_engine::demo::{DemoEvent, DemoReport, Stage};

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
            ui::result("The real OpenCode, scripted models in place of paid ones, a scratch repository.");
            ui::result("No keys and nothing to pay; your own settings and files are left alone.");
        });
    }

    pub fn installed(&self, binary: &Path) {
        self.say(|| {
            ui::result("");
            ui::result(&format!("OpenCode {TESTED_VERSION} is installed, for later commands too:"));
            ui::result(&binary.display().to_string());
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
        if let Progress::Tool { tool, title, .. } = progress {
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
        if self.format == Format::Json {
            return;
        }
        // Suspending a spinner draws it again, also one that has nothing to say yet.
        if self.spinner.message().is_empty() { words() } else { self.spinner.suspend(words) }
    }

    fn tools(&self) -> std::sync::MutexGuard<'_, Vec<String>> {
        self.tools.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn number(stage: Stage) -> usize {
    Stage::ALL.iter().position(|other| *other == stage).unwrap_or_default() + 1
}
