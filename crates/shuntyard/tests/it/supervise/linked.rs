//! Open tasks of an earlier release, whose work is in worktrees that are linked to the user's repository.

use crate::supervise::{Yard, yard::git_in};
use std::{
    path::{Path, PathBuf},
    process::Command,
};

/// A task that an earlier release has tried and blocked.
struct Old {
    id: String,
    /// Its linked worktree, on its branch, with nothing done yet.
    worktree: PathBuf,
}

/// Adds tasks whose command fails until `go` exists, and replaces their workspaces by linked worktrees.
fn blocked<const N: usize>(yard: &Yard, names: [&str; N]) -> [Old; N] {
    let go = yard.env.root.join("go").display().to_string();
    for name in names {
        let command = format!("test -e {go} && echo {name} > done-{name}");
        yard.add(&[name, "--id", name, "--command", &command, "--deliver", "merge"]);
    }
    yard.settle();
    names.map(|name| linked(yard, name.to_owned(), "HEAD"))
}

/// Puts a linked worktree in the place of a workspace, as the earlier release had it.
fn linked(yard: &Yard, id: String, start: &str) -> Old {
    let worktree = PathBuf::from(yard.task(&id)["worktree"].as_str().expect("its workspace"));
    let record = worktree.with_file_name(format!(".{id}.record"));
    std::fs::remove_dir_all(&worktree).expect("removed");
    std::fs::remove_dir_all(record).expect("removed");
    for name in yard.git(&["for-each-ref", "--format=%(refname)", "refs/shuntyard/"]).lines() {
        if name.contains(&format!("/{id}-")) {
            yard.git(&["update-ref", "-d", name]);
        }
    }
    let path = worktree.display().to_string();
    yard.git(&["worktree", "add", "-q", "-b", &format!("shuntyard/{id}"), &path, start]);
    Old { id, worktree }
}

fn go_on(yard: &Yard, ids: &[&str]) {
    std::fs::write(yard.env.root.join("go"), "").expect("a file");
    yard.env.run(&[&["task", "retry"], ids].concat()).expect_code(0);
    // A worker dies when its workspace is made and not recorded.
    let fault = format!("placed@{}", yard.env.root.join("died").display());
    yard.env.run_with(&[("SHUNTYARD_FAULT", &fault)], &["supervise", "--until-idle"]).expect_code(0);
    yard.settle();
}

fn write(directory: &Path, name: &str) {
    std::fs::write(directory.join(name), format!("{name}\n")).expect("a file");
}

fn commit(directory: &Path, name: &str) -> String {
    write(directory, name);
    git_in(directory, &["add", "-A"]);
    git_in(directory, &["commit", "-qm", name]);
    git_in(directory, &["rev-parse", "HEAD"])
}

fn files(yard: &Yard) -> Vec<String> {
    yard.git(&["ls-tree", "-r", "--name-only", "main"]).lines().map(str::to_owned).collect()
}

#[track_caller]
fn assert_reachable(yard: &Yard, commit: &str) {
    let containing = yard.git(&["for-each-ref", "--contains", commit, "--format=%(refname)"]);
    assert!(!containing.is_empty(), "{commit} is reachable");
}

#[test]
fn work_in_a_linked_worktree_is_delivered_on_the_newest_base() {
    let yard = Yard::new("linked-work");
    let old = blocked(&yard, ["committed", "uncommitted", "missing", "unfinished"]);
    let [committed, uncommitted, missing, unfinished] = &old;
    commit(&committed.worktree, "one");
    commit(&uncommitted.worktree, "two");
    write(&uncommitted.worktree, "three");
    git_in(&uncommitted.worktree, &["update-index", "--skip-worktree", "two"]);
    std::fs::write(uncommitted.worktree.join("two"), "changed\n").expect("a file");
    // What a git that was killed leaves.
    let lock = git_in(&uncommitted.worktree, &["rev-parse", "--git-path", "index.lock"]);
    std::fs::write(lock, "").expect("a lock");
    commit(&missing.worktree, "four");
    std::fs::remove_dir_all(&missing.worktree).expect("removed");
    let index = git_in(&unfinished.worktree, &["rev-parse", "--git-path", "index"]);
    std::fs::remove_file(index).expect("no index");
    std::fs::remove_file(unfinished.worktree.join("README")).expect("not checked out");
    commit(&yard.repository(), "by-the-user");
    go_on(&yard, &["committed", "uncommitted", "missing", "unfinished"]);
    for task in &old {
        assert_eq!(yard.phase(&task.id), "done", "{:#}", yard.task(&task.id));
        assert!(!task.worktree.exists(), "{} is removed", task.worktree.display());
    }
    let wanted = "README by-the-user done-committed done-missing done-uncommitted done-unfinished four one three two";
    assert_eq!(files(&yard).join(" "), wanted);
    assert_eq!(yard.git(&["show", "main:two"]), "changed", "a hidden change is part of the work");
    assert_eq!(yard.git(&["worktree", "list"]).lines().count(), 1);
    assert_eq!(yard.git(&["status", "--porcelain"]), "");
}

