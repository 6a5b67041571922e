//! A place with a repository, a store and short timers.

use serde_json::Value;
use std::{
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};
use switchyard_testkit::{TestEnv, eventually};

const SCRATCH: &str = env!("CARGO_TARGET_TMPDIR");
const PROGRAM: &str = env!("CARGO_BIN_EXE_switchyard");

/// Short enough for a test, long enough for a busy machine.
const SETTINGS: &str = r#"
[supervise]
adaptive = false
start_timeout = "20s"
trouble_rests = ["1s"]
rests = ["500ms"]
losses = 200
breaker_failures = 1000
look_every = "1s"
disk_reserve_mib = 1
"#;

#[derive(Debug)]
pub struct Yard {
    pub env: TestEnv,
}

impl Yard {
    pub fn new(name: &str) -> Self {
        Self::with(name, "")
    }

    /// `more` goes after the settings of the section `supervise`.
    pub fn with(name: &str, more: &str) -> Self {
        let env = TestEnv::new(&format!("yard-{name}"), PROGRAM, SCRATCH);
        env.write_config(&format!("{SETTINGS}{more}"));
        let yard = Self { env };
        yard.git(&["symbolic-ref", "HEAD", "refs/heads/main"]);
        yard.git(&["config", "user.name", "Ann"]);
        yard.git(&["config", "user.email", "ann@example.org"]);
        std::fs::write(yard.repository().join("README"), "first\n").expect("a file");
        yard.git(&["add", "-A"]);
        yard.git(&["commit", "-qm", "first"]);
        yard
    }

    pub fn repository(&self) -> PathBuf {
        self.env.project()
    }

    pub fn git(&self, args: &[&str]) -> String {
        git_in(&self.repository(), args)
    }

    /// Adds a task and returns its id.
    pub fn add(&self, args: &[&str]) -> String {
        let added = self.env.run(&[&["task", "add", "--json"], args].concat());
        added.expect_code(0);
        added.json()["id"].as_str().expect("an id").to_owned()
    }

    pub fn task(&self, id: &str) -> Value {
        self.env.run(&["task", "show", id, "--json"]).expect_code(0).json()
    }

    pub fn phase(&self, id: &str) -> String {
        self.task(id)["phase"].as_str().expect("a phase").to_owned()
    }

    /// Supervises until nothing is left to do.
    pub fn settle(&self) {
        self.env.run(&["supervise", "--until-idle"]).expect_code(0);
    }

    /// Makes one pass after the other until the work is as far as `begun` asks: on a busy machine a
    /// worker may start so late that its task is put back and waits for the next pass.
    pub fn pulse_until(&self, what: &str, begun: impl Fn() -> bool) {
        eventually(what, Duration::from_secs(40), || {
            self.env.run(&["pulse"]).expect_code(0);
            (0..40).any(|_| {
                std::thread::sleep(Duration::from_millis(25));
                begun()
            })
        });
    }

    /// As far as the first request of a key.
    pub fn pulse_until_asked(&self, key: &str) {
        self.pulse_until(&format!("a request of {key}"), || !self.env.provider.requests(key).entries.is_empty());
    }

    pub fn wait_for_phase(&self, id: &str, phase: &str) {
        eventually(&format!("{id} to be {phase}"), Duration::from_secs(60), || self.phase(id) == phase);
    }

    /// The workers themselves.
    pub fn workers(&self) -> Vec<u32> {
        let is_worker = |pid: &u32| {
            let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&line).split('\0').nth(1) == Some("work")
        };
        self.leftovers().into_iter().filter(is_worker).collect()
    }

    /// The processes that carry the mark of a worker of this place.
    pub fn leftovers(&self) -> Vec<u32> {
        let root = self.env.root.display().to_string();
        let mut found = Vec::new();
        for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
            let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else { continue };
            let Ok(environment) = std::fs::read(entry.path().join("environ")) else { continue };
            let environment = String::from_utf8_lossy(&environment).into_owned();
            let marked = environment.split('\0').any(|variable| variable.starts_with("SWITCHYARD_WORKER="));
            if marked && environment.contains(&root) {
                found.push(pid);
            }
        }
        found
    }
}

pub fn git_in(directory: &Path, args: &[&str]) -> String {
    let output = Command::new("git").arg("-C").arg(directory).args(args).output().expect("git runs");
    assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text").trim().to_owned()
}
