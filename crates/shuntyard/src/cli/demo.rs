//! `shuntyard demo`: finds or installs OpenCode, runs the demo in a scratch directory, and shows it.

mod show;
mod words;

use super::{Global, opencode::install};
use crate::{
    failure::{Exit, Failure},
    ui::{self, Format},
};
use show::Show;
use shuntyard_agents::opencode::locate::NotLocated;
use shuntyard_core::ErrorClass;
use shuntyard_engine::{
    Context,
    base::refusal::Refusal,
    ops::demo::{self, DemoError, Scratch},
    servers::locate_binary,
};
use shuntyard_host::git::GitError;
use std::{path::PathBuf, process::ExitCode, sync::Arc};
use tokio_util::sync::CancellationToken;

pub async fn run(global: &Global) -> Result<ExitCode, Failure> {
    if global.server.is_some() {
        return Err(Failure::usage("the demo starts an OpenCode of its own", "leave --server out"));
    }
    let format = global.format();
    let settings = global.settings()?;
    demo::check_git().map_err(failure)?;
    let cancel = cancel_on_signal();
    let scratch = Scratch::create().map_err(failure)?;
    // The caller's own store is not opened, so that the demo leaves no trace in it.
    let store = scratch.store();
    let caller = settings.into_context_with(store).await?;
    let show = Arc::new(Show::new(format));
    show.introduce();
    let binary = opencode(&caller, &show, &cancel).await?;
    let watching = Arc::clone(&show);
    let watcher: demo::Watcher = Arc::new(move |event| watching.event(event));
    let result = demo::run(&caller, scratch, &binary, &watcher, &cancel).await;
    show.finish();
    let report = result.map_err(failure)?;
    match format {
        Format::Json => ui::json(&report),
        Format::People => show.conclude(&report),
    }
    Ok(if report.ok { ExitCode::SUCCESS } else { ExitCode::from(Exit::Work as u8) })
}

/// The binary that the caller would use for work, or a new one in the caller's data directory. A configured path that
/// does not exist is an error to report, not to work around.
async fn opencode(caller: &Context, show: &Show, cancel: &CancellationToken) -> Result<PathBuf, Failure> {
    match locate_binary(caller) {
        Ok(found) => return Ok(found.path),
        Err(error @ NotLocated::ConfiguredIsMissing(_)) => return Err(Refusal::Server(error.into()).into()),
        Err(NotLocated::Nowhere) => {}
    }
    let context = caller.clone();
    let installed = tokio::task::spawn_blocking(move || install(&context)).await;
    if cancel.is_cancelled() {
        return Err(failure(DemoError::Cancelled));
    }
    let binary = installed.map_err(|error| Failure::unavailable("host", error, "try again"))??;
    show.installed(&binary);
    Ok(binary)
}

fn failure(error: DemoError) -> Failure {
    let message = error.to_string();
    match error {
        DemoError::Scratch(_) => {
            Failure::unavailable("host", message, "name another directory for temporary files in TMPDIR")
        }
        DemoError::Git(GitError::Missing) => Failure::unavailable("git_missing", message, "install git and try again"),
        DemoError::Git(_) => Failure::unavailable("git", message, "run `shuntyard doctor`"),
        DemoError::Provider(_) => Failure::unavailable("host", message, "allow this program to listen on 127.0.0.1"),
        DemoError::Config(error) => Failure::configuration(error),
        DemoError::Server(error) => Refusal::Server(error).into(),
        DemoError::Store(error) => error.into(),
        DemoError::Add(error) => Failure { exit: Exit::Work, ..error.into() },
        DemoError::Refused(refusal) => Failure { exit: Exit::Work, ..refusal.into() },
        DemoError::Cancelled => Failure {
            hint: "run `shuntyard demo` again when you are ready".into(),
            ..Failure::classed(
                ErrorClass::Cancelled,
                "the demo was stopped; what it had started is ended, and its files are removed",
            )
        },
    }
}

/// The first signal ends the demo cleanly; a second one ends this process at once, and the processes that it started
/// notice that and end as well.
fn cancel_on_signal() -> CancellationToken {
    use tokio::signal::unix::{SignalKind, signal};
    let cancel = CancellationToken::new();
    let token = cancel.clone();
    let kinds = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()].map(signal);
    let [Ok(mut interrupt), Ok(mut terminate), Ok(mut hangup)] = kinds else { return cancel };
    // Nothing waits for this task: it lives as long as the command and holds nothing.
    drop(tokio::spawn(async move {
        loop {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
                _ = hangup.recv() => {}
            }
            if token.is_cancelled() {
                std::process::exit(Exit::Work as i32);
            }
            ui::note("stopping; once more to leave at once");
            token.cancel();
        }
    }));
    cancel
}
