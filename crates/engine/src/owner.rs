//! Who answers for a row: this process, or one that may be gone.

use switchyard_host::{ProcessIdentity, machine};
use switchyard_store::Owner;

pub(crate) fn this_process() -> std::io::Result<Owner> {
    ProcessIdentity::current().map(owner_of)
}

pub(crate) fn owner_of(process: ProcessIdentity) -> Owner {
    Owner {
        host: machine::name(),
        pid: i64::from(process.pid),
        start: i64::try_from(process.start).unwrap_or(i64::MAX),
    }
}

/// The process behind an owner, when it is one of this machine.
pub(crate) fn identity_of(owner: &Owner) -> Option<ProcessIdentity> {
    if owner.host != machine::name() {
        return None;
    }
    Some(ProcessIdentity { pid: u32::try_from(owner.pid).ok()?, start: u64::try_from(owner.start).ok()? })
}

/// Whether the owner is known to be gone. Of another machine's processes we know nothing.
pub(crate) fn is_gone(owner: &Owner) -> bool {
    identity_of(owner).is_some_and(|process| !process.is_alive())
}
