//! `task cancel --discard`: removes what a task has left, and not before it was kept or given up.

use crate::supervise::{Yard, yard::is_written};
use serde_json::json;
use std::path::PathBuf;

fn workspace(yard: &Yard, id: &str) -> PathBuf {
    PathBuf::from(yard.task(id)["worktree"].as_str().expect("a workspace"))
}

/// The commits that are kept of any task, by what is in them.
fn kept(yard: &Yard, file: &str) -> bool {
    let refs = yard.git(&["for-each-ref", "--format=%(objectname)", "refs/shuntyard/tasks/"]);
    refs.lines().any(|commit| yard.git(&["ls-tree", "--name-only", commit]).lines().any(|name| name == file))
}

#[test]
fn a_workspace_is_discarded_and_its_work_kept_unless_all_is_to_go() {
    let yard = Yard::new("discard");
    std::fs::write(yard.repository().join(".gitignore"), "ignored\n").expect("a file");
    yard.git(&["add", "-A"]);
    yard.git(&["commit", "-qm", "ignore"]);
    let command = "echo 1 > one; git add -A; git commit -qm one; echo 2 > two; echo 3 > ignored; exit 1";
    yard.add(&["stuck", "--id", "stuck", "--command", command]);
    yard.settle();
    assert_eq!(yard.phase("stuck"), "blocked");
    let directory = workspace(&yard, "stuck");
    let before = yard.git(&["for-each-ref"]);
    let planned = yard.env.run(&["task", "cancel", "stuck", "--discard", "--dry-run", "--json"]).expect_code(0).json();
    let discards = &planned["tasks"][0]["discards"];
    assert_eq!(discards["worktree"], json!(directory), "{planned:#}");
    assert!(discards["commits"].as_array().is_some_and(|commits| !commits.is_empty()), "{planned:#}");
    let said = yard.env.run(&["task", "cancel", "stuck", "--discard=all", "--dry-run"]).expect_code(0).stdout.clone();
    assert!(said.contains("would be lost") && said.contains("git ignores"), "{said}");
    assert_eq!((yard.phase("stuck").as_str(), yard.git(&["for-each-ref"])), ("blocked", before), "nothing is changed");
    assert!(directory.join("ignored").exists());

    let done = yard.env.run(&["task", "cancel", "stuck", "--discard", "--json"]).expect_code(0).json();
    assert_eq!(done["tasks"][0]["phase"], "cancelled", "{done:#}");
    assert!(!directory.exists() && kept(&yard, "one") && kept(&yard, "two"), "{done:#}");
    // Again, and after all of it was done.
    let said = yard.env.run(&["task", "cancel", "stuck", "--discard"]).expect_code(0).stdout.clone();
    assert!(said.contains("no workspace any more") && said.contains("kept below refs/shuntyard/tasks/"), "{said}");
    yard.settle();
    yard.env.run(&["task", "cancel", "stuck", "--discard=all"]).expect_code(0);
    assert_eq!(yard.git(&["for-each-ref", "refs/shuntyard/"]), "");
    // The commits that were given up are lost on purpose.
    std::fs::write(yard.env.root.join("refs.trace"), "").expect("the trace");
    yard.env.run(&["task", "retry", "stuck"]).expect_code(0);
    yard.settle();
    assert_eq!(yard.phase("stuck"), "blocked", "it can be tried again, from the base");
    assert!(workspace(&yard, "stuck").join("two").exists());
}

#[test]
fn a_workspace_is_not_discarded_under_a_worker() {
    let yard = Yard::new("discard-running");
    let trace = yard.env.root.join("trace");
    let command = format!("echo 1 > early; echo begun > {}; sleep 300", trace.display());
    yard.add(&["busy", "--id", "busy", "--command", &command]);
    yard.pulse_until("it works", || is_written(&trace));
    let directory = workspace(&yard, "busy");
    let planned = yard.env.run(&["task", "cancel", "busy", "--discard", "--dry-run", "--json"]).expect_code(0).json();
    assert_eq!(planned["tasks"][0]["discards"]["uncommitted"], json!(["early"]), "{planned:#}");
    assert_eq!(yard.phase("busy"), "running");
    yard.env.run(&["task", "cancel", "busy", "--discard"]).expect_code(0);
    assert_eq!(yard.phase("busy"), "cancelled");
    assert!(!directory.exists() && kept(&yard, "early"));
    yard.add(&["good", "--id", "good", "--command", "echo g > g", "--deliver", "merge"]);
    yard.settle();
    yard.env.run(&["task", "cancel", "good", "--discard"]).expect_code(3);
    assert_eq!(yard.git(&["show", "main:g"]), "g", "what is done is not cancelled");
}

#[test]
fn the_archive_of_a_workspace_that_is_gone_or_destroyed_is_listed_and_kept() {
    let yard = Yard::new("discard-gone");
    let command = "echo 1 > one; git add -A; git commit -qm one; exit 1";
    for (id, lost) in [("gone", ""), ("destroyed", ".git")] {
        yard.add(&["stuck", "--id", id, "--command", command]);
        yard.settle();
        assert_eq!(yard.phase(id), "blocked");
        let directory = workspace(&yard, id);
        std::fs::remove_dir_all(directory.join(lost)).expect("removed");
        let planned = yard.env.run(&["task", "cancel", id, "--discard", "--dry-run", "--json"]).expect_code(0).json();
        let commits = planned["tasks"][0]["discards"]["commits"].as_array().expect("commits").len();
        assert_eq!(commits, 1, "{planned:#}");
        yard.env.run(&["task", "cancel", id, "--discard"]).expect_code(0);
        assert!(!directory.exists() && kept(&yard, "one"), "{id}");
        yard.env.run(&["task", "cancel", id, "--discard=all"]).expect_code(0);
        assert_eq!(yard.git(&["for-each-ref", "refs/shuntyard/"]), "");
        std::fs::write(yard.env.root.join("refs.trace"), "").expect("the trace");
    }
}
