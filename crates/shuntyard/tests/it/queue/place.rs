//! A place with a store of its own and short timers, and what a test does there.

use serde_json::{Value, json};
use shuntyard_host::{ProcessIdentity, tree::descendants};
use shuntyard_testkit::{TestEnv, eventually};
use std::{
    path::PathBuf,
    process::{Child, Stdio},
    time::Duration,
};

/// Long enough for a busy machine.
pub const PATIENCE: Duration = Duration::from_secs(60);

const SETTINGS: &str = "
[supervise]
adaptive = false
start_timeout = \"20s\"
losses = 200
breaker_failures = 1000
look_every = \"1s\"
disk_reserve_mib = 1
";
const FOUR: &str = "concurrency = 4\nmost = 4\nper_repository = 4\n";

#[derive(Debug)]
pub struct Place {
    pub env: TestEnv,
}

/// A supervisor that is killed at the end of the test.
#[derive(Debug)]
pub struct Supervisor(Child);

impl Supervisor {
    /// The supervisor and everything below it.
    pub fn tree(&self) -> Vec<ProcessIdentity> {
        let own = ProcessIdentity::of(self.0.id());
        own.into_iter().chain(descendants(self.0.id())).collect()
    }

    pub fn is_running(&mut self) -> bool {
        self.0.try_wait().expect("a status").is_none()
    }

    pub fn kill(mut self) {
        self.0.kill().expect("a signal");
        self.0.wait().expect("its end");
    }
}

impl Drop for Supervisor {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

impl Place {
    /// With capacity for four items at once.
    pub fn new(name: &str) -> Self {
        Self::with(name, FOUR)
    }

    /// `more` goes after the settings of the section `supervise`.
    pub fn with(name: &str, more: &str) -> Self {
        let env = crate::own_env(&format!("queue-{name}"));
        env.write_config(&format!("{SETTINGS}{more}"));
        Self { env }
    }

    /// Adds a command in place and returns the id of its task.
    pub fn add(&self, command: &str, more: &[&str]) -> String {
        let args = ["task", "add", "--json", "--in-place", "--command", command];
        let added = self.env.run(&[&args, more].concat()).expect_code(0).json();
        added["id"].as_str().expect("an id").to_owned()
    }

    /// Adds the same command in place so many times.
    pub fn add_many(&self, count: usize, command: &str) {
        let order = json!({"command": command, "in_place": true});
        self.env.run_with_input(&["task", "add", "--from", "-"], &format!("{order}\n").repeat(count)).expect_code(0);
    }

    pub fn supervise(&self) -> Supervisor {
        let mut command = self.env.command(&["supervise"]);
        Supervisor(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts"))
    }

    pub fn settle(&self) {
        self.env.run(&["supervise", "--until-idle"]).expect_code(0);
    }

    pub fn task(&self, id: &str) -> Value {
        self.env.run(&["task", "show", id, "--json"]).expect_code(0).json()
    }

    pub fn tasks(&self) -> Vec<Value> {
        let listed = self.env.run(&["task", "list", "--limit", "10000", "--json"]).expect_code(0).json();
        listed["tasks"].as_array().expect("tasks").clone()
    }

    pub fn phase(&self, id: &str) -> String {
        self.task(id)["phase"].as_str().expect("a phase").to_owned()
    }

    pub fn wait_for_phase(&self, id: &str, phase: &str) {
        eventually(&format!("{id} to be {phase}"), PATIENCE, || self.phase(id) == phase);
    }

    /// How many items are in this phase.
    pub fn count(&self, phase: &str) -> usize {
        let status = self.env.run(&["status", "--json"]).expect_code(0).json();
        usize::try_from(status["counts"][phase].as_u64().expect("a count")).expect("a small number")
    }

    pub fn wait_for_done(&self, count: usize) {
        eventually(&format!("{count} to be done"), PATIENCE, || self.count("done") == count);
    }

    fn why(&self, id: &str) -> Value {
        self.env.run(&["task", "why", id, "--json"]).expect_code(0).json()
    }

    /// Until when the process that works on a task holds it.
    pub fn lease_until(&self, id: &str) -> String {
        text(&self.why(id)["holder"]["lease_until"])
    }

    /// The process that works on a task, as `task why` names it.
    pub fn holder(&self, id: &str) -> ProcessIdentity {
        let why = self.why(id);
        let pid = why["holder"]["pid"].as_u64().expect("a process that holds it");
        ProcessIdentity::of(u32::try_from(pid).expect("a process id")).expect("it is alive")
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.env.root.join(name)
    }

    /// A command line that appends the id of its task, once for each time that it runs.
    pub fn records(&self) -> String {
        format!("echo $SHUNTYARD_TASK >> {}", self.file("ran").display())
    }

    /// The ids that [`Self::records`] has written, in order.
    pub fn ran(&self) -> Vec<String> {
        self.lines("ran")
    }

    pub fn lines(&self, name: &str) -> Vec<String> {
        let text = std::fs::read_to_string(self.file(name)).unwrap_or_default();
        text.lines().map(|line| line.trim().to_owned()).collect()
    }

    /// Whether a command has written a whole line to this file.
    pub fn is_written(&self, name: &str) -> bool {
        std::fs::read_to_string(self.file(name)).is_ok_and(|text| text.ends_with('\n'))
    }

    /// Exactly the tasks that there are have run, each of them once.
    pub fn expect_each_ran_once(&self) {
        let mut ran = self.ran();
        ran.sort_unstable();
        let mut ids: Vec<String> = self.tasks().iter().map(|task| text(&task["id"])).collect();
        ids.sort_unstable();
        assert_eq!(ran, ids);
    }
}

pub fn text(value: &Value) -> String {
    value.as_str().expect("a text").to_owned()
}

/// How the attempts of a task ended.
pub fn outcomes(task: &Value) -> Vec<String> {
    task["attempts"].as_array().expect("attempts").iter().map(|attempt| text(&attempt["outcome"])).collect()
}

pub fn any_alive(processes: &[ProcessIdentity]) -> bool {
    processes.iter().any(ProcessIdentity::is_alive)
}
