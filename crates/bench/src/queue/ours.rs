//! A place with a store of its own, in which a supervisor runs commands in place.

use crate::process::Running;
use serde_json::json;
use shuntyard_core::work::task::{Phase, Task, TaskId};
use shuntyard_store::{Event, TaskFilter, TaskRecord, Tasks as _, sqlite::SqliteStore};
use shuntyard_testkit::environment::finish;
use std::{
    fmt::Write as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};
use tokio::runtime::Runtime;

const SETTINGS: &str = "
[supervise]
adaptive = false
concurrency = 4
most = 4
per_repository = 4
disk_reserve_mib = 1
";

#[derive(Debug)]
pub struct Ours {
    root: PathBuf,
    program: String,
    runtime: Runtime,
    store: SqliteStore,
}

impl Ours {
    pub fn new(program: &str, root: &Path) -> Self {
        for directory in ["home/.config/shuntyard", "data", "place"] {
            std::fs::create_dir_all(root.join(directory)).expect("a directory");
        }
        std::fs::write(root.join("home/.config/shuntyard/config.toml"), SETTINGS).expect("settings");
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let store = runtime.block_on(SqliteStore::open(&root.join("data/shuntyard.db"))).expect("a store");
        Self { root: root.to_owned(), program: program.to_owned(), runtime, store }
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command
            .args(args)
            .env_clear()
            .env("PATH", std::env::var("PATH").unwrap_or_default())
            .env("HOME", self.root.join("home"))
            .env("SHUNTYARD_DATA_DIR", self.root.join("data"))
            // What a measurement that stops half-way has started ends with it.
            .env("SHUNTYARD_SERVER_OWNER_PID", std::process::id().to_string())
            .current_dir(self.root.join("place"))
            .stdin(Stdio::null());
        command
    }

    /// Runs a command to its end, and returns how long that took.
    pub fn run(&self, args: &[&str]) -> Duration {
        let began = Instant::now();
        let child = self.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
        finish(child).expect_code(0);
        began.elapsed()
    }

    pub fn supervise(&self) -> Running {
        Running::start(&mut self.command(&["supervise"]))
    }

    /// A batch that is not started before it is resumed, with this many tasks of one command.
    pub fn paused_batch(&self, name: &str, tasks: usize, command: &str) {
        self.run(&["batch", "create", name]);
        self.run(&["batch", "pause", name]);
        let mut lines = String::new();
        for _ in 0..tasks {
            writeln!(lines, "{}", json!({"command": command, "in_place": true})).expect("a text");
        }
        let file = self.root.join(format!("{name}.jsonl"));
        std::fs::write(&file, lines).expect("a file");
        self.run(&["task", "add", "--batch", name, "--from", &file.to_string_lossy()]);
    }

    pub fn done(&self, batch: Option<&str>) -> u64 {
        let counts = self.runtime.block_on(self.store.task_counts(batch)).expect("counts");
        let failed = |phase: &Phase| matches!(phase, Phase::Failed | Phase::Blocked | Phase::Waiting);
        assert!(!counts.iter().any(|(phase, count)| failed(phase) && *count > 0), "a task failed: {counts:?}");
        counts.iter().find(|(phase, _)| *phase == Phase::Done).map_or(0, |(_, count)| *count)
    }

    pub fn tasks(&self, batch: &str, limit: u32) -> Vec<TaskRecord> {
        let filter = TaskFilter { batch: Some(batch.to_owned()), limit, ..TaskFilter::default() };
        self.runtime.block_on(self.store.tasks(&filter)).expect("the tasks")
    }

    /// What the command of a task printed.
    pub fn output(&self, task: &Task) -> String {
        let log = self.root.join("data/tasks").join(task.id.as_str()).join(format!("{}.out", task.epoch));
        std::fs::read_to_string(log).expect("what it printed")
    }

    /// The moment of the first event of each of these kinds, in microseconds.
    pub fn moments<const COUNT: usize>(&self, task: &TaskId, kinds: [&str; COUNT]) -> [i64; COUNT] {
        let events: Vec<Event> = self.runtime.block_on(self.store.task_events(task, 0, 100)).expect("its events");
        kinds.map(|kind| {
            let found = events.iter().find(|event| event.kind == kind);
            found.unwrap_or_else(|| panic!("{task} has no {kind}: {events:?}")).at
        })
    }
}

/// The time between two moments of the store.
pub fn between(from: i64, until: i64) -> Duration {
    Duration::from_micros(u64::try_from(until - from).unwrap_or_default())
}
