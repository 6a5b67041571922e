//! `shuntyard` without a command: the state, and the next step. It only reads: a missing store is not created.

use super::{Global, VERSION, batches};
use crate::{
    failure::Failure,
    settings::Settings,
    ui::{self, Format},
};
use serde_json::{Value, json};
use shuntyard_core::work::{
    overview::{Facts, Health, NextStep},
    task::Phase,
};
use shuntyard_engine::servers::locate_with;
use shuntyard_store::{Tasks as _, sqlite::SqliteStore};
use std::{path::PathBuf, process::ExitCode};

/// Something that is here, or why it cannot be used.
type Found<T> = Result<T, String>;

/// What the store has.
#[derive(Debug, Clone, Default)]
struct Tasks {
    by_phase: Vec<(Phase, u64)>,
    /// Those that wait for a permission.
    asking: u64,
}

struct State {
    configuration: Found<()>,
    opencode: Found<String>,
    tasks: Found<Tasks>,
}

pub async fn run(global: &Global) -> Result<ExitCode, Failure> {
    let (settings, configuration) = match global.settings() {
        Ok(settings) => (settings, Ok(())),
        Err(failure) => (Settings::without_files(&global.overrides())?, Err(failure.message)),
    };
    let state = State { configuration, opencode: opencode(&settings), tasks: tasks(&settings).await };
    let next = facts(&state).next_step();
    match global.format() {
        Format::Json => ui::json(&document(&state, &next)),
        Format::People => show(&state, &next),
    }
    Ok(ExitCode::SUCCESS)
}

fn opencode(settings: &Settings) -> Found<String> {
    let config = &settings.layered.config;
    if !config.server.url.is_empty() {
        return Ok(config.server.url.clone());
    }
    let located = locate_with(config, &settings.environment, &settings.paths.data_dir.join("opencode"));
    located.map(|found| found.path.display().to_string()).map_err(|error| error.to_string())
}

async fn tasks(settings: &Settings) -> Found<Tasks> {
    let path: PathBuf = settings.store_path().map_err(|failure| failure.message)?;
    if path.symlink_metadata().is_err() {
        return Ok(Tasks::default());
    }
    let store = SqliteStore::open_existing(&path).await.map_err(|error| error.to_string())?;
    count(&store).await.map_err(|error| error.to_string())
}

async fn count(store: &SqliteStore) -> shuntyard_store::Result<Tasks> {
    let mut asking = 0;
    // A task that asks is held by its run.
    for run in store.live_runs().await? {
        let state = store.task(&run.task).await?.task.state;
        asking += u64::from(matches!(state, shuntyard_core::work::task::State::Asking { answer: None, .. }));
    }
    Ok(Tasks { by_phase: store.task_counts(None).await?, asking })
}

fn facts(state: &State) -> Facts {
    fn health<T>(found: &Found<T>) -> Health {
        if found.is_ok() { Health::Usable } else { Health::Unusable }
    }
    let tasks = state.tasks.clone().unwrap_or_default();
    Facts {
        configuration: health(&state.configuration),
        opencode: health(&state.opencode),
        store: health(&state.tasks),
        tasks: tasks.by_phase,
        asking: tasks.asking,
    }
}

fn document(state: &State, next: &NextStep) -> Value {
    let problem = |problem: &Option<&String>| json!({"ok": problem.is_none(), "problem": problem});
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "configuration": problem(&state.configuration.as_ref().err()),
        "opencode": {"found": state.opencode.as_ref().ok(), "problem": state.opencode.as_ref().err()},
        "store": problem(&state.tasks.as_ref().err()),
        "counts": state.tasks.as_ref().ok().map(|tasks| batches::counts(&tasks.by_phase)),
        "next": {"command": next.command, "reason": next.reason},
    })
}

fn show(state: &State, next: &NextStep) {
    let rows = [
        ("configuration", state.configuration.clone().map(|()| "fine".to_owned())),
        ("OpenCode", state.opencode.clone()),
        ("tasks", state.tasks.as_ref().map(|tasks| batches::counted(&tasks.by_phase)).map_err(Clone::clone)),
    ];
    ui::frame(VERSION);
    for (name, found) in rows {
        let found = found.unwrap_or_else(|problem| format!("unusable: {problem}"));
        ui::result(&format!("  {name:<14} {found}"));
    }
    ui::result(&format!("\nnext: {}   ({})", next.command, next.reason));
    ui::result("      shuntyard --help lists all commands");
}
