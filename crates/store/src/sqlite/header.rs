//! What the header of a file contains, before SQLite opens it.
//!
//! A file that is not ours must stay byte for byte as it was, and SQLite may replay a log into a
//! database that it opens; so the refusals that the first hundred bytes allow are made from them.

use crate::{ErrorKind, Result, StoreError};
use std::{
    fs::File,
    io::{self, Read as _},
    path::Path,
};

/// Marks a database as ours: "SwYd" in its header.
pub const APPLICATION_ID: i64 = 0x5377_5964;

/// How a database keeps what was written last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Journal {
    WriteAhead,
    /// Or not known yet.
    Other,
}

/// Who made a database, and in which version of its tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Identity {
    pub application: i64,
    pub version: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Contents {
    /// No bytes: a database that a process is about to fill.
    Nothing,
    /// A database that carries no mark, so only its tables show whether it may be ours.
    Unmarked,
    Marked(Identity),
}

/// To be called before SQLite has the file open: closing a file releases all locks that the process has on it.
pub(super) fn read(path: &Path) -> Result<(Contents, Journal)> {
    let mut bytes = Vec::with_capacity(100);
    File::open(path).and_then(|file| file.take(100).read_to_end(&mut bytes)).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => missing(path),
        _ => StoreError::new(ErrorKind::Unavailable, format!("failed to read {}", path.display())).because(error),
    })?;
    if bytes.is_empty() {
        return Ok((Contents::Nothing, Journal::Other));
    }
    if !bytes.starts_with(b"SQLite format 3\0") {
        return Err(corrupt(path, "is not an SQLite database"));
    }
    let number = |at: usize| bytes.get(at..at + 4).and_then(|four| four.try_into().ok()).map(i32::from_be_bytes);
    // Both for reading and for writing.
    let journal = if bytes.get(18..20) == Some(&[2, 2]) { Journal::WriteAhead } else { Journal::Other };
    match (number(68), number(60)) {
        (Some(0), Some(_)) => Ok((Contents::Unmarked, journal)),
        (Some(application), Some(version)) => {
            let identity = Identity { application: application.into(), version: version.into() };
            Ok((Contents::Marked(identity), journal))
        }
        _ => Err(corrupt(path, "is damaged: its header is cut off")),
    }
}

/// Refuses a database of another application or of a newer version of this one.
pub(super) fn check(path: &Path, identity: Identity, newest: i64) -> Result<()> {
    if identity.application != APPLICATION_ID {
        return Err(foreign(path));
    }
    if identity.version > newest {
        let what = format!(
            "was written by a newer version of Shuntyard: its tables are version {}, this one knows {newest}",
            identity.version
        );
        return Err(corrupt(path, &what));
    }
    Ok(())
}

pub(super) fn missing(path: &Path) -> StoreError {
    StoreError::new(ErrorKind::NotFound, format!("there is no database at {}", path.display()))
}

pub(super) fn foreign(path: &Path) -> StoreError {
    corrupt(path, "is a database of another application")
}

pub(super) fn corrupt(path: &Path, what: &str) -> StoreError {
    StoreError::new(ErrorKind::Corrupt, format!("{} {what}", path.display()))
}
