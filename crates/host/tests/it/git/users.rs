//! What a user does between the death of a step and its recovery is the user's.

use std::fs;
use std::process::Command;
use std::time::Duration;

use shuntyard_host::git::{FastForward, GitError, Recovery};

use super::mover::{die_before_the_branch_moves, ended, faulty_git, kill_alone, leftovers, start};
use super::scene::{Scene, read, write};

/// A step that died with all files written and the branch where it was.
fn dead() -> (Scene, String, String) {
    let (scene, _) = Scene::new();
    let from = scene.save(&scene.top, &[("unrelated", "u\n"), ("many", "old\n")]);
    let tree = scene.tree("work", &from);
    fs::remove_file(tree.join("other")).unwrap();
    let to = scene.save(&tree, &[("file", "changed\n"), ("dir/new", "new content\n"), ("many", "new\n")]);
    die_before_the_branch_moves(&scene, &scene.top, &from, &to);
    let lock = read(&scene.top, ".git/index.lock");
    assert!(lock.starts_with("shuntyard is updating this checkout\nprocess "), "{lock}");
    assert_eq!((scene.at("main").as_ref(), read(&scene.top, "file").as_str()), (Some(&from), "changed\n"));
    (scene, from, to)
}

fn recover(scene: &Scene) -> Vec<Recovery> {
    let recovered = scene.git.recover_checkouts(&scene.top).unwrap();
    assert_eq!(leftovers(&scene.top.join(".git")), Vec::<std::path::PathBuf>::new());
    recovered.checkouts.into_iter().map(|(_, recovery)| recovery).collect()
}

fn status(scene: &Scene) -> String {
    scene.run(&scene.top, &["status", "--porcelain", "--untracked-files=all"])
}

#[test]
fn a_file_that_a_user_edited_stays() {
    let (scene, from, to) = dead();
    write(&scene.top, "file", "by the user\n");
    write(&scene.top, "dir/new", "new content\nand more by the user\n");
    write(&scene.top, "other", "again, by the user\n");
    assert_eq!(recover(&scene), [Recovery::Undone]);
    assert_eq!(status(&scene), "M file\n M other\n?? dir/new");
    let found = ["file", "dir/new", "other", "many"].map(|name| read(&scene.top, name));
    let wanted = ["by the user\n", "new content\nand more by the user\n", "again, by the user\n", "old\n"];
    assert_eq!(found, wanted);
    let files = ["dir/new", "file", "other"].map(Into::into).to_vec();
    let outcome = scene.git.fast_forward(&scene.top, "main", &from, &to).unwrap();
    assert_eq!(outcome, FastForward::CheckedOutDirty { path: scene.top.clone(), files });
}

#[test]
fn half_a_file_is_removed_or_restored() {
    let (scene, from, to) = dead();
    write(&scene.top, "file", "chan");
    write(&scene.top, "dir/new", "new con");
    write(&scene.top, "many", "");
    assert_eq!(recover(&scene), [Recovery::Undone]);
    assert_eq!((status(&scene).as_str(), read(&scene.top, "file").as_str()), ("", "a\nb\nc\nd\ne\n"));
    assert!(!scene.top.join("dir").exists());
    assert_eq!(scene.git.fast_forward(&scene.top, "main", &from, &to).unwrap(), FastForward::Done);
    assert_eq!(status(&scene), "");
}

/// Git dies after it made a directory and before it wrote the first file in it.
#[test]
fn an_empty_directory_makes_room_for_the_old_file() {
    let (scene, _) = Scene::new();
    let from = scene.git.head(&scene.top).unwrap().unwrap();
    let tree = scene.tree("work", &from);
    fs::remove_file(tree.join("other")).unwrap();
    let to = scene.save(&tree, &[("other/deep/inside", "i\n"), ("new/deep/inside", "i\n")]);
    die_before_the_branch_moves(&scene, &scene.top, &from, &to);
    fs::remove_dir_all(scene.top.join("other/deep")).unwrap();
    fs::remove_dir_all(scene.top.join("new/deep")).unwrap();
    assert_eq!((recover(&scene), status(&scene)), (vec![Recovery::Undone], String::new()));
    assert_eq!((read(&scene.top, "other").as_str(), scene.top.join("new").exists()), ("o\n", false));
}

/// A directory that a user replaced by a link leads elsewhere; nothing there is touched.
#[test]
fn nothing_is_removed_through_a_link() {
    let (scene, _, _) = dead();
    let elsewhere = scene.beside.join("elsewhere");
    fs::rename(scene.top.join("dir"), &elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, scene.top.join("dir")).unwrap();
    assert_eq!(recover(&scene), [Recovery::Undone]);
    assert_eq!((read(&elsewhere, "new").as_str(), status(&scene).as_str()), ("new content\n", "?? dir"));
}

#[test]
fn a_lock_that_a_user_removed_is_not_needed() {
    let (scene, from, to) = dead();
    fs::remove_file(scene.top.join(".git/index.lock")).unwrap();
    write(&scene.top, "staged", "s\n");
    write(&scene.top, "many", "staged by the user\n");
    scene.run(&scene.top, &["add", "staged", "many"]);
    // The next step recovers by itself.
    let outcome = scene.git.fast_forward(&scene.top, "main", &from, &to).unwrap();
    assert_eq!(outcome, FastForward::CheckedOutDirty { path: scene.top.clone(), files: vec!["many".into()] });
    assert_eq!(status(&scene), "M  many\nA  staged");
    assert_eq!((recover(&scene), read(&scene.top, "many")), (vec![], "staged by the user\n".to_owned()));
}

