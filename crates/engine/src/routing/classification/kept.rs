//! Answers about texts that were asked about before, as small files of the user's alone. A failure is kept for a
//! moment, so that a model that is down delays one request and not each.

use crate::{Context, base::hash::short_hash};
use serde_json::{Value, json};
use shuntyard_core::settings::micros;
use shuntyard_host::{
    clock::now_micros,
    paths::{private_dir, write_private},
    text_file::{MOST_CONFIG_BYTES, read_text},
};
use std::{
    path::{Path, PathBuf},
    time::Duration,
};

/// How long a failure is believed, in microseconds.
const FAILURE: i64 = 60_000_000;
/// When there are more files than this, those that are over go.
const MANY: usize = 2000;

#[derive(Debug, PartialEq)]
pub(crate) enum Lookup {
    Answer(Value),
    Failed,
    Nothing,
}

#[derive(Debug)]
pub(crate) struct Kept {
    file: PathBuf,
    /// Of the model, whatever it was asked.
    failure: PathBuf,
    keep: i64,
}

impl Kept {
    /// The same text is another question when the model or the kinds of task are others.
    pub(crate) fn of(context: &Context, text: &str) -> Self {
        let config = &context.config;
        let question = json!([config.classifier.model, config.task_types, text]).to_string();
        let directory = context.paths.data_dir.join("classified");
        let file = directory.join(format!("{}.json", short_hash(&question)));
        let failure = directory.join(format!("failed-{}.json", short_hash(&config.classifier.model)));
        Self { file, failure, keep: micros(config.classifier.keep) }
    }

    pub(crate) fn find(&self) -> Lookup {
        match read(&self.file, self.keep).map(|mut kept| kept["said"].take()) {
            Some(said) if !said.is_null() => Lookup::Answer(said),
            Some(_) | None if read(&self.failure, FAILURE).is_some() => Lookup::Failed,
            Some(_) | None => Lookup::Nothing,
        }
    }

    /// That it cannot be kept only means that it is asked again.
    pub(crate) fn put(&self, said: Option<&Value>) {
        let Some(directory) = self.file.parent() else { return };
        let file = if said.is_some() { &self.file } else { &self.failure };
        let text = json!({"at": now_micros(), "said": said}).to_string();
        let written = private_dir(directory).and_then(|()| write_private(file, text.as_bytes()));
        if let Err(error) = written {
            tracing::debug!(%error, "the classification is not kept");
        }
        self.tidy(directory);
    }

    fn tidy(&self, directory: &std::path::Path) {
        let files: Vec<_> = std::fs::read_dir(directory).into_iter().flatten().flatten().collect();
        if files.len() <= MANY {
            return;
        }
        let keep = Duration::from_micros(u64::try_from(self.keep).unwrap_or_default());
        for file in files {
            let modified = file.metadata().and_then(|found| found.modified()).ok();
            if modified.and_then(|at| at.elapsed().ok()).is_some_and(|age| age > keep) {
                drop(std::fs::remove_file(file.path()));
            }
        }
    }
}

/// What a file holds, if it is not older than that many microseconds.
fn read(file: &Path, most: i64) -> Option<Value> {
    let text = read_text(file, MOST_CONFIG_BYTES).ok()?;
    let kept: Value = serde_json::from_str(&text).ok()?;
    let age = now_micros().saturating_sub(kept["at"].as_i64()?);
    (0..most).contains(&age).then_some(kept)
}
