//! One prompt on one session, from the request to the judged outcome.
//!
//! Every wait here ends: by an event, by a timer of the run, or by the regular poll of the server
//! that runs beside the event stream, because a stream can die and take its last event with it.

use super::{
    approve::{Approver, Decision},
    ask::{Asked, Deciding},
    client::{Client, PromptBody},
    events::{EventHub, HubEvent},
    give_up::{GiveUp, PermissionPolicy},
    http::ApiError,
    judge::{Expect, Failure, Verdict, judge},
    look::{Look, Patience, Withdrawn, answers, is_whole_run, look_back},
    stop::{StopOutcome, stop_sessions},
    types::MessageWithParts,
    watch::{Action, Watch},
};
use shuntyard_core::{ErrorClass, Nano, Usage};
use std::{
    pin::pin,
    sync::Arc,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};
use tokio::sync::broadcast::{Receiver, error::RecvError};
use tokio_util::sync::CancellationToken;

const LOOK_EVERY: Duration = Duration::from_secs(3);
const LOOK_SOON: Duration = Duration::from_millis(250);
/// A server writes its answer and its events at the same moment, to two connections.
const EVENTS_FOLLOW: Duration = Duration::from_millis(15);
const LOST_AFTER: u32 = 3;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunLimits {
    pub first_token: Option<Duration>,
    pub inactivity: Option<Duration>,
    pub total: Option<Duration>,
    /// When the total began to count: several prompts can share one deadline.
    pub began: Instant,
    pub retry_wait_cap: Option<Duration>,
    pub provider_retries: u32,
    pub steps: Option<StepLimit>,
    /// What the steps may cost: once they did, no further one is begun.
    pub max_cost: Option<Nano>,
    pub permission: PermissionPolicy,
}

/// How many steps a run may take, and what it means to take more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepLimit {
    /// The work was longer than allowed.
    Work(u32),
    /// There was nothing to do but answer: OpenCode is going in circles.
    Circles(u32),
}

/// What can be shown while a run goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Progress {
    Text(String),
    Tool {
        tool: String,
        title: String,
        /// What it was called with, as JSON: two calls that are the same do the same.
        input: String,
    },
    Permission {
        what: String,
        allowed: bool,
    },
    /// Another model is asked; the text until now is no part of the answer.
    Moved {
        to: String,
        why: String,
    },
}

pub type Sink = Arc<dyn Fn(Progress) + Send + Sync>;

/// What a run consists of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// One answer: the message that the server returns is all of it.
    OneAnswer,
    /// Tools and steps: the whole run has to be read.
    ManySteps,
}

pub struct RunPrompt<'a> {
    pub client: &'a Client,
    pub hub: &'a EventHub,
    pub session: &'a str,
    /// Chosen by us, so that the answer can be distinguished from any other.
    pub message: &'a str,
    pub body: &'a PromptBody,
    pub expect: Expect,
    pub shape: Shape,
    pub limits: RunLimits,
    /// Who decides about permissions; without an approver the limits do.
    pub approver: Option<&'a dyn Approver>,
    pub sink: &'a Sink,
    pub cancel: &'a CancellationToken,
}

impl std::fmt::Debug for RunPrompt<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RunPrompt")
            .field("session", &self.session)
            .field("message", &self.message)
            .finish_non_exhaustive()
    }
}

#[derive(Debug, Clone)]
pub struct PromptReport {
    pub verdict: Verdict,
    pub gave_up: Option<GiveUp>,
    /// What became of the run when we ended it.
    pub stop: Option<StopOutcome>,
    pub warnings: Vec<String>,
}

