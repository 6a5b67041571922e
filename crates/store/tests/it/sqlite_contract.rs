//! The contract of every store, kept by SQLite.

use crate::contract;
use async_trait::async_trait;
use shuntyard_store::{Store, sqlite::SqliteStore};
use shuntyard_testkit::Scratch;
use sqlx::{Connection as _, SqliteConnection, sqlite::SqliteConnectOptions};
use std::path::PathBuf;

struct Sqlite(Scratch);

impl Sqlite {
    fn new() -> Self {
        Self(shuntyard_testkit::Scratch::of_test())
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("shuntyard.db")
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
