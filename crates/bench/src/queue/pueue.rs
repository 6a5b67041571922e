//! pueue, the nearest relative: a daemon with a directory of its own, and its client.

use crate::process::Running;
use jiff::Timestamp;
use serde_json::Value;
use shuntyard_testkit::{Outcome, environment::finish, eventually};
use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

#[derive(Debug)]
pub struct Pueue {
    programs: PathBuf,
    root: PathBuf,
}

impl Pueue {
    /// `scripts/bench` has installed it below the scratch directory.
    pub fn new(scratch: &str, root: &Path) -> Self {
        std::fs::create_dir_all(root.join("place")).expect("a directory");
        let directory = root.display();
        let settings = format!(
            "shared:\n  pueue_directory: {directory}\n  runtime_directory: {directory}\n  \
             unix_socket_path: {directory}/socket\ndaemon: {{}}\nclient: {{}}\n"
        );
        std::fs::write(root.join("pueue.yml"), settings).expect("settings");
        Self { programs: Path::new(scratch).join("pueue/bin"), root: root.to_owned() }
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(self.programs.join(program));
        command
            .arg("--config")
            .arg(self.root.join("pueue.yml"))
            .env_clear()
            .env("PATH", std::env::var("PATH").unwrap_or_default())
            .env("HOME", &self.root)
            .current_dir(self.root.join("place"))
            .stdin(Stdio::null());
        command
    }

    /// The daemon, with four tasks at once.
    pub fn start(&self) -> Running {
        let daemon = Running::start(&mut self.command("pueued"));
        eventually("pueue's daemon to answer", Duration::from_secs(20), || self.ask(&["status"]).code == Some(0));
        self.run(&["parallel", "4"]);
        daemon
    }

    fn ask(&self, args: &[&str]) -> Outcome {
        let mut command = self.command("pueue");
        finish(command.args(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts"))
    }

    pub fn run(&self, args: &[&str]) -> Duration {
        let began = Instant::now();
        self.ask(args).expect_code(0);
        began.elapsed()
    }

    /// When the last task ended, in microseconds; nothing as long as one has not.
    pub fn ended(&self) -> Option<i64> {
        let status = self.ask(&["status", "--json"]).json();
        let tasks = status["tasks"].as_object().expect("tasks").values();
        let ends: Option<Vec<i64>> = tasks.map(|task| ended(&task["status"])).collect();
        ends?.into_iter().max()
    }
}

fn ended(status: &Value) -> Option<i64> {
    let done = status.get("Done")?;
    assert_eq!(done["result"], "Success", "{status}");
    let end: Timestamp = done["end"].as_str()?.parse().expect("a moment");
    Some(end.as_microsecond())
}