/// Runs one prompt to its end.
pub async fn run_prompt(run: RunPrompt<'_>) -> PromptReport {
    let mut watch = Watch::new(run.session, run.message, run.limits, Instant::now());
    let mut asked = Asked::default();
    let ended = drive(&run, &mut watch, &mut asked).await;
    let (verdict, gave_up, stop) = match ended {
        Ended::ReadBack(messages) => (judge(&messages, run.message, run.expect, watch.error()), None, None),
        Ended::Refused(failure) => (failed_verdict(failure), None, None),
        Ended::GaveUp(reason) => {
            let stop = stop_sessions(run.client, watch.sessions()).await;
            // What cannot be read now is not there to be judged: the reason to give up holds anyway.
            let messages = match stop {
                StopOutcome::Unreachable => Vec::new(),
                StopOutcome::Stopped | StopOutcome::StillRunning => {
                    run.client.run_messages(run.session, run.message).await.unwrap_or_default()
                }
            };
            let mut verdict = judge(&messages, run.message, run.expect, watch.error());
            verdict.outcome = Err(reason.failure());
            // Tokens of an answer that was cut off are billed and never reported.
            verdict.unreported |= matches!(
                reason,
                GiveUp::Timeout { .. } | GiveUp::Cancelled | GiveUp::ServerLost(_) | GiveUp::Unreadable(_)
            );
            (verdict, Some(reason), Some(stop))
        }
    };
    PromptReport { verdict, gave_up, stop, warnings: asked.into_warnings() }
}

enum Ended {
    ReadBack(Vec<MessageWithParts>),
    /// The server did not take the prompt at all.
    Refused(Failure),
    GaveUp(GiveUp),
}

async fn drive(run: &RunPrompt<'_>, watch: &mut Watch, asked: &mut Asked) -> Ended {
    let mut events = run.hub.subscribe();
    let mut running = pin!(run.client.run(run.session, run.message, run.body));
    let mut returned = false;
    let began = Instant::now();
    let mut look_at = began + LOOK_EVERY;
    let mut lost = 0;
    let mut refused = None;
    let mut deciding: Deciding<'_> = None;
    loop {
        if deciding.is_none() {
            deciding = asked.next(run).await;
            if deciding.is_some() {
                watch.pause(Instant::now());
            }
        }
        let patience = watch.next_deadline();
        let patience_ends = patience.as_ref().map(|(at, _)| tokio::time::Instant::from_std(*at));
        let mut actions = Vec::new();
        let mut look = false;
        tokio::select! {
            biased;
            () = run.cancel.cancelled() => return Ended::GaveUp(GiveUp::Cancelled),
            () = sleep_until(patience_ends), if patience_ends.is_some() => {
                if let Some((_, reason)) = patience { return Ended::GaveUp(reason) }
            }
            // Events first: those that came before the answer belong to it.
            received = events.recv() => match received {
                Ok(HubEvent::Event(event)) => actions = watch.on_event(&event, Instant::now(), unix_millis()),
                // What was missed is unknown: read the state again.
                Ok(HubEvent::Connected) | Err(RecvError::Lagged(_)) => look = began.elapsed() > LOOK_SOON,
                Err(RecvError::Closed) => return Ended::GaveUp(GiveUp::ServerLost("its events ended".into())),
            },
            answer = &mut running, if !returned => {
                returned = true;
                tracing::debug!("the call has returned");
                catch_events(run, watch, &mut events).await;
                match answer {
                    Ok(Some(message)) if is_whole_run(run, watch, &message) => {
                        return Ended::ReadBack(vec![MessageWithParts::unread_prompt(run.message), message]);
                    }
                    Ok(_) => look = true,
                    Err(error) => match refusal(run, &error).await {
                        Some(failure) => return Ended::Refused(failure),
                        None => {
                            refused = Some(Failure::new(ErrorClass::OpencodeUnhealthy, error.to_string()));
                            look = true;
                        }
                    },
                }
            }
            () = sleep_until(Some(tokio::time::Instant::from_std(look_at))) => look = true,
            Some(decision) = decision(&mut deciding) => {
                deciding = None;
                watch.resume(Instant::now());
                if let Err(reason) = asked.decided(run, decision).await {
                    return Ended::GaveUp(reason);
                }
            }
        }
        for action in actions {
            match action {
                Action::ShowText(text) => (run.sink)(Progress::Text(text)),
                Action::ShowTool { tool, title, input } => (run.sink)(Progress::Tool { tool, title, input }),
                Action::AnswerPermission(pending) => {
                    if let Err(reason) = asked.permission(run, &pending).await {
                        return Ended::GaveUp(reason);
                    }
                }
                Action::RejectQuestion(pending) => {
                    if let Err(reason) = asked.question(run, &pending).await {
                        return Ended::GaveUp(reason);
                    }
                }
                Action::GiveUp(reason) => return Ended::GaveUp(reason),
                // The call is about to return with the answer; if it does not, the server is asked.
                Action::LookBack if !returned => look_at = look_at.min(Instant::now() + LOOK_SOON),
                Action::LookBack => look = true,
            }
        }
        if !look {
            continue;
        }
        match look_back(run, watch, asked, Patience { returned, began }).await {
            Look::Ended(messages) => {
                // The cause of a refusal is an event, and events can be lost; then the refusal is all there is.
                let unexplained = answers(&messages, run.message) == 0 && watch.error().is_none();
                return match refused {
                    Some(failure) if unexplained => Ended::Refused(failure),
                    _ => Ended::ReadBack(messages),
                };
            }
            Look::Hopeless(reason) => return Ended::GaveUp(reason),
            Look::Running(withdrawn) => {
                lost = 0;
                if withdrawn == Withdrawn::Yes {
                    deciding = None;
                    watch.resume(Instant::now());
                }
                look_at = Instant::now() + LOOK_EVERY;
            }
            Look::Unclear => {
                lost = 0;
                look_at = Instant::now() + if returned { LOOK_SOON } else { LOOK_EVERY };
            }
            Look::Lost(error) => {
                lost += 1;
                if lost >= LOST_AFTER {
                    let why = error.to_string();
                    let reason = if error.is_server_lost() { GiveUp::ServerLost(why) } else { GiveUp::Unreadable(why) };
                    return Ended::GaveUp(reason);
                }
                look_at = Instant::now() + LOOK_SOON * 4;
            }
        }
    }
}

