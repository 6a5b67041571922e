//! Files that are not ours to open are distinguished and left byte for byte as they were.

use super::Yard;
use serde_json::json;
use shuntyard_store::{ErrorKind, Store as _, StoreError, sqlite::SqliteStore};
use std::{
    fs,
    os::unix::fs::FileExt as _,
    path::Path,
    time::{Duration, Instant},
};

async fn refused(yard: &Yard) -> StoreError {
    let before = kept(yard);
    let error = SqliteStore::open(&yard.path).await.unwrap_err();
    assert_eq!(SqliteStore::open_existing(&yard.path).await.unwrap_err().to_string(), error.to_string());
    assert!(error.to_string().contains(yard.path.to_str().unwrap()), "{error}");
    // A connection that met damage is closed by its own thread, after we have our answer.
    let deadline = Instant::now() + Duration::from_secs(60);
    while kept(yard) != before {
        assert!(Instant::now() < deadline, "changed although refused: {error}");
        tokio::task::yield_now().await;
    }
    error
}

/// All files but an empty log and its index: of two connections that are closed at the same moment, neither removes
/// them.
fn kept(yard: &Yard) -> Vec<(String, Vec<u8>)> {
    let mut files = yard.files();
    let is_leftover = |name: &str, bytes: &[u8]| name.ends_with("-shm") || (name.ends_with("-wal") && bytes.is_empty());
    files.retain(|(name, bytes)| !is_leftover(name, bytes));
    files
}

async fn assert_corrupt(yard: &Yard, reason: &str) {
    let error = refused(yard).await;
    assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
    assert!(error.to_string().contains(reason), "{error}");
}

/// A database of several pages, in the mode that ours are in.
async fn filled() -> Yard {
    let yard = Yard::empty();
    let store = SqliteStore::open(&yard.path).await.unwrap();
    for at in 0..20 {
        store.append_event(at, "note", "me", &json!({ "text": "x".repeat(1_000) })).await.unwrap();
    }
    store.close().await;
    yard
}

#[tokio::test]
async fn another_kind_of_file() {
    let yard = Yard::empty();
    fs::write(&yard.path, "a letter, not a database").unwrap();
    assert_corrupt(&yard, "is not an SQLite database").await;
}

#[tokio::test]
async fn a_newer_version() {
    let yard = filled().await;
    yard.execute("PRAGMA user_version = 99").await;
    assert_corrupt(&yard, "newer version of Shuntyard: its tables are version 99").await;
}

#[tokio::test]
async fn another_application() {
    let yard = filled().await;
    yard.execute("PRAGMA application_id = 7").await;
    assert_corrupt(&yard, "is a database of another application").await;
}

#[tokio::test]
async fn another_application_that_left_no_mark() {
    for journal in ["PRAGMA journal_mode = DELETE", "PRAGMA journal_mode = WAL"] {
        let yard = Yard::empty();
        yard.execute(journal).await;
        yard.execute("CREATE TABLE somebodys (thing TEXT); INSERT INTO somebodys VALUES ('kept')").await;
        assert_corrupt(&yard, "is a database of another application").await;
    }
}

#[tokio::test]
async fn a_damaged_database() {
    let cut = filled().await;
    let length = fs::metadata(&cut.path).unwrap().len();
    fs::File::options().write(true).open(&cut.path).unwrap().set_len(length / 2).unwrap();
    assert_corrupt(&cut, "is damaged").await;

    let stump = filled().await;
    fs::File::options().write(true).open(&stump.path).unwrap().set_len(40).unwrap();
    assert_corrupt(&stump, "is damaged").await;

    // The header is whole, the list of tables behind it is not.
    let scribbled = filled().await;
    fs::File::options().write(true).open(&scribbled.path).unwrap().write_all_at(&[0xee; 2_000], 100).unwrap();
    assert_corrupt(&scribbled, "is damaged").await;
}

#[tokio::test]
async fn a_place_that_cannot_be_written() {
    let yard = Yard::empty();
    fs::write(&yard.path, "a file where a directory should be").unwrap();
    let error = SqliteStore::open(&yard.path.join("shuntyard.db")).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
    let error = SqliteStore::open(Path::new("/dev/null/shuntyard.db")).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
    // A directory where the file should be.
    let error = SqliteStore::open(yard.directory.path()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
}

#[tokio::test]
async fn opening_an_existing_one_creates_nothing() {
    let yard = Yard::empty();
    let error = SqliteStore::open_existing(&yard.path).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound, "{error}");
    assert_eq!(yard.files(), []);

    fs::write(&yard.path, "").unwrap();
    let error = SqliteStore::open_existing(&yard.path).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound, "{error}");
    SqliteStore::open(&yard.path).await.unwrap().close().await;
    SqliteStore::open_existing(&yard.path).await.unwrap().close().await;
}
