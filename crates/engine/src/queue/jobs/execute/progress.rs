//! The progress of a job while it is at work, recorded now and then.

use crate::{Context, fanout::batch::Step};
use serde_json::json;
use shuntyard_agents::opencode::{Progress, Sink};
use shuntyard_host::clock::now_micros;
use shuntyard_store::{JobNote, JobRecord};
use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};
use tokio::{task::JoinHandle, time::sleep};
use tokio_util::sync::CancellationToken;

/// Recorded at most so often: every record wakes the waiters.
const EVERY: Duration = Duration::from_secs(1);
const LONGEST: usize = 160;

#[derive(Debug, Default)]
struct State {
    characters: usize,
    last: String,
    is_new: bool,
}

#[derive(Debug)]
pub(super) struct ProgressRecorder {
    state: Arc<Mutex<State>>,
    stop: CancellationToken,
    writer: JoinHandle<()>,
}

impl ProgressRecorder {
    /// Starts to record. This finds out when the claim is over, and ends what runs for it.
    pub(super) fn start(context: &Context, job: &JobRecord, cancel: &CancellationToken) -> Self {
        let state = Arc::new(Mutex::new(State::default()));
        let stop = CancellationToken::new();
        let writer =
            tokio::spawn(write(context.clone(), job.clone(), Arc::clone(&state), stop.clone(), cancel.clone()));
        Self { state, stop, writer }
    }

    pub(super) fn sink(&self) -> Sink {
        let state = Arc::clone(&self.state);
        Arc::new(move |progress| hear(&state, progress))
    }

    /// The same for a batch, which reports only beginnings and ends.
    pub(super) fn steps(&self, count: usize) -> Box<dyn Fn(Step<'_>) + Send + Sync + '_> {
        let ended = std::sync::atomic::AtomicUsize::new(0);
        Box::new(move |step| {
            let ended = match step {
                Step::Began(_) => ended.load(std::sync::atomic::Ordering::Relaxed),
                Step::Ended(_) => ended.fetch_add(1, std::sync::atomic::Ordering::Relaxed) + 1,
            };
            say(&self.state, format!("{ended} of {count} models have answered"));
        })
    }

    pub(super) async fn end(self) {
        self.stop.cancel();
        drop(self.writer.await);
    }
}

fn hear(state: &Mutex<State>, progress: Progress) {
    match progress {
        Progress::Text(text) => {
            let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
            state.characters += text.chars().count();
            state.last = format!("answering, {} characters", state.characters);
            state.is_new = true;
        }
        Progress::Tool { tool, title, .. } => say(state, format!("{tool} {title}").trim().to_owned()),
        Progress::Permission { what, allowed } => {
            say(state, format!("{} {what}", if allowed { "allowed:" } else { "refused:" }));
        }
        Progress::Moved { to, why } => say(state, format!("goes on with {to}: {why}")),
    }
}

fn say(state: &Mutex<State>, text: String) {
    let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
    state.last = shuntyard_core::values::redact::redact(&text).chars().take(LONGEST).collect();
    state.is_new = true;
}

async fn write(
    context: Context,
    job: JobRecord,
    state: Arc<Mutex<State>>,
    stop: CancellationToken,
    cancel: CancellationToken,
) {
    // A workflow's progress is its steps; the latest message goes beside them.
    let mut progress = if job.progress.is_object() { job.progress.clone() } else { json!({}) };
    loop {
        tokio::select! {
            () = sleep(EVERY) => {}
            () = stop.cancelled() => return,
        }
        let news = {
            let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::take(&mut state.is_new).then(|| state.last.clone())
        };
        let Some(news) = news else { continue };
        if let Some(fields) = progress.as_object_mut() {
            fields.insert("heard".to_owned(), json!(news));
            fields.insert("heard_at".to_owned(), json!(now_micros()));
        }
        let note = JobNote { progress: Some(progress.clone()), ..JobNote::default() };
        match context.store.note_job(job.id, job.epoch, &note, now_micros()).await {
            Ok(true) => {}
            Ok(false) => cancel.cancel(),
            Err(error) => tracing::debug!(%error, "progress could not be noted"),
        }
    }
}
