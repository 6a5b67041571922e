//! What a command prints: its beginning in a log of bounded size, its end in memory. A command that prints nothing
//! leaves no log.
//!
//! Invariant: what comes is read whatever becomes of the log, so the command never waits for us.

use shuntyard_host::paths::private_dir;
use std::{
    collections::VecDeque,
    convert::Infallible,
    fs::{File, OpenOptions, Permissions},
    io::{self, Write as _},
    os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
};
use tokio::{io::AsyncReadExt as _, net::unix::pipe};

const MOST_LOGGED: u64 = 10 * 1024 * 1024;
const TAIL: usize = 4 * 1024;
const CHUNK: usize = 16 * 1024;

#[derive(Debug)]
pub(super) struct Output {
    log: Log,
    pub(super) logged: u64,
    pub(super) total: u64,
    tail: VecDeque<u8>,
}

#[derive(Debug)]
enum Log {
    /// Until there is something for it.
    NotMade(PathBuf),
    Made(File),
    /// It could not be written.
    GivenUp,
}

impl Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        if let Self::NotMade(path) = self {
            *self = Self::Made(made(path)?);
        }
        match self {
            Self::Made(file) => file.write_all(bytes),
            Self::NotMade(_) | Self::GivenUp => Err(io::ErrorKind::NotConnected.into()),
        }
    }
}

/// The log is made anew, and only this user can read it.
fn made(path: &Path) -> io::Result<File> {
    private_dir(path.parent().unwrap_or(path))?;
    let file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)?;
    // The mode above counts only for a new file.
    file.set_permissions(Permissions::from_mode(0o600))?;
    Ok(file)
}

impl Output {
    pub(super) fn into(log: &Path) -> Self {
        Self { log: Log::NotMade(log.to_owned()), logged: 0, total: 0, tail: VecDeque::new() }
    }

    /// Reads for as long as it is waited for. What was read is kept when nobody waits any more.
    pub(super) async fn hear(&mut self, pipe: &mut pipe::Receiver) -> Infallible {
        self.hear_out(pipe).await;
        std::future::pending().await
    }

    /// Reads to the end.
    pub(super) async fn hear_out(&mut self, pipe: &mut pipe::Receiver) {
        let mut chunk = vec![0; CHUNK];
        while let Ok(count @ 1..) = pipe.read(&mut chunk).await {
            self.take(&chunk[..count]);
        }
    }

    fn take(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let room = usize::try_from(MOST_LOGGED - self.logged).unwrap_or(usize::MAX);
        let kept = &bytes[..bytes.len().min(room)];
        match self.log.write(kept) {
            Ok(()) => self.logged += kept.len() as u64,
            Err(_) => self.log = Log::GivenUp,
        }
        let last = &bytes[bytes.len().saturating_sub(TAIL)..];
        let excess = (self.tail.len() + last.len()).saturating_sub(TAIL);
        self.tail.drain(..excess);
        self.tail.extend(last);
    }

    /// The last of what was printed, as far as that is text.
    pub(super) fn tail(&mut self) -> String {
        let whole = self.total <= TAIL as u64;
        let mut tail: &[u8] = self.tail.make_contiguous();
        // A letter that the cut has gone through would show as a mistake of the command's.
        if !whole {
            let broken = tail.iter().take(3).take_while(|byte| **byte & 0b1100_0000 == 0b1000_0000).count();
            tail = &tail[broken..];
        }
        String::from_utf8_lossy(tail).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(chunks: &[&[u8]]) -> (Output, shuntyard_testkit::Scratch) {
        let scratch = shuntyard_testkit::Scratch::of_test();
        let mut output = Output::into(&scratch.path().join("log"));
        chunks.iter().for_each(|chunk| output.take(chunk));
        (output, scratch)
    }

    #[test]
    fn the_tail_is_the_end_whatever_the_chunks() {
        let text: String = (0..3000).map(|number| format!("{number} ü\n")).collect();
        for size in [1, 7, 4095, 4096, 4097, 100_000] {
            let chunks: Vec<&[u8]> = text.as_bytes().chunks(size).collect();
            let (mut output, scratch) = heard(&chunks);
            let tail = output.tail();
            assert!(text.ends_with(&tail) && tail.len() > TAIL - 4, "{size}: {}", tail.len());
            assert_eq!((output.total, output.logged), (text.len() as u64, text.len() as u64));
            assert_eq!(std::fs::read(scratch.path().join("log")).unwrap(), text.as_bytes());
        }
    }

    #[test]
    fn whoever_says_nothing_leaves_no_log_and_one_that_cannot_be_made_keeps_nobody() {
        let (_, scratch) = heard(&[]);
        assert!(!scratch.path().join("log").exists());
        let file = scratch.path().join("file");
        std::fs::write(&file, "").unwrap();
        let mut output = Output::into(&file.join("log"));
        output.take(b"first");
        output.take(b" second");
        assert_eq!((output.total, output.logged, output.tail()), (12, 0, "first second".to_owned()));
    }

    #[test]
    fn the_log_ends_where_it_is_full_and_the_rest_is_counted() {
        let chunk = vec![b'x'; 1024 * 1024 + 1];
        let (output, scratch) = heard(&[&chunk[..]; 11]);
        assert_eq!((output.total, output.logged), (11 * (1024 * 1024 + 1), MOST_LOGGED));
        assert_eq!(std::fs::metadata(scratch.path().join("log")).unwrap().len(), MOST_LOGGED);
    }
}
