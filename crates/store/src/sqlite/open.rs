//! The only place that opens SQLite.
//!
//! Every connection is made here with the same settings: one that writes, a few that only read,
//! and one that only watches for change. A file is judged before anything may write to it.

use super::{
    fault,
    header::{self, APPLICATION_ID, Contents, Identity, Journal},
    migrate::{self, Migration},
};
use crate::{ErrorKind, Result, StoreError};
use sqlx::{
    ConnectOptions as _, Connection as _, SqliteConnection, SqlitePool,
    sqlite::{SqliteConnectOptions, SqlitePoolOptions, SqliteSynchronous},
};
use std::{
    fs, io,
    path::Path,
    time::{Duration, Instant},
};

/// How long a call waits for another writer. A write takes milliseconds; on a machine with far more work than
/// processors, one that holds the lock may not run for seconds.
pub(super) const BUSY: Duration = Duration::from_secs(20);

/// Reads of one process that may run at once.
const READERS: u32 = 4;

/// Older ones can damage a write-ahead log that two connections write.
const OLDEST_LIBRARY: [u32; 3] = [3, 51, 3];

/// What to do when there is no database yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Missing {
    Create,
    Refuse,
}

#[derive(Debug)]
pub(super) struct Connections {
    /// A single connection, so that the tasks of a process queue here and not in SQLite.
    pub writer: SqlitePool,
    pub readers: SqlitePool,
    /// Always the same connection: SQLite's change counter only compares with itself.
    pub watcher: SqlitePool,
    /// The file that commits are written to first.
    pub log: std::path::PathBuf,
}

pub(super) async fn open(path: &Path, missing: Missing, migrations: &[Migration]) -> Result<Connections> {
    // An absolute path can be neither a `file:` address nor one of SQLite's special names.
    let path = &std::path::absolute(path).map_err(unreachable_path(path))?;
    if missing == Missing::Create {
        create(path).map_err(unreachable_path(path))?;
    }
    let newest = migrations.last().map_or(0, |migration| migration.version);
    let (contents, journal) = header::read(path)?;
    match contents {
        Contents::Nothing if missing == Missing::Refuse => return Err(header::missing(path)),
        Contents::Nothing => {}
        Contents::Unmarked => refuse_tables(path).await?,
        Contents::Marked(identity) => header::check(path, identity, newest)?,
    }
    let connections = Connections::to(path);
    match prepare(&connections, path, migrations, journal).await {
        Ok(()) => Ok(connections),
        Err(error) => {
            connections.close().await;
            Err(error)
        }
    }
}

impl Connections {
    fn to(path: &Path) -> Self {
        let pool = |size, options| {
            SqlitePoolOptions::new()
                .max_connections(size)
                .idle_timeout(None)
                .max_lifetime(None)
                .test_before_acquire(false)
                .connect_lazy_with(options)
        };
        let read_only = settings(path).read_only(true);
        let mut log = path.as_os_str().to_owned();
        log.push("-wal");
        Self {
            writer: pool(1, settings(path)),
            readers: pool(READERS, read_only.clone()),
            watcher: pool(1, read_only),
            log: log.into(),
        }
    }

    /// The writer goes last: only it can fold the log into the database.
    pub async fn close(&self) {
        self.watcher.close().await;
        self.readers.close().await;
        self.writer.close().await;
    }
}

fn settings(path: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(path)
        .foreign_keys(true)
        .synchronous(SqliteSynchronous::Normal)
        .busy_timeout(BUSY)
}

/// Makes the file private before SQLite sees it; SQLite gives its log and index the same mode.
fn create(path: &Path) -> io::Result<()> {
    if let Some(directory) = path.parent() {
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(directory)?;
    }
    match create_private(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        other => other,
    }
}

/// Creates an empty file that only its owner may read; one that exists is an error.
pub(super) fn create_private(path: &Path) -> io::Result<()> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map(drop)
}