/// What is being decided, once it is; nothing when there is nothing to decide.
async fn decision(deciding: &mut Deciding<'_>) -> Option<Decision> {
    match deciding {
        Some(deciding) => Some(deciding.await),
        None => None,
    }
}

/// Takes the events that came with the answer and are still on their way: what they show belongs to it, and
/// they show whether it was the only step.
async fn catch_events(run: &RunPrompt<'_>, watch: &mut Watch, events: &mut Receiver<HubEvent>) {
    let until = tokio::time::Instant::now() + EVENTS_FOLLOW;
    loop {
        let received = match watch.steps() {
            0 => tokio::time::timeout_at(until, events.recv()).await.ok().and_then(Result::ok),
            _ => events.try_recv().ok(),
        };
        match received {
            Some(HubEvent::Event(event)) => {
                for action in watch.on_event(&event, Instant::now(), unix_millis()) {
                    if let Action::ShowText(text) = action {
                        (run.sink)(Progress::Text(text));
                    }
                }
            }
            Some(HubEvent::Connected) => {}
            None => return,
        }
    }
}

/// What a prompt that was not taken means. `None`: it may have been taken all the same, so look.
async fn refusal(run: &RunPrompt<'_>, error: &ApiError) -> Option<Failure> {
    if error.is_server_lost() {
        let arrived = run.client.run_messages(run.session, run.message).await.ok()?;
        let taken = arrived.iter().any(|message| message.info.id == run.message);
        return (!taken).then(|| Failure::new(ErrorClass::OpencodeUnhealthy, error.to_string()));
    }
    // A run that fails before it begins answers 500, and the cause is on the event stream; a proxy that loses
    // patience answers much the same, and the run goes on.
    let unclear = matches!(error, ApiError::Refused { status: 500.., .. });
    (!unclear).then(|| Failure::new(ErrorClass::OpencodeUnhealthy, error.to_string()))
}

fn failed_verdict(failure: Failure) -> Verdict {
    Verdict {
        outcome: Err(failure),
        text: String::new(),
        answered_by: None,
        tool_calls: 0,
        unreported: false,
        usage: Usage::default(),
        // Nothing was received of it; the session shows whether it cost anything.
        cost: None,
    }
}

async fn sleep_until(at: Option<tokio::time::Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}

pub(super) fn unix_millis() -> i64 {
    let elapsed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(elapsed.as_millis()).unwrap_or(i64::MAX)
}
