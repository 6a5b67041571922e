//! From one version to the next: everything is kept, or nothing is changed.

use super::{FIRST, Yard, read_with};
use shuntyard_store::{
    ErrorKind, Store as _,
    sqlite::{Migration, SqliteStore},
};
use std::fs;

/// Rebuilds a table that others refer to: the kind of change that loses rows when done wrong.
pub const GOOD: &str = "
    CREATE TABLE rebuilt AS SELECT * FROM dispatch;
    DROP TABLE dispatch;
    CREATE TABLE dispatch (
        id TEXT PRIMARY KEY NOT NULL, began_at INTEGER NOT NULL, ended_at INTEGER, owner_host TEXT NOT NULL,
        owner_pid INTEGER NOT NULL, owner_start INTEGER NOT NULL, mode TEXT NOT NULL, requested TEXT NOT NULL,
        route TEXT NOT NULL, directory TEXT NOT NULL, prompt_chars INTEGER NOT NULL, status TEXT NOT NULL,
        error_class TEXT, warnings TEXT NOT NULL, note TEXT
    ) STRICT;
    INSERT INTO dispatch SELECT *, 'new' FROM rebuilt;
    DROP TABLE rebuilt;
    PRAGMA user_version = 2;";

pub fn then(sql: &'static str) -> [Migration; 2] {
    [FIRST[0], Migration { version: 2, sql }]
}

#[tokio::test]
async fn a_migration_keeps_all_rows_and_a_backup() {
    let yard = Yard::v1().await;
    let before = read_with(&yard.path, FIRST).await.unwrap();
    assert_eq!(read_with(&yard.path, &then(GOOD)).await.unwrap(), before);
    assert_eq!(yard.version().await, 2);
    assert_eq!(read_with(&yard.beside(".backup-v1-1"), FIRST).await.unwrap(), before);
    // A second start finds nothing to do.
    read_with(&yard.path, &then(GOOD)).await.unwrap();
    assert!(!yard.beside(".backup-v2-1").exists() && !yard.beside(".backup-v1-2").exists());
}

#[tokio::test]
async fn a_backup_is_private_and_never_overwritten() {
    let yard = Yard::v1().await;
    fs::write(yard.beside(".backup-v1-1"), "precious").unwrap();
    read_with(&yard.path, &then(GOOD)).await.unwrap();
    assert_eq!(fs::read(yard.beside(".backup-v1-1")).unwrap(), b"precious");
    let copy = yard.beside(".backup-v1-2");
    #[cfg(unix)]
    assert_eq!(std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&copy).unwrap().permissions()) & 0o777, 0o600);
    assert!(read_with(&copy, FIRST).await.unwrap().contains("code-review"));
}

#[tokio::test]
async fn a_migration_that_fails_changes_nothing_and_names_the_backup() {
    for (sql, reason) in [
        ("DELETE FROM event WHERE position = 7; PRAGMA user_version = 2;", "table event had 2 rows and would have 1"),
        ("DROP TABLE session; PRAGMA user_version = 2;", "table session had 4 rows and would have 0"),
        (
            "UPDATE attempt SET dispatch = 'nobody' WHERE ordinal = 2; PRAGMA user_version = 2;",
            "1 rows refer to rows that are not there",
        ),
        ("DELETE FROM event; ALTER TABLE absent ADD COLUMN x TEXT;", "no such table"),
        ("DELETE FROM event;", "the migration to version 2 ended at"),
        ("PRAGMA application_id = 5; PRAGMA user_version = 2;", "the migration to version 2 ended at"),
    ] {
        let yard = Yard::v1().await;
        let before = read_with(&yard.path, FIRST).await.unwrap();
        let error = read_with(&yard.path, &then(sql)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
        let text = error.to_string();
        let backup = yard.beside(".backup-v1-1");
        assert!(text.contains(reason) && text.contains(backup.to_str().unwrap()), "{text}");
        assert_eq!(yard.version().await, 1, "{sql}");
        assert_eq!(read_with(&yard.path, FIRST).await.unwrap(), before, "{sql}");
        assert_eq!(read_with(&backup, FIRST).await.unwrap(), before, "{sql}");
    }
}

#[tokio::test]
async fn a_first_version_that_fails_leaves_an_empty_file_and_no_backup() {
    let yard = Yard::empty();
    let broken = [Migration { version: 1, sql: "CREATE TABLE half (x TEXT) STRICT; NONSENSE;" }];
    let error = SqliteStore::open_with(&yard.path, &broken).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
    assert_eq!(yard.files(), [("shuntyard.db".to_owned(), vec![])]);
    SqliteStore::open(&yard.path).await.unwrap().close().await;
}

#[tokio::test]
async fn foreign_keys_hold_again_after_a_migration() {
    let yard = Yard::v1().await;
    let store = SqliteStore::open_with(&yard.path, &then(GOOD)).await.unwrap();
    let server = store.servers().await.unwrap()[0].id;
    store.remove_server(server, 1).await.unwrap();
    assert_eq!(store.leases(server).await.unwrap(), []);
}
