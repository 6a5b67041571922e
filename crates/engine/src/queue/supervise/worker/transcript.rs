//! What the agent of an attempt did, step by step, in a file beside the task's logs: it outlives the OpenCode session.
//!
//! Invariant: each step is written as it happens, in one line of JSON, without secrets, into a file that only this user
//! can read.

use crate::{Context, queue::supervise::spawn::transcript_file};
use serde_json::{Value, json};
use shuntyard_agents::opencode::Progress;
use shuntyard_core::{values::redact::redact, work::task::TaskId};
use shuntyard_host::{clock::now_micros, paths::private_dir};
use std::{
    fs::{File, OpenOptions},
    io::{self, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    path::PathBuf,
};

/// Characters of one step that are kept.
const STEP: usize = 20_000;

#[derive(Debug)]
pub(super) struct Transcript {
    path: PathBuf,
    file: Option<File>,
    /// The model's text since its last call of a tool.
    said: String,
    /// The last text that was written.
    written: String,
}

impl Transcript {
    pub(super) fn new(context: &Context, id: &TaskId, epoch: i64) -> Self {
        Self { path: transcript_file(context, id, epoch), file: None, said: String::new(), written: String::new() }
    }

    pub(super) fn note(&mut self, progress: &Progress) {
        let step = match progress {
            Progress::Text(text) => {
                self.said.push_str(text);
                return;
            }
            Progress::Tool { tool, title, input } => {
                json!({"kind": "tool", "tool": tool, "title": kept(title), "input": kept(input)})
            }
            Progress::Permission { what, allowed } => {
                json!({"kind": "permission", "text": kept(what), "allowed": allowed})
            }
            Progress::Moved { to, why } => json!({"kind": "model", "text": to, "why": kept(why)}),
        };
        self.flush();
        self.write(step);
    }

    /// The whole answer, of which events may have brought only a part.
    pub(super) fn answer(&mut self, text: &str) {
        if text.trim_start().starts_with(self.said.trim_start()) && !self.written.trim_end().ends_with(text.trim()) {
            text.clone_into(&mut self.said);
        }
        self.flush();
    }

    /// Writes the latest text.
    pub(super) fn flush(&mut self) {
        let said = std::mem::take(&mut self.said);
        if !said.trim().is_empty() {
            self.write(json!({"kind": "text", "text": kept(&said)}));
            self.written = said;
        }
    }

    fn write(&mut self, mut step: Value) {
        step["at"] = now_micros().into();
        if let Err(error) = self.append(&step) {
            tracing::warn!(%error, "a step is missing in the transcript");
        }
    }

    fn append(&mut self, step: &Value) -> io::Result<()> {
        if self.file.is_none() {
            if let Some(directory) = self.path.parent() {
                private_dir(directory)?;
            }
            self.file = Some(OpenOptions::new().append(true).create(true).mode(0o600).open(&self.path)?);
        }
        self.file.as_mut().map_or(Ok(()), |file| file.write_all(format!("{step}\n").as_bytes()))
    }
}

fn kept(text: &str) -> String {
    redact(&text.chars().take(STEP).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_is_written_whole_and_once() {
        let scratch = shuntyard_testkit::Scratch::of_test();
        for (number, (heard, answer, written)) in [
            (vec![], "all of it", vec!["all of it"]),
            (vec!["all "], "all of it", vec!["all of it"]),
            (vec!["all of it"], "all of it", vec!["all of it"]),
            (vec!["before, and all of it"], "all of it", vec!["before, and all of it"]),
            (vec!["part"], "", vec!["part"]),
        ]
        .into_iter()
        .enumerate()
        {
            let path = scratch.join(number.to_string());
            let mut transcript =
                Transcript { path: path.clone(), file: None, said: String::new(), written: String::new() };
            for text in heard {
                transcript.note(&Progress::Text(text.to_owned()));
            }
            transcript.answer(answer);
            transcript.answer(answer);
            let lines = std::fs::read_to_string(path).unwrap();
            let texts: Vec<String> = lines
                .lines()
                .map(|line| serde_json::from_str::<Value>(line).unwrap()["text"].as_str().unwrap().to_owned())
                .collect();
            assert_eq!(texts, written, "{answer}");
        }
    }
}
