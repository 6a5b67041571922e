//! Ending a job: requested in the store, done by the process that executes it, confirmed by its row.

use super::{JobError, JobNotifier, JobView, ensure::ensure_runner, show::peek};
use crate::{Context, queue::supervise};
use shuntyard_core::work::job::JobId;
use shuntyard_host::clock::now_micros;
use shuntyard_store::ErrorKind;
use std::time::Duration;
use tokio::time::{Instant, sleep_until};

/// Asks for it, and waits until it is confirmed. A view that is not over says that it takes longer.
pub async fn cancel(
    context: &Context,
    notifier: &JobNotifier,
    id: &str,
    patience: Duration,
) -> Result<JobView, JobError> {
    let deadline = Instant::now() + patience;
    let mut listener = notifier.listen();
    ask(context, id).await?;
    let subjects = [id.to_owned()];
    loop {
        let view = peek(context, id).await?;
        if view.over || Instant::now() >= deadline {
            return Ok(view);
        }
        // The one that should end it may be gone.
        if view.kind != "supervised" {
            ensure_runner(context)?;
        }
        let look = Instant::now() + Duration::from_secs(1);
        tokio::select! {
            () = listener.about(&subjects) => {}
            () = sleep_until(look.min(deadline)) => {}
        }
    }
}

async fn ask(context: &Context, id: &str) -> Result<(), JobError> {
    if let Ok(job) = id.parse::<JobId>() {
        match context.store.cancel_job(job, now_micros()).await {
            Ok(_) => return Ok(()),
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(error.into()),
        }
    }
    // Also checks that there is such a task.
    let view = peek(context, id).await?;
    if view.over && view.status != "blocked" {
        return Ok(());
    }
    let task = id.parse().map_err(|_| JobError::unknown(id))?;
    match supervise::cancel(context, &task, "a caller").await {
        Ok(_) => Ok(()),
        Err(error) => Err(JobError::usage(error.to_string(), "look again with task_peek")),
    }
}
