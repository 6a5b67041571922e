//! Permissions and questions of an unattended run: each is answered at once, and once.

use super::{
    give_up::{GiveUp, PermissionPolicy},
    http::ApiError,
    run::{Progress, RunPrompt},
    types::Pending,
};
use std::collections::{HashMap, HashSet};

/// A request that cannot be answered so often would hang the run for ever.
const TRIES: u32 = 3;
const REFUSAL: &str = "This run is unattended and nobody can approve this. Go on without it.";

#[derive(Debug, Default)]
pub(super) struct Asked {
    answered: HashSet<String>,
    failures: HashMap<String, u32>,
    warnings: Vec<String>,
}

impl Asked {
    pub(super) fn into_warnings(self) -> Vec<String> {
        self.warnings
    }

    pub(super) async fn permission(&mut self, run: &RunPrompt<'_>, pending: &Pending) -> Result<(), GiveUp> {
        if self.answered.contains(&pending.id) {
            return Ok(());
        }
        let what = format!("{} {}", pending.permission, pending.patterns.join(" "));
        let allowed = run.limits.permission == PermissionPolicy::AllowOnce;
        let reply = match run.limits.permission {
            PermissionPolicy::AllowOnce => run.client.allow_once(&pending.id).await,
            PermissionPolicy::Reject => run.client.reject(&pending.id, REFUSAL).await,
        };
        (run.sink)(Progress::Permission { what: what.clone(), allowed });
        let done = if allowed {
            format!("allowed once: {what}")
        } else {
            format!("refused, since nobody can be asked: {what}")
        };
        self.settle(pending, reply, done, &format!("a permission ({what})"))
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
            // Not found: somebody else was quicker, or the run has moved on.
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
