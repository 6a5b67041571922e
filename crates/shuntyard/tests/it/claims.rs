//! Claims in TODO.md on the command line: two stores, one remote, and processes that die.

use crate::own_env;
use serde_json::{Value, json};
use shuntyard_testkit::{Outcome, TestEnv, environment::finish, eventually};
use std::{
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

const SOON: Duration = Duration::from_secs(60);

const PLAN: &str = "\
# Plan
- [ ] t001 mend the parser #auto-dispatch ~2h
- [ ] t002 test it #auto-dispatch blocked-by:t001
- [ ] t003 for people
";

/// A bare remote, and two environments with a clone of it each.
pub struct Pair {
    pub remote: PathBuf,
    pub yards: [TestEnv; 2],
}

impl Pair {
    pub fn new(name: &str, plan: &str) -> Self {
        let yards = ["ada", "bob"].map(|who| {
            let mut env = own_env(&format!("{name}-{who}"));
            env.set("SHUNTYARD_IDENTITY", format!("{who}@test"));
            env
        });
        let remote = yards[0].root.join("remote.git");
        let seed = yards[0].repository("seed");
        git(&yards[0].root, &["init", "-q", "--bare", "-b", "main", &text(&remote)]);
        git(&seed, &["symbolic-ref", "HEAD", "refs/heads/main"]);
        std::fs::write(seed.join("TODO.md"), plan).expect("written");
        git(&seed, &["add", "."]);
        git(&seed, &["commit", "-q", "-m", "plan"]);
        git(&seed, &["push", "-q", &text(&remote), "main"]);
        for yard in &yards {
            std::fs::remove_dir_all(yard.project()).expect("an empty project");
            git(&yard.root, &["clone", "-q", &text(&remote), "project"]);
        }
        Self { remote, yards }
    }

    /// Another plan, as a colleague pushes it.
    pub fn plan(&self, plan: &str) {
        let seed = self.yards[0].root.join("work/seed");
        git(&seed, &["pull", "-q", "--rebase", &text(&self.remote), "main"]);
        std::fs::write(seed.join("TODO.md"), plan).expect("written");
        git(&seed, &["commit", "-q", "-am", "another plan"]);
        git(&seed, &["push", "-q", &text(&self.remote), "main"]);
    }

    pub fn shared(&self) -> String {
        git(&self.remote, &["show", "main:TODO.md"])
    }

    pub fn history(&self) -> String {
        git(&self.remote, &["log", "--format=%s", "main"])
    }

    /// A program that the remote runs with every push, until it is removed.
    fn hook(&self, name: &str, script: &str) -> PathBuf {
        let (draft, hook) = (self.yards[0].root.join("draft"), self.remote.join("hooks").join(name));
        std::fs::create_dir_all(self.remote.join("hooks")).expect("a directory");
        std::fs::write(&draft, format!("#!/bin/sh\n{script}\n")).expect("written");
        // Another process writes it: this one's children could hold it open.
        assert!(Command::new("install").args(["-m", "755"]).args([&draft, &hook]).status().expect("runs").success());
        hook
    }
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

pub fn git(directory: &Path, args: &[&str]) -> String {
    let identity = ["-c", "user.name=Somebody", "-c", "user.email=somebody@localhost", "-c", "commit.gpgSign=false"];
    let output = Command::new("git").args(identity).args(args).current_dir(directory).output().expect("git runs");
    assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn claim(env: &TestEnv, id: &str) -> Outcome {
    env.run(&["task", "claim", "--json", id])
}

#[test]
fn a_claim_is_seen_by_others_and_only_force_takes_it() {
    let pair = Pair::new("claims-two", PLAN);
    let [ada, bob] = &pair.yards;
    let would = ada.run(&["task", "claim", "--json", "--dry-run", "t001"]);
    would.expect_code(0);
    assert_eq!((would.json()["dry_run"].clone(), pair.shared()), (json!(true), PLAN.to_owned()));
    let won = claim(ada, "t001");
    won.expect_code(0);
    let project = ada.project().canonicalize().expect("there");
    let expected = json!({"id": "t001", "todo": "t001", "claim": "confirmed", "by": "ada@test",
        "place": "origin/main", "repo": project, "dry_run": false, "notes": []});
    assert_eq!(won.json(), expected);
    assert!(pair.shared().contains("~2h assignee:ada@test started:"), "{}", pair.shared());
    claim(bob, "t001").expect_code(3).expect_class("refused");
    bob.run(&["task", "unclaim", "--json", "t001"]).expect_code(3).expect_class("refused");
    assert_eq!(pair.history(), "t001: claimed by ada@test\nplan\n");
    let forced = bob.run(&["task", "unclaim", "t001", "--force"]);
    forced.expect_code(0);
    assert_eq!((forced.stdout.as_str(), pair.shared().as_str()), ("t001 is given back\n", PLAN));
    claim(bob, "t001").expect_code(0);
    bob.run(&["task", "unclaim", "t001"]).expect_code(0);
    assert_eq!(bob.run(&["task", "unclaim", "--json", "t001"]).json()["unclaim"], "already");
}

#[test]
fn refusals_have_their_exit_codes() {
    let pair = Pair::new("claims-no", PLAN);
    let ada = &pair.yards[0];
    claim(ada, "t009").expect_code(2).expect_class("usage");
    ada.run(&["task", "claim", "--json", "t001", "--repo", "/"]).expect_code(2).expect_class("usage");
    ada.run(&["task", "claim", "--json", "t001", "--base", "main"]).expect_code(0);
    ada.run_with(&[("SHUNTYARD_IDENTITY", "two words")], &["task", "claim", "--json", "t001"])
        .expect_code(2)
        .expect_class("configuration");
    std::fs::rename(&pair.remote, pair.remote.with_extension("away")).expect("moved");
    for verb in [["task", "claim", "--json", "t002"], ["task", "unclaim", "--json", "t001"]] {
        ada.run(&verb).expect_code(4).expect_class("git");
    }
    ada.run(&["task", "sync", "--json"]).expect_code(4).expect_class("git");
}

#[test]
fn of_two_processes_exactly_one_wins() {
    const ROUNDS: usize = 10;
    let plan: String = (1..=ROUNDS).map(|number| format!("- [ ] t{number:03} do it\n")).collect();
    let pair = Pair::new("claims-race", &plan);
    for number in 1..=ROUNDS {
        let id = format!("t{number:03}");
        let racing = pair.yards.each_ref().map(|yard| yard.spawn(&["task", "claim", "--json", &id]));
        let mut codes = racing.map(|child| finish(child).code);
        codes.sort_unstable();
        assert_eq!(codes, [Some(0), Some(3)], "{id}");
    }
    assert_eq!(pair.shared().matches(" assignee:").count(), ROUNDS);
}

/// Where a push is when its process is killed, and whether the remote takes it in the end.
fn killed(name: &str, hook: &str, exit: i32) -> Pair {
    let pair = Pair::new(name, PLAN);
    let ada = &pair.yards[0];
    let [reached, go, ended] = ["reached", "go", "ended"].map(|mark| ada.root.join(mark));
    let script = format!(
        "test -e '{}' && exit 0\ntouch '{}'\nwhile ! test -e '{}'; do sleep 0.05; done\ntouch '{}'\nexit {exit}",
        text(&ended),
        text(&reached),
        text(&go),
        text(&ended)
    );
    let before = git(&ada.project(), &["status", "--porcelain=v1", "--branch", "--untracked-files=all"]);
    pair.hook(hook, &script);
    let mut claiming = ada.spawn(&["task", "claim", "t001"]);
    eventually("the push arrives", SOON, || reached.exists());
    claiming.kill().expect("it runs");
    claiming.wait().expect("it is gone");
    std::fs::write(&go, "").expect("written");
    eventually("the push is over", SOON, || ended.exists());
    let now = git(&ada.project(), &["status", "--porcelain=v1", "--untracked-files=all"]);
    assert_eq!((now.as_str(), before.lines().count()), ("", 1), "{before}");
    assert_eq!(std::fs::read_to_string(ada.project().join("TODO.md")).expect("there"), PLAN);
    pair
}

#[test]
fn a_claim_whose_process_died_after_it_arrived_is_found_again() {
    let pair = killed("claims-killed-late", "post-receive", 0);
    assert_eq!(pair.history(), "t001: claimed by ada@test\nplan\n");
    claim(&pair.yards[1], "t001").expect_code(3);
    let again = claim(&pair.yards[0], "t001");
    again.expect_code(0);
    assert_eq!(again.json()["claim"], "confirmed");
    assert_eq!(pair.history(), "t001: claimed by ada@test\nplan\n");
}

#[test]
fn a_claim_whose_process_died_before_it_was_taken_is_nobodys() {
    let pair = killed("claims-killed-early", "pre-receive", 1);
    assert_eq!(pair.history(), "plan\n");
    claim(&pair.yards[1], "t001").expect_code(0);
    claim(&pair.yards[0], "t001").expect_code(3);
    let drafts = pair.yards[0].data_dir().join("claims");
    let left = std::fs::read_dir(drafts).map_or(0, Iterator::count);
    assert_eq!(left, 0, "drafts were left behind");
}

#[test]
fn lines_become_tasks_and_the_rest_is_told() {
    let pair = Pair::new("claims-sync", PLAN);
    let ada = &pair.yards[0];
    let would = ada.run(&["task", "sync", "--json", "--dry-run"]).json();
    assert_eq!(ada.run(&["task", "list", "--json"]).json()["tasks"], json!([]));
    let report = ada.run(&["task", "sync", "--json"]).json();
    let ids = |report: &Value| -> Vec<String> {
        let added = report["added"].as_array().expect("a list").iter();
        added.map(|added| added["id"].as_str().unwrap_or_default().to_owned()).collect()
    };
    assert_eq!((ids(&report), ids(&would)), (vec!["t001".to_owned(), "t002".to_owned()], ids(&report)));
    let task = ada.run(&["task", "show", "t002", "--json"]).json();
    assert_eq!((&task["depends_on"], &task["base"]), (&json!(["t001"]), &json!("main")));
    let again = ada.run(&["task", "sync"]);
    again.expect_code(0);
    assert_eq!((again.stdout.as_str(), pair.shared().as_str()), ("", PLAN));
    // The task was ticked by hand in the meantime.
    let done = PLAN.replace("- [ ] t001", "- [x] t001");
    std::fs::write(ada.project().join("TODO.md"), done).expect("written");
    git(&ada.project(), &["commit", "-q", "-am", "done"]);
    git(&ada.project(), &["push", "-q"]);
    let told = ada.run(&["task", "sync"]);
    assert!(told.stdout.contains("t001: [x] in the file, and open in the store"), "{}", told.stdout);
    assert_eq!(ada.run(&["task", "show", "t001", "--json"]).json()["phase"], "queued");
    ada.run(&["task", "sync", "--apply"]).expect_code(0);
    assert_eq!(ada.run(&["task", "show", "t001", "--json"]).json()["phase"], "cancelled");
}
