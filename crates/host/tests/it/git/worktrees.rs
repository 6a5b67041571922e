//! Listing and removing working trees, several at once too.

use shuntyard_host::git::{GitError, Removal, Worktree};

use super::scene::Scene;

#[test]
fn working_trees_are_listed_with_all_that_git_knows() {
    let (scene, first) = Scene::new();
    let on_branch = scene.tree("work", &first);
    let detached = scene.beside.join("with\nline");
    scene.run(&scene.top, &["worktree", "add", "--quiet", "--detach", detached.to_str().unwrap()]);
    let gone = scene.tree("gone", &first);
    std::fs::remove_dir_all(&gone).unwrap();
    scene.run(&scene.top, &["worktree", "lock", "--reason", "in use", on_branch.to_str().unwrap()]);
    let tree = |path: &std::path::Path, branch: Option<&str>| Worktree {
        path: path.to_owned(),
        head: Some(first.clone()),
        branch: branch.map(str::to_owned),
        ..Worktree::default()
    };
    let mut listed = scene.git.worktree_list(&on_branch).unwrap();
    assert_eq!(listed.remove(0), tree(&scene.top, Some("main")));
    listed.sort_by(|one, other| one.path.cmp(&other.path));
    assert!(listed[0].prunable.take().is_some_and(|reason| reason.contains("non-existent")), "{listed:?}");
    let locked = Worktree { locked: Some("in use".to_owned()), ..tree(&on_branch, Some("work")) };
    assert_eq!(listed, [tree(&gone, Some("gone")), tree(&detached, None), locked]);
}

#[test]
fn a_list_before_the_first_commit() {
    let scene = Scene::empty();
    let main = Worktree { path: scene.top.clone(), branch: Some("main".to_owned()), ..Worktree::default() };
    assert_eq!(scene.git.worktree_list(&scene.top).unwrap(), [main]);
}

#[test]
fn many_go_at_once() {
    let (scene, first) = Scene::new();
    let trees: Vec<_> = (0..6).map(|number| scene.tree(&format!("t{number}"), &first)).collect();
    std::thread::scope(|scope| {
        for tree in &trees {
            let scene = &scene;
            scope.spawn(move || assert_eq!(scene.git.remove_if_safe(&scene.top, tree).unwrap(), Removal::Removed));
        }
    });
    assert_eq!(scene.git.worktree_list(&scene.top).unwrap().len(), 1);
}

#[test]
fn a_held_lock_is_waited_for_and_not_for_ever() {
    let (scene, first) = Scene::new();
    let tree = scene.tree("late", &first);
    let lock = std::fs::File::create(scene.top.join(".git/shuntyard.lock")).unwrap();
    lock.lock().unwrap();
    let mut hurried = scene.git.clone();
    hurried.idle_deadline = std::time::Duration::from_millis(1500);
    assert!(matches!(hurried.remove_if_safe(&scene.top, &tree), Err(GitError::Lock { .. })));
    assert!(tree.exists());
    drop(lock);
    hurried.idle_deadline = std::time::Duration::from_secs(60);
    assert_eq!(hurried.remove_if_safe(&scene.top, &tree).unwrap(), Removal::Removed);
}
