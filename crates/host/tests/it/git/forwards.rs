//! Moving a branch forward, with or without the working tree that is on it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use shuntyard_host::git::{Expected, FastForward};

use super::scene::{Scene, look, read, write};

/// `main` at the first commit, checked out in the main tree, and `work` one commit further: it changes `file`, deletes
/// `other` and adds `dir/new`.
fn ahead() -> (Scene, String, String) {
    let (scene, _) = Scene::new();
    let first = scene.save(&scene.top, &[(".gitignore", "*.log\n"), ("unrelated", "u\n")]);
    let tree = scene.tree("work", &first);
    fs::remove_file(tree.join("other")).unwrap();
    let second = scene.save(&tree, &[("file", "changed\n"), ("dir/new", "n\n")]);
    (scene, first, second)
}

fn forward(scene: &Scene, branch: &str, from: &str, to: &str) -> FastForward {
    scene.git.fast_forward(&scene.top, branch, from, to).unwrap()
}

fn has_followed(tree: &Path) -> bool {
    (read(tree, "file").as_str(), read(tree, "dir/new").as_str(), tree.join("other").exists())
        == ("changed\n", "n\n", false)
}

fn dirty(scene: &Scene, files: &[&str]) -> FastForward {
    FastForward::CheckedOutDirty { path: scene.top.clone(), files: files.iter().map(PathBuf::from).collect() }
}

#[test]
fn a_branch_that_nobody_is_on_just_moves() {
    let (scene, first, second) = ahead();
    scene.git.branch_create(&scene.top, "quiet", &first).unwrap();
    let before = look(&scene, &scene.top);
    assert_eq!(forward(&scene, "quiet", &first, &second), FastForward::Done);
    assert_eq!(scene.at("quiet").as_ref(), Some(&second));
    assert_eq!(forward(&scene, "quiet", &first, &second), FastForward::AlreadyThere);
    assert_eq!(forward(&scene, "quiet", &second, &first), FastForward::NotForward);
    assert_eq!(look(&scene, &scene.top), before);
    assert_eq!(forward(&scene, "none", &first, &second), FastForward::Moved { at: None });
}

#[test]
fn a_branch_that_moved_meanwhile_is_left_alone() {
    let (scene, first, second) = ahead();
    let other = scene.save(&scene.top, &[("unrelated", "moved\n")]);
    let before = look(&scene, &scene.top);
    assert_eq!(forward(&scene, "main", &first, &second), FastForward::Moved { at: Some(other.clone()) });
    assert_eq!(forward(&scene, "main", &other, &second), FastForward::NotForward);
    assert_eq!((look(&scene, &scene.top), scene.at("main")), (before, Some(other)));
    assert!(scene.git.fast_forward(&scene.top, "main", "no-such", &second).is_err());
}

#[test]
fn the_working_tree_follows_and_keeps_what_is_unrelated() {
    let (scene, first, second) = ahead();
    write(&scene.top, "unrelated", "unsaved");
    write(&scene.top, "new", "unsaved too");
    write(&scene.top, "staged", "x");
    scene.run(&scene.top, &["add", "staged"]);
    scene.run(&scene.top, &["config", "merge.autoStash", "true"]);
    assert_eq!(forward(&scene, "main", &first, &second), FastForward::Done);
    assert_eq!(scene.at("main").as_ref(), Some(&second));
    assert!(has_followed(&scene.top));
    let status = scene.run(&scene.top, &["status", "--porcelain", "--untracked-files=all"]);
    assert_eq!(status, "A  staged\n M unrelated\n?? new");
    assert_eq!(read(&scene.top, "unrelated"), "unsaved");
}

