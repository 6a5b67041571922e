//! A branch that another operation needs where it is does not move, and neither does anything else.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use shuntyard_host::git::{FastForward, Operation};

use super::scene::{Scene, look, write};

/// `main` and `side` have changed the same line, and `next` is one commit ahead of `main`.
fn scene() -> (Scene, String, String) {
    let (scene, base) = Scene::new();
    let side = scene.tree("side", &base);
    scene.save(&side, &[("file", "side\n")]);
    scene.save(&side, &[("file", "side again\n")]);
    let from = scene.save(&scene.top, &[("file", "main\n")]);
    let next = scene.tree("next", &from);
    let to = scene.save(&next, &[("new", "n\n")]);
    (scene, from, to)
}

/// A git command that is expected to stop with a conflict.
fn stops(scene: &Scene, tree: &Path, words: &str) {
    let variables = scene.git.variables.iter().map(|(name, value)| (name, value));
    let mut command = Command::new("git");
    command.arg("-C").arg(tree).args(words.split(' ')).envs(variables).process_group(0);
    assert!(!command.output().unwrap().status.success(), "git {words}");
}

fn expect_busy(scene: &Scene, (from, to): (&str, &str), path: &Path, operation: Operation) {
    let before = (look(scene, path), scene.run(&scene.top, &["for-each-ref"]));
    let outcome = scene.git.fast_forward(&scene.top, "main", from, to).unwrap();
    assert_eq!(outcome, FastForward::Busy { path: path.to_owned(), operation });
    assert_eq!((look(scene, path), scene.run(&scene.top, &["for-each-ref"])), before);
}

#[test]
fn an_operation_in_progress_keeps_its_branch() {
    type Begin = fn(&Scene);
    let operations: [(Begin, Operation); 10] = [
        (|scene| stops(scene, &scene.top, "rebase side"), Operation::Rebase),
        (|scene| stops(scene, &scene.top, "rebase --apply side"), Operation::Rebase),
        (|scene| _ = scene.run(&scene.top, &["bisect", "start"]), Operation::Bisect),
        (|scene| stops(scene, &scene.top, "merge side"), Operation::Merge),
        (|scene| _ = scene.run(&scene.top, &["merge", "--no-commit", "-s", "ours", "side"]), Operation::Merge),
        (|scene| stops(scene, &scene.top, "cherry-pick side~1 side"), Operation::CherryPick),
        (|scene| _ = scene.run(&scene.top, &["revert", "--no-commit", "HEAD"]), Operation::Revert),
        (
            |scene| {
                stops(scene, &scene.top, "cherry-pick side~1 side");
                scene.run(&scene.top, &["reset", "--quiet", "--hard"]);
                fs::create_dir(scene.top.join(".git/sequencer")).unwrap_or_default();
            },
            Operation::Sequence,
        ),
        (
            |scene| {
                scene.run(&scene.top, &["format-patch", "--quiet", "-1", "side", "-o", "../patches"]);
                stops(scene, &scene.top, "am ../patches/0001-work.patch");
            },
            Operation::ApplyPatches,
        ),
        (
            |scene| {
                stops(scene, &scene.top, "merge side");
                fs::remove_file(scene.top.join(".git/MERGE_HEAD")).unwrap();
            },
            Operation::Conflicts,
        ),
    ];
    for (begin, operation) in operations {
        let (scene, from, to) = scene();
        begin(&scene);
        expect_busy(&scene, (&from, &to), &scene.top, operation);
    }
}

#[test]
fn a_rebase_elsewhere_that_takes_the_branch_along_keeps_it() {
    let (scene, from, to) = scene();
    let top = scene.tree("top", &from);
    scene.save(&top, &[("file", "conflict\n")]);
    scene.run(&scene.top, &["checkout", "--quiet", "--detach"]);
    stops(&scene, &top, "rebase --update-refs side");
    assert!(
        fs::read_to_string(scene.top.join(".git/worktrees/top/rebase-merge/update-refs")).unwrap().contains("main")
    );
    expect_busy(&scene, (&from, &to), &top, Operation::Rebase);
}

