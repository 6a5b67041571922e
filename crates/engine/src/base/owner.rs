//! Who answers for a row: this process, or one that may be gone.
//!
//! An owner's `host` is the machine's name and its boot, because after a reboot another process can
//! have the same number and the same start time.

use shuntyard_host::{ProcessIdentity, machine};
use shuntyard_store::Owner;

pub(crate) fn this_process() -> std::io::Result<Owner> {
    ProcessIdentity::current().map(owner_of)
}

pub(crate) fn owner_of(process: ProcessIdentity) -> Owner {
    Owner { host: here(), pid: i64::from(process.pid), start: i64::try_from(process.start).unwrap_or(i64::MAX) }
}

enum Place {
    Here,
    /// This machine, before it was started again.
    EarlierBoot,
    Elsewhere,
}

fn place_of(owner: &Owner) -> Place {
    match owner.host.rsplit_once('#') {
        Some((name, boot)) if name == machine::name() => {
            if boot == machine::boot() {
                Place::Here
            } else {
                Place::EarlierBoot
            }
        }
        _ => Place::Elsewhere,
    }
}

/// The process behind an owner, when it is one of this machine as it runs now.
pub(crate) fn identity_of(owner: &Owner) -> Option<ProcessIdentity> {
    match place_of(owner) {
        Place::Here => {
            Some(ProcessIdentity { pid: u32::try_from(owner.pid).ok()?, start: u64::try_from(owner.start).ok()? })
        }
        Place::EarlierBoot | Place::Elsewhere => None,
    }
}

/// Whether the owner is known to be gone. Of another machine's processes we know nothing.
pub(crate) fn is_gone(owner: &Owner) -> bool {
    match place_of(owner) {
        Place::Here => identity_of(owner).is_none_or(|process| !process.is_alive()),
        Place::EarlierBoot => true,
        Place::Elsewhere => false,
    }
}

/// What the owner of something on this machine, as it runs now, has as its host.
pub(crate) fn here() -> String {
    format!("{}#{}", machine::name(), machine::boot())
}

/// Whether something belongs to this machine, as it runs now or as it ran before.
pub(crate) fn same_machine(host: &str) -> bool {
    host.rsplit_once('#').is_some_and(|(name, _)| name == machine::name())
}
