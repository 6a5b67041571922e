//! Where a pack goes, and where what is kept about that lies.

use super::{Part, error::PackError, found::hash};
use shuntyard_host::{former_name::former_name, paths::private_dir};
use std::{
    fs::{File, OpenOptions, TryLockError},
    io::{Read, Seek, Write},
    path::{Component, Path, PathBuf},
};

const MANIFEST: &str = ".shuntyard-pack.json";

/// A directory that OpenCode reads agents and commands from.
#[derive(Debug, Clone)]
pub struct Place {
    root: PathBuf,
    /// The files that an entry for MCP may be in, the preferred first; the last is made when there is none.
    configs: Vec<PathBuf>,
    keep: PathBuf,
    waits: Option<fn(&str)>,
}

impl Place {
    /// The user's own directory of OpenCode.
    #[must_use]
    pub fn user(root: &Path, data_dir: &Path) -> Self {
        let configs = vec![root.join("opencode.json"), root.join("opencode.jsonc")];
        Self::new(root.to_path_buf(), configs, data_dir)
    }

    /// The directory `.opencode` of a project. Its configuration may also be beside that.
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
        Self { root, configs, keep, waits: None }
    }

    /// Calls `waits` with the name of the process that is changing the same target.
    #[must_use]
    pub fn telling(self, waits: fn(&str)) -> Self {
        Self { waits: Some(waits), ..self }
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

    /// A path as users see it: below the target, or whole.
    pub(super) fn shown(&self, path: &Path) -> String {
        path.strip_prefix(&self.root).unwrap_or(path).display().to_string()
    }

    #[must_use]
    pub fn manifest(&self) -> PathBuf {
        self.root.join(MANIFEST)
    }

    /// The manifest of a pack that was installed under the program's former name.
    pub(super) fn former_manifest(&self) -> PathBuf {
        self.root.join(former_name(MANIFEST))
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

    pub(super) fn configs(&self) -> &[PathBuf] {
        &self.configs
    }

    /// Whether that is the path of a content in a backup of this place.
    pub(super) fn is_backup(&self, path: &Path) -> bool {
        let Ok(below) = path.strip_prefix(self.backups()) else { return false };
        below.components().count() == 2 && below.components().all(|part| matches!(part, Component::Normal(_)))
    }

    /// Whether a directory is one that an install can have had to make: the target, those of the pack in it, and those
    /// above it.
    pub(super) fn may_have_made(&self, directory: &Path) -> bool {
        let of_pack = || Part::ALL.iter().any(|part| directory == self.root.join(part.directory()));
        directory.is_absolute() && (self.root.starts_with(directory) || of_pack())
    }

    /// Where the backups were while the data directory had the former name.
    pub(super) fn former_backups(&self) -> PathBuf {
        let data_dir = self.keep.ancestors().nth(2).unwrap_or(&self.keep);
        let below = self.keep.strip_prefix(data_dir).unwrap_or(&self.keep);
        let name = data_dir.file_name().unwrap_or_default().to_string_lossy();
        data_dir.with_file_name(former_name(&name)).join(below).join("backups")
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
        let mut options = OpenOptions::new();
        let file = options.read(true).write(true).create(true).truncate(false).open(&path);
        let mut file = file.map_err(PackError::io("open", &path))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut holder = String::new();
                drop(file.read_to_string(&mut holder));
                if let Some(waits) = self.waits {
                    waits(holder.trim());
                }
                file.lock().map_err(PackError::io("lock", &path))?;
            }
            Err(TryLockError::Error(error)) => return Err(PackError::io("lock", &path)(error)),
        }
        // Only for those who wait: that it cannot be noted does not matter.
        drop(
            file.set_len(0)
                .and_then(|()| file.rewind())
                .and_then(|()| file.write_all(format!("process {}\n", std::process::id()).as_bytes())),
        );
        Ok(file)
    }
}
