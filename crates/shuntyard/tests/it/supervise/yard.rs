//! A place with a repository, a store and short timers.

use super::invariants::{self, Checkout, Made};
use serde_json::Value;
use shuntyard_testkit::{TestEnv, eventually};
use std::{
    collections::{BTreeSet, HashSet},
    path::{Path, PathBuf},
    process::Command,
    sync::Mutex,
    time::Duration,
};

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
    /// What was delivered and is verified.
    checked: Mutex<HashSet<String>>,
    /// The checkout as its user left it, from the moment on at which there is work.
    before: Mutex<Option<Checkout>>,
    users: Users,
}

/// How a test uses the user's checkout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Users {
    /// The one test, while nothing runs; otherwise within [`Yard::as_user`].
    One,
    /// Several tests share the place, and none of them changes the checkout.
    None,
    /// The test is about an agent that changes the checkout.
    Agents,
}

impl Yard {
    pub fn new(name: &str) -> Self {
        Self::with(name, "")
    }

    /// `more` goes after the settings of the section `supervise`.
    pub fn with(name: &str, more: &str) -> Self {
        let mut env = crate::own_env(&format!("yard-{name}"));
        env.set(invariants::TRACE, env.root.join("refs.trace").display().to_string());
        env.write_config(&format!("{SETTINGS}{more}"));
        let yard = Self { env, checked: Mutex::default(), before: Mutex::default(), users: Users::One };
        yard.git(&["symbolic-ref", "HEAD", "refs/heads/main"]);
        yard.git(&["config", "user.name", "Ann"]);
        yard.git(&["config", "user.email", "ann@example.org"]);
        std::fs::write(yard.repository().join("README"), "first\n").expect("a file");
        yard.git(&["add", "-A"]);
        yard.git(&["commit", "-qm", "first"]);
        yard
    }

    /// For several tests at once.
    pub fn shared(mut self) -> Self {
        self.watch();
        self.users = Users::None;
        self
    }

    /// Without the trace: git cannot make a branch at a commit id while it traces refs.
    pub fn untraced(mut self) -> Self {
        self.env.set(invariants::TRACE, "0");
        self
    }

    /// For a test whose agents change the checkout.
    pub fn trespassed(mut self) -> Self {
        self.users = Users::Agents;
        self
    }

    /// The user acts while there is work: what is there afterwards is what the user left.
    pub fn as_user<T>(&self, act: impl FnOnce() -> T) -> T {
        self.expect_unchanged_checkout();
        let result = act();
        *self.before.lock().expect("a lock") = Some(Checkout::of(&self.repository()));
        result
    }

    pub fn repository(&self) -> PathBuf {
        self.env.project()
    }

    pub fn git(&self, args: &[&str]) -> String {
        git_in(&self.repository(), args)
    }

