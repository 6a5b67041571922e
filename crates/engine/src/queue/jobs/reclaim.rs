//! Jobs whose runner died: what still runs for them is ended, and they go back to their lines.

use crate::{Context, base::owner::is_gone, servers::recovery::recover_abandoned};
use serde_json::json;
use shuntyard_core::{DispatchId, work::job::JobState};
use shuntyard_host::clock::now_micros;
use shuntyard_store::{ErrorKind, JobEnd, Result, RunStatus};

/// A job that brings its runner down again and again is not given to another.
const MOST_DEATHS: u32 = 3;

/// Reclaims jobs whose process died. Safe to repeat.
pub(super) async fn reclaim_lost_jobs(context: &Context) -> Result<()> {
    let running = context.store.running_jobs().await?;
    let lost: Vec<_> = running.into_iter().filter(|job| job.owner.as_ref().is_none_or(is_gone)).collect();
    if lost.is_empty() {
        return Ok(());
    }
    // All of them, because a batch has several: what they cost is settled, and their agents write nothing more.
    recover_abandoned(context, None).await?;
    for job in lost {
        if let Some(dispatch) = job.dispatch
            && goes_on(context, dispatch).await?
        {
            // While its agent is at work it can neither be begun again nor be cancelled. The next pass tries once more.
            continue;
        }
        let end = if job.cancel_asked_at.is_some() {
            JobEnd::Over { state: JobState::Cancelled, result: json!({"text": ""}) }
        } else if job.deaths + 1 >= MOST_DEATHS {
            let message = format!("the process that carried it out died {} times", job.deaths + 1);
            let hint = "see runner.log in the data directory under jobs";
            let error = json!({"class": "server_error", "message": message, "hint": hint});
            JobEnd::Over { state: JobState::Failed, result: json!({"text": "", "error": error}) }
        } else {
            JobEnd::Lost { why: "the process that carried it out died".to_owned() }
        };
        context.store.end_job(job.id, job.epoch, &end, now_micros()).await?;
    }
    Ok(())
}

/// Whether its agent may still be at work.
async fn goes_on(context: &Context, dispatch: DispatchId) -> Result<bool> {
    match context.store.dispatch(dispatch).await {
        Ok(record) => Ok(record.status == RunStatus::Running),
        // It died before it asked a model.
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}
