//! The output of a program, read in threads of its own so that a full pipe never blocks it unnoticed.
//!
//! Invariant: what is held is bounded, whatever the program prints.

use std::io::Read;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use super::{OUTPUT_PATIENCE, wait_until};

const CHUNK: usize = 64 * 1024;
/// Chunks that wait for the reader; then the program waits.
const QUEUED: usize = 4;
/// Bytes at the end of standard error that are kept.
pub(super) const TAIL: usize = 64 * 1024;

/// The output piece by piece. The channel closes at the end of the output.
pub(super) fn chunks(pipe: Option<impl Read + Send + 'static>) -> Receiver<Vec<u8>> {
    let (sender, receiver) = sync_channel(QUEUED);
    if let Some(mut pipe) = pipe {
        std::thread::spawn(move || {
            let mut chunk = vec![0; CHUNK];
            while let Some(count) = pipe.read(&mut chunk).ok().filter(|count| *count > 0) {
                if sender.send(chunk[..count].to_vec()).is_err() {
                    break;
                }
            }
        });
    }
    receiver
}

/// The end of an output.
#[derive(Debug)]
pub(super) struct Tail {
    bytes: Arc<Mutex<Vec<u8>>>,
    received: Arc<AtomicU64>,
    reader: Option<JoinHandle<()>>,
}

impl Tail {
    pub(super) fn read(pipe: Option<impl Read + Send + 'static>) -> Self {
        let (bytes, received) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicU64::new(0)));
        let (target, counter) = (Arc::clone(&bytes), Arc::clone(&received));
        let reader = pipe.map(|mut pipe| {
            std::thread::spawn(move || {
                let mut chunk = [0; 8192];
                while let Some(count) = pipe.read(&mut chunk).ok().filter(|count| *count > 0) {
                    keep(&mut target.lock().unwrap_or_else(PoisonError::into_inner), &chunk[..count], 2 * TAIL);
                    counter.fetch_add(count as u64, Ordering::Relaxed);
                }
            })
        });
        Self { bytes, received, reader }
    }

    /// Bytes until now, also those that are not kept.
    pub(super) fn received(&self) -> u64 {
        self.received.load(Ordering::Relaxed)
    }

    pub(super) fn finish(self) -> Vec<u8> {
        let finished = || Ok(self.reader.as_ref().is_none_or(JoinHandle::is_finished).then_some(()));
        let _ = wait_until(OUTPUT_PATIENCE, finished);
        let mut bytes = std::mem::take(&mut *self.bytes.lock().unwrap_or_else(PoisonError::into_inner));
        keep(&mut bytes, &[], TAIL);
        bytes
    }
}

/// Appends, and drops all but the last [`TAIL`] bytes once there are more than `most`: seldom, so that it costs little.
fn keep(bytes: &mut Vec<u8>, more: &[u8], most: usize) {
    bytes.extend_from_slice(more);
    if bytes.len() > most {
        bytes.drain(..bytes.len() - TAIL);
    }
}
