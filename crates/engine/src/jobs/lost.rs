//! Jobs whose runner died: what still runs for them is ended, and they go back to their lines.

use crate::{Context, owner::is_gone, recover::recover_abandoned};
use serde_json::json;
use switchyard_core::job::JobState;
use switchyard_host::clock::now_micros;
use switchyard_store::{JobEnd, Result};

/// A job that brings its runner down again and again is not given to another.
const MOST_CLAIMS: i64 = 3;

/// Takes back what nobody carries on. Safe to repeat.
pub(super) async fn take_back(context: &Context) -> Result<()> {
    for job in context.store.running_jobs().await? {
        let gone = job.owner.as_ref().is_none_or(is_gone);
        if !gone {
            continue;
        }
        if let Some(dispatch) = job.dispatch {
            // What it was paid for is settled, and its agent writes nothing more.
            drop(recover_abandoned(context, Some(dispatch)).await);
        }
        let end = if job.cancel_asked_at.is_some() {
            JobEnd::Over { state: JobState::Cancelled, result: json!({"text": "", "error": null}) }
        } else if job.epoch >= MOST_CLAIMS {
            let message = format!("the process that carried it out died {} times", job.epoch);
            let hint = "see runner.log in the data directory under jobs";
            let error = json!({"class": "server_error", "message": message, "hint": hint});
            JobEnd::Over { state: JobState::Failed, result: json!({"text": "", "error": error}) }
        } else {
            JobEnd::Again { why: "the process that carried it out died".to_owned() }
        };
        context.store.end_job(job.id, job.epoch, &end, now_micros()).await?;
    }
    Ok(())
}
