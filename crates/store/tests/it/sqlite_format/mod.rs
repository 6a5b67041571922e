//! What is particular to SQLite: the file, its versions, and what happens when it is opened.

mod contests;
mod jobs;
mod ledger;
mod migration;
mod notices;
mod opening;
mod patterns;
mod refusal;
mod stored;
mod sums;
mod tasks;

use shuntyard_store::{
    Result, Store as _,
    sqlite::{MIGRATIONS, Migration, SqliteStore},
};
use shuntyard_testkit::Scratch;
use sqlx::{Connection as _, SqliteConnection, sqlite::SqliteConnectOptions};
use std::path::{Path, PathBuf};

/// The history up to version 1, whatever came later.
const FIRST: &[Migration] = MIGRATIONS.split_at(1).0;

const STORED_V1: &str = include_str!("../../formats/v1.sql");
const STORED_V2: &str = include_str!("../../formats/v2.sql");
const STORED_V3: &str = include_str!("../../formats/v3.sql");
const STORED_V4: &str = include_str!("../../formats/v4.sql");
const STORED_V5: &str = include_str!("../../formats/v5.sql");
const STORED_V6: &str = include_str!("../../formats/v6.sql");
const STORED_V7: &str = include_str!("../../formats/v7.sql");
const STORED_V8: &str = include_str!("../../formats/v8.sql");
const STORED_V9: &str = include_str!("../../formats/v9.sql");

/// A directory with a place for a database.
struct Yard {
    directory: Scratch,
    path: PathBuf,
}

impl Yard {
    fn empty() -> Self {
        let directory = shuntyard_testkit::Scratch::of_test();
        let path = directory.path().join("shuntyard.db");
        Self { directory, path }
    }

    /// With the stored database of version 1.
    async fn v1() -> Self {
        Self::stored(STORED_V1).await
    }

    async fn stored(sql: &'static str) -> Self {
        let yard = Self::empty();
        yard.execute(sql).await;
        yard
    }

    /// Runs SQL past the store, as another program would.
    async fn execute(&self, sql: &'static str) {
        let mut connection = raw(&self.path).await;
        sqlx::raw_sql(sql).execute(&mut connection).await.unwrap();
        connection.close().await.unwrap();
    }

    async fn version(&self) -> i64 {
        let mut connection = raw(&self.path).await;
        let version = sqlx::query_scalar("PRAGMA user_version").fetch_one(&mut connection).await.unwrap();
        connection.close().await.unwrap();
        version
    }

    fn beside(&self, suffix: &str) -> PathBuf {
        self.directory.path().join(format!("shuntyard.db{suffix}"))
    }

    /// Names and bytes of all files. One that vanishes while we look was not there.
    fn files(&self) -> Vec<(String, Vec<u8>)> {
        let mut files = vec![];
        for entry in std::fs::read_dir(self.directory.path()).unwrap() {
            let entry = entry.unwrap();
            match std::fs::read(entry.path()) {
                Ok(bytes) => files.push((entry.file_name().into_string().unwrap(), bytes)),
                Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::NotFound),
            }
        }
        files.sort();
        files
    }
}

async fn raw(path: &Path) -> SqliteConnection {
    let options = SqliteConnectOptions::new().filename(path).create_if_missing(true).foreign_keys(false);
    SqliteConnection::connect_with(&options).await.unwrap()
}

/// All that the trait can read of version 1, which every history here begins with.
async fn contents(store: &SqliteStore) -> String {
    let servers = store.servers().await.unwrap();
    let mut leases = vec![];
    for server in &servers {
        leases.extend(store.leases(server.id).await.unwrap());
    }
    let dispatches = store.recent_dispatches(1_000).await.unwrap();
    let sessions = store.stale_sessions("slot-1", i64::MAX, 1_000).await.unwrap();
    let events = store.events_after(0, 1_000).await.unwrap();
    format!("{dispatches:#?}{sessions:#?}{servers:#?}{leases:#?}{events:#?}")
}

/// The contents as the given history reads them; the database is closed again.
async fn read_with(path: &Path, migrations: &[Migration]) -> Result<String> {
    let store = SqliteStore::open_with(path, migrations).await?;
    let contents = contents(&store).await;
    store.close().await;
    Ok(contents)
}
