//! Permissions and questions of a run: each is answered once; at once, or when a person has decided.

use super::{
    approve::{Approver, Decision, Question},
    give_up::{GiveUp, PermissionPolicy},
    http::ApiError,
    run::{Progress, RunPrompt},
    types::Pending,
};
use futures_util::future::BoxFuture;
use std::collections::{HashMap, HashSet, VecDeque};

/// A request that cannot be answered so often would hang the run for ever.
const TRIES: u32 = 3;
const REFUSAL: &str = "This run is unattended and nobody can approve this. Go on without it.";

#[derive(Debug, Default)]
pub(super) struct Asked {
    answered: HashSet<String>,
    failures: HashMap<String, u32>,
    warnings: Vec<String>,
    /// Those that a person has to decide about, the oldest first. The first is being decided.
    undecided: VecDeque<Pending>,
    /// Decisions that the server does not have yet.
    decided: HashMap<String, Decision>,
}

/// A decision that is waited for.
pub(super) type Deciding<'a> = Option<BoxFuture<'a, Decision>>;

impl Asked {
    pub(super) fn into_warnings(self) -> Vec<String> {
        self.warnings
    }

    pub(super) async fn permission(&mut self, run: &RunPrompt<'_>, pending: &Pending) -> Result<(), GiveUp> {
        if self.answered.contains(&pending.id) {
            return Ok(());
        }
        match (run.approver, self.decided.get(&pending.id).cloned()) {
            (Some(approver), Some(decision)) => self.deliver(run, approver, pending, &decision).await,
            (Some(_), None) => {
                if self.undecided.iter().all(|known| known.id != pending.id) {
                    self.undecided.push_back(pending.clone());
                }
                Ok(())
            }
            (None, _) => self.answer_at_once(run, pending).await,
        }
    }

    async fn answer_at_once(&mut self, run: &RunPrompt<'_>, pending: &Pending) -> Result<(), GiveUp> {
        let what = shown(pending);
        let decision = match run.limits.permission {
            PermissionPolicy::AllowOnce => Decision::Once,
            PermissionPolicy::Reject => Decision::Reject { message: REFUSAL.to_owned() },
        };
        let reply = decision.reply(run.client, &pending.id).await;
        let allowed = decision.is_allowed();
        (run.sink)(Progress::Permission { what: what.clone(), allowed });
        let done = if allowed {
            format!("allowed once: {what}")
        } else {
            format!("refused, since nobody can be asked: {what}")
        };
        self.settle(pending, reply, done, &format!("a permission ({what})"))
    }

    /// Begins to wait for the next decision, if there is one to wait for and the server still wants it: an answer to
    /// one request can settle others.
    pub(super) async fn next<'a>(&mut self, run: &RunPrompt<'a>) -> Deciding<'a> {
        let approver = run.approver?;
        while let Some(first) = self.undecided.front() {
            let gone = match run.client.pending_permissions().await {
                Ok(open) => open.iter().all(|open| open.id != first.id),
                // A server that is lost is noticed by the next check.
                Err(_) => false,
            };
            if !gone {
                let question = Question::from(first);
                return Some(Box::pin(async move { approver.decide(&question).await }));
            }
            self.undecided.pop_front();
        }
        None
    }

    /// Sends the server the decision about the first request.
    pub(super) async fn decided(&mut self, run: &RunPrompt<'_>, decision: Decision) -> Result<(), GiveUp> {
        let (Some(approver), Some(pending)) = (run.approver, self.undecided.pop_front()) else { return Ok(()) };
        let allowed = decision.is_allowed();
        (run.sink)(Progress::Permission { what: shown(&pending), allowed });
        self.decided.insert(pending.id.clone(), decision.clone());
        self.deliver(run, approver, &pending, &decision).await
    }

    async fn deliver(
        &mut self,
        run: &RunPrompt<'_>,
        approver: &dyn Approver,
        pending: &Pending,
        decision: &Decision,
    ) -> Result<(), GiveUp> {
        let what = shown(pending);
        let reply = decision.reply(run.client, &pending.id).await;
        let done = match decision {
            Decision::Once => format!("allowed once: {what}"),
            Decision::Always => format!("allowed for the rest of the task: {what}"),
            Decision::Reject { .. } => format!("denied: {what}"),
        };
        self.settle(pending, reply, done, &format!("a permission ({what})"))?;
        if self.answered.contains(&pending.id) {
            approver.settled(&Question::from(pending)).await;
        }
        Ok(())
    }

    /// Whether the request that is being decided is no longer among the open ones: the server has withdrawn it, or
    /// another client has answered it.
    pub(super) async fn is_withdrawn(&mut self, run: &RunPrompt<'_>, open: &[Pending]) -> bool {
        let (Some(approver), Some(first)) = (run.approver, self.undecided.front()) else { return false };
        if open.iter().any(|open| open.id == first.id) {
            return false;
        }
        approver.settled(&Question::from(first)).await;
        self.undecided.pop_front();
        true
    }

    pub(super) async fn question(&mut self, run: &RunPrompt<'_>, pending: &Pending) -> Result<(), GiveUp> {
        if self.answered.contains(&pending.id) {
            return Ok(());
        }
        let reply = run.client.reject_question(&pending.id).await;
        let done = "the model asked a question and was told that nobody can answer".to_owned();
        self.settle(pending, reply, done, "a question of the model")
    }

    fn settle(
        &mut self,
        pending: &Pending,
        reply: Result<(), ApiError>,
        done: String,
        what: &str,
    ) -> Result<(), GiveUp> {
        match reply {
            // Not found: another client was quicker, or the run has moved on.
            Ok(()) | Err(ApiError::NotFound(_)) => {
                self.answered.insert(pending.id.clone());
                if !self.warnings.contains(&done) {
                    self.warnings.push(done);
                }
                Ok(())
            }
            Err(error) => {
                let failures = self.failures.entry(pending.id.clone()).or_default();
                *failures += 1;
                if *failures < TRIES {
                    return Ok(());
                }
                Err(GiveUp::PermissionStuck(format!("{what} could not be answered: {error}")))
            }
        }
    }
}

fn shown(pending: &Pending) -> String {
    format!("{} {}", pending.permission, pending.patterns.join(" "))
}
