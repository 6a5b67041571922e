//! What tests stand on: the real OpenCode with the scripted provider in a hermetic environment, and a
//! fake OpenCode for what the real one cannot be made to do.

#![expect(clippy::expect_used, clippy::panic, reason = "a test stops at the first surprise")]

pub mod environment;
pub mod fake_opencode;
pub mod opencode;
pub mod outcome;
pub mod provider;
pub mod terminal;

pub use environment::TestEnv;
pub use outcome::Outcome;
pub use provider::SharedProvider;
pub use terminal::Terminal;

use std::time::{Duration, Instant};

/// An image of one pixel.
pub const DOT: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1f\x15\xc4\x89\0\0\0\rIDATx\x9cc\xf8\xcf\xc0\xf0\x1f\0\x05\0\x01\xff\x89\x99=\x1d\0\0\0\0IEND\xaeB`\x82";

/// How much slower a machine may be that runs many tests at once on few cores.
const BUSY: u32 = 4;

/// The longest that something may take, as on a machine that does nothing else. For what would otherwise take
/// far longer or never end: a slow machine is no failure.
pub fn at_most(seconds: u64) -> Duration {
    Duration::from_secs(seconds) * BUSY
}

/// Waits until `condition` holds; says what did not happen when it does not in time.
pub fn eventually(what: &str, patience: Duration, mut condition: impl FnMut() -> bool) {
    let patience = patience * BUSY;
    let deadline = Instant::now() + patience;
    while !condition() {
        assert!(Instant::now() < deadline, "did not happen within {patience:?}: {what}");
        std::thread::sleep(Duration::from_millis(15));
    }
}
