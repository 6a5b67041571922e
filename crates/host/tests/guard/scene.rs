//! A stage for one test: all its processes carry one mark, and none of them outlives it.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use shuntyard_host::tree::{end_marked, marked};
use shuntyard_host::{GuardedChild, GuardedCommand, ProcessIdentity};

const MARK: &str = "SHUNTYARD_TEST_SCENE";
pub const PATIENCE: Duration = Duration::from_secs(80);

pub struct Scene {
    name: String,
    pub directory: shuntyard_testkit::Scratch,
}

impl Scene {
    pub fn new(name: &str) -> Self {
        let name = format!("{name}-{}", std::process::id());
        Self { name, directory: shuntyard_testkit::Scratch::of_test() }
    }

    pub fn variables(&self) -> Vec<(String, String)> {
        vec![
            (MARK.to_owned(), self.name.clone()),
            ("SCENE".to_owned(), self.directory.path().to_str().unwrap().to_owned()),
        ]
    }

    /// A guarded shell; `$SCENE` is the scene's directory.
    pub fn shell(&self, script: &str) -> GuardedCommand {
        let mut command = GuardedCommand::new("sh", ["-c", script]);
        command.variables = self.variables().into_iter().map(|(name, value)| (name.into(), value.into())).collect();
        command
    }

    pub fn start(&self, script: &str) -> GuardedChild {
        self.shell(script).spawn(&std::env::current_exe().unwrap()).unwrap()
    }

    pub fn processes(&self) -> Vec<ProcessIdentity> {
        marked(MARK, &self.name)
    }

    /// The processes that run the given program.
    pub fn running(&self, program: &str) -> Vec<ProcessIdentity> {
        let command_line = |process: &ProcessIdentity| {
            let pid = process.pid.to_string();
            let output = std::process::Command::new("ps").args(["-o", "args=", "-p", &pid]).output().unwrap();
            String::from_utf8_lossy(&output.stdout).trim().to_owned()
        };
        self.processes()
            .into_iter()
            .filter(|process| command_line(process).split(' ').next() == Some(program))
            .collect()
    }

    /// Waits until that many copies of the program run, and names them.
    pub fn await_running(&self, program: &str, count: usize) -> Vec<ProcessIdentity> {
        until(&format!("{count} times {program}"), || {
            let running = self.running(program);
            (running.len() == count).then_some(running)
        })
    }

    pub fn await_empty(&self) {
        until("the end of all processes", || self.processes().is_empty().then_some(()));
    }

    /// Waits until a script has written the file, and reads it.
    pub fn await_file(&self, name: &str) -> String {
        let path: PathBuf = self.directory.path().join(name);
        until(name, || std::fs::read_to_string(&path).ok().filter(|text| text.ends_with('\n'))).trim().to_owned()
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        end_marked(MARK, &self.name, Duration::ZERO);
    }
}

pub fn until<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let started = Instant::now();
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(started.elapsed() < PATIENCE, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}
