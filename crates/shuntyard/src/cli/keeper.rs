//! `shuntyard keeper`: the hidden process that owns one managed server.

use crate::{
    failure::{Exit, Failure},
    settings::{Overrides, Settings},
};
use shuntyard_engine::servers::{KeeperOrder, keep};
use std::process::ExitCode;

pub fn run(order: &str) -> Result<ExitCode, Failure> {
    let order: KeeperOrder =
        serde_json::from_str(order).map_err(|error| Failure::usage(error, "this command is shuntyard's own"))?;
    shuntyard_host::detached::detach_self()
        .map_err(|error| Failure::unavailable("host", error, "see the server's log"))?;
    super::block_on(async move {
        // The order contains everything: a file that is broken by now does not affect a running server.
        let mut settings = Settings::without_files(&Overrides::default())?;
        settings.layered.config.server = order.settings.clone();
        settings.layered.config.sessions = order.sessions.clone();
        settings.paths.data_dir.clone_from(&order.data_dir);
        let context = settings.into_context_with(order.store.clone()).await?;
        keep(&context, &order).await.map_err(|problem| Failure {
            exit: Exit::Unavailable,
            ..Failure::unavailable("opencode_unhealthy", problem, "see `shuntyard opencode status`")
        })?;
        Ok(ExitCode::SUCCESS)
    })
}
