//! Waiting until one of some files is written, made or deleted.
//!
//! Invariant: a change after the watch was made is never missed, also when it comes before the first wait or between
//! two. Many changes may be reported as one, and one may be reported twice: the caller checks the files itself.

#[cfg(target_os = "linux")]
mod linux;
mod polled;

use std::io;
use std::path::PathBuf;

use polled::Polled;

#[derive(Debug)]
pub struct FileWatch {
    source: Source,
}

#[derive(Debug)]
enum Source {
    #[cfg(target_os = "linux")]
    Told(linux::Told, Vec<PathBuf>),
    Polled(Polled),
}

impl FileWatch {
    /// The files need not exist. To be called inside a runtime whose timer and input are on. Where the system reports
    /// no changes, as in a directory that does not exist or when all its watches are taken, the files are looked
    /// at again and again.
    pub fn new(files: &[PathBuf]) -> io::Result<Self> {
        tokio::runtime::Handle::try_current().map_err(io::Error::other)?;
        #[cfg(target_os = "linux")]
        if let Ok(told) = linux::Told::new(files) {
            return Ok(Self { source: Source::Told(told, files.to_vec()) });
        }
        Ok(Self { source: Source::Polled(Polled::new(files)) })
    }

    /// Returns soon after a change that no earlier call has reported. Giving it up before its end loses nothing.
    pub async fn changed(&mut self) {
        match &mut self.source {
            #[cfg(target_os = "linux")]
            Source::Told(told, files) => {
                if told.changed().await.is_err() {
                    // The directory is another one now; what happened meanwhile is unknown, so it counts as a change.
                    self.source = Source::Polled(Polled::new(files));
                }
            }
            Source::Polled(polled) => polled.changed().await,
        }
    }
}
