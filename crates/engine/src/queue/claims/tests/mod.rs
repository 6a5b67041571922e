//! Claims with the real git: a bare remote, clones of it, and a store for each that knows nothing of the others.

mod alone;
mod racing;
mod settling;
mod syncing;
mod taking;
mod trouble;
mod waiting;

use super::*;
use crate::{Context, base::direct_cache::DirectCache};
use shuntyard_core::{
    settings::{Config, Layered},
    values::{Deliver, Urgency},
    work::task::{Agent, Gate, Place, State, Tally, Task, TaskId, TaskSpec, Verification},
};
use shuntyard_host::paths::Paths;
use shuntyard_store::sqlite::SqliteStore;
use shuntyard_testkit::Scratch;
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
};

/// A line that is odd in every way that must survive.
const ODD: &str = "# Plan\r\n\n  * [x] t000 done `assignee:nobody`  \n- [ ] t001 mend the parser #auto-dispatch ~2h  \n\
\ttail without an end";

/// A bare remote with a TODO.md on `main`.
struct Scene {
    root: Scratch,
}

/// A clone with a store of its own.
struct Yard {
    clone: PathBuf,
    context: Context,
}

impl Scene {
    fn new(todo: &str) -> Self {
        let scene = Self { root: shuntyard_testkit::Scratch::of_test() };
        let seed = scene.path("seed");
        git(scene.root.path(), &["init", "-q", "--bare", "-b", "main", "remote.git"]);
        // The remote's own housekeeping would only slow the tests down.
        git(&scene.path("remote.git"), &["config", "receive.autogc", "false"]);
        git(scene.root.path(), &["init", "-q", "-b", "main", "seed"]);
        commit(&seed, "TODO.md", todo);
        git(&seed, &["push", "-q", &scene.path("remote.git").display().to_string(), "main"]);
        scene
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    async fn yard(&self, name: &str) -> Yard {
        git(self.root.path(), &["clone", "-q", "remote.git", name]);
        self.yard_at(name, &self.path(name)).await
    }

    /// A store for a clone that is there.
    async fn yard_at(&self, name: &str, clone: &Path) -> Yard {
        let home = self.path(&format!("{name}-home"));
        let data_dir = home.join("data");
        fs::create_dir_all(&data_dir).unwrap();
        let store_path = data_dir.join("shuntyard.db");
        let context = Context {
            store: Arc::new(SqliteStore::open(&store_path).await.unwrap()),
            store_path,
            config: config(),
            paths: Paths { config_dir: home.join("config"), data_dir, cache_dir: home.join("cache") },
            environment: BTreeMap::from([("SHUNTYARD_IDENTITY".to_owned(), format!("{name}@test"))]),
            program: PathBuf::from("shuntyard"),
            server_password: None,
            origins: BTreeMap::new(),
            direct: DirectCache::default(),
        };
        Yard { clone: fs::canonicalize(clone).unwrap(), context }
    }

    /// TODO.md as the remote has it.
    fn shared(&self) -> String {
        git(&self.path("remote.git"), &["show", "main:TODO.md"])
    }

    /// A program that the remote runs for every push.
    fn hook(&self, name: &str, script: &str) {
        let (draft, hook) = (self.path("draft"), self.path("remote.git/hooks").join(name));
        fs::create_dir_all(hook.parent().unwrap()).unwrap();
        fs::write(&draft, script).unwrap();
        // Another process writes it: this one's children could hold it open.
        let installed = Command::new("install").args(["-m", "755"]).args([&draft, &hook]).status().unwrap();
        assert!(installed.success());
    }
}

impl Yard {
    fn line(&self, id: &str) -> Line {
        Line::new(&self.clone, "main", &id.parse().unwrap())
    }

    async fn claim(&self, id: &str) -> Claim {
        super::claim(&self.context, &self.line(id), Run::Real).await.unwrap()
    }

    fn task(&self, id: &str) -> Task {
        let spec = TaskSpec {
            description: "mend it".to_owned(),
            repository: self.clone.display().to_string(),
            base: "main".to_owned(),
            agent: Agent::Opencode { agent: None },
            place: Place::Worktree,
            model: None,
            tier: None,
            task_type: None,
            needs: Vec::new(),
            verify: Vec::new(),
            allow_paths: Vec::new(),
            max_cost: None,
            urgency: Urgency::Normal,
            estimate_seconds: None,
            attempts: None,
            labels: Vec::new(),
            deliver: Deliver::Branch,
            gate: Gate::Closed,
            verification: Verification::default(),
            diagnoses: None,
            strategy: None,
            contest: None,
            entry_of: None,
            todo: Some(id.parse().unwrap()),
            deadline: None,
            with_issue: false,
        };
        Task {
            id: id.parse().unwrap(),
            batch: None,
            parent: None,
            priority: 0,
            depends_on: Vec::new(),
            spec,
            state: State::Queued,
            tally: Tally::default(),
            epoch: 0,
            created_at: 1,
            changed_at: 1,
        }
    }

    fn text(&self) -> String {
        fs::read_to_string(self.clone.join("TODO.md")).unwrap()
    }
}

fn config() -> Config {
    Layered::merge(&[]).unwrap().config
}

fn id(text: &str) -> TaskId {
    text.parse().unwrap()
}

#[track_caller]
fn git(directory: &Path, args: &[&str]) -> String {
    let identity = ["-c", "user.name=Test", "-c", "user.email=test@localhost", "-c", "core.autocrlf=false"];
    let output = Command::new("git").arg("-C").arg(directory).args(identity).args(args).output().unwrap();
    assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn commit(repository: &Path, file: &str, text: &str) {
    fs::write(repository.join(file), text).unwrap();
    git(repository, &["add", "--", file]);
    git(repository, &["commit", "-q", "--no-gpg-sign", "-m", file]);
}

/// What an outsider can see of a checkout: where it is, what is staged and what is changed.
fn state(repository: &Path) -> String {
    let ask = |args: &[&str]| git(repository, args);
    format!(
        "{}{}{}",
        ask(&["symbolic-ref", "HEAD"]),
        ask(&["status", "--porcelain=v1", "--untracked-files=all"]),
        ask(&["diff", "--cached"])
    )
}
