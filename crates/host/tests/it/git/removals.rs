//! A working tree goes only when nothing is lost by it.

use std::fs;
use std::path::Path;

use shuntyard_host::git::{KeepReason, Removal, Safety};

use super::scene::{Scene, write};

fn remove(scene: &Scene, path: &Path) -> Removal {
    scene.git.remove_if_safe(&scene.top, path).unwrap()
}

#[test]
fn a_tree_with_ignored_files_only_goes_and_its_branch_stays() {
    let (scene, first) = Scene::new();
    let tree = scene.tree("work", &first);
    let commit = scene.save(&tree, &[(".gitignore", "target/\n")]);
    write(&tree, "target/debug/big", "x");
    assert_eq!(remove(&scene, &tree), Removal::Removed);
    assert!(!tree.exists());
    assert_eq!((scene.listed(&tree), scene.at("work")), (None, Some(commit)));
    assert_eq!(remove(&scene, &tree), Removal::Removed, "a second time");
}

#[test]
fn each_kind_of_unsaved_file_keeps_the_tree() {
    let (scene, first) = Scene::new();
    // No wish of a user may hide a file.
    scene.run(&scene.top, &["config", "status.showUntrackedFiles", "no"]);
    type Change = fn(&Scene, &Path);
    let kinds: [(&str, Change); 4] = [
        ("file", |_, tree| write(tree, "file", "changed")),
        ("sub/new", |_, tree| write(tree, "sub/new", "x")),
        ("other", |_, tree| fs::remove_file(tree.join("other")).unwrap()),
        ("staged", |scene, tree| {
            write(tree, "staged", "x");
            scene.run(tree, &["add", "staged"]);
        }),
    ];
    for (number, (name, change)) in kinds.into_iter().enumerate() {
        let tree = scene.tree(&format!("t{number}"), &first);
        change(&scene, &tree);
        let safety = Safety { uncommitted: vec![name.into()], unreachable: Vec::new() };
        assert_eq!(remove(&scene, &tree), Removal::Kept(KeepReason::Unsaved(safety)), "{name}");
        assert!(tree.join(".git").exists(), "{name}");
    }
}

#[test]
fn commits_that_only_a_detached_tree_has_keep_it() {
    let (scene, first) = Scene::new();
    let tree = scene.tree("work", &first);
    scene.run(&tree, &["checkout", "--quiet", "--detach"]);
    let commits = [scene.save(&tree, &[("new", "1")]), scene.save(&tree, &[("new", "2")])];
    let safety = Safety { uncommitted: Vec::new(), unreachable: commits.iter().rev().cloned().collect() };
    assert_eq!(remove(&scene, &tree), Removal::Kept(KeepReason::Unsaved(safety.clone())));
    // The directory's end does not change what would be lost with git's books.
    let elsewhere = scene.beside.join("elsewhere");
    fs::rename(&tree, &elsewhere).unwrap();
    assert_eq!(remove(&scene, &tree), Removal::Kept(KeepReason::Unsaved(safety)));
    fs::rename(&elsewhere, &tree).unwrap();
    for keeper in ["refs/tags/kept", "refs/remotes/origin/kept", "refs/heads/kept"] {
        scene.run(&scene.top, &["update-ref", keeper, &commits[1]]);
        assert_eq!(remove(&scene, &tree), Removal::Removed, "{keeper}");
        scene.run(&scene.top, &["worktree", "add", "--quiet", "--detach", tree.to_str().unwrap(), &commits[1]]);
        scene.run(&scene.top, &["update-ref", "-d", keeper]);
    }
}

#[test]
fn what_is_not_ours_to_remove_stays() {
    let (scene, first) = Scene::new();
    assert_eq!(remove(&scene, &scene.top), Removal::Kept(KeepReason::Main));
    let foreign = scene.beside.join("foreign");
    write(&foreign, "x", "x");
    assert_eq!(remove(&scene, &foreign), Removal::Kept(KeepReason::Foreign));
    let tree = scene.tree("work", &first);
    assert_eq!(remove(&scene, &tree.join("..").join("foreign")), Removal::Kept(KeepReason::Foreign));
    scene.run(&scene.top, &["worktree", "lock", "--reason", "mine", tree.to_str().unwrap()]);
    assert_eq!(remove(&scene, &tree), Removal::Kept(KeepReason::Locked("mine".to_owned())));
    scene.run(&scene.top, &["worktree", "unlock", tree.to_str().unwrap()]);

    // Ignored, but a place of work all the same.
    scene.save(&tree, &[(".gitignore", "inner\n")]);
    let inner = tree.join("inner");
    scene.run(&scene.top, &["worktree", "add", "--quiet", "-b", "inner", inner.to_str().unwrap(), &first]);
    assert_eq!(remove(&scene, &tree), Removal::Kept(KeepReason::Holds(inner.clone())));
    assert_eq!(remove(&scene, &inner), Removal::Removed);
    assert_eq!(remove(&scene, &tree), Removal::Removed);
    assert!(foreign.join("x").exists());
}

/// Inside another repository, a tree without its link looks like a clean part of that one.
#[test]
fn a_tree_without_its_link_stays() {
    let (scene, first) = Scene::new();
    scene.save(&scene.top, &[(".gitignore", "trees/\n")]);
    let tree = scene.top.join("trees/work");
    scene.run(&scene.top, &["worktree", "add", "--quiet", "-b", "work", tree.to_str().unwrap(), &first]);
    write(&tree, "new", "precious");
    fs::remove_file(tree.join(".git")).unwrap();
    assert_eq!(remove(&scene, &tree), Removal::Kept(KeepReason::Damaged));
    assert!(tree.join("new").exists());
}

#[test]
fn a_tree_whose_directory_is_gone_is_forgotten() {
    let (scene, first) = Scene::new();
    let tree = scene.tree("work", &first);
    fs::remove_dir_all(&tree).unwrap();
    assert_eq!(remove(&scene, &tree), Removal::Removed);
    assert_eq!((scene.listed(&tree), scene.at("work")), (None, Some(first)));
}

#[test]
fn a_tree_with_a_submodule_stays() {
    let (scene, _) = Scene::new();
    let (library, _) = Scene::new();
    let allow = ["-c", "protocol.file.allow=always", "submodule", "--quiet"];
    let add = [allow.as_slice(), &["add", library.top.to_str().unwrap(), "library"]].concat();
    scene.run(&scene.top, &add);
    let with_library = scene.save(&scene.top, &[]);
    let tree = scene.tree("work", &with_library);
    scene.run(&tree, &[allow.as_slice(), &["update", "--init"]].concat());
    let removal = remove(&scene, &tree);
    assert!(matches!(&removal, Removal::Kept(KeepReason::Refused(why)) if why.contains("submodule")), "{removal:?}");
    assert!(tree.join("library/file").exists());
}
