//! Copies of everything that a change is about to touch, outside of the target and for this user only: a configuration
//! file may hold keys.
//!
//! A backup appears under its name only when it is complete.

use super::{
    error::PackError,
    found::{Before, Found, hash},
    place::Place,
};
use serde::{Deserialize, Serialize};
use shuntyard_host::paths::{private_dir, write_private};
use std::{
    fs,
    path::{Path, PathBuf},
};

const INDEX: &str = "index.json";
const UNFINISHED: &str = ".unfinished";

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Index {
    pub target: PathBuf,
    /// What was about to be done.
    pub reason: String,
    /// Directories that were not there.
    pub directories: Vec<PathBuf>,
    pub entries: Vec<IndexEntry>,
    /// Hashes of what the change was about to write and no manifest knows of afterwards.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left: Vec<Left>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Left {
    pub path: PathBuf,
    pub sha256: String,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct IndexEntry {
    pub path: PathBuf,
    pub before: Before,
}

/// A backup that is being made.
#[derive(Debug)]
pub(super) struct Backup {
    directory: PathBuf,
    finished: PathBuf,
    index: Index,
    count: usize,
}

impl Backup {
    pub fn begin(place: &Place, reason: &str) -> Result<Self, PackError> {
        let all = place.backups();
        private_dir(&all).map_err(PackError::io("make", &all))?;
        for name in names(&all).filter(|name| name.ends_with(UNFINISHED)) {
            let left = all.join(name);
            fs::remove_dir_all(&left).map_err(PackError::io("remove", &left))?;
        }
        let now = jiff::Timestamp::now().strftime("%Y%m%dT%H%M%S%.3fZ").to_string();
        let name = (1..).map(|again| if again == 1 { now.clone() } else { format!("{now}-{again}") });
        let name = name.into_iter().find(|name| !all.join(name).exists()).unwrap_or(now);
        let directory = all.join(format!("{name}{UNFINISHED}"));
        private_dir(&directory).map_err(PackError::io("make", &directory))?;
        let index = Index {
            target: place.root().to_path_buf(),
            reason: reason.to_owned(),
            directories: Vec::new(),
            entries: Vec::new(),
            left: Vec::new(),
        };
        Ok(Self { finished: all.join(name), directory, index, count: 0 })
    }

    /// Keeps what is at a path, and says where to find it again.
    pub fn keep(&mut self, path: &Path, found: &Found) -> Result<Before, PackError> {
        let before = match found {
            Found::Absent => Before::Absent,
            Found::Link { to } => Before::Link { to: to.clone() },
            Found::File { bytes, mode } => self.content(bytes, *mode)?,
        };
        self.index.entries.push(IndexEntry { path: path.to_path_buf(), before: before.clone() });
        Ok(before)
    }

    /// Keeps a content that is nowhere as a file.
    pub fn content(&mut self, bytes: &[u8], mode: u32) -> Result<Before, PackError> {
        self.count += 1;
        let name = format!("{:03}", self.count);
        let path = self.directory.join(&name);
        write_private(&path, bytes).map_err(PackError::io("write", &path))?;
        Ok(Before::File { sha256: hash(bytes), mode, backup: self.finished.join(name) })
    }

    pub fn leaves(&mut self, path: &Path, sha256: String) {
        self.index.left.push(Left { path: path.to_path_buf(), sha256 });
    }

    pub fn without(&mut self, directories: &[PathBuf]) {
        self.index.directories = directories.to_vec();
    }

    /// The name of the backup.
    pub fn finish(self) -> Result<String, PackError> {
        let index = self.directory.join(INDEX);
        let bytes = serde_json::to_vec_pretty(&self.index).unwrap_or_default();
        write_private(&index, &bytes).map_err(PackError::io("write", &index))?;
        fs::rename(&self.directory, &self.finished).map_err(PackError::io("finish", &self.finished))?;
        Ok(self.finished.file_name().unwrap_or_default().to_string_lossy().into_owned())
    }
}

/// The content that a file had. One that is not what it was then is no backup.
pub(super) fn content(path: &Path, backup: &Path, sha256: &str) -> Result<Vec<u8>, PackError> {
    let lost = || PackError::BackupLost(path.to_path_buf());
    let bytes = fs::read(backup).map_err(|_| lost())?;
    if hash(&bytes) == sha256 { Ok(bytes) } else { Err(lost()) }
}

#[derive(Debug, Clone, Serialize)]
pub struct BackupSummary {
    /// The moment in UTC, which is also the name.
    pub name: String,
    /// What was about to be done.
    pub reason: String,
    /// Those that were there.
    pub files: usize,
}

/// The backups of a place, the newest first.
#[must_use]
pub fn backups(place: &Place) -> Vec<BackupSummary> {
    let all = place.backups();
    let mut found: Vec<String> = names(&all).filter(|name| !name.ends_with(UNFINISHED)).collect();
    found.sort_unstable_by(|left, right| right.cmp(left));
    let summary = |name: String| {
        let index = index(place, &name).ok()?;
        let files = index.entries.iter().filter(|entry| entry.before != Before::Absent).count();
        Some(BackupSummary { name, reason: index.reason, files })
    };
    found.into_iter().filter_map(summary).collect()
}

pub(super) fn index(place: &Place, name: &str) -> Result<Index, PackError> {
    let path = place.backups().join(name).join(INDEX);
    let bytes = fs::read(&path).map_err(PackError::io("read", &path))?;
    serde_json::from_slice(&bytes).map_err(|error| PackError::Unreadable { path, reason: error.to_string() })
}

fn names(directory: &Path) -> impl Iterator<Item = String> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().into_string().ok())
}
