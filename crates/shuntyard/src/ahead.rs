//! The store is opened by a thread of its own while the command line and the settings are read: for a short command
//! that is a good part of its time. It is a guess that changes nothing when it is wrong: only what is at its usual
//! place and needs nothing done to it is opened.

use crate::settings::usual_store;
use shuntyard_host::paths::Paths;
use shuntyard_store::sqlite::{FirstUse, SqliteStore};
use std::{
    path::{Path, PathBuf},
    sync::Mutex,
    thread::JoinHandle,
};

/// Commands that spend a good part of their time on the store, and what most of them do first.
const COMMANDS: [(&str, FirstUse); 7] = [
    ("batch", FirstUse::Write),
    ("budget", FirstUse::Write),
    ("events", FirstUse::Read),
    ("patterns", FirstUse::Write),
    ("route", FirstUse::Read),
    ("status", FirstUse::Read),
    ("task", FirstUse::Write),
];

struct Begun {
    path: PathBuf,
    opening: JoinHandle<Option<SqliteStore>>,
}

static BEGUN: Mutex<Option<Begun>> = Mutex::new(None);

/// Begins for a command that will want the store.
pub fn begin(command: Option<&str>) {
    let Some((_, first)) = COMMANDS.into_iter().find(|(name, _)| command == Some(*name)) else { return };
    if std::env::var_os("SHUNTYARD_STORE").is_some() {
        return;
    }
    let Ok(paths) = Paths::new(|name| std::env::var_os(name)) else { return };
    let path = usual_store(&paths);
    let place = path.clone();
    // Without a thread, or without the guess, the store is opened as it always was.
    let Ok(opening) = std::thread::Builder::new().name("store".into()).spawn(move || open(&place, first)) else {
        return;
    };
    if let Ok(mut begun) = BEGUN.lock() {
        *begun = Some(Begun { path, opening });
    }
}

fn open(path: &Path, first: FirstUse) -> Option<SqliteStore> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().ok()?;
    runtime.block_on(SqliteStore::open_ready(path, first))
}

/// What was opened at this place, once. What was opened elsewhere is closed first: a file must not be open twice when
/// it is judged.
pub async fn opened(path: &Path) -> Option<SqliteStore> {
    let begun = BEGUN.lock().ok()?.take()?;
    let store = begun.opening.join().ok()??;
    if begun.path == path {
        return Some(store);
    }
    store.close().await;
    None
}
