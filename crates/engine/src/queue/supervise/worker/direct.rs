//! Running a command as a child of this process, which is guarded itself and has no other children.
//!
//! Invariant: when [`run`] returns, nothing that the command started is left. When this process dies before that, its
//! guard sees to it; and all of it carries the mark of its claim.

use super::output::Output;
use shuntyard_host::{
    Signal,
    bounded::wait_until,
    orphan::sweep_children,
    shell::{Check, Checked, Exit, ShellError},
    tree::{descendants, end_marked},
};
use std::{
    io,
    os::unix::process::ExitStatusExt as _,
    process::{ExitStatus, Stdio},
    time::{Duration, Instant},
};
use tokio::{
    net::unix::pipe,
    process::{Child, Command},
    time::{sleep, timeout},
};
use tokio_util::sync::CancellationToken;

/// What is left of a command that has ended or was cancelled has so long to end when it is asked to.
const GRACE: Duration = Duration::from_secs(3);
/// Where the system cannot find every orphan, one of them may hold the pipe open.
const OPEN: Duration = Duration::from_secs(1);

/// Runs the command line to its end; nothing when it was stopped before.
pub(super) async fn run(
    check: &Check,
    mark: (&'static str, String),
    stop: &CancellationToken,
) -> Result<Option<Checked>, ShellError> {
    let mut output = Output::into(&check.log);
    let started = Instant::now();
    let (mut child, mut said) = start(check).map_err(ShellError::Start)?;
    let ended = tokio::select! {
        ended = child.wait() => Some(exit_of(ended.map_err(ShellError::Wait)?)),
        never = output.hear(&mut said) => match never {},
        () = sleep(check.deadline) => Some(Exit::Deadline),
        () = stop.cancelled() => None,
    };
    let took = started.elapsed();
    match ended {
        // Somebody may cancel it meanwhile, and does not wait for the rest of the grace.
        Some(Exit::Deadline) => end_all(mark, check.grace, stop.clone()).await,
        // A person waits for it.
        None => end_all(mark, GRACE, CancellationToken::new()).await,
        Some(Exit::Code(_) | Exit::Signal(_)) if is_alone() => {}
        Some(Exit::Code(_) | Exit::Signal(_)) => end_all(mark, GRACE, CancellationToken::new()).await,
    }
    drop(timeout(OPEN, output.hear_out(&mut said)).await);
    Ok(ended.map(|exit| Checked {
        exit,
        tail: output.tail(),
        log: check.log.clone(),
        took,
        output_bytes: output.total,
        logged_bytes: output.logged,
    }))
}

fn start(check: &Check) -> io::Result<(Child, pipe::Receiver)> {
    // One pipe for both, so that the log has the lines in their order.
    let (reader, writer) = io::pipe()?;
    let child = Command::new("/bin/sh")
        .args(["-c", check.command.as_str()])
        .env_clear()
        .envs(check.variables.iter().map(|(name, value)| (name, value)))
        .current_dir(&check.directory)
        .stdin(Stdio::null())
        .stdout(Stdio::from(writer.try_clone()?))
        .stderr(Stdio::from(writer))
        .spawn()?;
    Ok((child, pipe::Receiver::from_owned_fd(reader.into())?))
}

/// Whether this process has no child any more. Those that it has adopted are collected by asking.
fn is_alone() -> bool {
    use rustix::{io::Errno, process::WaitOptions};
    // Only where orphans are adopted does that say anything about them.
    if !cfg!(target_os = "linux") {
        return false;
    }
    loop {
        match rustix::process::wait(WaitOptions::NOHANG) {
            Ok(Some(_)) | Err(Errno::INTR) => {}
            Ok(None) => return false,
            Err(_) => return true,
        }
    }
}

/// Ends all that is left: it is asked to first, and killed after the grace, or as soon as `hurry` says.
async fn end_all((name, value): (&'static str, String), grace: Duration, hurry: CancellationToken) {
    let ending = tokio::task::spawn_blocking(move || {
        let own = std::process::id();
        for process in descendants(own) {
            process.signal(Signal::TERM);
        }
        let over = || hurry.is_cancelled() || descendants(own).is_empty();
        drop(wait_until(grace, || Ok(over().then_some(()))));
        let left = sweep_children(&[]);
        if cfg!(target_os = "linux") { left } else { end_marked(name, &value, Duration::ZERO) }
    });
    if let Ok(survivors) = ending.await
        && !survivors.is_empty()
    {
        tracing::warn!(count = survivors.len(), "processes of a command survived");
    }
}

/// A shell reports the signal that ended its own child as 128 and the number.
fn exit_of(status: ExitStatus) -> Exit {
    match (status.code(), status.signal()) {
        (Some(code @ 129..=159), _) => Exit::Signal(code - 128),
        (Some(code), _) => Exit::Code(code),
        (None, signal) => Exit::Signal(signal.unwrap_or(Signal::KILL.as_raw())),
    }
}
