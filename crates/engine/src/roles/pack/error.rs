//! Why a pack could not be put anywhere or taken away.

use super::config_text::ConfigTextError;
use std::{
    io,
    path::{Path, PathBuf},
};

#[derive(Debug, thiserror::Error)]
pub enum PackError {
    #[error("{doing} {}: {source}", path.display())]
    Io { doing: &'static str, path: PathBuf, source: io::Error },
    #[error("{} is neither a file nor a link", .0.display())]
    NotFile(PathBuf),
    #[error("{} cannot be read: {reason}", path.display())]
    Unreadable { path: PathBuf, reason: String },
    #[error("{} is of a newer version of this program", .0.display())]
    Newer(PathBuf),
    #[error("{}: {source}", path.display())]
    Config { path: PathBuf, source: ConfigTextError },
    #[error("{} is not to be trusted: {reason}", path.display())]
    Foreign { path: PathBuf, reason: String },
    #[error("what was in {} is in no backup any more", .0.display())]
    BackupLost(PathBuf),
    #[error("there is no backup {wanted:?} of {}", target.display())]
    NoBackup { wanted: String, target: PathBuf, there: Vec<String> },
    #[error("there are no backups of {}", .0.display())]
    NoBackups(PathBuf),
    #[cfg(test)]
    #[error("stopped by a test")]
    Stopped,
}

impl PackError {
    pub(super) fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_path_buf();
        move |source| Self::Io { doing, path, source }
    }
}
