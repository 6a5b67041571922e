//! Opening: private files, the right settings, and any number of openers at once.

use super::{FIRST, STORED_V1, Yard, contents, migration, raw, read_with};
use serde_json::json;
use shuntyard_store::{Store as _, sqlite::SqliteStore};
use std::{
    env, fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};
use tokio::task::JoinSet;

const CHILD_DATABASE: &str = "SHUNTYARD_STORE_TEST_DATABASE";
const OPENERS: usize = 6;
const NOTES: usize = 5;

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[tokio::test]
async fn the_files_and_new_directories_are_private() {
    let yard = Yard::empty();
    let path = yard.directory.path().join("new/deep/shuntyard.db");
    let store = SqliteStore::open(&path).await.unwrap();
    store.append_event(1, "note", "me", &json!({})).await.unwrap();
    for (name, expected) in [
        ("", 0o700),
        ("deep", 0o700),
        ("deep/shuntyard.db", 0o600),
        ("deep/shuntyard.db-wal", 0o600),
        ("deep/shuntyard.db-shm", 0o600),
    ] {
        assert_eq!(mode(&yard.directory.path().join("new").join(name)), expected, "{name}");
    }
    let mut connection = raw(&path).await;
    let journal: String = sqlx::query_scalar("PRAGMA journal_mode").fetch_one(&mut connection).await.unwrap();
    assert_eq!(journal, "wal");
}

#[tokio::test]
async fn opening_a_current_database_changes_no_byte() {
    let yard = Yard::empty();
    SqliteStore::open(&yard.path).await.unwrap().close().await;
    let before = yard.files();
    assert_eq!(before.len(), 1, "closing leaves one file");
    for _ in 0..3 {
        let store = SqliteStore::open(&yard.path).await.unwrap();
        contents(&store).await;
        store.close().await;
    }
    assert!(yard.files() == before);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_open_a_fresh_or_an_old_database_at_once() {
    for stored in [None, Some(STORED_V1)] {
        let yard = Yard::empty();
        if let Some(sql) = stored {
            yard.execute(sql).await;
        }
        let mut openers = JoinSet::new();
        for _ in 0..OPENERS {
            openers.spawn(open_and_note(yard.path.clone()));
        }
        openers.join_all().await;
        assert_settled(&yard, stored.is_some()).await;
    }
}

#[tokio::test]
async fn many_processes_open_a_fresh_or_an_old_database_at_once() {
    // Each of the many is this very test, started with the database to open.
    if let Some(database) = env::var_os(CHILD_DATABASE) {
        return open_and_note(database.into()).await;
    }
    for stored in [None, Some(STORED_V1)] {
        let yard = Yard::empty();
        if let Some(sql) = stored {
            yard.execute(sql).await;
        }
        let spawn = |_| {
            Command::new(env::current_exe().unwrap())
                .args(["--exact", "sqlite_format::opening::many_processes_open_a_fresh_or_an_old_database_at_once"])
                .env(CHILD_DATABASE, &yard.path)
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap()
        };
        let children: Vec<_> = (0..OPENERS).map(spawn).collect();
        for child in children {
            let output = child.wait_with_output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        }
        assert_settled(&yard, stored.is_some()).await;
    }
}

async fn open_and_note(path: PathBuf) {
    let store = SqliteStore::open_with(&path, &migration::then(migration::GOOD)).await.unwrap();
    for at in 0..NOTES {
        store.append_event(i64::try_from(at).unwrap(), "note", "opener", &json!({})).await.unwrap();
    }
    store.close().await;
}

/// Version 2, every note there, and one backup exactly when there was something to lose.
async fn assert_settled(yard: &Yard, had_rows: bool) {
    let contents = read_with(&yard.path, &migration::then(migration::GOOD)).await.unwrap();
    assert_eq!(contents.matches("subject: \"opener\"").count(), OPENERS * NOTES);
    assert_eq!(contents.contains("code-review"), had_rows);
    let names: Vec<String> = yard.files().into_iter().map(|(name, _)| name).collect();
    if had_rows {
        assert_eq!(names, ["shuntyard.db", "shuntyard.db.backup-v1-1"]);
        read_with(&yard.beside(".backup-v1-1"), FIRST).await.unwrap();
    } else {
        assert_eq!(names, ["shuntyard.db"]);
    }
}

#[tokio::test]
async fn opening_a_current_database_waits_for_no_writer() {
    let yard = Yard::v1().await;
    SqliteStore::open(&yard.path).await.unwrap().close().await;
    let mut writer = raw(&yard.path).await;
    sqlx::raw_sql("BEGIN IMMEDIATE; DELETE FROM event").execute(&mut writer).await.unwrap();
    // This writer never ends, so that a wait for it would end as a refusal.
    let store = SqliteStore::open(&yard.path).await.expect("no wait for the write lock");
    assert_eq!(store.events_after(0, 9).await.unwrap().len(), 2, "what is not committed is not seen");
}
