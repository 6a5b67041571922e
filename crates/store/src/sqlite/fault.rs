//! The one place where an error of SQLite becomes a kind that callers can act on.

use crate::{ErrorKind, StoreError};
use sqlx::error::DatabaseError;

/// Makes the error of a call that failed to do `what`.
pub(super) fn failed(what: &'static str) -> impl Fn(sqlx::Error) -> StoreError {
    move |error| StoreError::new(kind(&error), format!("failed to {what}")).because(error)
}

pub(super) fn kind(error: &sqlx::Error) -> ErrorKind {
    match error {
        sqlx::Error::Database(error) => database_kind(error.as_ref()),
        sqlx::Error::RowNotFound => ErrorKind::NotFound,
        // All tasks of this process share one writer: waiting too long for it is the same news.
        sqlx::Error::PoolTimedOut => ErrorKind::Busy,
        sqlx::Error::ColumnNotFound(_)
        | sqlx::Error::ColumnDecode { .. }
        | sqlx::Error::ColumnIndexOutOfBounds { .. }
        | sqlx::Error::TypeNotFound { .. }
        | sqlx::Error::Decode(_) => ErrorKind::Corrupt,
        _ => ErrorKind::Unavailable,
    }
}

fn database_kind(error: &dyn DatabaseError) -> ErrorKind {
    const FOREIGN_KEY: i32 = 787;
    let code: i32 = error.code().and_then(|code| code.parse().ok()).unwrap_or(0);
    if code == FOREIGN_KEY {
        // We only ever break one by naming a row that is not there: deletes cascade.
        return ErrorKind::NotFound;
    }
    // The low byte of an extended code is its family.
    match code & 0xff {
        // BUSY, LOCKED, PROTOCOL (lost every race for the WAL lock).
        5 | 6 | 15 => ErrorKind::Busy,
        // CORRUPT, NOTADB; and ERROR: our SQL is fixed, so a statement that makes no sense to the
        // database means that its tables are not the ones that we made.
        1 | 11 | 26 => ErrorKind::Corrupt,
        // CONSTRAINT, MISMATCH.
        19 | 20 => ErrorKind::Conflict,
        // PERM, NOMEM, READONLY, IOERR, FULL, CANTOPEN and all unexpected ones.
        _ => ErrorKind::Unavailable,
    }
}
