//! Adding, listing and forgetting working trees, several at once too.

use switchyard_host::git::{GitError, Worktree};

use crate::scene::{Scene, read};

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

    scene.git.worktree_prune(&scene.top).unwrap();
    assert_eq!(scene.listed(&gone), None);
    assert_eq!(scene.at("gone"), Some(first));
}

#[test]
fn a_list_before_the_first_commit() {
    let scene = Scene::empty();
    let main = Worktree { path: scene.top.clone(), branch: Some("main".to_owned()), ..Worktree::default() };
    assert_eq!(scene.git.worktree_list(&scene.top).unwrap(), [main]);
}

#[test]
fn an_existing_branch_is_checked_out_in_one_place() {
    let (scene, first) = Scene::new();
    let add = |name: &str, branch: &str| {
        scene.git.worktree_add_existing(&scene.top, &scene.beside.join(name), branch).map(|()| scene.beside.join(name))
    };
    scene.git.branch_create(&scene.top, "work/one", &first).unwrap();
    scene.save(&scene.top, &[("file", "later\n")]);
    let tree = add("one", "work/one").unwrap();
    assert_eq!(read(&tree, "file"), "a\nb\nc\nd\ne\n");
    assert_eq!(scene.git.current_branch(&tree).unwrap().as_deref(), Some("work/one"));
    for (name, branch) in [("two", "work/one"), ("three", "main"), ("four", "no-such"), ("five", first.as_str())] {
        assert!(matches!(add(name, branch), Err(GitError::Failed { .. })), "{branch}");
        assert!(!scene.beside.join(name).exists(), "{branch}");
    }
    assert!(add("one", "work/one").is_err(), "a place that is taken");
}

/// A branch of a remote with that name would make git create one here.
#[test]
fn a_branch_of_a_remote_is_no_existing_branch() {
    let (scene, first) = Scene::new();
    scene.run(&scene.top, &["remote", "add", "origin", "/nowhere"]);
    scene.run(&scene.top, &["update-ref", "refs/remotes/origin/theirs", &first]);
    assert!(scene.git.worktree_add_existing(&scene.top, &scene.beside.join("t"), "theirs").is_err());
    assert_eq!(scene.at("theirs"), None);
}

#[test]
fn many_come_and_go_at_once() {
    let (scene, first) = Scene::new();
    std::thread::scope(|scope| {
        for number in 0..6 {
            let (scene, first) = (&scene, &first);
            scope.spawn(move || {
                let (name, path) = (format!("t{number}"), scene.beside.join(format!("t{number}")));
                for round in 0..3 {
                    let branch = format!("{name}-{round}");
                    scene.git.worktree_add(&scene.top, &path, &branch, first).unwrap();
                    let removed = scene.git.remove_if_safe(&scene.top, &path).unwrap();
                    assert_eq!(removed, switchyard_host::git::Removal::Removed);
                }
            });
        }
    });
    assert_eq!(scene.git.worktree_list(&scene.top).unwrap().len(), 1);
}

#[test]
fn a_held_lock_is_waited_for_and_not_for_ever() {
    let (scene, first) = Scene::new();
    let lock = std::fs::File::create(scene.top.join(".git/switchyard.lock")).unwrap();
    lock.lock().unwrap();
    let mut hurried = scene.git.clone();
    hurried.deadline = std::time::Duration::from_millis(1500);
    let path = scene.beside.join("late");
    assert!(matches!(hurried.worktree_add(&scene.top, &path, "late", &first), Err(GitError::Lock { .. })));
    assert!(!path.exists());
    drop(lock);
    hurried.deadline = std::time::Duration::from_secs(60);
    hurried.worktree_add(&scene.top, &path, "late", &first).unwrap();
}
