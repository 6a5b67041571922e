//! What follows from each event of a run, and when its patience ends. Pure: time comes in as values.

use super::{
    classify::classify_retry,
    give_up::{GiveUp, Timer},
    judge::is_work,
    run::{RunLimits, StepLimit},
    types::{Part, Pending, RunError, RunStatus, ServerEvent},
};
use shuntyard_core::{ErrorClass, Nano};
use std::{
    collections::{HashMap, HashSet},
    time::{Duration, Instant},
};

/// A tool may be silent for this many times the ordinary patience.
const TOOL_PATIENCE: u32 = 5;

/// What the run's loop has to do about an event.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Action {
    ShowText(String),
    ShowTool {
        tool: String,
        title: String,
        input: String,
    },
    AnswerPermission(Pending),
    RejectQuestion(Pending),
    /// The run may have ended: read it back.
    LookBack,
    GiveUp(GiveUp),
}

#[derive(Debug)]
pub(super) struct Watch {
    root: String,
    sessions: Vec<String>,
    limits: RunLimits,
    started: Instant,
    last_sign: Instant,
    answering: bool,
    user_messages: HashSet<String>,
    part_kinds: HashMap<String, String>,
    open_tools: HashSet<String>,
    steps: HashSet<String>,
    /// What each finished step cost, by its part: one may be reported again.
    costs: HashMap<String, Nano>,
    /// Messages in which a tool was used: after such a step the model is asked once more.
    worked: HashSet<String>,
    error: Option<RunError>,
    text_parts_shown: Option<String>,
    stored: usize,
    /// Since when a person is waited for.
    paused: Option<Instant>,
}

impl Watch {
    pub(super) fn new(root: &str, prompt: &str, limits: RunLimits, now: Instant) -> Self {
        Self {
            root: root.to_owned(),
            sessions: vec![root.to_owned()],
            limits,
            started: now,
            last_sign: now,
            answering: false,
            user_messages: HashSet::from([prompt.to_owned()]),
            part_kinds: HashMap::new(),
            open_tools: HashSet::new(),
            steps: HashSet::new(),
            costs: HashMap::new(),
            worked: HashSet::new(),
            error: None,
            text_parts_shown: None,
            stored: 0,
            paused: None,
        }
    }

    pub(super) fn sessions(&self) -> &[String] {
        &self.sessions
    }

    pub(super) fn add_session(&mut self, session: String) {
        if !self.sessions.contains(&session) {
            self.sessions.push(session);
        }
    }

    /// No timer runs while a person decides.
    pub(super) fn pause(&mut self, now: Instant) {
        self.paused.get_or_insert(now);
    }

    /// The total goes on where it was, and the patience with silence begins again.
    pub(super) fn resume(&mut self, now: Instant) {
        if let Some(since) = self.paused.take() {
            let waited = now.saturating_duration_since(since);
            self.limits.began += waited;
            self.started += waited;
            self.last_sign = now;
        }
    }

    pub(super) fn error(&self) -> Option<&RunError> {
        self.error.as_ref()
    }

    /// How many messages and parts a poll has found.
    pub(super) fn on_look(&mut self, stored: usize, now: Instant) {
        if stored > self.stored {
            // The prompt itself is the first; more than that is an answer.
            if self.stored > 0 {
                self.sign_of_life(now);
            }
            self.stored = stored;
        }
    }

    /// Steps that the root has begun, as far as events reported.
    pub(super) fn steps(&self) -> usize {
        self.steps.len()
    }

    pub(super) fn owns(&self, session: &str) -> bool {
        self.sessions.iter().any(|ours| ours == session)
    }

    pub(super) fn on_event(&mut self, event: &ServerEvent, now: Instant, unix_millis: i64) -> Vec<Action> {
        match event {
            ServerEvent::SessionCreated { session, parent } => {
                if parent.as_deref().is_some_and(|parent| self.owns(parent)) {
                    self.add_session(session.clone());
                }
                Vec::new()
            }
            ServerEvent::Status { session, status } if self.owns(session) => {
                self.on_status(session, status, now, unix_millis)
            }
            ServerEvent::Idle { session } if *session == self.root => vec![Action::LookBack],
            ServerEvent::Error { session: Some(session), error } if *session == self.root => {
                self.error = Some(error.clone());
                vec![Action::LookBack]
            }
            ServerEvent::Message { session, message, role } if self.owns(session) => {
                if role == "user" {
                    self.user_messages.insert(message.clone());
                }
                Vec::new()
            }
            ServerEvent::Part { session, part } if self.owns(session) => self.on_part(session, part, now),
            ServerEvent::Delta { session, message, part, field, delta } if self.owns(session) => {
                if self.user_messages.contains(message) {
                    return Vec::new();
                }
                self.sign_of_life(now);
                let is_text = field == "text" && self.part_kinds.get(part).is_some_and(|kind| kind == "text");
                if is_text && *session == self.root { self.show(part, delta) } else { Vec::new() }
            }
            ServerEvent::PermissionAsked(pending) if self.owns(&pending.session) => {
                vec![Action::AnswerPermission(pending.clone())]
            }
            ServerEvent::QuestionAsked(pending) if self.owns(&pending.session) => {
                vec![Action::RejectQuestion(pending.clone())]
            }
            _ => Vec::new(),
        }
    }