    /// Adds a task and returns its id.
    pub fn add(&self, args: &[&str]) -> String {
        self.watch();
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

    /// Supervises until nothing is left to do. Afterwards the invariants hold.
    pub fn settle(&self) {
        self.watch();
        self.env.run(&["supervise", "--until-idle"]).expect_code(0);
        self.expect_invariants();
        if self.users == Users::One {
            *self.before.lock().expect("a lock") = None;
        }
    }

    /// Everything that was delivered is green in a fresh clone, the checkout is as its user left it, and once all is
    /// settled every commit is reachable and the ledger has what the provider counted.
    fn expect_invariants(&self) {
        let told = self.env.provider.ledger().total_reported().cost;
        let tasks = self.tasks();
        // Other tests may have work here that is not settled yet.
        if all_settled(&tasks) {
            crate::yard::assert_covered(&self.env, told);
            let repositories = tasks.iter().filter_map(|task| task["repo"].as_str()).map(PathBuf::from);
            let places = repositories.chain(invariants::workspaces(&self.env.data_dir()));
            let places: BTreeSet<PathBuf> = places.filter(|place| place.join(".git").exists()).collect();
            let lost = Made::by(&self.env.root.join("refs.trace")).lost(&places);
            assert_eq!(lost, [""; 0], "no commit of an agent is unreachable");
        }
        self.expect_delivered_is_verified(&tasks);
        self.expect_unchanged_checkout();
    }

    fn tasks(&self) -> Vec<Value> {
        let listed = self.env.run(&["task", "list", "--json"]).expect_code(0).json();
        listed["tasks"].as_array().expect("tasks").clone()
    }

    /// Remembers the checkout as it is, unless work has begun before.
    fn watch(&self) {
        let mut before = self.before.lock().expect("a lock");
        if before.is_none() && self.users != Users::Agents {
            *before = Some(Checkout::of(&self.repository()));
        }
    }

    fn expect_unchanged_checkout(&self) {
        let Some(before) = self.before.lock().expect("a lock").clone() else { return };
        let top = self.repository();
        let different = || {
            let delivered_to = invariants::delivered_to(&self.tasks());
            before.differences(&Checkout::of(&top), &top, &delivered_to)
        };
        if self.users == Users::None {
            // A delivery of another test may be on its way.
            eventually("the checkout to be as before", Duration::from_secs(10), || different().is_empty());
        }
        assert_eq!(different(), [""; 0], "the user's checkout was changed");
    }

    /// Every task that is done, whatever the state of the other tasks, verifies in a fresh clone of what was delivered.
    fn expect_delivered_is_verified(&self, tasks: &[Value]) {
        for task in tasks {
            let commands: Vec<&str> =
                task["verify"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
            let commit = task["receipt"]["commit"].as_str();
            let (Some(commit), "done", false) = (commit, task["phase"].as_str().unwrap_or(""), commands.is_empty())
            else {
                continue;
            };
            let repository = PathBuf::from(task["repo"].as_str().expect("a repository"));
            let name = format!("fresh-{}-{}", task["id"].as_str().expect("an id"), &commit[..10]);
            let fresh = self.env.root.join(&name);
            // Tests share a place, and each task is checked once.
            if !self.checked.lock().expect("a lock").insert(name) {
                continue;
            }
            git_in(&repository, &["cat-file", "-e", commit]);
            git_in(&repository, &["clone", "--quiet", "--no-checkout", ".", fresh.to_str().expect("text")]);
            git_in(&fresh, &["fetch", "--quiet", "origin", "+refs/*:refs/origin/*"]);
            copy_filters(&repository, &fresh);
            git_in(&fresh, &["checkout", "--quiet", "--detach", commit]);
            let setup = task["verification"]["setup"].as_str();
            for command in setup.into_iter().chain(commands).filter(|command| !command.contains(">>")) {
                let mut shell = Command::new("sh");
                shell
                    .args(["-c", command])
                    .current_dir(&fresh)
                    .env("SHUNTYARD_TASK", task["id"].as_str().expect("an id"));
                let status = shell.status().expect("a shell");
                assert!(status.success(), "`{command}` of what was delivered: {task:#}");
            }
        }
    }

    /// A file of the work that a task has left in its workspace.
    pub fn kept(&self, id: &str, file: &str) -> String {
        let task = self.task(id);
        let workspace = task["worktree"].as_str().expect("its workspace");
        git_in(Path::new(workspace), &["show", &format!("refs/shuntyard/work:{file}")])
    }

    /// Makes one pass after the other until the work is as far as `begun` asks: on a busy machine a
    /// worker may start so late that its task is put back and waits for the next pass.
    pub fn pulse_until(&self, what: &str, begun: impl Fn() -> bool) {
        eventually(what, Duration::from_secs(40), || {
            self.env.run(&["pulse"]).expect_code(0);
            // Each check is a process, and so is the next pass, which does what has become due meanwhile.
            [0, 50, 100, 150].into_iter().any(|pause| {
                std::thread::sleep(Duration::from_millis(pause));
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
            let marked = environment.split('\0').any(|variable| variable.starts_with("SHUNTYARD_WORKER="));
            if marked && environment.contains(&root) {
                found.push(pid);
            }
        }
        found
    }
}

/// Also after a test that ran the supervisor in another way than [`Yard::settle`]. A delivery that was cut off is left
/// for the next supervisor to finish, so only settled work is checked.
impl Drop for Yard {
    fn drop(&mut self) {
        let watched = self.before.lock().is_ok_and(|before| before.is_some());
        if watched && !std::thread::panicking() && all_settled(&self.tasks()) {
            self.expect_invariants();
        }
    }
}

/// What a user would set up in a fresh clone: filters are configuration, and a key never is in the repository.
fn copy_filters(from: &Path, to: &Path) {
    let config = std::fs::read_to_string(from.join(".git/config")).unwrap_or_default();
    if !config.contains("[filter ") {
        return;
    }
    for line in git_in(from, &["config", "--local", "--get-regexp", r"^filter\."]).lines() {
        let (key, value) = line.split_once(' ').expect("a setting");
        git_in(to, &["config", key, value]);
    }
    let keys = from.join(".git/git-crypt");
    let copied = !keys.exists() || Command::new("cp").arg("-r").args([keys, to.join(".git")]).status().is_ok();
    assert!(copied, "the key is copied");
}

/// Whether a command has written to this file: a shell makes the file before the command writes to it.
pub fn is_written(file: &Path) -> bool {
    std::fs::metadata(file).is_ok_and(|metadata| metadata.len() > 0)
}

fn all_settled(tasks: &[Value]) -> bool {
    tasks.iter().all(|task| matches!(task["phase"].as_str(), Some("done" | "failed" | "blocked" | "cancelled")))
}

pub fn git_in(directory: &Path, args: &[&str]) -> String {
    let output = Command::new("git").arg("-C").arg(directory).args(args).output().expect("git runs");
    assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text").trim().to_owned()
}
