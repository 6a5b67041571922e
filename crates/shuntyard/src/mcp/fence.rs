//! How far the calls of a client reach: its server's own directory and what is inside it.
//!
//! Invariant: a path that a client names is followed to where it really leads before it is compared, so that neither
//! `..` nor a link leads out.

use shuntyard_engine::queue::jobs::JobError;
use std::path::{Path, PathBuf};

#[derive(Debug, Clone)]
pub struct Fence {
    root: PathBuf,
}

impl Fence {
    /// `root` has to be there.
    pub fn around(root: &Path) -> std::io::Result<Self> {
        Ok(Self { root: root.canonicalize()? })
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Whether a repository is the one that the server works in, or is inside its directory.
    pub fn reaches(&self, repository: &Path) -> bool {
        repository.canonicalize().is_ok_and(|real| real.starts_with(&self.root) || self.root.starts_with(&real))
    }

    /// The directory that a call names; the server's own when it names none.
    pub fn directory(&self, named: Option<&str>) -> Result<PathBuf, JobError> {
        let Some(named) = named else { return Ok(self.root.clone()) };
        let hint = || format!("leave it out, or name a directory inside {}", self.root.display());
        let real = self.root.join(named).canonicalize().ok().filter(|path| path.is_dir());
        match real {
            Some(path) if path.starts_with(&self.root) => Ok(path),
            Some(_) => {
                let message = format!("`directory` leads out of the directory that this server works for: {named}");
                Err(JobError::usage(message, hint()))
            }
            None => Err(JobError::usage(format!("`directory` is no directory: {named}"), hint())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Fence;

    #[test]
    fn nothing_leads_out() {
        let place = shuntyard_testkit::Scratch::of_test();
        let root = place.path().join("project");
        std::fs::create_dir_all(root.join("inner")).expect("a directory");
        std::fs::create_dir_all(place.path().join("project-2")).expect("a directory");
        std::fs::write(root.join("file"), "").expect("a file");
        std::os::unix::fs::symlink(place.path(), root.join("out")).expect("a link");
        std::os::unix::fs::symlink(root.join("inner"), root.join("in")).expect("a link");
        let fence = Fence::around(&root).expect("a fence");
        let root = fence.root().to_owned();
        let outside = place.path().to_string_lossy().into_owned();
        let inside = root.join("inner").to_string_lossy().into_owned();
        for good in [None, Some("."), Some("inner"), Some("in"), Some("inner/../inner"), Some(inside.as_str())] {
            let found = fence.directory(good).expect("a directory");
            assert!(found == root || found == root.join("inner"), "{good:?}: {found:?}");
        }
        for (repository, reached) in [(&root, true), (&root.join("in"), true), (&root.join("../project-2"), false)] {
            assert_eq!(fence.reaches(repository), reached, "{repository:?}");
        }
        let inner = Fence::around(&root.join("inner")).expect("a fence");
        assert!(inner.reaches(&root) && !inner.reaches(&root.join("missing")));
        for bad in ["..", "out", "../project-2", "/", "missing", "file", outside.as_str(), "inner/../../project-2"] {
            let error = fence.directory(Some(bad)).expect_err(bad);
            assert!(error.message.contains("`directory`") && error.hint.contains("inside"), "{bad}: {error:?}");
        }
    }
}
