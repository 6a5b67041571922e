//! Agents that end on another branch, or in the middle of an operation: all of their work is delivered, or none.

use crate::supervise::Yard;
use std::path::Path;

fn run(name: &str, command: &str, verify: &str) -> (Yard, serde_json::Value) {
    let yard = Yard::new(name);
    let id = yard.add(&["work", "--command", command, "--verify", verify, "--deliver", "merge", "--attempts", "1"]);
    yard.settle();
    let task = yard.task(&id);
    (yard, task)
}

const COMMIT: &str = "c() { echo $1 > $1; git add -A; git commit -qm $1; }; ";

#[test]
fn work_on_the_task_branch_counts_although_another_branch_is_checked_out() {
    for (number, away) in ["git checkout -q main", "git checkout -q -b side main", "git checkout -q --detach main"]
        .into_iter()
        .enumerate()
    {
        let command = format!("{COMMIT} c one; c two; {away}");
        let (yard, task) = run(&format!("unfinished-away-{number}"), &command, "test -f one -a -f two");
        assert_eq!(task["phase"], "done", "{away}: {task:#}");
        assert_eq!(yard.git(&["ls-tree", "--name-only", "main"]), "README\none\ntwo", "{away}");
    }
}

#[test]
fn a_rebase_or_cherry_pick_with_commits_left_is_not_delivered_in_part() {
    let todo = "GIT_SEQUENCE_EDITOR=\"sed -i '1a break'\" git rebase -q -i HEAD~3";
    let pick = "git branch all; git reset -q --hard HEAD~3; git checkout -q -b conflict; echo x > two; git add -A; \
                git commit -qm x; git cherry-pick all~2 all~1 all; echo y > two; git add -A";
    for (name, command) in [("rebase", todo), ("pick", pick)] {
        let command = format!("{COMMIT} c one; c two; c three; {command}; true");
        let (yard, task) = run(&format!("unfinished-{name}"), &command, "test -f one");
        assert_eq!(task["phase"], "failed", "{name}: {task:#}");
        assert!(task["reason"].as_str().expect("a reason").contains("not finished"), "{name}: {task:#}");
        assert_eq!(yard.git(&["ls-tree", "--name-only", "main"]), "README", "{name}");
    }
}

#[test]
fn a_workspace_that_git_cannot_collect_is_kept_and_named() {
    let yard = Yard::new("unfinished-refused").untraced();
    let once = yard.env.root.join("once");
    // Git adds no repository without a commit.
    let command = format!("echo w > w; mkdir {} || exit 0; git init -q nested; echo n > nested/n", once.display());
    let id = yard.add(&["work", "--command", &command, "--verify", "test -f missing", "--attempts", "2"]);
    yard.settle();
    let task = yard.task(&id);
    let note = task["receipt"]["findings"]["notes"][0].as_str().expect("a note").to_owned();
    let aside = note.split_once(": ").expect("a path").1;
    assert!(Path::new(aside).join("nested/n").exists(), "{note}");
    let shown = yard.env.run(&["task", "cancel", &id, "--discard", "--dry-run"]);
    assert!(shown.stdout.contains(aside), "{}{}", shown.stdout, shown.stderr);
    yard.env.run(&["task", "cancel", &id, "--discard"]).expect_code(0);
    assert!(Path::new(aside).exists(), "it is nowhere else");
    yard.env.run(&["task", "cancel", &id, "--discard=all"]).expect_code(0);
    assert!(!Path::new(aside).exists());
}