#[test]
fn a_commit_that_a_user_made_since_stays() {
    let (scene, from, to) = dead();
    fs::remove_file(scene.top.join(".git/index.lock")).unwrap();
    write(&scene.top, "file", "committed by the user\n");
    scene.run(&scene.top, &["commit", "--quiet", "--all", "-m", "by the user"]);
    let commit = scene.at("main").unwrap();
    let tree = scene.run(&scene.top, &["ls-tree", "-r", "HEAD"]);
    assert_eq!(recover(&scene), [Recovery::LeftToUser]);
    assert_eq!((scene.at("main").as_ref(), status(&scene).as_str()), (Some(&commit), ""));
    assert_eq!(read(&scene.top, "file"), "committed by the user\n");
    assert_eq!(scene.run(&scene.top, &["ls-tree", "-r", "HEAD"]), tree);
    let outcome = scene.git.fast_forward(&scene.top, "main", &from, &to).unwrap();
    assert_eq!(outcome, FastForward::Moved { at: Some(commit) });
}

#[test]
fn a_hard_reset_by_a_user_is_completed() {
    let (scene, _, _) = dead();
    fs::remove_file(scene.top.join(".git/index.lock")).unwrap();
    scene.run(&scene.top, &["reset", "--quiet", "--hard"]);
    write(&scene.top, "dir/new", "new content\n");
    assert_eq!((recover(&scene), status(&scene)), (vec![Recovery::Undone], String::new()));
}

/// Git switches to a new branch without the lock of the index.
#[test]
fn a_branch_that_a_user_made_since_is_at_the_old_commit() {
    let (scene, from, to) = dead();
    scene.run(&scene.top, &["checkout", "-b", "mine"]);
    assert_eq!((recover(&scene), status(&scene)), (vec![Recovery::Undone], String::new()));
    assert_eq!(scene.git.current_branch(&scene.top).unwrap().as_deref(), Some("mine"));
    assert_eq!(scene.git.fast_forward(&scene.top, "main", &from, &to).unwrap(), FastForward::Done);
    assert_eq!((read(&scene.top, "many").as_str(), status(&scene).as_str()), ("old\n", ""));
}

/// Only HEAD and the branch move with that, so index and files are as they were before the step.
#[test]
fn a_soft_reset_by_a_user_keeps_its_meaning() {
    let (scene, from, _) = dead();
    scene.run(&scene.top, &["reset", "--soft", "HEAD~1"]);
    assert_eq!((recover(&scene), status(&scene).as_str()), (vec![Recovery::Undone], "A  many\nA  unrelated"));
    assert_ne!(scene.at("main"), Some(from));
}

#[test]
fn what_was_staged_and_committed_as_it_was_found_stays() {
    let (scene, _, to) = dead();
    fs::remove_file(scene.top.join(".git/index.lock")).unwrap();
    scene.run(&scene.top, &["commit", "--quiet", "-m", "what the index had"]);
    assert_eq!((recover(&scene), status(&scene)), (vec![Recovery::LeftToUser], String::new()));
    assert_eq!(scene.run(&scene.top, &["diff", "HEAD", &to]), "");
}

/// Nothing is recovered beside a living process, or beside a git that outlived its parent.
#[test]
fn the_living_are_waited_for() {
    for killed in [false, true] {
        let (scene, _) = Scene::new();
        let from = scene.save(&scene.top, &[("many", "old\n")]);
        let to = scene.save(&scene.tree("work", &from), &[("many", "new\n")]);
        let gate = scene.beside.join("gate");
        assert!(Command::new("mkfifo").arg(&gate).status().unwrap().success());
        let started = scene.beside.join("started");
        let wait = format!("touch '{}'; read line < '{}'", started.display(), gate.display());
        let program = faulty_git(&scene, "*\" read-tree \"*", &wait);
        let mover = start(&scene, &program, &[scene.top.to_str().unwrap(), &from, &to]);
        shuntyard_testkit::eventually("git is at work", Duration::from_secs(20), || started.exists());
        let mut hasty = scene.git.clone();
        hasty.idle_deadline = Duration::from_millis(500);
        if killed {
            kill_alone(&mover);
        }
        let refused = hasty.recover_checkouts(&scene.top);
        assert!(matches!(refused, Err(GitError::Lock { .. })), "{refused:?}");
        assert!(scene.top.join(".git/index.lock").exists());
        fs::write(&gate, "go\n").unwrap();
        assert_eq!(ended(mover).success(), !killed);
        assert_eq!(recover(&scene), if killed { vec![Recovery::Undone] } else { vec![] });
        assert_eq!((status(&scene).as_str(), scene.at("main")), ("", Some(if killed { from } else { to })));
    }
}

#[test]
fn the_lock_of_a_running_git_delays_the_recovery() {
    let (scene, from, to) = dead();
    let lock = scene.top.join(".git/index.lock");
    fs::write(&lock, "DIRC").unwrap();
    let recovered = scene.git.recover_checkouts(&scene.top).unwrap();
    assert_eq!(recovered.checkouts, [(scene.top.clone(), Recovery::Busy)]);
    let outcome = scene.git.fast_forward(&scene.top, "main", &from, &to).unwrap();
    assert!(matches!(outcome, FastForward::Busy { .. }), "{outcome:?}");
    assert_eq!(fs::read(&lock).unwrap(), b"DIRC");
    fs::remove_file(lock).unwrap();
    assert_eq!((recover(&scene), status(&scene)), (vec![Recovery::Undone], String::new()));
}
