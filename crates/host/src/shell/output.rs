//! What a command prints: its beginning in a log of bounded size, its end in memory.
//!
//! Invariant: the pipe is read until it ends, whatever becomes of the log, so the command never waits for us.

use std::collections::VecDeque;
use std::fs::{File, OpenOptions, Permissions};
use std::io::{self, PipeReader, Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::bounded::wait_until;

const MOST_LOGGED: u64 = 10 * 1024 * 1024;
const TAIL: usize = 4 * 1024;
/// Where the system cannot find every orphan, one of them may hold the pipe open.
const PATIENCE: Duration = Duration::from_secs(1);

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Said {
    pub(super) tail: String,
    pub(super) total: u64,
    pub(super) logged: u64,
}

pub(super) struct Output {
    heard: Arc<Mutex<Heard>>,
    reader: JoinHandle<()>,
}

impl Output {
    /// Reads the pipe in a thread of its own.
    pub(super) fn collect(mut pipe: PipeReader, log: &Path) -> io::Result<Self> {
        let heard = Arc::new(Mutex::new(Heard::new(private_log(log)?)));
        let target = Arc::clone(&heard);
        let reader = std::thread::spawn(move || {
            let mut chunk = [0; 16 * 1024];
            loop {
                match pipe.read(&mut chunk) {
                    Ok(0) => break,
                    Ok(count) => target.lock().unwrap_or_else(PoisonError::into_inner).take(&chunk[..count]),
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(_) => break,
                }
            }
        });
        Ok(Self { heard, reader })
    }

    pub(super) fn finish(self) -> Said {
        let _ = wait_until(PATIENCE, || Ok(self.reader.is_finished().then_some(())));
        self.heard.lock().unwrap_or_else(PoisonError::into_inner).said()
    }
}

fn private_log(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)?;
    // The mode above counts only for a new file.
    file.set_permissions(Permissions::from_mode(0o600))?;
    Ok(file)
}

struct Heard {
    /// Given up when it is full, or when it cannot be written.
    log: Option<File>,
    logged: u64,
    total: u64,
    tail: VecDeque<u8>,
}

impl Heard {
    fn new(log: File) -> Self {
        Self { log: Some(log), logged: 0, total: 0, tail: VecDeque::with_capacity(TAIL) }
    }

    fn take(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let room = usize::try_from(MOST_LOGGED - self.logged).unwrap_or(usize::MAX);
        let kept = &bytes[..bytes.len().min(room)];
        match self.log.as_mut().map(|log| log.write_all(kept)) {
            Some(Ok(())) => self.logged += kept.len() as u64,
            Some(Err(_)) => self.log = None,
            None => {}
        }
        let last = &bytes[bytes.len().saturating_sub(TAIL)..];
        let excess = (self.tail.len() + last.len()).saturating_sub(TAIL);
        self.tail.drain(..excess);
        self.tail.extend(last);
    }

    fn said(&mut self) -> Said {
        let mut tail: &[u8] = self.tail.make_contiguous();
        // A letter that the cut has gone through would show as a mistake of the command's.
        if self.total > TAIL as u64 {
            let broken = tail.iter().take(3).take_while(|byte| **byte & 0b1100_0000 == 0b1000_0000).count();
            tail = &tail[broken..];
        }
        Said { tail: String::from_utf8_lossy(tail).into_owned(), total: self.total, logged: self.logged }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(chunks: &[&[u8]]) -> (Said, shuntyard_testkit::Scratch) {
        let scratch = shuntyard_testkit::Scratch::of_test();
        let mut heard = Heard::new(private_log(&scratch.path().join("log")).unwrap());
        chunks.iter().for_each(|chunk| heard.take(chunk));
        (heard.said(), scratch)
    }

    #[test]
    fn the_tail_is_the_end_whatever_the_chunks() {
        let text: String = (0..3000).map(|number| format!("{number} ü\n")).collect();
        for size in [1, 7, 4095, 4096, 4097, 100_000] {
            let chunks: Vec<&[u8]> = text.as_bytes().chunks(size).collect();
            let (said, scratch) = heard(&chunks);
            assert!(text.ends_with(&said.tail) && said.tail.len() > TAIL - 4, "{size}: {}", said.tail.len());
            assert_eq!((said.total, said.logged), (text.len() as u64, text.len() as u64));
            assert_eq!(std::fs::read(scratch.path().join("log")).unwrap(), text.as_bytes());
        }
    }

    #[test]
    fn a_short_output_is_whole_and_broken_text_is_shown() {
        assert_eq!(heard(&[b"\x80ok", b"\xff"]).0.tail, "\u{fffd}ok\u{fffd}");
        assert_eq!(heard(&[]).0, Said { tail: String::new(), total: 0, logged: 0 });
    }

    #[test]
    fn a_log_that_cannot_be_written_is_given_up() {
        let scratch = shuntyard_testkit::Scratch::of_test();
        std::fs::write(scratch.path().join("log"), "").unwrap();
        let mut heard = Heard::new(File::open(scratch.path().join("log")).unwrap());
        heard.take(b"one");
        heard.take(b"two");
        assert_eq!(heard.said(), Said { tail: "onetwo".to_owned(), total: 6, logged: 0 });
    }
}