/// Each of these would lose something, so nothing at all happens.
#[test]
fn what_is_in_the_way_stops_it() {
    type Change = fn(&Scene);
    let changes: [(&[&str], Change); 8] = [
        (&["file"], |scene| write(&scene.top, "file", "unsaved")),
        (&["file"], |scene| {
            write(&scene.top, "file", "staged");
            scene.run(&scene.top, &["add", "file"]);
        }),
        (&["other"], |scene| write(&scene.top, "other", "unsaved")),
        (&["dir/new"], |scene| write(&scene.top, "dir/new", "unsaved")),
        (&["dir"], |scene| write(&scene.top, "dir", "a file where a directory is to be")),
        (&["dir/new/below"], |scene| write(&scene.top, "dir/new/below", "a directory where a file is to be")),
        // Ignored files are overwritten by git itself.
        (&["dir/new"], |scene| {
            write(&scene.top, ".git/info/exclude", "new\n");
            write(&scene.top, "dir/new", "ignored");
        }),
        (&["other"], |scene| {
            scene.run(&scene.top, &["mv", "other", "renamed"]);
            write(&scene.top, "renamed", "and changed\nwith more\n");
            write(&scene.top, "other", "anew");
        }),
    ];
    for (number, (files, change)) in changes.into_iter().enumerate() {
        let (scene, first, second) = ahead();
        change(&scene);
        let before = look(&scene, &scene.top);
        assert_eq!(forward(&scene, "main", &first, &second), dirty(&scene, files), "{number}");
        assert_eq!((look(&scene, &scene.top), scene.at("main")), (before, Some(first)), "{number}");
    }
}

/// Git does not show these changes, and refuses to overwrite them.
#[test]
fn a_change_that_git_was_told_to_overlook_stops_it() {
    type Change = fn(&Scene);
    let changes: [Change; 4] = [
        |scene| write(&scene.top, "file", "mine\n"),
        // As in the new commit.
        |scene| write(&scene.top, "file", "changed\n"),
        |scene| fs::set_permissions(scene.top.join("file"), fs::Permissions::from_mode(0o755)).unwrap(),
        |scene| {
            fs::remove_file(scene.top.join("file")).unwrap();
            std::os::unix::fs::symlink("unrelated", scene.top.join("file")).unwrap();
        },
    ];
    for mark in ["--assume-unchanged", "--skip-worktree"] {
        let (scene, first, second) = ahead();
        scene.run(&scene.top, &["update-index", mark, "file", "unrelated"]);
        write(&scene.top, "unrelated", "mine\n");
        for (number, change) in changes.into_iter().enumerate() {
            change(&scene);
            let before = look(&scene, &scene.top);
            assert_eq!(forward(&scene, "main", &first, &second), dirty(&scene, &["file"]), "{mark} {number}");
            assert_eq!((look(&scene, &scene.top), scene.at("main").as_ref()), (before, Some(&first)));
            fs::remove_file(scene.top.join("file")).unwrap();
            write(&scene.top, "file", "a\nb\nc\nd\ne\n");
        }
        assert_eq!(forward(&scene, "main", &first, &second), FastForward::Done, "{mark}");
        assert!(has_followed(&scene.top) && read(&scene.top, "unrelated") == "mine\n", "{mark}");
    }
}

/// Git itself removes a directory with all that is ignored in it when a file takes its place.
#[test]
fn an_ignored_file_in_a_directory_that_is_replaced_stops_it() {
    type Change = fn(&Path);
    let replaced: Change = |tree| {
        fs::remove_dir_all(tree.join("d")).unwrap();
        write(tree, "d", "a file\n");
    };
    let linked: Change = |tree| {
        fs::remove_dir_all(tree.join("d")).unwrap();
        std::os::unix::fs::symlink("file", tree.join("d")).unwrap();
    };
    let added: Change = |tree| write(tree, "new", "a file\n");
    // What the work does, what the user has that is ignored, and what is named.
    let cases: [(Change, &str, &str); 6] = [
        (replaced, "d/mine.log", "d/mine.log"),
        (linked, "d/mine.log", "d/mine.log"),
        (linked, "d/deep/mine.log", "d/deep/mine.log"),
        (replaced, "d/cache.log/one/two", "d/cache.log"),
        (added, "new/mine.log", "new"),
        (added, "new/deep/.git/HEAD.log", "new"),
    ];
    let (scene, _) = Scene::new();
    let base = [(".gitignore", "*.log\n"), ("d/tracked", "t\n"), ("d/deep/tracked", "t\n")];
    let first = scene.save(&scene.top, &base);
    for (number, (work, mine, named)) in cases.into_iter().enumerate() {
        let tree = scene.tree(&format!("work-{number}"), &first);
        work(&tree);
        let second = scene.save(&tree, &[("file", "changed\n")]);
        write(&scene.top, mine, "mine");
        let before = look(&scene, &scene.top);
        assert_eq!(forward(&scene, "main", &first, &second), dirty(&scene, &[named]), "{number}");
        assert_eq!((look(&scene, &scene.top), read(&scene.top, mine).as_str()), (before, "mine"), "{number}");
        scene.run(&scene.top, &["clean", "-ffdxq"]);
        // An empty directory holds nothing that could be lost.
        fs::create_dir_all(scene.top.join(named).with_extension("")).unwrap();
        assert_eq!(forward(&scene, "main", &first, &second), FastForward::Done, "{number}");
        scene.run(&scene.top, &["reset", "--quiet", "--hard", &first]);
    }
}

