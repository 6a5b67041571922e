//! Places at which a test can have this process die as by `kill -9`, once: just before and just after each thing that
//! it does to the world. They are not in a release build.

use crate::Context;

/// Dies here when `SHUNTYARD_FAULT` is `NAME@FILE`, this is the place of that name, and the file is not there yet.
#[cfg(debug_assertions)]
pub(crate) fn fault(context: &Context, name: &str) {
    let Some((wanted, marker)) = context.variable("SHUNTYARD_FAULT").and_then(|fault| fault.split_once('@')) else {
        return;
    };
    // The process that makes the file dies: no two processes, and not the same place twice.
    if wanted == name && std::fs::File::create_new(marker).is_ok() {
        if let Ok(own) = shuntyard_host::ProcessIdentity::current() {
            own.signal(shuntyard_host::Signal::KILL);
        }
        std::process::abort();
    }
}

#[cfg(not(debug_assertions))]
pub(crate) fn fault(_: &Context, _: &str) {}
