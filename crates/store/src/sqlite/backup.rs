//! Copies of a database, taken before it is changed for good. A copy is never overwritten.

use super::{fault, open};
use crate::{ErrorKind, Result, StoreError};
use sqlx::SqlitePool;
use std::{
    ffi::OsString,
    fs, io,
    path::{Path, PathBuf},
};

/// Copies the database at `path`, whose tables are of `version`, to the next free name beside it.
pub(super) async fn take(readers: &SqlitePool, path: &Path, version: i64) -> Result<PathBuf> {
    let copy = reserve(path, version)?;
    let written = write(readers, &copy).await;
    if written.is_err() {
        // What is there is no backup, and must not be taken for one.
        let _ = fs::remove_file(&copy);
    }
    written.map(|()| copy)
}

/// SQLite writes into an empty file as into a missing one, so creating it claims the name.
fn reserve(path: &Path, version: i64) -> Result<PathBuf> {
    let mut number = 1_u32;
    loop {
        let mut name = OsString::from(path);
        name.push(format!(".backup-v{version}-{number}"));
        match open::create_private(Path::new(&name)) {
            Ok(()) => return Ok(name.into()),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
            Err(error) => return Err(unwritten(Path::new(&name), ErrorKind::Unavailable).because(error)),
        }
    }
}

async fn write(readers: &SqlitePool, copy: &Path) -> Result<()> {
    let Some(name) = copy.to_str() else {
        return Err(unwritten(copy, ErrorKind::Unavailable).because("its name is not Unicode"));
    };
    sqlx::query("VACUUM INTO ?1")
        .bind(name)
        .execute(readers)
        .await
        .map_err(|error| unwritten(copy, fault::kind(&error)).because(error))?;
    fs::File::open(copy)
        .and_then(|file| file.sync_all())
        .map_err(|error| unwritten(copy, ErrorKind::Unavailable).because(error))
}

fn unwritten(copy: &Path, kind: ErrorKind) -> StoreError {
    StoreError::new(kind, format!("failed to write the backup {}", copy.display()))
}
