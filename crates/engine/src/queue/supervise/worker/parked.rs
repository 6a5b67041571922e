//! Permissions that the agent of a task asks a person for.
//!
//! Invariant: the request is in the store before the wait begins, and an answer that is in the store is the one that
//! OpenCode gets. A worker that dies in between leaves the answer to the next attempt, whose agent asks again.

use crate::{
    Context,
    queue::supervise::change::{ChangeError, With, change_as},
};
use async_trait::async_trait;
use sha2::{Digest as _, Sha256};
use shuntyard_agents::opencode::{Approver, Decision, Question};
use shuntyard_core::{
    settings::{Ask, micros},
    values::redact::redact,
    work::task::{Event, PermissionReply, PermissionRequest, State, Task, TaskId},
};
use shuntyard_host::clock::now_micros;
use std::{sync::Arc, time::Duration};

/// How often the store is asked for the answer.
const LOOK_EVERY: Duration = Duration::from_millis(300);
/// Characters of what is asked for that are stored and shown.
const SHOWN: usize = 1000;
const DENIED: &str = "The user denied this. Go on without it.";
const NO_ANSWER: &str = "Nobody answered this request in time. Go on without it.";

#[derive(Debug)]
struct Parked {
    context: Context,
    task: TaskId,
    epoch: i64,
}

/// Decides about the permissions of this claim; none unless they are to be parked.
pub(super) fn approver(context: &Context, task: &Task) -> Option<Arc<dyn Approver>> {
    match context.config.permissions.ask {
        Ask::Answer => None,
        Ask::Park => Some(Arc::new(Parked { context: context.clone(), task: task.id.clone(), epoch: task.epoch }) as _),
    }
}

#[async_trait]
impl Approver for Parked {
    async fn decide(&self, question: &Question) -> Decision {
        let until = now_micros().saturating_add(micros(self.context.config.permissions.wait));
        let ask = Event::Ask { request: request(question), until };
        loop {
            match self.looked(question).await {
                Ok(Seen::Answered(answer)) => return decision(answer),
                Ok(Seen::Open { until }) if now_micros() >= until => {
                    // Refused when an answer came in the last moment: then the next read finds it.
                    let expire = Event::Proceed { request: question.id.clone(), answer: None };
                    if self.change(&expire).await.is_ok() {
                        return Decision::Reject { message: NO_ANSWER.to_owned() };
                    }
                }
                Ok(Seen::Open { .. }) => {}
                Ok(Seen::NotAsked) => match self.change(&ask).await {
                    // What is known from an earlier attempt is there at once.
                    Ok(()) => continue,
                    Err(error) => tracing::warn!(%error, "the permission request could not be stored"),
                },
                // The task was cancelled or taken over. The worker notices and ends the run.
                Ok(Seen::Over) => {}
                Err(error) => tracing::warn!(%error, "the answer could not be looked for"),
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    async fn settled(&self, question: &Question) {
        // When this cannot be written, the task says that it asks until its agent has ended.
        let answer = match self.looked(question).await {
            Ok(Seen::Answered(answer)) => Some(answer),
            Ok(Seen::Open { .. }) => None,
            Ok(Seen::NotAsked | Seen::Over) | Err(_) => return,
        };
        if let Err(error) = self.change(&Event::Proceed { request: question.id.clone(), answer }).await {
            tracing::warn!(%error, "that the agent goes on could not be stored");
        }
    }
}

/// The state of a request in the store.
enum Seen {
    /// The task is at work, and this is not its request yet.
    NotAsked,
    Open {
        until: i64,
    },
    Answered(PermissionReply),
    Over,
}

impl Parked {
    async fn looked(&self, question: &Question) -> Result<Seen, ChangeError> {
        let task = self.context.store.task(&self.task).await?.task;
        Ok(match &task.state {
            _ if task.epoch != self.epoch => Seen::Over,
            State::Asking { request, until, answer } if request.id == question.id => match answer {
                Some(answer) => Seen::Answered(*answer),
                None => Seen::Open { until: *until },
            },
            State::Running | State::Asking { .. } => Seen::NotAsked,
            _ => Seen::Over,
        })
    }

    async fn change(&self, event: &Event) -> Result<(), ChangeError> {
        change_as(&self.context, &self.task, self.epoch, event, &With::default()).await.map(drop)
    }
}

fn decision(answer: PermissionReply) -> Decision {
    match answer {
        PermissionReply::Allow => Decision::Once,
        PermissionReply::Always => Decision::Always,
        PermissionReply::Deny => Decision::Reject { message: DENIED.to_owned() },
    }
}

fn request(question: &Question) -> PermissionRequest {
    let whole = serde_json::json!([question.permission, question.patterns]).to_string();
    let pattern = redact(&question.patterns.join(" "));
    let cut = pattern.chars().count() > SHOWN;
    let mut pattern: String = pattern.chars().take(SHOWN).collect();
    if cut {
        pattern.push('…');
    }
    PermissionRequest {
        id: question.id.clone(),
        permission: question.permission.clone(),
        pattern,
        digest: Sha256::digest(whole.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(patterns: &[&str]) -> PermissionRequest {
        let patterns = patterns.iter().map(|&pattern| pattern.to_owned()).collect();
        request(&Question { id: "per_1".into(), permission: "bash".into(), patterns })
    }

    #[test]
    fn a_long_or_secret_command_is_shortened_and_still_told_apart() {
        let long = "x".repeat(5000);
        let (one, other) = (asked(&[&format!("{long}1")]), asked(&[&format!("{long}2")]));
        assert_eq!(one.pattern.chars().count(), SHOWN + 1);
        assert_eq!(one.pattern, other.pattern);
        assert_ne!(one.digest, other.digest);
        assert_ne!(asked(&["a b"]).digest, asked(&["a", "b"]).digest);
        let secret = "curl -H 'Authorization: Bearer sk-abcdefghijklmnopqrstuvwxyz0123456789'";
        assert!(!asked(&[secret]).pattern.contains("abcdefghijklmnopqrstuvwxyz"), "{}", asked(&[secret]).pattern);
    }
}
