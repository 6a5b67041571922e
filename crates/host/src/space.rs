//! How much space is left where a file would go.

use std::io;
use std::path::Path;

/// What this user may still write on the file system that the path is on, without what is kept back for the system.
pub fn free_bytes(path: &Path) -> io::Result<u64> {
    let found = rustix::fs::statvfs(path)?;
    Ok(found.f_bavail.saturating_mul(found.f_frsize))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_some_room_and_less_than_the_disk_has() {
        let scratch = shuntyard_testkit::Scratch::of_test();
        let free = free_bytes(scratch.path()).unwrap();
        let whole = rustix::fs::statvfs(scratch.path()).unwrap();
        assert!(free > 0 && free <= whole.f_blocks * whole.f_frsize, "{free}");
        assert!(free_bytes(Path::new("/no/such/place")).is_err());
    }
}
