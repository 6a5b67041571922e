//! The life of a claim while its worker is at it: the lease is lengthened, and the worker learns when it is over.

use super::transcript::Transcript;
use crate::Context;
use shuntyard_agents::opencode::{Progress, Sink};
use shuntyard_core::{
    settings::micros,
    work::task::{Circles, State, Stop, TaskId, Turn, checkout::Call},
};
use shuntyard_host::{ProcessIdentity, clock::now_micros};
use std::sync::{
    Arc, Mutex,
    atomic::{AtomicBool, AtomicI64, Ordering},
};
use std::time::Duration;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// How often the store is asked whether the claim still holds.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// Characters of a tool's input that are compared.
const INPUT: usize = 2000;
/// Calls that are remembered, to find out which changes the agent made.
const REMEMBERED: usize = 10_000;

/// Stops whatever listens to `stop`, once there is a reason to.
#[derive(Debug)]
pub(super) struct Life {
    shared: Arc<Shared>,
    keeping: JoinHandle<()>,
}

#[derive(Debug)]
struct Shared {
    stop: CancellationToken,
    done: CancellationToken,
    /// The task has a newer claim.
    over: AtomicBool,
    why: Mutex<Option<Stop>>,
    progress_at: AtomicI64,
    circles: Mutex<Circles>,
    calls: Mutex<Vec<Call>>,
    transcript: Mutex<Transcript>,
}

impl Life {
    pub(super) fn begin(context: &Context, id: &TaskId, epoch: i64) -> Self {
        let shared = Arc::new(Shared {
            stop: CancellationToken::new(),
            done: CancellationToken::new(),
            over: AtomicBool::new(false),
            why: Mutex::new(None),
            progress_at: AtomicI64::new(now_micros()),
            circles: Mutex::new(Circles::new(context.config.supervise.repeats)),
            calls: Mutex::new(Vec::new()),
            transcript: Mutex::new(Transcript::new(context, id, epoch)),
        });
        let keeping = tokio::spawn(keep(context.clone(), id.clone(), epoch, Arc::clone(&shared)));
        Self { shared, keeping }
    }

    /// Ends with the claim, and with a reason to stop.
    pub(super) fn stop(&self) -> &CancellationToken {
        &self.shared.stop
    }

    pub(super) fn is_over(&self) -> bool {
        self.shared.over.load(Ordering::Acquire)
    }

    pub(super) fn why_stopped(&self) -> Option<Stop> {
        self.shared.why.lock().ok().and_then(|why| *why)
    }

    /// The calls of the agent that can change files, in order.
    pub(super) fn calls(&self) -> Vec<Call> {
        self.shared.calls.lock().map(|calls| calls.clone()).unwrap_or_default()
    }

    /// Receives the progress of the agent.
    pub(super) fn sink(&self) -> Sink {
        let shared = Arc::clone(&self.shared);
        Arc::new(move |progress| {
            shared.progress_at.store(now_micros(), Ordering::Release);
            if let Ok(mut transcript) = shared.transcript.lock() {
                transcript.note(&progress);
            }
            if let Progress::Tool { tool, input, .. } = progress {
                shared.note_call(&tool, &input);
            }
        })
    }

    /// The agent has answered. Its words are in the transcript before the task can be done.
    pub(super) fn answered(&self, text: &str) {
        if let Ok(mut transcript) = self.shared.transcript.lock() {
            transcript.answer(text);
        }
    }

    pub(super) async fn end(self) {
        self.shared.done.cancel();
        if let Ok(mut transcript) = self.shared.transcript.lock() {
            transcript.flush();
        }
        drop(self.keeping.await);
    }
}

impl Shared {
    fn note_call(&self, tool: &str, input: &str) {
        let call: String = format!("{tool} {}", input.chars().take(INPUT).collect::<String>());
        // The whole input is read here: the path of a long file can come behind its text.
        if let (Ok(mut calls), Ok(input)) = (self.calls.lock(), serde_json::from_str(input)) {
            let room = REMEMBERED.saturating_sub(calls.len());
            calls.extend(Call::of_tool(tool, &input).into_iter().take(room));
        }
        let again = self.circles.lock().ok().and_then(|mut circles| circles.note(Turn(call)));
        if again.is_some() {
            self.halt(Stop::Circles);
        }
    }

    /// The first reason counts.
    fn halt(&self, reason: Stop) {
        if let Ok(mut why) = self.why.lock() {
            why.get_or_insert(reason);
        }
        self.stop.cancel();
    }

    fn lose(&self) {
        self.over.store(true, Ordering::Release);
        self.halt(Stop::Cancelled);
    }
}

/// Lengthens the lease as long as this process can do anything at all. A silent agent is for the timers of its run,
/// which end it.
async fn keep(context: Context, id: TaskId, epoch: i64, shared: Arc<Shared>) {
    let lease = micros(context.config.supervise.lease);
    let owner = Owner::of(&context);
    // A store that cannot be reached for this long may have given the task away.
    let mut sure_until = now_micros().saturating_add(lease);
    loop {
        tokio::select! {
            () = shared.done.cancelled() => return,
            () = tokio::time::sleep(LOOK_EVERY) => {}
        }
        if owner.is_gone() {
            return shared.lose();
        }
        let now = now_micros();
        let until = now.saturating_add(lease);
        match context.store.renew_run(&id, epoch, shared.progress_at.load(Ordering::Acquire), until).await {
            Ok(true) => sure_until = until,
            Ok(false) => return shared.lose(),
            Err(error) => {
                tracing::warn!(%error, "the lease could not be lengthened");
                if now >= sure_until {
                    return shared.lose();
                }
            }
        }
        if let Ok(record) = context.store.task(&id).await
            && matches!(record.task.state, State::Stopping { .. })
        {
            shared.halt(Stop::Cancelled);
        }
    }
}

/// The process that this worker ends with, if one is given: the demo and tests must leave nothing behind.
#[derive(Debug, Clone, Copy)]
enum Owner {
    Nobody,
    Process(ProcessIdentity),
    /// Gone before the first check.
    Gone,
}

impl Owner {
    fn of(context: &Context) -> Self {
        match context.variable("SHUNTYARD_SERVER_OWNER_PID").and_then(|pid| pid.parse().ok()) {
            None => Self::Nobody,
            Some(pid) => ProcessIdentity::of(pid).map_or(Self::Gone, Self::Process),
        }
    }

    fn is_gone(self) -> bool {
        match self {
            Self::Nobody => false,
            Self::Process(owner) => !owner.is_alive(),
            Self::Gone => true,
        }
    }
}