/// Tables of another program in an unmarked database make it foreign; without any it may become ours.
async fn refuse_tables(path: &Path) -> Result<()> {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    // Without a log all is in the file, and SQLite need not make one to read it.
    let options = settings(path).read_only(true).immutable(!Path::new(&log).exists());
    let mut connection = options.connect().await.map_err(unopened(path))?;
    let tables: i64 = sqlx::query_scalar("SELECT count(*) FROM sqlite_schema")
        .fetch_one(&mut connection)
        .await
        .map_err(unopened(path))?;
    connection.close().await.map_err(unopened(path))?;
    if tables > 0 { Err(header::foreign(path)) } else { Ok(()) }
}

/// Leaves a database of the newest version alone: this is the path of every start.
async fn prepare(connections: &Connections, path: &Path, migrations: &[Migration], journal: Journal) -> Result<()> {
    let newest = migrations.last().map_or(0, |migration| migration.version);
    let mut writer = connections.writer.acquire().await.map_err(unopened(path))?;
    let (library, identity) = identify(&mut writer).await.map_err(unopened(path))?;
    require_library(&library)?;
    if identity != (Identity { application: APPLICATION_ID, version: newest }) {
        migrate::migrate(&mut writer, &connections.readers, path, migrations).await?;
    }
    match journal {
        // A database keeps this mode once it has it.
        Journal::WriteAhead => Ok(()),
        Journal::Other => write_ahead(&mut writer, path).await,
    }
}

/// The version of SQLite, and who made the database.
pub(super) async fn identify(connection: &mut SqliteConnection) -> sqlx::Result<(String, Identity)> {
    let (library, application, version) = sqlx::query_as(
        "SELECT sqlite_version(), (SELECT application_id FROM pragma_application_id),
                (SELECT user_version FROM pragma_user_version)",
    )
    .fetch_one(connection)
    .await?;
    Ok((library, Identity { application, version }))
}

fn require_library(library: &str) -> Result<()> {
    let parts: Vec<u32> = library.split('.').map_while(|part| part.parse().ok()).collect();
    if parts.as_slice() < OLDEST_LIBRARY.as_slice() {
        let what = format!("SQLite {library} is too old: 3.51.3 is the first that can share this database safely");
        return Err(StoreError::new(ErrorKind::Unavailable, what));
    }
    Ok(())
}

/// The change needs the file alone for a moment and SQLite does not wait for that, so we do.
async fn write_ahead(connection: &mut SqliteConnection, path: &Path) -> Result<()> {
    let since = Instant::now();
    loop {
        let mode = sqlx::query_scalar::<_, String>("PRAGMA journal_mode = WAL").fetch_one(&mut *connection).await;
        match mode {
            Ok(mode) if mode == "wal" => return Ok(()),
            Err(error) if fault::kind(&error) != ErrorKind::Busy => return Err(unopened(path)(error)),
            _ if since.elapsed() < BUSY => tokio::time::sleep(Duration::from_millis(5)).await,
            Err(error) => return Err(unopened(path)(error)),
            Ok(mode) => {
                let what = format!("{} stays in journal mode {mode}, but needs a write-ahead log", path.display());
                return Err(StoreError::new(ErrorKind::Unavailable, what));
            }
        }
    }
}

pub(super) fn unopened(path: &Path) -> impl Fn(sqlx::Error) -> StoreError {
    move |error| match fault::kind(&error) {
        ErrorKind::Corrupt => header::corrupt(path, "is damaged").because(error),
        kind => StoreError::new(kind, format!("failed to open {}", path.display())).because(error),
    }
}

fn unreachable_path(path: &Path) -> impl Fn(io::Error) -> StoreError {
    move |error| StoreError::new(ErrorKind::Unavailable, format!("failed to create {}", path.display())).because(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_sqlite_compare_as_numbers() {
        for (library, good) in [("3.51.3", true), ("3.100.0", true), ("4.0", true), ("3.51.2", false), ("", false)] {
            assert_eq!(require_library(library).is_ok(), good, "{library}");
        }
    }
}
