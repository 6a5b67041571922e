//! Forecasts of merges, and rebases that either come to their end or never happened.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use shuntyard_host::ProcessIdentity;
use shuntyard_host::git::{Forecast, GitError, Rebased};
use shuntyard_host::tree::kill_tree;

use super::scene::{Scene, author, look, read, write};

/// A working tree and `main` that both went on; whether they conflict in `file` depends on `theirs`.
fn parted(theirs: &str) -> (Scene, PathBuf) {
    let (scene, first) = Scene::new();
    let tree = scene.tree("work", &first);
    scene.save(&tree, &[("mine", "1\n")]);
    scene.save(&tree, &[("file", "A\nb\nc\nd\ne\n")]);
    scene.save(&scene.top, &[("file", theirs), ("added by main", "x\n")]);
    (scene, tree)
}

const APART: &str = "a\nb\nc\nd\nE\n";
const AGAINST: &str = "not a\nb\nc\nd\ne\n";

#[test]
fn a_forecast_names_the_tree_or_the_conflicts_and_moves_nothing() {
    let (scene, tree) = parted(APART);
    let before = (look(&scene, &tree), look(&scene, &scene.top), scene.at("main"));
    let Forecast::Clean { tree: merged } = scene.git.merge_forecast(&scene.top, "main", "work").unwrap() else {
        panic!("they do not meet");
    };
    assert_eq!(scene.run(&scene.top, &["show", &format!("{merged}:file")]), "A\nb\nc\nd\nE");
    assert_eq!((look(&scene, &tree), look(&scene, &scene.top), scene.at("main")), before);
    let (scene, _) = parted(AGAINST);
    let Forecast::Conflict { tree, paths } = scene.git.merge_forecast(&scene.top, "main", "work").unwrap() else {
        panic!("they meet");
    };
    assert_eq!(paths, ["file"].map(std::path::PathBuf::from));
    assert!(scene.run(&scene.top, &["show", &format!("{tree}:file")]).contains("<<<<<<<"));
    for name in ["no-such", "--stdin"] {
        assert!(matches!(scene.git.merge_forecast(&scene.top, "main", name), Err(GitError::Failed { .. })), "{name}");
    }
}

#[test]
fn work_is_put_on_top_and_keeps_its_author() {
    let (scene, tree) = parted(APART);
    // None of these settings holds for an unattended rebase.
    for (name, value) in [("rebase.updateRefs", "true"), ("commit.gpgSign", "true"), ("rebase.autoStash", "true")] {
        scene.run(&scene.top, &["config", name, value]);
    }
    scene.git.branch_create(&scene.top, "bystander", "work~1").unwrap();
    let bystander = scene.at("bystander");
    let ran = scene.beside.join("ran");
    for hook in ["pre-rebase", "post-checkout", "post-rewrite", "post-commit"] {
        let path = scene.top.join(".git/hooks").join(hook);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, format!("#!/bin/sh\ntouch '{}'\nexit 1\n", ran.display())).unwrap();
        assert!(Command::new("chmod").arg("+x").arg(&path).status().unwrap().success());
    }
    write(&tree, "untracked", "stays");
    let Rebased::Done { head } = scene.git.rebase_from(&tree, "main", "main", &author()).unwrap() else {
        panic!("it is clean")
    };
    assert_eq!((scene.at("work").as_ref(), scene.git.head(&tree).unwrap().as_ref()), (Some(&head), Some(&head)));
    assert_eq!(scene.git.commits_between(&tree, "main", "work").unwrap().len(), 2);
    assert_eq!((read(&tree, "file"), read(&tree, "untracked")), ("A\nb\nc\nd\nE\n".into(), "stays".into()));
    let who = scene.run(&tree, &["log", "-1", "--format=%an %ce"]);
    assert_eq!(who, "A Tester tester@example.invalid");
    assert_eq!((scene.at("bystander"), ran.exists()), (bystander, false));
    assert_eq!(scene.git.rebase_from(&tree, "main", "main", &author()).unwrap(), Rebased::UpToDate);
}