#[test]
fn a_linked_tree_that_is_on_the_branch_follows_too() {
    let (scene, first, second) = ahead();
    let linked = scene.tree("linked", &first);
    assert_eq!(forward(&scene, "linked", &first, &second), FastForward::Done);
    assert!(has_followed(&linked) && !has_followed(&scene.top));
    // The directory of a tree can be gone; then its branch is checked out nowhere.
    let gone = scene.tree("gone", &first);
    fs::remove_dir_all(&gone).unwrap();
    assert_eq!(forward(&scene, "gone", &first, &second), FastForward::Done);
    assert_eq!(scene.at("gone"), Some(second));
}

/// Git writes the files, then the index, then the branch; it can be killed after each of them.
#[test]
fn a_killed_step_is_taken_to_its_end() {
    type Kill = fn(&Scene, &str);
    let stages: [(&str, Kill); 4] = [
        ("some files", |scene, _| write(&scene.top, "dir/new", "n\n")),
        ("a deletion", |scene, _| fs::remove_file(scene.top.join("other")).unwrap()),
        ("all files", |scene, to| {
            scene.run(&scene.top, &["restore", "--source", to, "--worktree", "--", "file", "dir", "other"]);
        }),
        ("files and index", |scene, to| {
            scene.run(&scene.top, &["read-tree", "-m", "-u", "HEAD", to]);
        }),
    ];
    for (stage, kill) in stages {
        let (scene, first, second) = ahead();
        kill(&scene, &second);
        write(&scene.top, "unrelated", "unsaved");
        assert!(!scene.git.status_porcelain(&scene.top).unwrap().is_empty());
        assert_eq!(forward(&scene, "main", &first, &second), FastForward::Done, "{stage}");
        assert!(has_followed(&scene.top), "{stage}");
        let status = scene.run(&scene.top, &["status", "--porcelain", "--untracked-files=all"]);
        assert_eq!((status.as_str(), scene.at("main")), ("M unrelated", Some(second)), "{stage}");
    }
}

#[test]
fn of_two_at_once_one_moves_the_branch() {
    let (scene, first, second) = ahead();
    let third = scene.save(&scene.beside.join("work"), &[("file", "again\n")]);
    let outcomes = std::thread::scope(|scope| {
        let racers = [&second, &third].map(|to| {
            let (scene, first) = (&scene, &first);
            scope.spawn(move || forward(scene, "main", first, to))
        });
        racers.map(|racer| racer.join().unwrap())
    });
    let won = outcomes.iter().position(|outcome| *outcome == FastForward::Done).unwrap();
    let at = [&second, &third][won].clone();
    assert_eq!(outcomes[1 - won], FastForward::Moved { at: Some(at.clone()) });
    assert_eq!((scene.at("main"), scene.git.status_porcelain(&scene.top).unwrap().is_empty()), (Some(at), true));
}

#[test]
fn a_step_without_files_moves_a_branch_with_unsaved_work() {
    let (scene, first, _) = ahead();
    let tree = scene.git.tree_of(&scene.top, &first).unwrap();
    let empty = scene.run(&scene.top, &["commit-tree", "-p", &first, "-m", "nothing", &tree]);
    write(&scene.top, "file", "unsaved");
    assert_eq!(forward(&scene, "main", &first, &empty), FastForward::Done);
    assert_eq!(read(&scene.top, "file"), "unsaved");
    let back = scene.git.update_ref(&scene.top, "refs/heads/main", &first, Expected::At(&empty));
    assert!(back.is_ok());
}
