//! Ten agents at once through the real OpenCode: under the supervisor, which has one server for all of them, and as ten
//! processes of `opencode run`. The scripted model takes a while, so that all ten run at the same time.

mod apart;
mod together;
mod watch;

use crate::figures::{Limits, show};
use serde_json::json;
use shuntyard_scripted::Step;
use shuntyard_testkit::TestEnv;
use std::{path::Path, process::Command, time::Duration};

const AGENTS: usize = 10;
/// Longer than it takes until the last of them has begun.
const THINKS: Duration = Duration::from_secs(12);

/// What ten agents took: memory at its highest in megabytes, processor time of each in seconds.
#[derive(Debug)]
struct Taken {
    resident: f64,
    /// Shared memory is divided among the processes that share it.
    proportional: f64,
    processes: usize,
    processor: f64,
    at_once: usize,
}

pub fn measure(program: &str, scratch: &str, limits: &mut Limits) {
    let env = TestEnv::real("density", program, scratch);
    first_commit(&env.project());
    let together = together::run(&env);
    env.stop_servers();
    let apart = apart::run(&env);
    println!("{AGENTS} agents at once, each writes a file and answers");
    for (name, taken) in [("processes of `opencode run`", &apart), ("under the supervisor", &together)] {
        println!("  {name}: {} of OpenCode, {} of {AGENTS} at it at once", taken.processes, taken.at_once);
        show("  resident memory together, highest", taken.resident, "MB");
        show("  the same, what is shared counted once", taken.proportional, "MB");
        show("  processor time for each", taken.processor, "s");
    }
    limits.hold("resident memory of OpenCode under the supervisor", together.resident, 1024.0, "MB");
    limits.hold("processor time of OpenCode for each", together.processor, 1.0, "s");
    show("memory, ratio", apart.proportional / together.proportional, "x");
    show("processor time, ratio", apart.processor / together.processor, "x");
    drop(std::fs::remove_dir_all(&env.root));
}

/// The script of one agent, and the key that its prompt has to have.
fn script(env: &TestEnv, number: usize) -> String {
    let file = format!("file-{number}.txt");
    let write = Step::tool("write", json!({"filePath": file, "content": "written\n"}));
    env.provider.script("agent", vec![write.delay(THINKS), Step::text("It is written.")])
}

/// How many of these keys had a request under way when the first was answered.
fn at_once(env: &TestEnv, keys: &[String]) -> usize {
    let first = |key: &String| env.provider.requests(key).entries.iter().map(|entry| entry.started_at).min();
    let begun: Vec<Duration> = keys.iter().filter_map(first).collect();
    let Some(answered) = begun.iter().min().map(|earliest| *earliest + THINKS) else { return 0 };
    begun.iter().filter(|began| **began < answered).count()
}

fn first_commit(repository: &Path) {
    std::fs::write(repository.join("README"), "first\n").expect("a file");
    git(repository, &["config", "user.name", "Ann"]);
    git(repository, &["config", "user.email", "ann@example.org"]);
    git(repository, &["add", "-A"]);
    git(repository, &["commit", "-qm", "first"]);
}

fn git(directory: &Path, args: &[&str]) {
    let status = Command::new("git").arg("-C").arg(directory).args(args).status().expect("git");
    assert!(status.success(), "git {args:?}");
}
