//! Where a worker that stands by talks: into the log of the task that it is about. That is made with the first word:
//! most commands end without one, and files that stay empty would be a good part of what such a command costs.
//!
//! Invariant: what is said about one task is never in the log of another.

use shuntyard_host::paths::private_dir;
use std::{
    fs::{File, OpenOptions},
    io::{self, Write},
    os::{fd::OwnedFd, unix::fs::OpenOptionsExt as _},
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
};

static TALK: Mutex<Talk> = Mutex::new(Talk { own: None, about: About::Nothing });

struct Talk {
    /// Where this process talked at first.
    own: Option<OwnedFd>,
    about: About,
}

enum About {
    Nothing,
    /// The log of a task that nothing was said about yet.
    Silent(PathBuf),
    Told,
}

fn talk() -> MutexGuard<'static, Talk> {
    TALK.lock().unwrap_or_else(PoisonError::into_inner)
}

/// To be called once, before there is any task. What a panic says is about the task as well.
pub(super) fn begin() -> io::Result<()> {
    talk().own = Some(rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stderr(), 3)?);
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        turn_to_task();
        usual(panic);
    }));
    Ok(())
}

/// From here on, what this process says is about the task that has this log.
pub(super) fn about(log: PathBuf) {
    over();
    talk().about = About::Silent(log);
}

/// What is said from here on is about no task.
pub(super) fn over() {
    let mut talk = talk();
    if let (Some(own), About::Told) = (&talk.own, &talk.about) {
        let _ = rustix::stdio::dup2_stderr(own);
    }
    talk.about = About::Nothing;
}

/// Makes the log when there was none, and has standard error go there.
pub(super) fn turn_to_task() {
    let mut talk = talk();
    if let About::Silent(log) = &talk.about
        // One that cannot be made leaves the words where this process talked at first.
        && let Ok(file) = made(log)
        && rustix::stdio::dup2_stderr(&file).is_ok()
    {
        talk.about = About::Told;
    }
}

fn made(log: &Path) -> io::Result<File> {
    private_dir(log.parent().unwrap_or(log))?;
    OpenOptions::new().append(true).create(true).mode(0o600).open(log)
}

/// Standard error, for what a process says about itself.
#[derive(Debug, Clone, Copy)]
pub struct OwnTalk;

impl Write for OwnTalk {
    fn write(&mut self, words: &[u8]) -> io::Result<usize> {
        turn_to_task();
        io::stderr().write(words)
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}