    fn on_status(&mut self, session: &str, status: &RunStatus, now: Instant, unix_millis: i64) -> Vec<Action> {
        match status {
            RunStatus::Busy => Vec::new(),
            RunStatus::Idle if session == self.root => vec![Action::LookBack],
            RunStatus::Idle => Vec::new(),
            RunStatus::Retry { attempt, message, next } => {
                #[expect(clippy::cast_possible_truncation, reason = "a time in milliseconds is far below 2^53")]
                let wait = (*next as i64).saturating_sub(unix_millis).max(0);
                let wait = Duration::from_millis(wait.unsigned_abs());
                match self.patience_with(message, wait, *attempt, now) {
                    true => Vec::new(),
                    false => vec![Action::GiveUp(GiveUp::ProviderRetry {
                        message: message.clone(),
                        wait,
                        attempt: *attempt,
                    })],
                }
            }
        }
    }

    /// Whether waiting for this retry of the provider can still lead to an answer in time.
    fn patience_with(&self, message: &str, wait: Duration, attempt: u32, now: Instant) -> bool {
        let too_often = attempt > self.limits.provider_retries;
        let too_long = self.limits.retry_wait_cap.is_some_and(|cap| wait > cap);
        let past_the_end = self.limits.total.is_some_and(|total| now + wait >= self.limits.began + total);
        let hopeless = classify_retry(message, wait) == ErrorClass::QuotaExhausted;
        !(too_often || too_long || past_the_end || hopeless)
    }

    fn on_part(&mut self, session: &str, part: &Part, now: Instant) -> Vec<Action> {
        if self.user_messages.contains(&part.message) {
            return Vec::new();
        }
        self.sign_of_life(now);
        self.part_kinds.insert(part.id.clone(), part.kind.clone());
        match part.kind.as_str() {
            "tool" => self.on_tool(part),
            "step-finish" => {
                self.costs.insert(part.id.clone(), Nano::from_usd(part.cost).unwrap_or_default());
                // An answer that is paid for may still be given; another step would only cost more.
                let goes_on = self.worked.contains(&part.message);
                self.over_cost().filter(|_| goes_on).map(Action::GiveUp).into_iter().collect()
            }
            "step-start" if self.over_cost().is_some() => self.over_cost().map(Action::GiveUp).into_iter().collect(),
            "step-start" if session == self.root => {
                self.steps.insert(part.id.clone());
                match self.limits.steps {
                    Some(StepLimit::Work(most)) if self.steps.len() > most as usize => {
                        vec![Action::GiveUp(GiveUp::StepLimit(most))]
                    }
                    Some(StepLimit::Circles(most)) if self.steps.len() > most as usize => {
                        vec![Action::GiveUp(GiveUp::Loop(most + 1))]
                    }
                    _ => Vec::new(),
                }
            }
            _ => Vec::new(),
        }
    }

    /// Children spend as well: the steps of the whole family count.
    fn over_cost(&self) -> Option<GiveUp> {
        let most = self.limits.max_cost?;
        let spent: Nano = self.costs.values().copied().sum();
        (spent >= most && !self.costs.is_empty()).then_some(GiveUp::CostLimit { spent, most })
    }

    fn on_tool(&mut self, part: &Part) -> Vec<Action> {
        if is_work(part) {
            self.worked.insert(part.message.clone());
        }
        let Some(state) = &part.state else { return Vec::new() };
        if !matches!(state.status.as_str(), "pending" | "running") {
            self.open_tools.remove(&part.id);
            return Vec::new();
        }
        let newly_running = state.status == "running" && self.open_tools.insert(part.id.clone());
        if newly_running {
            let (tool, title) = (part.tool.clone(), state.title.clone());
            vec![Action::ShowTool { tool, title, input: state.input.to_string() }]
        } else {
            Vec::new()
        }
    }

    /// Text of a later part starts on a line of its own, as it does in the answer.
    fn show(&mut self, part: &str, delta: &str) -> Vec<Action> {
        let new_part = self.text_parts_shown.as_deref().is_some_and(|shown| shown != part);
        self.text_parts_shown = Some(part.to_owned());
        let text = if new_part { format!("\n{delta}") } else { delta.to_owned() };
        vec![Action::ShowText(text)]
    }

    fn sign_of_life(&mut self, now: Instant) {
        self.answering = true;
        self.last_sign = now;
    }

    /// The next moment at which patience ends, with the timer that ends it.
    pub(super) fn next_deadline(&self) -> Option<(Instant, GiveUp)> {
        if self.paused.is_some() {
            return None;
        }
        let total = self.limits.total.map(|after| (self.limits.began + after, Timer::Total, after));
        let silence = if !self.answering {
            self.limits.first_token.map(|after| (self.started + after, Timer::FirstToken, after))
        } else {
            let factor = if self.open_tools.is_empty() { 1 } else { TOOL_PATIENCE };
            self.limits.inactivity.map(|after| (self.last_sign + after * factor, Timer::Inactivity, after * factor))
        };
        let (at, timer, after) = [total, silence].into_iter().flatten().min_by_key(|(at, ..)| *at)?;
        Some((at, GiveUp::Timeout { timer, after }))
    }
}

#[cfg(test)]
#[path = "watch_tests.rs"]
mod tests;
