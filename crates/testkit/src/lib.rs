//! The environment of tests: hermetic, with the scripted provider and an OpenCode. As a rule that is a fake, which
//! works as the real one does but starts in milliseconds, or does what the real one cannot be made to do; the real one
//! is there for what only it can show.

#![expect(clippy::expect_used, clippy::panic, reason = "a test stops at the first surprise")]

pub mod environment;
pub mod fake_opencode;
pub mod opencode;
pub mod outcome;
pub mod provider;
pub mod scratch;
pub mod terminal;

pub use environment::TestEnv;
pub use outcome::Outcome;
pub use provider::SharedProvider;
pub use scratch::Scratch;
pub use terminal::Terminal;

use std::{
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

/// An image of one pixel.
pub const DOT: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1f\x15\xc4\x89\0\0\0\rIDATx\x9cc\xf8\xcf\xc0\xf0\x1f\0\x05\0\x01\xff\x89\x99=\x1d\0\0\0\0IEND\xaeB`\x82";

/// How much slower a machine may be that runs many tests at once on few cores.
const BUSY: u32 = 4;

/// How often a test repeats what happens by chance: a few times in the suite, `SHUNTYARD_CHAOS` times as often for
/// `scripts/chaos`.
pub fn rounds(usual: usize) -> usize {
    let factor = std::env::var("SHUNTYARD_CHAOS").ok().and_then(|factor| factor.parse().ok());
    usual * factor.unwrap_or(1)
}

/// Waits until `condition` holds; panics with what did not happen when it does not in time.
pub fn eventually(what: &str, patience: Duration, mut condition: impl FnMut() -> bool) {
    let patience = patience * BUSY;
    let deadline = Instant::now() + patience;
    loop {
        let began = Instant::now();
        if condition() {
            return;
        }
        assert!(Instant::now() < deadline, "did not happen within {patience:?}: {what}");
        // A condition that starts a process takes a processor from the work that it waits for, so it is checked less
        // often.
        std::thread::sleep((began.elapsed() * 4).clamp(Duration::from_millis(15), Duration::from_millis(400)));
    }
}

/// An executable script. A program of its own puts it there: a file that this process has open for writing, as every
/// process does that another test starts at that moment, cannot be executed.
pub fn script(path: &Path, text: &str) {
    let draft = path.with_extension("draft");
    std::fs::write(&draft, text).expect("a draft");
    let installed = Command::new("install").args(["-m", "755"]).args([&draft, path]).status().expect("install");
    assert!(installed.success(), "{} cannot be written", path.display());
}