/// What is only in a merge commit is part of the work.
#[test]
fn the_content_of_a_merge_commit_is_put_on_top() {
    for theirs in [APART, AGAINST] {
        let (scene, tree) = parted(theirs);
        scene.run(&tree, &["checkout", "--quiet", "-b", "side", "HEAD~1"]);
        scene.save(&tree, &[("side", "s\n"), ("mine", "side\n")]);
        scene.run(&tree, &["checkout", "--quiet", "work"]);
        scene.save(&tree, &[("mine", "work\n")]);
        assert!(scene.git.output(&tree, &["merge", "--quiet", "side"]).is_err(), "they conflict");
        write(&tree, "mine", "both\n");
        write(&tree, "only in the merge", "m\n");
        scene.run(&tree, &["add", "--all"]);
        scene.run(&tree, &["commit", "--quiet", "--no-edit"]);
        let before = look(&scene, &tree);
        let base = scene.run(&tree, &["merge-base", "main", "work"]);
        match scene.git.rebase_from(&tree, &base, "main", &author()).unwrap() {
            Rebased::Done { head } => {
                assert_eq!((theirs, scene.at("work")), (APART, Some(head.clone())));
                let files = scene.run(&tree, &["ls-tree", "--name-only", &head]);
                assert_eq!(files, "added by main\nfile\nmine\nonly in the merge\nother\nside");
                assert_eq!((read(&tree, "mine"), read(&tree, "file")), ("both\n".into(), "A\nb\nc\nd\nE\n".into()));
                assert_eq!(scene.git.commits_between(&tree, "main", "work").unwrap().len(), 1);
                assert_eq!(scene.run(&tree, &["log", "-1", "--format=%an"]), "Plain Hand", "as the merge commit");
                assert_eq!(scene.git.rebase_from(&tree, "main", "main", &author()).unwrap(), Rebased::UpToDate);
            }
            other => {
                assert_eq!((theirs, other), (AGAINST, Rebased::Conflict { paths: vec!["file".into()] }));
                assert_eq!(look(&scene, &tree), before);
            }
        }
    }
}

/// What was merged of the base is not part of the change, and does not conflict with what the base became.
#[test]
fn work_that_merged_the_base_is_put_on_top_of_the_newer_one() {
    let (scene, tree) = parted(APART);
    scene.run(&tree, &["merge", "--quiet", "--no-edit", "main"]);
    scene.save(&scene.top, &[("file", "a\nb\nc\nd\nnewer\n"), ("added by main", "newer\n")]);
    let base = scene.run(&tree, &["rev-parse", "work~3"]);
    assert!(matches!(scene.git.rebase_from(&tree, &base, "main", &author()).unwrap(), Rebased::Done { .. }));
    assert_eq!((read(&tree, "file"), read(&tree, "mine")), ("A\nb\nc\nd\nnewer\n".into(), "1\n".into()));
}

#[test]
fn a_conflict_leaves_all_as_before() {
    let (scene, tree) = parted(AGAINST);
    write(&tree, "untracked", "stays");
    let before = look(&scene, &tree);
    let conflict = Rebased::Conflict { paths: vec!["file".into()] };
    for _ in 0..2 {
        assert_eq!(scene.git.rebase_from(&tree, "main", "main", &author()).unwrap(), conflict);
        assert_eq!(look(&scene, &tree), before);
        assert_eq!(read(&tree, "untracked"), "stays");
    }
}

#[test]
fn unsaved_changes_are_not_touched() {
    let (scene, tree) = parted(APART);
    write(&tree, "mine", "unsaved");
    let before = look(&scene, &tree);
    let dirty = Rebased::Dirty { paths: vec!["mine".into()] };
    assert_eq!(scene.git.rebase_from(&tree, "main", "main", &author()).unwrap(), dirty);
    assert_eq!((look(&scene, &tree), read(&tree, "mine")), (before, "unsaved".to_owned()));
    // One that is in the way of a new file is an error, and stays.
    write(&tree, "mine", "1\n");
    write(&tree, "added by main", "precious");
    assert!(matches!(scene.git.rebase_from(&tree, "main", "main", &author()), Err(GitError::Failed { .. })));
    assert_eq!(read(&tree, "added by main"), "precious");
    assert!(!scene.top.join(".git/worktrees/work/rebase-merge").exists());
    assert!(scene.git.rebase_from(&tree, "no-such", "no-such", &author()).is_err());
}

