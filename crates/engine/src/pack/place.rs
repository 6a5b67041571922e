//! Where a pack goes, and where what is kept about that lies.

use super::{error::PackError, found::hash};
use std::{
    fs::File,
    path::{Path, PathBuf},
};
use switchyard_host::paths::private_dir;

const MANIFEST: &str = ".switchyard-pack.json";

/// A directory that OpenCode reads agents and commands from.
#[derive(Debug, Clone)]
pub struct Place {
    root: PathBuf,
    /// The files that an entry for MCP may be in, the preferred first; the last is made when there is none.
    configs: Vec<PathBuf>,
    keep: PathBuf,
}

impl Place {
    /// The user's own directory of OpenCode.
    #[must_use]
    pub fn user(root: &Path, data_dir: &Path) -> Self {
        let configs = vec![root.join("opencode.json"), root.join("opencode.jsonc")];
        Self::new(root.to_path_buf(), configs, data_dir)
    }

    /// The directory `.opencode` of a project. Its configuration may also stand beside that.
    #[must_use]
    pub fn project(project: &Path, data_dir: &Path) -> Self {
        let root = project.join(".opencode");
        let within = |directory: &Path| ["opencode.json", "opencode.jsonc"].map(|name| directory.join(name));
        let configs = [within(project), within(&root)].concat();
        Self::new(root, configs, data_dir)
    }

    fn new(root: PathBuf, configs: Vec<PathBuf>, data_dir: &Path) -> Self {
        let name = hash(root.as_os_str().as_encoded_bytes());
        let keep = data_dir.join("pack").join(&name[..16]);
        Self { root, configs, keep }
    }

    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The absolute path of a file of the pack.
    #[must_use]
    pub fn file(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    #[must_use]
    pub fn manifest(&self) -> PathBuf {
        self.root.join(MANIFEST)
    }

    /// The configuration to edit: of those that are there the one that OpenCode reads last, else a new one.
    ///
    /// A link is followed, because the file that it leads to is the one that the user keeps.
    pub(super) fn config(&self) -> Result<PathBuf, PackError> {
        let there = |path: &&PathBuf| path.symlink_metadata().is_ok();
        let chosen = self.configs.iter().rev().find(there).or(self.configs.last());
        let chosen = chosen.cloned().unwrap_or_else(|| self.root.join("opencode.jsonc"));
        match chosen.symlink_metadata() {
            Ok(found) if found.is_symlink() => chosen.canonicalize().map_err(PackError::io("follow", &chosen)),
            Ok(_) | Err(_) => Ok(chosen),
        }
    }

    pub(super) fn backups(&self) -> PathBuf {
        self.keep.join("backups")
    }

    pub(super) fn intent(&self) -> PathBuf {
        self.keep.join("intent.json")
    }

    pub(super) fn restoring(&self) -> PathBuf {
        self.keep.join("restoring.json")
    }

    /// Keeps others from changing the same target, for as long as the result lives.
    pub(super) fn lock(&self) -> Result<File, PackError> {
        private_dir(&self.keep).map_err(PackError::io("make", &self.keep))?;
        let path = self.keep.join("lock");
        let file = File::create(&path).map_err(PackError::io("open", &path))?;
        file.lock().map_err(PackError::io("lock", &path))?;
        Ok(file)
    }
}
