//! What the event log contains about a job: what kind it is, its worker and its state. Never what it was asked or
//! what it answered, because that is forgotten with the job and the log is not.

use super::{event, row, script::Script};
use crate::Result;
use serde_json::json;
use shuntyard_core::work::job::{Choice, JobId, JobKind, JobState};
use sqlx::sqlite::SqliteRow;

/// The columns that [`Told::read`] needs.
macro_rules! told {
    () => {
        "number, kind, worker, choice, epoch, state"
    };
}
pub(super) use told;

#[derive(Debug)]
pub(super) struct Told {
    pub id: JobId,
    pub kind: JobKind,
    pub worker: Option<String>,
    pub model: Option<String>,
    pub epoch: i64,
    pub state: JobState,
}

impl Told {
    pub fn read(row: &SqliteRow) -> Result<Self> {
        let choice: Option<Choice> = row::optional_word(row, "choice", |text| serde_json::from_str(text).ok())?;
        Ok(Self {
            id: JobId(row::get(row, "number")?),
            kind: row::word(row, "kind", JobKind::parse)?,
            worker: row::get(row, "worker")?,
            model: choice.map(|choice| choice.model.to_string()),
            epoch: row::get(row, "epoch")?,
            state: row::word(row, "state", JobState::parse)?,
        })
    }

    /// Writes an event with its state, as a part of the caller's script.
    pub fn tell(&self, script: &mut Script, at: i64, kind: &str, why: Option<&str>) {
        let mut data = json!({
            "kind": self.kind.as_str(), "worker": self.worker, "model": self.model, "epoch": self.epoch,
            "state": self.state.as_str(),
        });
        if let Some(why) = why {
            data["why"] = json!(why);
        }
        event::tell(script, at, kind, &self.id.to_string(), &data);
    }
}

/// The event when a job comes into a state.
pub(super) fn kind_of(state: JobState) -> &'static str {
    match state {
        JobState::Queued => "job.queued",
        JobState::Running => "job.running",
        JobState::Paused => "job.paused",
        JobState::Done => "job.done",
        JobState::Failed => "job.failed",
        JobState::Cancelled => "job.cancelled",
    }
}
