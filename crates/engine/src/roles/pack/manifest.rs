//! The file in the target that says what is ours there, and what was there before us.

use super::{
    disk::Disk,
    error::PackError,
    found::{Before, Found},
    place::Place,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::{collections::BTreeMap, path::PathBuf};

pub(super) const SCHEMA: u32 = 1;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    schema: u32,
    pub state: State,
    pub version: String,
    pub format: String,
    pub installed_at: String,
    /// The target that it was written in. In a copy of that, paths and backups belong to the original.
    #[serde(default)]
    pub(super) root: Option<PathBuf>,
    /// Directories that were made for the pack, the outermost first.
    pub directories: Vec<PathBuf>,
    /// By their paths below the target.
    pub files: BTreeMap<String, Entry>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config: Option<ConfigEntry>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    Installed,
    /// Files are being written; each is as before or as the manifest says.
    Installing,
    /// Files are being taken away; each is as the manifest says or as before.
    Removing,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Of the file as it was installed.
    pub sha256: String,
    pub before: Before,
    /// Of the version of ours that an unfinished change was about to replace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaces: Option<String>,
}

/// The edit of a configuration file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConfigEntry {
    pub path: PathBuf,
    /// Of the whole file after the edit.
    pub sha256: String,
    pub before: Before,
    /// What was entered.
    pub value: Value,
    /// Whether the section that it is in was made for it.
    pub made_section: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaces: Option<String>,
}

impl Entry {
    /// Whether the file is as we left it, or as an unfinished change found our older one.
    pub fn is_ours(&self, found: &Found) -> bool {
        found.is(&self.sha256) || self.replaces.as_deref().is_some_and(|sha256| found.is(sha256))
    }
}

impl ConfigEntry {
    /// The same of a configuration.
    pub fn is_ours(&self, found: &Found) -> bool {
        found.is(&self.sha256) || self.replaces.as_deref().is_some_and(|sha256| found.is(sha256))
    }
}

impl Manifest {
    pub(super) fn new(place: &Place, state: State, version: &str, format: &str) -> Self {
        Self {
            schema: SCHEMA,
            state,
            version: version.to_owned(),
            format: format.to_owned(),
            installed_at: jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
            root: Some(place.root().to_path_buf()),
            directories: Vec::new(),
            files: BTreeMap::new(),
            config: None,
        }
    }

    pub(super) fn write(&self, disk: &Disk, place: &Place) -> Result<(), PackError> {
        let path = place.manifest();
        let unreadable =
            |error: serde_json::Error| PackError::Unreadable { path: path.clone(), reason: error.to_string() };
        let mut text = serde_json::to_string_pretty(self).map_err(unreadable)?;
        text.push('\n');
        disk.write(&path, text.as_bytes(), None)
    }
}
