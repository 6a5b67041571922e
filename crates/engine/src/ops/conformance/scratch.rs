//! A home of its own for an OpenCode that must see nothing of the user's.
//!
//! Invariant: the directory is private and goes with the value, also when a server that is just
//! ending still writes to it.

use std::{
    fs, io,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

const REMOVAL: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub(crate) struct Scratch {
    root: PathBuf,
}

impl Scratch {
    /// Makes it below `temporary`, with the directories `home`, `tmp` and `project` in it.
    pub(crate) fn new(temporary: &Path) -> io::Result<Self> {
        let root = tempfile::Builder::new().prefix("shuntyard-doctor-").tempdir_in(temporary)?.keep();
        // OpenCode compares real paths, and on some systems the temporary directory is a link.
        let scratch = Self { root: fs::canonicalize(&root).unwrap_or(root) };
        for name in ["home", "tmp", "project"] {
            fs::create_dir(scratch.path(name))?;
        }
        Ok(scratch)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// The least that a program needs, and no more.
    pub(crate) fn variables(&self, search_path: &str) -> Vec<(String, String)> {
        let own = |name: &str| self.path(name).to_string_lossy().into_owned();
        vec![
            ("PATH".to_owned(), search_path.to_owned()),
            ("HOME".to_owned(), own("home")),
            ("TMPDIR".to_owned(), own("tmp")),
        ]
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let deadline = Instant::now() + REMOVAL;
        while let Err(error) = fs::remove_dir_all(&self.root) {
            if error.kind() == io::ErrorKind::NotFound {
                return;
            }
            if Instant::now() >= deadline {
                tracing::warn!(directory = %self.root.display(), %error, "a scratch directory could not be removed");
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_goes_with_all_that_is_in_it() {
        let temporary = tempfile::tempdir().unwrap();
        let scratch = Scratch::new(temporary.path()).unwrap();
        fs::write(scratch.path("home").join("left"), "x").unwrap();
        let names: Vec<String> = scratch.variables("/bin").into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["PATH", "HOME", "TMPDIR"]);
        drop(scratch);
        assert_eq!(fs::read_dir(temporary.path()).unwrap().count(), 0);
    }
}
