//! The ways in which the fake departs from a good OpenCode server.
//!
//! The fields are independent: a server can be an old version, want a password and lose its events.

use std::time::Duration;

#[derive(Debug, Clone)]
pub struct Behaviour {
    /// What `/global/health` reports.
    pub version: String,
    /// With a password every path needs basic authentication as the user `opencode`.
    pub password: Option<String>,
    pub serving: Serving,
    pub run: Run,
    pub events: Events,
    pub heartbeat: Duration,
    pub permission_reply: PermissionReply,
    /// As `provider/model`.
    pub models: Vec<String>,
}

impl Default for Behaviour {
    fn default() -> Self {
        Self {
            version: "1.18.33".to_owned(),
            password: None,
            serving: Serving::Normal,
            run: Run::Answers,
            events: Events::Normal,
            heartbeat: Duration::from_secs(10),
            permission_reply: PermissionReply::Works,
            models: ["scripted/alpha", "scripted/beta"].map(str::to_owned).to_vec(),
        }
    }
}

/// How requests are met, whatever they ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Serving {
    Normal,
    /// Once a session was created, every answer is `{}`.
    EmptyObjectsAfterCreate,
    /// Every answer is a web page with status 200, as for a mistyped path.
    Html,
    /// Connections are accepted and nothing is ever answered.
    Wedged,
    /// Good until a prompt was accepted, then wedged; open event streams send nothing either.
    WedgesAfterPrompt,
    /// Soon after a prompt was accepted, the listener and all connections are closed.
    DiesAfterPrompt,
    /// 401 whatever the credentials are.
    Unauthorized,
}

/// The outcome of a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Run {
    /// The provider of the configuration answers, and tools are executed. Only a process has what this takes.
    Works,
    /// `ok: ` and the prompt's text.
    Answers,
    /// The same, from a model that was not asked for.
    IgnoresModel { provider: String, model: String },
    /// Busy until an abort, which ends it as it should.
    NeverFinishes,
    /// Busy until an abort, after which a whole answer arrives all the same.
    FinishesAfterAbort,
    /// `session.error`, no `session.idle`, and no assistant message.
    ErrorWithoutIdle,
    /// A child session asks for a permission; the run goes on when it is answered.
    AsksInChild,
}

/// How `/global/event` departs from a stream that sends every event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Events {
    Normal,
    /// The stream ends after this many events beyond the first.
    DropEvery(usize),
    /// The stream stays open and sends nothing, no heartbeat either, after this many events beyond the first.
    SilentAfter(usize),
    /// Every event but the one that a session is idle.
    WithoutFinalIdle,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PermissionReply {
    Works,
    /// 500, and the permission stays pending.
    Fails,
}
