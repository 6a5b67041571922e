//! Work that blocks, such as a call of git, done beside the runtime: it has one thread, which would block all its other
//! work.

use std::io;

/// Waits for the work without blocking. It fails only when the work panics, or the runtime ends before it.
pub(crate) async fn in_thread<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> io::Result<T> {
    tokio::task::spawn_blocking(work).await.map_err(io::Error::other)
}
