//! Starting our own program so that it outlives the terminal it was started from.
//!
//! Invariant: the child has no terminal: its input is empty, its output goes to a log that only this user can read.

use std::ffi::OsStr;
use std::fs::{OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// Starts `exe`, which must call [`detach_self`] first thing, in `directory` and with these variables and no others.
pub fn spawn_detached(
    exe: &Path,
    args: impl IntoIterator<Item = impl AsRef<OsStr>>,
    variables: impl IntoIterator<Item = (impl AsRef<OsStr>, impl AsRef<OsStr>)>,
    directory: &Path,
    log_file: &Path,
) -> io::Result<Child> {
    let log = OpenOptions::new().append(true).create(true).mode(0o600).open(log_file)?;
    // The mode above counts only for a new file.
    log.set_permissions(Permissions::from_mode(0o600))?;
    let mut command = Command::new(exe);
    command.args(args).env_clear().envs(variables).current_dir(directory);
    command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log).spawn()
}

/// Makes this process the leader of a new session: no terminal can interrupt it or hang up on it any more.
///
/// A leader cannot start another session. That is no failure where the one it leads has no terminal. (Its session is
/// not compared with its process id: inside a container the session may have been started outside, where its id reads
/// as zero, which rustix takes for impossible.)
pub fn detach_self() -> io::Result<()> {
    match rustix::process::setsid() {
        Ok(_) => Ok(()),
        Err(_) if !has_terminal() => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Opening this name fails in a session that no terminal controls.
fn has_terminal() -> bool {
    OpenOptions::new().read(true).open("/dev/tty").is_ok()
}
