//! The store is opened by a thread of its own while the command line and the settings are read: for a short command
//! that is a good part of its time. It is a guess that changes nothing when it is wrong: only what is at its usual
//! place and needs nothing done to it is opened.

use crate::settings::usual_store;
use std::{
    path::{Path, PathBuf},
    sync::Mutex,
    thread::JoinHandle,
};
use switchyard_host::paths::Paths;
use switchyard_store::sqlite::SqliteStore;

/// Commands that ask the store and little else.
const COMMANDS: [&str; 6] = ["batch", "budget", "events", "patterns", "status", "task"];

struct Begun {
    path: PathBuf,
    opening: JoinHandle<Option<SqliteStore>>,
}

static BEGUN: Mutex<Option<Begun>> = Mutex::new(None);

/// Begins for a command that will want the store.
pub fn begin(command: Option<&str>) {
    if !command.is_some_and(|command| COMMANDS.contains(&command)) || std::env::var_os("SWITCHYARD_STORE").is_some() {
        return;
    }
    let Ok(paths) = Paths::new(|name| std::env::var_os(name)) else { return };
    let path = usual_store(&paths);
    let place = path.clone();
    // Without a thread, or without the guess, the store is opened as it always was.
    let Ok(opening) = std::thread::Builder::new().name("store".into()).spawn(move || open(&place)) else { return };
    if let Ok(mut begun) = BEGUN.lock() {
        *begun = Some(Begun { path, opening });
    }
}

fn open(path: &Path) -> Option<SqliteStore> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().ok()?;
    runtime.block_on(SqliteStore::open_ready(path))
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
