//! What is about to be made in a target, noted outside of it: directories are made before there can be a manifest in
//! them, and the last of them is removed after the manifest.

use super::{disk::Disk, error::PackError, place::Place};
use serde::{Deserialize, Serialize};
use shuntyard_host::paths::write_private;
use std::path::{Path, PathBuf};

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Intent {
    /// The outermost first.
    pub directories: Vec<PathBuf>,
    /// Files that may be there half written.
    pub files: Vec<PathBuf>,
}

impl Intent {
    pub fn read(place: &Place) -> Self {
        // Whatever cannot be read here costs no more than an empty directory.
        std::fs::read(place.intent()).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
    }

    pub fn write(&self, place: &Place) -> Result<(), PackError> {
        let path = place.intent();
        let bytes = serde_json::to_vec_pretty(self).unwrap_or_default();
        write_private(&path, &bytes).map_err(PackError::io("write", &path))
    }

    pub fn forget(place: &Place) -> Result<(), PackError> {
        match std::fs::remove_file(place.intent()) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(PackError::io("remove", &place.intent())(error))
            }
            _ => Ok(()),
        }
    }

    /// Removes what an earlier run has left half written, whatever this one finds to do.
    pub fn sweep(&self, disk: &Disk, place: &Place) -> Result<(), PackError> {
        let manifest = place.manifest();
        disk.sweep(self.files.iter().map(PathBuf::as_path).chain([manifest.as_path()]))
    }

    /// Adds the directories above `file` that are not there yet.
    pub fn directories_for(&mut self, file: &Path) {
        let missing = file.ancestors().skip(1).take_while(|directory| !directory.exists());
        let missing: Vec<PathBuf> = missing.map(Path::to_path_buf).collect();
        for directory in missing.into_iter().rev() {
            if !self.directories.contains(&directory) {
                self.directories.push(directory);
            }
        }
    }
}
