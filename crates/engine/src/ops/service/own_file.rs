//! A file that install may have made: whether it is there, and whether it is ours.

use super::ServiceError;
use shuntyard_host::{
    service::is_marked,
    text_file::{MOST_CONFIG_BYTES, read_text},
};
use std::path::Path;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    Absent,
    Ours(String),
    /// Another program's or a person's, or something that is no text at all.
    Foreign,
}

impl Found {
    pub fn at(path: &Path) -> Self {
        match read_text(path, MOST_CONFIG_BYTES) {
            Ok(text) if is_marked(&text) => Self::Ours(text),
            // A link that leads nowhere is there as well.
            Err(error) if error.is_absent() && path.symlink_metadata().is_err() => Self::Absent,
            Ok(_) | Err(_) => Self::Foreign,
        }
    }

    pub fn is_ours(&self) -> bool {
        matches!(self, Self::Ours(_))
    }
}

/// The text of our file, or none; another's is not ours to replace.
pub fn ours(path: &Path) -> Result<Option<String>, ServiceError> {
    match Found::at(path) {
        Found::Absent => Ok(None),
        Found::Ours(text) => Ok(Some(text)),
        Found::Foreign => Err(ServiceError::Foreign(path.to_owned())),
    }
}