#[test]
fn what_concerns_another_branch_is_no_reason() {
    let (scene, from, to) = scene();
    stops(&scene, &scene.beside.join("side"), "rebase main");
    write(&scene.top, ".git/worktrees/next/index.lock", "");
    assert_eq!(scene.git.fast_forward(&scene.top, "main", &from, &to).unwrap(), FastForward::Done);
    assert_eq!(scene.run(&scene.top, &["status", "--porcelain"]), "");
}

#[test]
fn the_locks_of_another_git_are_respected() {
    for lock in ["index.lock", "refs/heads/main.lock"] {
        let (scene, from, to) = scene();
        let file = scene.top.join(".git").join(lock);
        fs::write(&file, "").unwrap();
        expect_busy(&scene, (&from, &to), &scene.top, Operation::Locked { file: file.clone() });
        assert!(file.exists());
        fs::remove_file(&file).unwrap();
        assert_eq!(scene.git.fast_forward(&scene.top, "main", &from, &to).unwrap(), FastForward::Done);
    }
}

#[test]
fn two_checkouts_of_a_branch_keep_it() {
    let (scene, from, to) = scene();
    let second = scene.beside.join("second");
    scene.run(&scene.top, &["worktree", "add", "--quiet", "--force", second.to_str().unwrap(), "main"]);
    expect_busy(&scene, (&from, &to), &scene.top, Operation::SecondCheckout { path: second.clone() });
    fs::remove_dir_all(second).unwrap();
    assert_eq!(scene.git.fast_forward(&scene.top, "main", &from, &to).unwrap(), FastForward::Done);
}

#[test]
fn each_operation_completes_a_sentence() {
    let shown = [
        Operation::Rebase,
        Operation::Conflicts,
        Operation::Locked { file: "l".into() },
        Operation::SecondCheckout { path: "/b".into() },
    ]
    .map(|operation| format!("/a {operation}"));
    let wanted = [
        "/a is in the middle of a rebase",
        "/a has files with unresolved conflicts",
        "/a is used by another git process, which holds l",
        "/a and /b both have the branch checked out",
    ];
    assert_eq!(shown, wanted);
}

/// The user has begun something on a branch of a task, so that HEAD is detached, and git sets the branch at its end.
#[test]
fn a_branch_of_a_task_stays_while_the_user_rebases_or_bisects_it() {
    let operations: [(&str, &[&[&str]]); 2] = [
        ("rebase", &[&["-c", "sequence.editor=sed -i 1ibreak", "rebase", "--quiet", "-i", "HEAD~1"]]),
        ("bisect", &[&["bisect", "start"], &["bisect", "bad"], &["bisect", "good", "HEAD~2"]]),
    ];
    for (name, commands) in operations {
        let (scene, _) = Scene::new();
        let (git, top) = (&scene.git, &scene.top);
        let old = [("file", "2\n"), ("file", "3\n")].map(|file| scene.save(top, &[file]))[1].clone();
        let new = scene.save(top, &[("file", "4\n")]);
        assert_eq!(git.publish_branch(top, "t1-1", "shuntyard/t1", &old).unwrap().branch, "shuntyard/t1");
        scene.run(top, &["checkout", "--quiet", "shuntyard/t1"]);
        for command in commands {
            scene.run(top, command);
        }
        let published = git.publish_branch(top, "t1-1", "shuntyard/t1", &new).unwrap();
        assert_eq!(published.branch, "shuntyard/t1-2", "{name}");
        git.withdraw_branches(top, "t1-1", "main").unwrap();
        assert_eq!((scene.at("shuntyard/t1").as_ref(), scene.at("shuntyard/t1-2")), (Some(&old), None), "{name}");
    }
}
