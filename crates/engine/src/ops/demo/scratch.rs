//! The directory that the demo lives in: OpenCode's home, our data and settings, and a small repository.
//!
//! Invariant: nothing of the demo is written anywhere else, so removing this directory removes it all.

use super::DemoError;
use shuntyard_host::{
    git::{Author, Git},
    paths::private_dir,
};
use std::{
    collections::BTreeMap,
    ffi::OsString,
    fs, io,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};
use tempfile::TempDir;

pub(super) const BRANCH: &str = "main";
pub(super) const FILE: &str = "greet.sh";
pub(super) const BROKEN_LINE: &str = "echo \"Hello, nobody!\"";
pub(super) const MENDED_LINE: &str = "echo \"Hello, ${1:-world}!\"";

const README: &str = "# Greeting\n\n`sh greet.sh NAME` greets NAME.\n";
const FIRST_COMMIT: &str = "Add a greeting";
/// A last process may still be writing when the removal begins.
const REMOVAL_PATIENCE: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub struct Scratch {
    directory: TempDir,
    /// Without symbolic links: OpenCode compares paths as text.
    root: PathBuf,
}

impl Scratch {
    /// Makes the directory where the system keeps temporary files, for this user only.
    pub fn create() -> Result<Self, DemoError> {
        let directory = tempfile::Builder::new().prefix("shuntyard-demo-").tempdir().map_err(DemoError::Scratch)?;
        let root = directory.path().canonicalize().map_err(DemoError::Scratch)?;
        Ok(Self { directory, root })
    }

    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The store of the demo.
    #[must_use]
    pub fn store(&self) -> PathBuf {
        self.data().join("shuntyard.db")
    }

    pub(super) fn data(&self) -> PathBuf {
        self.root.join("data")
    }

    pub(super) fn home(&self) -> PathBuf {
        self.root.join("home")
    }

    pub(super) fn temporary(&self) -> PathBuf {
        self.root.join("tmp")
    }

    pub(super) fn opencode_config(&self) -> PathBuf {
        self.home().join(".config/opencode/opencode.json")
    }

    pub(super) fn empty_catalogue(&self) -> PathBuf {
        self.root.join("no-models.json")
    }

    pub(super) fn repository(&self) -> PathBuf {
        self.root.join("repository")
    }

    /// Our settings, for this process and for the workers.
    pub(super) fn config(&self) -> PathBuf {
        self.root.join("shuntyard.toml")
    }

    pub(super) fn make_homes(&self) -> io::Result<()> {
        private_dir(&self.temporary())?;
        private_dir(&self.data())?;
        private_dir(&self.home().join(".config/opencode"))
    }

    /// A repository with one commit.
    pub(super) fn make_repository(&self, environment: &BTreeMap<String, String>) -> Result<(), DemoError> {
        let (git, repository) = (git(environment), self.repository());
        fs::create_dir(&repository).map_err(DemoError::Scratch)?;
        git.init(&repository)?;
        let broken = format!("#!/bin/sh\n{BROKEN_LINE}\n");
        fs::write(repository.join(FILE), broken).map_err(DemoError::Scratch)?;
        fs::write(repository.join("README.md"), README).map_err(DemoError::Scratch)?;
        let author = Author { name: "Shuntyard demo".into(), email: "demo@shuntyard.invalid".into() };
        git.commit_all(&repository, FIRST_COMMIT, &author)?;
        Ok(())
    }

    /// Removes the directory. Also done, without a word, when the value is dropped.
    pub(super) async fn remove(self) -> io::Result<()> {
        let deadline = Instant::now() + REMOVAL_PATIENCE;
        while let Err(error) = fs::remove_dir_all(&self.root) {
            if error.kind() == io::ErrorKind::NotFound {
                break;
            }
            if Instant::now() >= deadline {
                return Err(error);
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        // It is gone; what is left of the value has nothing to remove.
        drop(self.directory.keep());
        Ok(())
    }
}

/// Git with the demo's environment over the caller's, so that no hook, template, signature or default of
/// the user takes part.
pub(super) fn git(environment: &BTreeMap<String, String>) -> Git {
    let variables = environment.iter().map(|(name, value)| (OsString::from(name), OsString::from(value))).collect();
    Git { idle_deadline: Duration::from_secs(20), variables, ..Git::default() }
}