#[test]
fn a_rebase_that_somebody_left_is_put_back_first() {
    let (scene, tree) = parted(AGAINST);
    let before = look(&scene, &tree);
    let stopped = Command::new("git")
        .args(["-C", tree.to_str().unwrap(), "rebase", "main"])
        .envs(scene.git.variables.iter().map(|(name, value)| (name, value)))
        .output()
        .unwrap();
    assert!(!stopped.status.success() && look(&scene, &tree) != before);
    // As a killed checkout of `main` would have left it: on the disk, and unknown to git.
    scene.run(&tree, &["rm", "--quiet", "--cached", "added by main"]);
    let conflict = Rebased::Conflict { paths: vec!["file".into()] };
    assert_eq!(scene.git.rebase_from(&tree, "main", "main", &author()).unwrap(), conflict);
    assert_eq!(look(&scene, &tree), before);
}

#[test]
fn a_rebase_that_died_before_its_first_note_is_forgotten() {
    let (scene, tree) = parted(APART);
    let state = scene.top.join(".git/worktrees/work/rebase-merge");
    fs::create_dir(&state).unwrap();
    fs::write(state.join("head-name"), "refs/heads/work\n").unwrap();
    assert!(matches!(scene.git.rebase_from(&tree, "main", "main", &author()).unwrap(), Rebased::Done { .. }));
    assert!(!state.exists());
}

/// A merge driver that never ends holds the rebase where it is.
fn with_a_stuck_driver(scene: &Scene) -> PathBuf {
    let (up, attributes) = (scene.beside.join("up"), scene.top.join(".git/info/attributes"));
    fs::create_dir_all(attributes.parent().unwrap()).unwrap();
    fs::write(attributes, "file merge=stuck\n").unwrap();
    let driver = format!("echo > '{}'; exec sleep 300", up.display());
    scene.run(&scene.top, &["config", "merge.stuck.driver", &driver]);
    up
}

fn until(what: &str, mut ask: impl FnMut() -> bool) {
    let started = Instant::now();
    while !ask() {
        assert!(started.elapsed() < Duration::from_secs(80), "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn unstick(scene: &Scene) {
    fs::remove_file(scene.top.join(".git/info/attributes")).unwrap();
}

#[test]
fn a_rebase_that_takes_too_long_never_happened() {
    let (scene, tree) = parted(APART);
    with_a_stuck_driver(&scene);
    let before = look(&scene, &tree);
    let mut hurried = scene.git.clone();
    hurried.idle_deadline = Duration::from_secs(3);
    assert!(matches!(hurried.rebase_from(&tree, "main", "main", &author()), Err(GitError::Deadline { .. })));
    assert_eq!(look(&scene, &tree), before);
    unstick(&scene);
    assert!(matches!(scene.git.rebase_from(&tree, "main", "main", &author()).unwrap(), Rebased::Done { .. }));
}

#[test]
fn a_killed_rebase_is_repaired() {
    let (scene, tree) = parted(APART);
    let up = with_a_stuck_driver(&scene);
    write(&tree, ".merge_file_of_mine", "no version of any file");
    let mut killed = Command::new("git")
        .args(["-C", tree.to_str().unwrap(), "rebase", "--quiet", "main"])
        .envs(scene.git.variables.iter().map(|(name, value)| (name, value)))
        .spawn()
        .unwrap();
    until("the merge", || up.exists());
    kill_tree(&ProcessIdentity::of(killed.id()).unwrap(), Duration::ZERO);
    killed.wait().unwrap();
    assert_eq!(scene.git.current_branch(&tree).unwrap(), None, "it was in the middle");
    unstick(&scene);
    let lock = scene.top.join(".git/worktrees/work/index.lock");
    if !lock.exists() {
        fs::write(&lock, "").unwrap();
    }
    assert!(
        scene.git.rebase_from(&tree, "main", "main", &author()).is_err(),
        "a lock may be in use for as long as a call lasts"
    );
    age(&lock);
    assert!(matches!(scene.git.rebase_from(&tree, "main", "main", &author()).unwrap(), Rebased::Done { .. }));
    assert_eq!((read(&tree, "file"), lock.exists()), ("A\nb\nc\nd\nE\n".to_owned(), false));
    assert_eq!(look(&scene, &tree).2, "?? .merge_file_of_mine", "nothing of the dead one is left");
    assert_eq!(scene.git.current_branch(&tree).unwrap().as_deref(), Some("work"));
}

fn age(lock: &Path) {
    let long_ago = std::time::SystemTime::now() - Duration::from_secs(3600);
    fs::File::options().write(true).open(lock).unwrap().set_modified(long_ago).unwrap();
}
