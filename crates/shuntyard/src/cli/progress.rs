//! Shows a dispatch while it runs: its text on a terminal as it arrives, and a spinner before.

use crate::ui;
use indicatif::{ProgressBar, ProgressStyle};
use shuntyard_agents::opencode::{Progress, Sink};
use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

#[derive(Debug, Clone)]
pub struct Display {
    spinner: ProgressBar,
    streaming: bool,
    shown: Arc<Mutex<String>>,
}

impl Display {
    /// `streaming`: whether the answer's text is shown as it arrives.
    pub fn new(streaming: bool, waiting_for: &str) -> Self {
        let spinner = if ui::stderr_is_terminal() { ProgressBar::new_spinner() } else { ProgressBar::hidden() };
        let style = ProgressStyle::with_template("{spinner} {msg} {elapsed}");
        spinner.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
        spinner.set_message(waiting_for.to_owned());
        spinner.enable_steady_tick(Duration::from_millis(120));
        Self { spinner, streaming, shown: Arc::default() }
    }

    pub fn sink(&self) -> Sink {
        let display = self.clone();
        Arc::new(move |progress| match progress {
            Progress::Text(text) if display.streaming => {
                display.spinner.finish_and_clear();
                if let Ok(mut shown) = display.shown.lock() {
                    shown.push_str(&text);
                }
                ui::piece(&text);
            }
            Progress::Text(_) => {}
            Progress::Moved { to, why } => display.start_over(&to, &why),
            Progress::Tool { tool, title, .. } => display.talk(&format!("· {tool} {title}")),
            Progress::Permission { what, allowed } => {
                display.talk(&format!("· {} {what}", if allowed { "allowed" } else { "refused" }));
            }
        })
    }

    /// The shown text belongs to a model that failed.
    fn start_over(&self, to: &str, why: &str) {
        let had_shown = self.shown.lock().is_ok_and(|mut shown| !std::mem::take(&mut *shown).is_empty());
        if had_shown {
            ui::piece("\n");
        }
        self.spinner.set_message(format!("waiting for {to}"));
        self.talk(&format!("· {why}"));
    }

    fn talk(&self, line: &str) {
        if ui::stderr_is_terminal() {
            self.spinner.suspend(|| ui::note(line.trim_end()));
        }
    }

    /// Ends the output; returns the part of the answer's text that was shown.
    pub fn finish(&self) -> String {
        self.spinner.finish_and_clear();
        self.shown.lock().map(|shown| shown.clone()).unwrap_or_default()
    }
}
