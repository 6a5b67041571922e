//! Agents that end on another branch, or in the middle of an operation: all of their work is delivered, or none.

use crate::supervise::Yard;

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
