//! What tests stand on: the real OpenCode with the scripted provider in a hermetic environment, and a
//! fake OpenCode for what the real one cannot be made to do.

#![expect(clippy::expect_used, clippy::panic, reason = "a test stops at the first surprise")]

pub mod environment;
pub mod fake_opencode;
pub mod opencode;
pub mod outcome;
pub mod provider;

pub use environment::TestEnv;
pub use outcome::Outcome;
pub use provider::SharedProvider;

use std::time::{Duration, Instant};

/// How much slower a machine may be that runs many tests at once on few cores.
const BUSY: u32 = 4;

/// Waits until `condition` holds; says what did not happen when it does not in time.
pub fn eventually(what: &str, patience: Duration, mut condition: impl FnMut() -> bool) {
    let patience = patience * BUSY;
    let deadline = Instant::now() + patience;
    while !condition() {
        assert!(Instant::now() < deadline, "did not happen within {patience:?}: {what}");
        std::thread::sleep(Duration::from_millis(15));
    }
}
