//! The contract of every store, kept by SQLite.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod contract;

use async_trait::async_trait;
use sqlx::{Connection as _, SqliteConnection, sqlite::SqliteConnectOptions};
use std::path::PathBuf;
use switchyard_store::{Store, sqlite::SqliteStore};
use tempfile::TempDir;

struct Sqlite(TempDir);

impl Sqlite {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("switchyard.db")
    }
}

#[async_trait]
impl contract::Backend for Sqlite {
    async fn fresh(&self) -> Box<dyn Store> {
        Box::new(SqliteStore::open(&self.path()).await.unwrap())
    }

    async fn reopen(&self) -> Box<dyn Store> {
        Box::new(SqliteStore::open_existing(&self.path()).await.unwrap())
    }

    async fn remove_events(&self) {
        let options = SqliteConnectOptions::new().filename(self.path());
        let mut connection = SqliteConnection::connect_with(&options).await.unwrap();
        sqlx::query("DELETE FROM event").execute(&mut connection).await.unwrap();
        connection.close().await.unwrap();
    }
}

contract::suite!(Sqlite::new());
