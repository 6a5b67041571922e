//! What happens to a task, as far as it concerns a person who watches the demo.

use shuntyard_core::work::task::{Change, TaskId};
use shuntyard_store::{Event, RunRecord};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskNews {
    pub task: TaskId,
    pub news: News,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum News {
    /// A worker is started for it, and this model is asked. The first try is 1.
    Claimed { number: i64, model: String },
    /// The evidence was not good enough, or the work could not be delivered.
    Refused { why: String },
    /// It was verified and delivered; `how` is the text for people.
    Delivered { how: String },
    /// Anything else that keeps it from going on.
    Held { state: String, why: String },
}

impl TaskNews {
    /// The news in a row of the audit, if any. The claim's row does not name the model; its run does.
    pub(super) fn of(task: &TaskId, event: &Event, runs: &[RunRecord]) -> Option<Self> {
        let Change { event, from: _, to, epoch, detail, route: _ } = serde_json::from_value(event.data.clone()).ok()?;
        let news = match event.as_str() {
            "claim" => {
                let model = runs.iter().find(|run| run.epoch == epoch)?.model.clone().unwrap_or_default();
                News::Claimed { number: epoch, model }
            }
            "refuse" | "return" => News::Refused { why: detail },
            "deliver" => News::Delivered { how: detail },
            "lose" | "postpone" | "block" | "cancel" => News::Held { state: to, why: detail },
            _ => return None,
        };
        Some(Self { task: task.clone(), news })
    }
}
