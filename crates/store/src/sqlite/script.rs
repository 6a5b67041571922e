//! A transaction in as few goes as there can be: each go is handed to the connection's own thread and waited for, and
//! that costs more than the statements do.
//!
//! Invariant: a connection whose transaction did not come to its end is closed, and SQLite rolls back what it wrote.

use super::{SqliteStore, fault::failed};
use crate::Result;
use sqlx::{
    Arguments as _, AssertSqlSafe, Encode, Sqlite, SqliteConnection, Type,
    error::BoxDynError,
    pool::PoolConnection,
    query_with,
    sqlite::{SqliteArguments, SqliteRow},
};

/// Statements that run one after the other, up to the first that fails.
#[derive(Debug, Default)]
pub(super) struct Script {
    sql: String,
    arguments: SqliteArguments,
    unfit: Option<BoxDynError>,
}

impl Script {
    /// The parameters of the statement are `?`, and are bound next, in their order.
    pub fn add(&mut self, statement: &'static str) -> &mut Self {
        self.sql.push_str(statement);
        self.sql.push(';');
        self
    }

    pub fn bind<'value>(&mut self, value: impl Encode<'value, Sqlite> + Type<Sqlite>) -> &mut Self {
        if let Err(error) = self.arguments.add(value) {
            self.unfit.get_or_insert(error);
        }
        self
    }

    pub fn is_empty(&self) -> bool {
        self.sql.is_empty()
    }

    /// Runs within the caller's transaction, and returns the rows of all its statements.
    pub async fn run(self, connection: &mut SqliteConnection) -> sqlx::Result<Vec<SqliteRow>> {
        if let Some(unfit) = self.unfit {
            return Err(sqlx::Error::Encode(unfit));
        }
        // Its parts are fixed texts; only bound values come from outside.
        query_with(AssertSqlSafe(self.sql), self.arguments).fetch_all(connection).await
    }

    /// Only reads, beside the writer.
    pub async fn read(self, store: &SqliteStore, what: &'static str) -> Result<Vec<SqliteRow>> {
        let mut reader = store.connections.readers.acquire().await.map_err(failed(what))?;
        self.run(&mut reader).await.map_err(failed(what))
    }

    /// Runs as a transaction of its own, in one go.
    pub async fn commit(self, store: &SqliteStore, what: &'static str) -> Result<()> {
        self.commit_and_tell(store, what).await.map(drop)
    }

    /// The same, with the rows of all its statements.
    pub async fn commit_and_tell(self, store: &SqliteStore, what: &'static str) -> Result<Vec<SqliteRow>> {
        let write = Write::new(store, what).await?;
        write.finish("BEGIN IMMEDIATE;", self).await
    }
}

/// A transaction that reads before it writes.
#[derive(Debug)]
pub(super) struct Write {
    connection: PoolConnection<Sqlite>,
    what: &'static str,
    ended: bool,
}

impl Write {
    /// Takes the write lock and reads. The rows are those of all statements of `look`.
    pub async fn after(store: &SqliteStore, look: Script, what: &'static str) -> Result<(Self, Vec<SqliteRow>)> {
        let mut write = Self::new(store, what).await?;
        let look = Script { sql: format!("BEGIN IMMEDIATE;{}", look.sql), ..look };
        let rows = look.run(&mut write.connection).await.map_err(failed(what))?;
        Ok((write, rows))
    }

    /// Writes a part.
    pub async fn run(&mut self, script: Script) -> Result<()> {
        self.look(script).await.map(drop)
    }

    /// Looks once more.
    pub async fn look(&mut self, script: Script) -> Result<Vec<SqliteRow>> {
        script.run(&mut self.connection).await.map_err(failed(self.what))
    }

    /// Writes and commits.
    pub async fn commit(self, script: Script) -> Result<()> {
        self.finish("", script).await.map(drop)
    }

    /// Ends what has only looked, and keeps the connection.
    pub async fn leave(self) -> Result<()> {
        self.commit(Script::default()).await
    }

    async fn new(store: &SqliteStore, what: &'static str) -> Result<Self> {
        let connection = store.connections.writer.acquire().await.map_err(failed(what))?;
        Ok(Self { connection, what, ended: false })
    }

    async fn finish(mut self, beginning: &'static str, script: Script) -> Result<Vec<SqliteRow>> {
        let script = Script { sql: format!("{beginning}{}COMMIT", script.sql), ..script };
        let rows = script.run(&mut self.connection).await.map_err(failed(self.what))?;
        self.ended = true;
        Ok(rows)
    }
}

impl Drop for Write {
    fn drop(&mut self) {
        // Also when the caller went away in the middle: the transaction would never end.
        if !self.ended {
            self.connection.close_on_drop();
        }
    }
}
