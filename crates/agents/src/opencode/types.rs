//! OpenCode's JSON, read tolerantly: only what is used, and every field that may be absent is.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use shuntyard_core::{ModelRef, Nano, Usage};

#[derive(Debug, Clone, Deserialize)]
pub struct Session {
    pub id: String,
    #[serde(rename = "parentID")]
    pub parent: Option<String>,
    #[serde(default)]
    pub directory: String,
    #[serde(default)]
    pub title: String,
    #[serde(default)]
    pub cost: f64,
    #[serde(default)]
    pub tokens: Tokens,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize)]
pub struct Tokens {
    #[serde(default)]
    pub input: f64,
    #[serde(default)]
    pub output: f64,
    #[serde(default)]
    pub reasoning: f64,
    #[serde(default)]
    pub cache: CacheTokens,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize)]
pub struct CacheTokens {
    #[serde(default)]
    pub read: f64,
    #[serde(default)]
    pub write: f64,
}

impl From<Tokens> for Usage {
    fn from(tokens: Tokens) -> Self {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "token counts are whole and far below 2^53; a negative one saturates to zero"
        )]
        let whole = |count: f64| count.round() as u64;
        Self {
            input: whole(tokens.input),
            output: whole(tokens.output),
            reasoning: whole(tokens.reasoning),
            cache_read: whole(tokens.cache.read),
            cache_write: whole(tokens.cache.write),
        }
    }
}

impl Session {
    /// `None` when the server reports something that is not an amount.
    #[must_use]
    pub fn spent(&self) -> Option<Nano> {
        Nano::from_usd(self.cost)
    }
}

#[derive(Debug, Clone, Deserialize)]
pub struct MessageWithParts {
    pub info: MessageInfo,
    #[serde(default)]
    pub parts: Vec<Part>,
}

impl MessageWithParts {
    /// Stands for a user message that the server will not show.
    pub(super) fn unread_prompt(id: &str) -> Self {
        let info = MessageInfo { id: id.to_owned(), role: "user".to_owned(), ..MessageInfo::default() };
        Self { info, parts: Vec::new() }
    }
}

#[derive(Debug, Clone, Default, Deserialize)]
pub struct MessageInfo {
    pub id: String,
    pub role: String,
    #[serde(rename = "parentID")]
    pub parent: Option<String>,
    #[serde(rename = "providerID")]
    pub provider: Option<String>,
    #[serde(rename = "modelID")]
    pub model: Option<String>,
    #[serde(default)]
    pub time: MessageTime,
    pub finish: Option<String>,
    pub error: Option<RunError>,
    pub structured: Option<Value>,
    #[serde(default)]
    pub tokens: Tokens,
    #[serde(default)]
    pub cost: f64,
}

impl MessageInfo {
    /// The model that wrote an assistant message.
    #[must_use]
    pub fn model(&self) -> Option<ModelRef> {
        Some(ModelRef::new(self.provider.clone()?, self.model.clone()?))
    }
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
pub struct MessageTime {
    /// Milliseconds since the Unix epoch, by the server's clock.
    pub created: Option<f64>,
    pub completed: Option<f64>,
}

/// An error of a run, as messages and `session.error` events carry it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct RunError {
    pub name: String,
    #[serde(default)]
    pub data: RunErrorData,
}

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub struct RunErrorData {
    #[serde(default)]
    pub message: String,
    #[serde(rename = "statusCode")]
    pub status_code: Option<u16>,
}

#[derive(Debug, Clone, Deserialize)]
pub struct Part {
    #[serde(default)]
    pub id: String,
    #[serde(rename = "messageID", default)]
    pub message: String,
    #[serde(rename = "type")]
    pub kind: String,
    #[serde(default)]
    pub text: String,
    #[serde(default)]
    pub synthetic: bool,
    #[serde(default)]
    pub tool: String,
    pub state: Option<ToolState>,
    /// Of a step that is finished, in dollars.
    #[serde(default)]
    pub cost: f64,
}

#[derive(Debug, Clone, Deserialize)]
pub struct ToolState {
    #[serde(default)]
    pub status: String,
    #[serde(default)]
    pub title: String,
    #[serde(default)]
    pub input: Value,
}

/// `GET /session/status`: sessions that are not idle.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum RunStatus {
    Idle,
    Busy,
    Retry {
        #[serde(default)]
        attempt: u32,
        #[serde(default)]
        message: String,
        /// Milliseconds since the Unix epoch.
        #[serde(default)]
        next: f64,
    },
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PermissionRule {
    pub permission: &'static str,
    pub pattern: &'static str,
    pub action: &'static str,
}

impl PermissionRule {
    #[must_use]
    pub fn deny(permission: &'static str) -> Self {
        Self { permission, pattern: "*", action: "deny" }
    }

    #[must_use]
    pub fn allow(permission: &'static str) -> Self {
        Self { permission, pattern: "*", action: "allow" }
    }
}

/// A pending permission or question, from its event or from the list.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Pending {
    pub id: String,
    #[serde(rename = "sessionID")]
    pub session: String,
    #[serde(default)]
    pub permission: String,
    #[serde(default)]
    pub patterns: Vec<String>,
}

/// One event of the global stream, as far as a run needs it.
#[derive(Debug, Clone)]
pub enum ServerEvent {
    SessionCreated {
        session: String,
        parent: Option<String>,
    },
    Status {
        session: String,
        status: RunStatus,
    },
    Idle {
        session: String,
    },
    Error {
        session: Option<String>,
        error: RunError,
    },
    /// A user's or an assistant's message changed; the role shows whose.
    Message {
        session: String,
        message: String,
        role: String,
    },
    Part {
        session: String,
        part: Part,
    },
    Delta {
        session: String,
        message: String,
        part: String,
        field: String,
        delta: String,
    },
    PermissionAsked(Pending),
    QuestionAsked(Pending),
}
