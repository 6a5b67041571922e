//! A gate that a test opens: an answer that waits at it is sent when the test opens it, on a fast machine and on a slow
//! one.

use std::sync::Arc;
use tokio::sync::Semaphore;

/// Closed at first. All copies are the same gate.
#[derive(Debug, Clone)]
pub struct Gate(Arc<Semaphore>);

impl Default for Gate {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(0)))
    }
}

impl Gate {
    /// Lets all answers through, from now on.
    pub fn open(&self) {
        self.0.close();
    }

    pub(crate) async fn opened(&self) {
        // There are no permits, so that the only answer is that it was closed.
        drop(self.0.acquire().await);
    }
}

impl PartialEq for Gate {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}
