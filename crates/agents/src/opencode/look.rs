//! Looking at the server beside the event stream: a stream can die and take its last event with it.

use super::{
    ask::Asked,
    give_up::GiveUp,
    http::ApiError,
    run::{RunPrompt, Shape, unix_millis},
    types::{MessageWithParts, ServerEvent},
    watch::{Action, Watch},
};
use std::time::{Duration, Instant};

/// A prompt that was taken may need a moment before its run shows.
const SLOW_START: Duration = Duration::from_secs(3);

/// What is known of the call that started the run.
#[derive(Debug, Clone, Copy)]
pub(super) struct Patience {
    pub(super) returned: bool,
    pub(super) began: Instant,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Withdrawn {
    Yes,
    No,
}

/// The result of a poll of the server.
#[derive(Debug)]
pub(super) enum Look {
    Ended(Vec<MessageWithParts>),
    Hopeless(GiveUp),
    /// With whether the request that is being decided is gone.
    Running(Withdrawn),
    /// Neither running nor answered yet.
    Unclear,
    Lost(ApiError),
}

/// Reads the state of the run from the server, and handles what a lost event may have left undone.
pub(super) async fn look_back(run: &RunPrompt<'_>, watch: &mut Watch, asked: &mut Asked, patience: Patience) -> Look {
    let messages = match run.client.run_messages(run.session, run.message).await {
        Ok(messages) => messages,
        Err(error) => return Look::Lost(error),
    };
    if is_conclusive(&messages, run.message) {
        return Look::Ended(messages);
    }
    let running = match run.client.running().await {
        Ok(running) => running,
        Err(error) => return Look::Lost(error),
    };
    if running.contains_key(run.session) {
        // Without events, what was stored since the last poll is the sign of life.
        let stored = messages.iter().map(|message| 1 + message.parts.len()).sum();
        watch.on_look(stored, Instant::now());
        for (session, status) in running {
            let event = ServerEvent::Status { session, status };
            for action in watch.on_event(&event, Instant::now(), unix_millis()) {
                if let Action::GiveUp(reason) = action {
                    return Look::Hopeless(reason);
                }
            }
        }
        return match catch_up(run, watch, asked).await {
            Ok(withdrawn) => Look::Running(withdrawn),
            Err(reason) => Look::Hopeless(reason),
        };
    }
    // A directory's first prompt can take a while to begin: while the call is open, silence means that.
    let may_begin = !patience.returned || patience.began.elapsed() < SLOW_START;
    if answers(&messages, run.message) == 0 && watch.error().is_none() && may_begin {
        return Look::Unclear;
    }
    // The status was read after the messages: one more read gets what was written in between.
    match run.client.run_messages(run.session, run.message).await {
        Ok(messages) => Look::Ended(messages),
        Err(error) => Look::Lost(error),
    }
}

/// Finds children, permissions and questions whose events were lost. What cannot be read now is
/// read at the next poll.
async fn catch_up(run: &RunPrompt<'_>, watch: &mut Watch, asked: &mut Asked) -> Result<Withdrawn, GiveUp> {
    for session in watch.sessions().to_vec() {
        for child in run.client.children(&session).await.unwrap_or_default() {
            watch.add_session(child.id);
        }
    }
    let mut withdrawn = Withdrawn::No;
    if let Ok(open) = run.client.pending_permissions().await {
        if asked.is_withdrawn(run, &open).await {
            withdrawn = Withdrawn::Yes;
        }
        for pending in open.iter().filter(|pending| watch.owns(&pending.session)) {
            asked.permission(run, pending).await?;
        }
    }
    for pending in run.client.pending_questions().await.unwrap_or_default() {
        if watch.owns(&pending.session) {
            asked.question(run, &pending).await?;
        }
    }
    Ok(withdrawn)
}

/// Whether the returned message is the only one of the run, so that nothing else has to be read.
pub(super) fn is_whole_run(run: &RunPrompt<'_>, watch: &Watch, message: &MessageWithParts) -> bool {
    run.shape == Shape::OneAnswer && watch.steps() == 1 && message.info.parent.as_deref() == Some(run.message)
}

/// How many messages of the run there are.
pub(super) fn answers(messages: &[MessageWithParts], prompt: &str) -> usize {
    let ours = messages.iter().position(|message| message.info.id == prompt);
    ours.map_or(0, |index| messages[index + 1..].iter().filter(|message| message.info.role == "assistant").count())
}

/// Whether the last answer is one after which OpenCode does nothing more.
fn is_conclusive(messages: &[MessageWithParts], prompt: &str) -> bool {
    let last = messages.last().filter(|last| last.info.role == "assistant" && answers(messages, prompt) > 0);
    last.is_some_and(|last| {
        let finished = matches!(last.info.finish.as_deref(), Some("stop")) && last.info.error.is_none();
        last.info.time.completed.is_some() && (finished || last.info.structured.is_some())
    })
}
