//! What is at a path right now, and what was there at an earlier time.

use super::error::PackError;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::{
    fs, io,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    Absent,
    File { bytes: Vec<u8>, mode: u32 },
    Link { to: PathBuf },
}

/// The same without the content, which is in a backup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "was", rename_all = "kebab-case")]
pub enum Before {
    Absent,
    File {
        sha256: String,
        mode: u32,
        backup: PathBuf,
    },
    Link {
        to: PathBuf,
    },
    /// A file whose content is in no backup of this place.
    Lost {
        sha256: String,
    },
}

pub fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

impl Found {
    pub fn at(path: &Path) -> Result<Self, PackError> {
        let metadata = match path.symlink_metadata() {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::Absent),
            Err(error) => return Err(PackError::io("look at", path)(error)),
        };
        if metadata.is_symlink() {
            let to = fs::read_link(path).map_err(PackError::io("read the link", path))?;
            return Ok(Self::Link { to });
        }
        if !metadata.is_file() {
            return Err(PackError::NotFile(path.to_path_buf()));
        }
        let bytes = fs::read(path).map_err(PackError::io("read", path))?;
        Ok(Self::File { bytes, mode: metadata.permissions().mode() & 0o7777 })
    }

    /// The hash of a file. A link has none: it is never ours.
    pub fn hash(&self) -> Option<String> {
        match self {
            Self::File { bytes, .. } => Some(hash(bytes)),
            Self::Absent | Self::Link { .. } => None,
        }
    }

    pub fn is(&self, sha256: &str) -> bool {
        self.hash().as_deref() == Some(sha256)
    }

    pub fn mode(&self) -> Option<u32> {
        match self {
            Self::File { mode, .. } => Some(*mode),
            Self::Absent | Self::Link { .. } => None,
        }
    }

    /// For showing, with what is behind a link named.
    pub fn text(&self) -> String {
        match self {
            Self::Absent => String::new(),
            Self::File { bytes, .. } => String::from_utf8_lossy(bytes).into_owned(),
            Self::Link { to } => format!("(a link to {})\n", to.display()),
        }
    }
}

impl Before {
    /// Whether that is what is there now. The mode is not compared: it is restored with the content.
    pub fn matches(&self, found: &Found) -> bool {
        match (self, found) {
            (Self::Absent, Found::Absent) => true,
            (Self::File { sha256, .. } | Self::Lost { sha256 }, Found::File { .. }) => found.is(sha256),
            (Self::Link { to }, Found::Link { to: now }) => to == now,
            (Self::Absent | Self::File { .. } | Self::Link { .. } | Self::Lost { .. }, _) => false,
        }
    }
}
