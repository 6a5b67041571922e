//! Waits until another process may have written to the store: at once where the system reports it, and now and then
//! anyway.

use crate::Context;
use shuntyard_host::watch::FileWatch;
use std::{path::PathBuf, time::Duration};
use tokio::time::sleep;

/// How long after the first sign a change can be read, as a rule: SQLite writes first and shows it a moment later.
const SETTLES: Duration = Duration::from_millis(2);

#[derive(Debug)]
pub struct Changes {
    files: Option<FileWatch>,
}

impl Changes {
    #[must_use]
    pub fn of(context: &Context) -> Self {
        let mut log = context.store_path.clone().into_os_string();
        log.push("-wal");
        Self { files: FileWatch::new(&[context.store_path.clone(), PathBuf::from(log)]).ok() }
    }

    /// Returns after a change, or after `at_most`. The caller reads what has changed.
    pub async fn next(&mut self, at_most: Duration) {
        let told = async {
            match &mut self.files {
                Some(files) => files.changed().await,
                None => std::future::pending().await,
            }
            sleep(SETTLES).await;
        };
        tokio::select! {
            () = told => {}
            () = sleep(at_most) => {}
        }
    }
}
