//! Running a foreign program to its end, but never beyond a deadline.
//!
//! Invariant: when [`run`] returns, the program is not running any more, and on a deadline neither is anything below it.

use std::io::{self, Read};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::process::ProcessIdentity;
use crate::tree::kill_tree;

/// Time to end in order after the deadline; git removes its lock files in it.
const GRACE: Duration = Duration::from_secs(1);
/// A program can leave a background process that keeps its output open; what it wrote itself is there by then.
const OUTPUT_PATIENCE: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub struct Finished {
    pub status: ExitStatus,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
}

#[derive(Debug, thiserror::Error)]
pub enum RunError {
    #[error("start it")]
    Start(#[source] io::Error),
    #[error("wait for it")]
    Wait(#[source] io::Error),
    #[error("have it finish within {} s", deadline.as_secs_f32())]
    Deadline { deadline: Duration, stderr: Vec<u8> },
}

/// Runs the command with no input and collects its output.
pub fn run(command: &mut Command, deadline: Duration) -> Result<Finished, RunError> {
    let command = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(RunError::Start)?;
    let stdout = Collector::read(child.stdout.take());
    let stderr = Collector::read(child.stderr.take());
    let waited = wait_until(deadline, || child.try_wait());
    if let Ok(Some(status)) = waited {
        return Ok(Finished { status, stdout: stdout.finish(), stderr: stderr.finish() });
    }
    if let Some(identity) = ProcessIdentity::of(child.id()) {
        kill_tree(&identity, GRACE);
    }
    // Collects the killed child; one that even survived that is left to the system.
    let _ = child.try_wait();
    match waited {
        Err(error) => Err(RunError::Wait(error)),
        Ok(_) => Err(RunError::Deadline { deadline, stderr: stderr.finish() }),
    }
}

/// Asks again and again, in growing steps, until there is an answer or the time is over.
pub fn wait_until<T>(timeout: Duration, mut ask: impl FnMut() -> io::Result<Option<T>>) -> io::Result<Option<T>> {
    let started = Instant::now();
    let mut step = Duration::from_millis(1);
    loop {
        if let Some(answer) = ask()? {
            return Ok(Some(answer));
        }
        let Some(left) = timeout.checked_sub(started.elapsed()).filter(|left| !left.is_zero()) else {
            return Ok(None);
        };
        std::thread::sleep(step.min(left));
        step = (step * 2).min(Duration::from_millis(20));
    }
}

/// Reads a pipe in a thread of its own, so that a full pipe never blocks the program.
struct Collector {
    bytes: Arc<Mutex<Vec<u8>>>,
    reader: Option<JoinHandle<()>>,
}

impl Collector {
    fn read(pipe: Option<impl Read + Send + 'static>) -> Self {
        let bytes = Arc::new(Mutex::new(Vec::new()));
        let target = Arc::clone(&bytes);
        let reader = pipe.map(|mut pipe| {
            std::thread::spawn(move || {
                let mut chunk = [0; 8192];
                while let Ok(count) = pipe.read(&mut chunk) {
                    if count == 0 {
                        break;
                    }
                    target.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(&chunk[..count]);
                }
            })
        });
        Self { bytes, reader }
    }

    fn finish(self) -> Vec<u8> {
        let finished = || Ok(self.reader.as_ref().is_none_or(JoinHandle::is_finished).then_some(()));
        let _ = wait_until(OUTPUT_PATIENCE, finished);
        std::mem::take(&mut *self.bytes.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Makes an executable script by way of another process: had this one the file open for writing, a child that another
/// test starts at that moment would hold it open too, and the system refuses to run a file that is being written.
#[cfg(test)]
pub(crate) fn install_script(path: &std::path::Path, text: &str) {
    let draft = path.with_extension("draft");
    std::fs::write(&draft, text).unwrap();
    assert!(Command::new("install").args(["-m", "755"]).args([&draft, path]).status().unwrap().success());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, deadline: Duration) -> Result<Finished, RunError> {
        run(Command::new("sh").args(["-c", script]), deadline)
    }

    #[test]
    fn large_output_on_both_sides_is_complete() {
        let script = "head -c 300000 /dev/zero; head -c 200000 /dev/zero >&2; exit 5";
        let done = shell(script, Duration::from_secs(20)).unwrap();
        assert_eq!((done.stdout.len(), done.stderr.len(), done.status.code()), (300_000, 200_000, Some(5)));
    }

    #[test]
    fn a_background_process_with_the_output_open_does_not_hold_it_up() {
        let started = Instant::now();
        let done = shell("sleep 15 & echo $!", Duration::from_secs(30)).unwrap();
        assert!(started.elapsed() < Duration::from_secs(10));
        let sleeper: u32 = String::from_utf8(done.stdout).unwrap().trim().parse().unwrap();
        kill_tree(&ProcessIdentity::of(sleeper).unwrap(), Duration::ZERO);
    }

    #[test]
    fn the_deadline_keeps_what_was_said() {
        let result = shell("echo stuck >&2; exec sleep 300", Duration::from_millis(1500));
        assert!(matches!(result, Err(RunError::Deadline { stderr, .. }) if stderr == b"stuck\n"));
    }
}
