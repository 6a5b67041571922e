//! The demo: the real OpenCode with a scripted provider and a scratch repository, run through the same
//! dispatch, supervisor and workers as any other work.
//!
//! Invariant: however it ends, what it started is ended and its scratch directory is removed; of the
//! caller's settings it uses the search path and nothing else.

mod checkout;
mod environment;
mod errand;
mod models;
mod news;
mod play;
mod report;
mod scratch;
mod stage;
mod task_report;
mod tasks;
#[cfg(test)]
mod tests;

pub use checkout::Checkout;
pub use errand::Errand;
pub use news::{News, TaskNews};
pub use report::{CostCheck, DemoReport, StageReport};
pub use scratch::Scratch;
pub use stage::Stage;
pub use task_report::{TaskReport, TryReport};

use crate::{
    Context,
    base::{
        direct_cache::DirectCache,
        refusal::{Refusal, ServerError},
    },
    queue::supervise::AddError,
    servers::stop_all,
};
use environment::hermetic;
use models::{configuration, opencode_config, price, settings};
use shuntyard_core::settings::ConfigError;
use shuntyard_host::{
    git::{Git, GitError},
    paths::{Paths, write_private},
};
use shuntyard_scripted::Provider;
use shuntyard_store::StoreError;
use std::{
    ffi::OsString,
    io,
    net::{Ipv4Addr, SocketAddr},
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};
use tokio_util::sync::CancellationToken;

/// What the demo reports while it runs.
#[derive(Debug, Clone)]
pub enum DemoEvent {
    ServerStarting,
    ServerStarted {
        version: String,
        took: Duration,
    },
    Begun(Stage),
    Ended(Box<StageReport>),
    /// The tasks are in the queue.
    Queued,
    Task(TaskNews),
    CleaningUp,
}

pub type Watcher = Arc<dyn Fn(DemoEvent) + Send + Sync>;

#[derive(Debug, thiserror::Error)]
pub enum DemoError {
    #[error("could not use a scratch directory: {0}")]
    Scratch(#[source] io::Error),
    #[error("the scratch repository needs git: failed to {0}")]
    Git(#[from] GitError),
    #[error("the scripted provider could not listen on this machine: {0}")]
    Provider(#[source] io::Error),
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error(transparent)]
    Server(#[from] ServerError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Refused(#[from] Refusal),
    #[error("the tasks could not be added: {0}")]
    Add(#[from] AddError),
    #[error("the demo was stopped")]
    Cancelled,
}

/// Sees that there is a git, which is cheap and worth knowing before anything is installed.
pub fn check_git() -> Result<(), DemoError> {
    Ok(Git::default().version().map(drop)?)
}

/// Runs the demo with the OpenCode at `binary`. `caller` lends its program, its search path, and its
/// store, which should be the one of the scratch directory.
pub async fn run(
    caller: &Context,
    scratch: Scratch,
    binary: &Path,
    watcher: &Watcher,
    cancel: &CancellationToken,
) -> Result<DemoReport, DemoError> {
    let began = Instant::now();
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let provider = Provider::start(address).await.map_err(DemoError::Provider)?;
    let played = match prepare(caller, &scratch, binary, &provider) {
        Ok(context) => {
            let play = play::Play { context: &context, scratch: &scratch, provider: &provider, watcher, cancel };
            let played = play.run(binary).await;
            watcher(DemoEvent::CleaningUp);
            let stopped = stop_all(&context).await;
            played.and_then(|report| stopped.map(|_| report).map_err(DemoError::from))
        }
        Err(error) => Err(error),
    };
    provider.shutdown().await;
    scratch.remove().await.map_err(DemoError::Scratch)?;
    let mut report = played?;
    report.duration_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    Ok(report)
}

/// Everything that is there before a server is started: the repository, OpenCode's home and configuration, the
/// provider's prices, and a context that knows of nothing else.
fn prepare(caller: &Context, scratch: &Scratch, binary: &Path, provider: &Provider) -> Result<Context, DemoError> {
    for name in models::NAMES {
        provider.price(name, price(name));
    }
    let config = opencode_config(&provider.base_url()).to_string();
    scratch.make_homes().map_err(DemoError::Scratch)?;
    write_private(&scratch.opencode_config(), config.as_bytes()).map_err(DemoError::Scratch)?;
    write_private(&scratch.empty_catalogue(), b"{}").map_err(DemoError::Scratch)?;
    let settings = settings(binary)?;
    write_private(&scratch.config(), settings.as_bytes()).map_err(DemoError::Scratch)?;
    let environment = hermetic(scratch, caller.variable("PATH"), std::process::id());
    // The places as a worker finds them that has this environment.
    let paths = Paths::new(|name| environment.get(name).map(OsString::from));
    let paths = paths.map_err(|error| DemoError::Scratch(io::Error::other(error)))?;
    scratch.make_repository(&environment)?;
    Ok(Context {
        direct: DirectCache::default(),
        store: caller.store.clone(),
        store_path: caller.store_path.clone(),
        config: configuration(settings)?,
        paths,
        environment,
        program: caller.program.clone(),
        server_password: None,
        origins: std::collections::BTreeMap::new(),
    })
}
