//! One change of a repository's TODO.md at a time, as far as this machine goes: what others do is settled by git.

use super::{ClaimFault, plumbing::common_directory, shared::Shared};
use shuntyard_host::bounded::wait_until;
use std::{
    fs::{File, OpenOptions, TryLockError},
    time::Duration,
};

/// Some fetches and pushes of others, each within its deadline.
const PATIENCE: Duration = Duration::from_secs(300);

/// Held until it is dropped. The system lets go of it for a process that dies.
#[derive(Debug)]
pub(super) struct Held {
    _file: File,
}

impl Shared {
    pub(super) fn hold(&self) -> Result<Held, ClaimFault> {
        let path = common_directory(&self.git, &self.repository)?.join("shuntyard-claims.lock");
        let file = OpenOptions::new().write(true).create(true).truncate(false).open(&path)?;
        let taken = wait_until(PATIENCE, || match file.try_lock() {
            Ok(()) => Ok(Some(())),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        })?;
        taken.map(|()| Held { _file: file }).ok_or(ClaimFault::Busy(path))
    }
}
