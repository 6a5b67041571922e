//! What can go wrong with a store, in kinds that callers can act on.

use std::{error::Error, fmt};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// The row, or the whole database, is not there.
    NotFound,
    /// The row is there already, or in a state that forbids the change.
    Conflict,
    /// Another writer held the database for longer than we wait.
    Busy,
    /// The database cannot be reached, opened or written.
    Unavailable,
    /// The database is not one of ours, is damaged, or was written by a newer version.
    Corrupt,
}

/// A failed call: its kind, what was being done, and the cause.
#[derive(Debug)]
pub struct StoreError {
    kind: ErrorKind,
    what: String,
    source: Option<Box<dyn Error + Send + Sync>>,
}

impl StoreError {
    #[must_use]
    pub fn new(kind: ErrorKind, what: impl Into<String>) -> Self {
        Self { kind, what: what.into(), source: None }
    }

    #[must_use]
    pub fn because(mut self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }

    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)?;
        self.source.iter().try_for_each(|source| write!(f, ": {source}"))
    }
}

impl Error for StoreError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_deref().map(|source| source as &(dyn Error + 'static))
    }
}
