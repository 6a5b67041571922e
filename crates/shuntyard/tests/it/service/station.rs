//! A home with the three schedulers in it.

use shuntyard_testkit::{Outcome, Scratch, environment::finish, script};
use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

#[derive(Debug)]
pub struct Station {
    pub root: PathBuf,
    pub program: PathBuf,
    variables: Vec<(String, String)>,
    _scratch: Scratch,
}

impl Station {
    pub fn new(name: &str) -> Self {
        let scratch = Scratch::new(name);
        let root = scratch.path().to_owned();
        for directory in ["home", "bin", "state", "tmp"] {
            fs::create_dir_all(root.join(directory)).expect("a directory");
        }
        for tool in ["cat", "rm"] {
            let place = ["/usr/bin", "/bin"].map(|directory| Path::new(directory).join(tool));
            let found = place.iter().find(|path| path.exists()).expect("a tool of every system");
            symlink(found, root.join("bin").join(tool)).expect("a link");
        }
        let program = PathBuf::from(env!("CARGO_BIN_EXE_shuntyard"));
        let station = Self { root, program, variables: Vec::new(), _scratch: scratch };
        station.tool("systemctl", include_str!("tools/systemctl.sh"));
        station.tool("crontab", include_str!("tools/crontab.sh"));
        station.tool("launchctl", include_str!("tools/launchctl.sh"));
        station
    }

    /// Put in place by another process: a file that this one has open for writing cannot be run by its children.
    fn tool(&self, name: &str, text: &str) {
        let state = format!("#!/bin/sh\nSTATE='{}'\n", self.state("").display());
        script(&self.root.join("bin").join(name), &format!("{state}{text}"));
    }

    pub fn without_tool(self, name: &str) -> Self {
        fs::remove_file(self.root.join("bin").join(name)).expect("the tool was there");
        self
    }

    pub fn set(&mut self, name: &str, value: impl Into<String>) {
        self.variables.push((name.to_owned(), value.into()));
    }

    pub fn home(&self, path: &str) -> PathBuf {
        self.root.join("home").join(path)
    }

    pub fn unit(&self, name: &str) -> PathBuf {
        self.home(".config/systemd/user").join(name)
    }

    /// A file of the schedulers; an empty one often switches something on.
    pub fn state(&self, name: &str) -> PathBuf {
        self.root.join("state").join(name)
    }

    pub fn switch_on(&self, name: &str) {
        fs::write(self.state(name), "").expect("a file");
    }

    pub fn switch_off(&self, name: &str) {
        fs::remove_file(self.state(name)).expect("it was on");
    }

    pub fn run(&self, args: &[&str]) -> Outcome {
        let mut command = Command::new(&self.program);
        command.arg("service").args(args).env_clear().stdin(Stdio::null()).current_dir(&self.root);
        command.env("HOME", self.home("")).env("PATH", self.root.join("bin")).env("TMPDIR", self.root.join("tmp"));
        command.envs(self.variables.iter().cloned()).stdout(Stdio::piped()).stderr(Stdio::piped());
        finish(command.spawn().expect("the binary starts"))
    }

    pub fn json(&self, args: &[&str]) -> serde_json::Value {
        self.run(&[args, &["--json"]].concat()).expect_code(0).json()
    }

    /// What was called since the last time, without mere questions.
    pub fn changes(&self) -> Vec<String> {
        let calls = fs::read_to_string(self.state("calls")).unwrap_or_default();
        drop(fs::remove_file(self.state("calls")));
        let asks = |call: &&str| {
            [" show ", " is-enabled ", " is-active ", "crontab -l", " print "].iter().any(|word| call.contains(word))
        };
        calls.lines().filter(|call| !asks(call)).map(str::to_owned).collect()
    }

    pub fn crontab(&self) -> Option<String> {
        fs::read_to_string(self.state("table")).ok()
    }

    pub fn write_crontab(&self, text: &str) {
        fs::write(self.state("table"), text).expect("a crontab");
    }
}

#[track_caller]
pub fn read(path: &Path) -> String {
    fs::read_to_string(path).expect("a file")
}

#[track_caller]
pub fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().expect("a directory")).expect("a directory");
    fs::write(path, text).expect("a file");
}
