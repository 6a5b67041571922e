//! What wakes the guard: its owner's pipe, a request to stop, or a child that ended.
//!
//! Invariant: after the pipe has ended or a stop was asked for, every later wait reports it as well.

use std::io::{self, Read};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM};

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Waking {
    /// The owner is gone or wants us gone.
    Stop,
    /// A child may have ended.
    Look,
}

pub(super) struct Alarms {
    stop: UnixStream,
    child: UnixStream,
    stopping: bool,
}

impl Alarms {
    pub(super) fn listen() -> io::Result<Self> {
        Ok(Self { stop: ring_on(&[SIGTERM, SIGINT, SIGHUP, SIGQUIT])?, child: ring_on(&[SIGCHLD])?, stopping: false })
    }

    pub(super) fn wait(&mut self, timeout: Option<Duration>) -> io::Result<Waking> {
        let stdin = rustix::stdio::stdin();
        let ready = {
            let mut watched = [
                PollFd::new(&self.child, PollFlags::IN),
                PollFd::new(&self.stop, PollFlags::IN),
                PollFd::new(&stdin, PollFlags::IN),
            ];
            // A descriptor that is at its end would make every wait return at once.
            let count = if self.stopping { 1 } else { watched.len() };
            poll_restarting(&mut watched[..count], timeout)?;
            watched.map(|descriptor| !descriptor.revents().is_empty())
        };
        if ready[0] {
            drain(&mut self.child);
        }
        if !self.stopping {
            self.stopping = ready[1] || (ready[2] && ended(stdin));
        }
        Ok(if self.stopping { Waking::Stop } else { Waking::Look })
    }

    /// Waits for a child's end or the time, whichever comes first, and heeds nothing else.
    pub(super) fn wait_for_children(&mut self, time: Duration) {
        self.stopping = true;
        if self.wait(Some(time)).is_err() {
            std::thread::sleep(time);
        }
    }
}

fn ring_on(signals: &[i32]) -> io::Result<UnixStream> {
    let (reader, writer) = UnixStream::pair()?;
    reader.set_nonblocking(true)?;
    for signal in signals {
        signal_hook::low_level::pipe::register(*signal, writer.try_clone()?)?;
    }
    Ok(reader)
}

fn drain(reader: &mut UnixStream) {
    let mut bytes = [0; 64];
    while reader.read(&mut bytes).is_ok_and(|count| count > 0) {}
}

/// The owner need not write anything; if it does, that is no message to us.
fn ended(stdin: std::os::fd::BorrowedFd<'_>) -> bool {
    let mut bytes = [0; 256];
    match rustix::io::read(stdin, &mut bytes) {
        Ok(count) => count == 0,
        Err(error) => !matches!(error, rustix::io::Errno::INTR | rustix::io::Errno::AGAIN),
    }
}

/// A signal that interrupts the wait has also written to its stream, so waiting again returns at once.
fn poll_restarting(watched: &mut [PollFd<'_>], timeout: Option<Duration>) -> io::Result<()> {
    let timeout = timeout.and_then(|time| Timespec::try_from(time).ok());
    loop {
        match poll(watched, timeout.as_ref()) {
            Err(rustix::io::Errno::INTR) => {}
            result => return Ok(result.map(drop)?),
        }
    }
}
