//! `shuntyard runner`: the hidden process that executes queued jobs.

use crate::{
    failure::Failure,
    settings::{Overrides, Settings},
};
use shuntyard_engine::queue::jobs::run_jobs;
use std::{path::PathBuf, process::ExitCode};
use tokio_util::sync::CancellationToken;

pub fn run(store: PathBuf) -> Result<ExitCode, Failure> {
    shuntyard_host::detached::detach_self()
        .map_err(|error| Failure::unavailable("host", error, "see runner.log in the data directory"))?;
    super::block_on(async move {
        let context = Settings::load(&Overrides::default())?.into_context_with(store).await?;
        let stop = CancellationToken::new();
        let running = run_jobs(&context, &stop);
        tokio::pin!(running);
        let result = tokio::select! {
            result = &mut running => result,
            () = super::input::interrupted() => {
                stop.cancel();
                running.await
            }
        };
        match result {
            Ok(()) => Ok(ExitCode::SUCCESS),
            Err(error) => Err(Failure::failed(error, "see `shuntyard doctor`")),
        }
    })
}