#[test]
fn an_unfinished_operation_in_a_linked_worktree_loses_no_commit() {
    let yard = Yard::new("linked-operation");
    yard.git(&["checkout", "-q", "-b", "side"]);
    let side = commit(&yard.repository(), "side");
    yard.git(&["checkout", "-q", "main"]);
    let old = blocked(&yard, ["merging", "rebasing", "dropped"]);
    let [merging, rebasing, dropped] = &old;
    commit(&merging.worktree, "merged");
    git_in(&merging.worktree, &["merge", "-q", "--no-commit", "--no-ff", "side"]);
    commit(&rebasing.worktree, "clash");
    let later = commit(&rebasing.worktree, "later");
    std::fs::write(yard.repository().join("clash"), "other\n").expect("a file");
    yard.git(&["add", "-A"]);
    yard.git(&["commit", "-qm", "clash"]);
    let stopped = Command::new("git").arg("-C").arg(&rebasing.worktree).args(["rebase", "-q", "main"]).output();
    assert!(!stopped.expect("git runs").status.success(), "the rebase stops at a conflict");
    std::fs::write(rebasing.worktree.join("clash"), "both\n").expect("resolved");
    let only_in_reflog = commit(&dropped.worktree, "gone");
    git_in(&dropped.worktree, &["reset", "-q", "--hard", "HEAD~1"]);
    commit(&dropped.worktree, "stays");
    go_on(&yard, &["merging", "rebasing", "dropped"]);
    for task in &old {
        assert_eq!(yard.phase(&task.id), "done", "{:#}", yard.task(&task.id));
        assert!(!task.worktree.exists(), "{} is removed", task.worktree.display());
    }
    assert_eq!(files(&yard).join(" "), "README clash done-dropped done-merging done-rebasing merged side stays");
    assert_eq!(yard.git(&["show", "main:clash"]), "both");
    for commit in [&side, &later, &only_in_reflog] {
        assert_reachable(&yard, commit);
    }
}

#[test]
fn a_branch_that_the_user_moved_and_what_git_cannot_keep_stay() {
    let yard = Yard::new("linked-user");
    let old = blocked(&yard, ["moved", "nested", "afresh"]);
    let [moved, nested, afresh] = &old;
    commit(&moved.worktree, "ours");
    // By the user, from another checkout.
    let tree = yard.git(&["rev-parse", "main^{tree}"]);
    let theirs = yard.git(&["commit-tree", "-p", "shuntyard/moved", "-m", "by the user", &tree]);
    yard.git(&["update-ref", "refs/heads/shuntyard/moved", &theirs]);
    git_in(&nested.worktree, &["init", "-q", "inner"]);
    write(&nested.worktree.join("inner"), "precious");
    write(&afresh.worktree, "early");
    yard.env.run(&["task", "reset", "afresh"]).expect_code(0);
    go_on(&yard, &["moved", "nested"]);
    for task in &old {
        assert_eq!(yard.phase(&task.id), "done", "{:#}", yard.task(&task.id));
    }
    assert_eq!(files(&yard).join(" "), "README done-afresh done-moved done-nested ours");
    assert_eq!(yard.git(&["rev-parse", "shuntyard/moved"]), theirs);
    assert!(nested.worktree.join("inner/precious").exists(), "git refuses to add it, so it stays where it is");
    let kept = yard.git(&["for-each-ref", "--format=%(objectname)", "refs/shuntyard/tasks/"]);
    let early = |commit: &str| yard.git(&["ls-tree", "--name-only", commit]).lines().any(|name| name == "early");
    assert!(kept.lines().any(early), "what a reset left behind is kept: {kept}");
}

#[test]
fn a_delivery_that_waited_is_verified_again_in_a_clean_checkout() {
    let yard = Yard::new("linked-delivery");
    let readme = yard.repository().join("README");
    let id = yard.add(&[
        "late",
        "--command",
        "echo late > README",
        "--verify",
        "test ! -e by-verify && grep -q late README",
        "--deliver",
        "merge",
    ]);
    std::fs::write(&readme, "the user's\n").expect("a file");
    let waits = || yard.task(&id)["reason"].as_str().is_some_and(|why| why.contains("changes of its own"));
    yard.pulse_until("the delivery waits", waits);
    let head = yard.task(&id)["receipt"]["commit"].as_str().expect("a commit").to_owned();
    let workspace = yard.task(&id)["worktree"].as_str().expect("its workspace").to_owned();
    yard.git(&["fetch", "-q", &workspace, "refs/shuntyard/work:refs/heads/fetched"]);
    let old = linked(&yard, id.clone(), &head);
    yard.git(&["branch", "-q", "-D", "fetched"]);
    // What the verify commands wrote there is not part of the work.
    write(&old.worktree, "by-verify");
    yard.git(&["checkout", "-q", "README"]);
    commit(&yard.repository(), "by-the-user");
    yard.settle();
    assert_eq!(yard.phase(&id), "done", "{:#}", yard.task(&id));
    assert_eq!(files(&yard).join(" "), "README by-the-user");
    assert_eq!(yard.git(&["show", "main:README"]), "late");
    let task = yard.task(&id);
    assert_eq!(task["receipt"]["commit"], yard.git(&["rev-parse", "main"]).as_str(), "{task:#}");
    assert!(!old.worktree.exists());
}
