//! A setup command that fails, is killed or destroys its workspace: what it left is never part of the work.

use crate::supervise::{Yard, yard::git_in};
use shuntyard_testkit::eventually;

/// Tracked, new, ignored and committed files, and another branch.
const HALF: &str = "echo half > README; echo half > left; mkdir d; echo half > d/left.log; git add README; \
                    git commit -qm half; git checkout -q -b other; echo more > more";

/// A task whose setup command does `before` the first time.
fn add(yard: &Yard, before: &str) -> String {
    std::fs::write(yard.repository().join(".gitignore"), "*.log\n").expect("written");
    yard.git(&["add", "-A"]);
    yard.git(&["commit", "-qm", "ignore"]);
    let setup = format!("mkdir {} || exit 0; {before}", yard.env.root.join("once").display());
    let command = [
        "--command",
        "seen=$(find . -name .git -prune -o -type f -print | sort); echo \"$seen\" > seen",
        "--verify",
        "test -f seen",
    ];
    yard.add(&[&["work", "--setup", &setup, "--deliver", "merge"], &command[..]].concat())
}

fn expect_only_work(yard: &Yard, id: &str) {
    assert_eq!(yard.phase(id), "done", "{:#}", yard.task(id));
    assert_eq!(yard.git(&["ls-tree", "-r", "--name-only", "main"]), ".gitignore\nREADME\nseen");
    assert_eq!(yard.git(&["show", "main:README"]), "first");
    assert_eq!(yard.git(&["show", "main:seen"]), "./.gitignore\n./README", "nothing of it was there");
}

#[test]
fn what_a_failed_setup_left_is_not_delivered() {
    for (name, before) in [("failed", format!("{HALF}; exit 1")), ("destroyed", format!("{HALF}; rm -rf .git; exit 1"))]
    {
        let yard = Yard::new(&format!("setup-{name}")).untraced();
        let id = add(&yard, &before);
        yard.settle();
        expect_only_work(&yard, &id);
    }
}

#[test]
fn what_a_killed_setup_left_is_not_delivered() {
    let yard = Yard::new("setup-killed").untraced();
    let begun = yard.env.root.join("begun");
    let id = add(&yard, &format!("{HALF}; : > {}; sleep 600", begun.display()));
    yard.pulse_until("its setup to begin", || begun.exists());
    for worker in yard.workers() {
        std::process::Command::new("kill").args(["-9", &worker.to_string()]).status().expect("killed");
    }
    eventually("the worker to be gone", std::time::Duration::from_secs(20), || yard.workers().is_empty());
    yard.settle();
    expect_only_work(&yard, &id);
}

#[test]
fn a_task_whose_setup_never_succeeds_has_no_work() {
    let yard = Yard::new("setup-never").untraced();
    let setup = format!("{HALF}; exit 1");
    let id = yard.add(&["work", "--setup", &setup, "--command", "echo w > w", "--attempts", "2"]);
    yard.settle();
    assert_ne!(yard.phase(&id), "done", "{:#}", yard.task(&id));
    yard.env.run(&["task", "cancel", &id, "--discard"]).expect_code(0);
    let kept = git_in(&yard.repository(), &["for-each-ref", "--format=%(objectname)", "refs/shuntyard"]);
    for commit in kept.lines() {
        let files = git_in(&yard.repository(), &["ls-tree", "-r", "--name-only", commit]);
        assert!(!files.contains("more") && !files.contains("left"), "{files}");
    }
}
