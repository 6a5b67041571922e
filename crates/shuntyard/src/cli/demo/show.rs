//! The demo on the screen: a spinner while it runs, a few lines for each stage as it ends and for each task as it
//! changes, one table.

use super::words::{closing, narrate, queued, rows, tell};
use crate::ui::{self, Format};
use indicatif::{ProgressBar, ProgressStyle};
use shuntyard_agents::opencode::TESTED_VERSION;
use shuntyard_core::values::duration;
use shuntyard_engine::ops::demo::{DemoEvent, DemoReport, Errand};
use std::{
    path::Path,
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

#[derive(Debug)]
pub struct Show {
    format: Format,
    spinner: ProgressBar,
    /// Headings until now.
    headings: AtomicUsize,
}

impl Show {
    pub fn new(format: Format) -> Self {
        let spinner = if ui::stderr_is_terminal() { ProgressBar::new_spinner() } else { ProgressBar::hidden() };
        let style = ProgressStyle::with_template("{spinner} {msg} {elapsed}");
        spinner.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
        Self { format, spinner, headings: AtomicUsize::new(0) }
    }

    pub fn introduce(&self) {
        self.say(|| {
            ui::frame("Shuntyard demo");
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
            DemoEvent::Begun(stage) => self.wait_for(stage.title()),
            DemoEvent::Ended(report) => self.chapter(report.title, &narrate(&report)),
            DemoEvent::Queued => {
                self.chapter(Errand::TITLE, &queued());
                self.wait_for("the tasks are at work");
            }
            DemoEvent::Task(news) => self.say(|| tell(&news).iter().for_each(|line| ui::result(line))),
            DemoEvent::CleaningUp => self.wait_for("cleaning up"),
        }
    }

    pub fn finish(&self) {
        self.spinner.finish_and_clear();
    }

    pub fn conclude(&self, report: &DemoReport) {
        ui::result("");
        ui::result(&ui::table(&["WHAT", "MODEL", "RESULT", "TIME", "TOKENS", "COST"], &rows(report)));
        ui::result("");
        closing(report).iter().for_each(|line| ui::result(line));
    }

    fn chapter(&self, title: &str, lines: &[String]) {
        let number = self.headings.fetch_add(1, Ordering::Relaxed) + 1;
        self.say(|| {
            ui::result("");
            ui::frame(&format!("{number}. {title}"));
            lines.iter().for_each(|line| ui::result(line));
        });
    }

    fn wait_for(&self, what: &str) {
        self.spinner.set_message(what.to_owned());
        self.spinner.enable_steady_tick(Duration::from_millis(120));
    }

    fn say(&self, words: impl FnOnce()) {
        if self.format == Format::Json {
            return;
        }
        // Suspending a spinner draws it again, also one without a message yet.
        if self.spinner.message().is_empty() { words() } else { self.spinner.suspend(words) }
    }
}
