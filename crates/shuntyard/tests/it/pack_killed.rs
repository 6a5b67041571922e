//! The real process, killed at moments that are spread over all of its work: what it left can be finished, and can be
//! undone to the byte.

use crate::{
    own_env,
    pack::{snapshot, write},
};
use shuntyard_testkit::{TestEnv, rounds};
use std::{
    collections::{BTreeMap, BTreeSet},
    os::unix::process::ExitStatusExt,
    path::{Path, PathBuf},
};

/// Moments that are tried, spread over the whole of the work.
fn moments() -> usize {
    rounds(6)
}

/// On a busy machine a command may be over before its moment is noticed; then it is tried again.
const TRIES: usize = 8;

type Snapshot = BTreeMap<PathBuf, (u32, Vec<u8>)>;

/// A project with files of its own, two of them under names that the pack uses.
struct Project<'e> {
    env: &'e TestEnv,
    root: PathBuf,
    before: Snapshot,
}

impl<'e> Project<'e> {
    fn new(env: &'e TestEnv, name: &str) -> Self {
        let root = env.repository(name);
        let config = "{\n  // mine\n  \"model\": \"scripted/alpha\", /* and this */\n  \"unknown\": [1, 2,],\n}\n";
        write(&root.join("opencode.jsonc"), config, 0o600);
        write(&root.join("AGENTS.md"), "my rules\n", 0o640);
        write(&root.join(".opencode/agents/validator.md"), "my own validator\n", 0o600);
        write(&root.join(".opencode/commands/mine.md"), "mine\n", 0o644);
        let before = snapshot(&root);
        Self { env, root, before }
    }

    fn args<'a>(&'a self, verb: &'a [&'a str]) -> Vec<&'a str> {
        let root = self.root.to_str().expect("a path is text");
        [&["pack"], verb, &["--project", root]].concat()
    }

    fn run(&self, verb: &[&str]) {
        self.env.run(&self.args(verb)).expect_code(0);
    }

    fn now(&self) -> Snapshot {
        snapshot(&self.root)
    }

    /// Every file but the manifest, which has names of backups in it, by its path in the project.
    fn pack(&self) -> Snapshot {
        let below = |path: &Path| path.strip_prefix(&self.root).expect("below").to_path_buf();
        let files = self.now().into_iter().map(|(path, content)| (below(&path), content));
        files.filter(|(path, _)| !path.ends_with(".shuntyard-pack.json") && !path.starts_with(".git")).collect()
    }

    /// How many entries of the project and of what is kept about it have come, gone or changed.
    fn progress(&self, from: &Snapshot) -> usize {
        let now = watched(self.env, &self.root);
        let other = |path: &&PathBuf| from.get(*path) != now.get(*path);
        from.keys().chain(now.keys().filter(|path| !from.contains_key(*path))).filter(other).count()
    }

    /// Kills the command as soon as it has come so far. False when it was over before.
    fn killed(&self, verb: &[&str], progress: usize) -> bool {
        let from = watched(self.env, &self.root);
        let mut child = self.env.spawn(&self.args(verb));
        while self.progress(&from) < progress && child.try_wait().expect("a child").is_none() {}
        drop(child.kill());
        child.wait().expect("reaped").signal() == Some(9)
    }
}

/// The project, and what is kept outside of it. Files come and go while this reads.
fn watched(env: &TestEnv, root: &Path) -> Snapshot {
    let mut found = Snapshot::new();
    let mut open = vec![root.to_path_buf(), env.data_dir().join("pack")];
    while let Some(next) = open.pop() {
        for entry in std::fs::read_dir(&next).into_iter().flatten().flatten() {
            let path = entry.path();
            let Ok(metadata) = path.symlink_metadata() else { continue };
            if metadata.is_dir() {
                open.push(path.clone());
            }
            found.insert(path, (u32::try_from(metadata.len()).unwrap_or(u32::MAX), Vec::new()));
        }
    }
    found
}

/// With nothing but the paths that differ, because contents are long.
#[track_caller]
fn assert_same(now: &Snapshot, expected: &Snapshot, when: &str) {
    let paths = now.keys().chain(expected.keys());
    let other: BTreeSet<&PathBuf> = paths.filter(|path| now.get(*path) != expected.get(*path)).collect();
    assert!(other.is_empty(), "{when}: {other:#?}");
}

/// A project whose command was killed as soon as it had come so far, and whether that was in time.
fn killed_in_time<'e>(project: impl Fn(usize) -> Project<'e>, verb: &[&str], progress: usize) -> (Project<'e>, bool) {
    let mut tried = 0;
    loop {
        let project = project(tried);
        let killed = project.killed(verb, progress);
        tried += 1;
        if killed || tried == TRIES {
            return (project, killed);
        }
    }
}

/// The progress and the result of a whole run, by which the moments are chosen.
fn whole(env: &TestEnv, name: &str, prepared: &[&[&str]], verb: &[&str]) -> (usize, Snapshot) {
    let project = Project::new(env, name);
    prepared.iter().for_each(|verb| project.run(verb));
    let from = watched(env, &project.root);
    project.run(verb);
    (project.progress(&from), project.pack())
}

const INSTALL: &[&str] = &["install", "--mcp", "--force"];

#[test]
fn an_install_that_was_killed_is_finished_or_undone() {
    let env = own_env("pack-killed");
    let (steps, installed) = whole(&env, "whole", &[], INSTALL);
    let moments = moments();
    let mut killed = 0;
    for round in 0..moments {
        let at = 1 + round * steps / moments;
        let new = |tried| Project::new(&env, &format!("round-{round}-{tried}"));
        let (project, in_time) = killed_in_time(new, INSTALL, at);
        killed += usize::from(in_time);
        match round % 3 {
            0 => {
                project.run(INSTALL);
                assert_same(&project.pack(), &installed, &format!("finished in round {round}"));
                project.run(&["uninstall"]);
            }
            1 => project.run(&["uninstall"]),
            _ => {
                let listed = env.run(&project.args(&["restore", "--list", "--json"])).expect_code(0).json();
                // Without a backup nothing was touched yet.
                if listed["backups"].as_array().is_some_and(|backups| !backups.is_empty()) {
                    project.run(&["restore"]);
                }
            }
        }
        assert_same(&project.now(), &project.before, &format!("round {round}, killed at {at} of {steps}"));
    }
    assert!(killed >= moments / 2, "only {killed} of {moments} were killed at work");
}

#[test]
fn an_uninstall_that_was_killed_is_finished_or_taken_back() {
    let env = own_env("pack-killed-leaving");
    let (steps, _) = whole(&env, "whole", &[INSTALL], &["uninstall"]);
    let (_, installed) = whole(&env, "installed", &[], INSTALL);
    let moments = moments();
    let mut killed = 0;
    for round in 0..moments {
        let at = 1 + round * steps / moments;
        let installed_one = |tried| {
            let project = Project::new(&env, &format!("round-{round}-{tried}"));
            project.run(INSTALL);
            project
        };
        let (project, in_time) = killed_in_time(installed_one, &["uninstall"], at);
        killed += usize::from(in_time);
        if round % 2 == 0 {
            project.run(INSTALL);
            assert_same(&project.pack(), &installed, &format!("taken back in round {round}"));
        }
        project.run(&["uninstall"]);
        assert_same(&project.now(), &project.before, &format!("round {round}, killed at {at} of {steps}"));
    }
    assert!(killed >= moments / 2, "only {killed} of {moments} were killed at work");
}
