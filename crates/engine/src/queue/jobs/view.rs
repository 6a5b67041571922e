//! The state of a job for its caller: the same words for a job and for a supervised task.

use serde::Serialize;
use serde_json::Value;

/// Everything that a caller can know about one job or task.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct JobView {
    pub id: String,
    /// `worker`, `workflow`, `dispatch`, `batch` or `supervised`.
    pub kind: String,
    /// `queued`, `running`, `paused`, `done`, `failed` or `cancelled`; of a supervised task also `waiting` and
    /// `blocked`.
    pub status: String,
    /// Whether nothing more will happen to it by itself.
    pub over: bool,
    /// What was asked, in short.
    pub task: String,
    pub directory: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worker: Option<String>,
    /// How many are before it in its queue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position: Option<u32>,
    /// What was written for a model, what came of it, for how long, and why.
    pub reference: Option<String>,
    pub model: Option<String>,
    pub policy: Option<String>,
    pub reason: Option<String>,
    /// Its latest message, in words.
    pub progress: Option<String>,
    /// Of a workflow: each step that is over, as `{name, status, model, text, approved}`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<Value>,
    /// The answer, once there is one.
    pub text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub structured: Option<Value>,
    /// Of a batch: the answer of each model, as `{model, status, text, error}`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<Value>,
    /// `{class, message, hint}`.
    pub error: Option<Value>,
    pub warnings: Vec<String>,
    pub cost_usd: Option<f64>,
    pub cost_known: bool,
    pub session_id: Option<String>,
    /// Where the whole answer is, when it was too long.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub full_text_path: Option<String>,
    /// RFC 3339.
    pub created_at: String,
    pub started_at: Option<String>,
    pub ended_at: Option<String>,
    /// Whether its texts were removed after the time that they are kept.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub forgotten: bool,
}
