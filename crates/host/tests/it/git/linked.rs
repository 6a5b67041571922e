//! Worktrees of earlier releases are taken over, whatever git dies in the middle of it.

use std::path::{Path, PathBuf};

use shuntyard_host::git::{
    Git, GitError, Hooks, LinkedWorktree, Objects, Order, Purpose, Source, Uncommitted, Workspace,
};

use super::deaths::{Random, killing_git};
use super::scene::{Scene, author, read, write};

const OWNER: &str = "t001-7";
const BRANCH: &str = "shuntyard/t001";

/// A worktree with two commits, one of which only its log knows, a staged file that was changed again, and new files.
fn old() -> (Scene, PathBuf, Vec<String>) {
    let (scene, _) = Scene::new();
    let tree = scene.beside.join("t001");
    scene.run(&scene.top, &["worktree", "add", "--quiet", "-b", BRANCH, tree.to_str().unwrap(), "main"]);
    let mut commits = vec![scene.save(&tree, &[("one", "1\n")])];
    commits.push(scene.save(&tree, &[("dropped", "x\n")]));
    scene.run(&tree, &["reset", "--quiet", "--hard", "HEAD~1"]);
    write(&tree, "staged", "staged\n");
    scene.run(&tree, &["add", "staged"]);
    write(&tree, "staged", "changed\n");
    write(&tree, "two", "2\n");
    scene.save(&scene.top, &[("newer", "n\n")]);
    (scene, tree, commits)
}

/// As the supervisor does it: whatever was done before, it may be repeated.
fn take(git: &Git, scene: &Scene, directory: &Path) -> Result<Workspace, GitError> {
    let linked = LinkedWorktree { repository: &scene.top, directory, owner: OWNER, branch: BRANCH };
    let Some(taken) = linked.take_over(git, Uncommitted::Work, "kept", &author())? else {
        return Ok(git.open_workspace(directory, OWNER)?.expect("a workspace"));
    };
    assert_eq!(taken.stays, None);
    if let Some(unused) = git.open_workspace(directory, OWNER)? {
        unused.remove()?;
    }
    let mut workspace = git.create_workspace(&Order {
        source: Source::Repository(&scene.top),
        destination: directory,
        owner: OWNER,
        branch: BRANCH,
        start: "main~1",
        hooks: Hooks::None,
        purpose: Purpose::Work,
        objects: Objects::Linked,
    })?;
    workspace.take_over(&linked)?;
    linked.forget(git)?;
    Ok(workspace)
}

#[test]
fn a_take_over_that_dies_at_any_call_is_repeated() {
    let stride = if shuntyard_testkit::rounds(1) > 1 { 1 } else { 19 };
    for then in ["kill -9 $$", "git \"$@\"; kill -9 $$"] {
        for at in (1 + Random::new().below(stride)..).step_by(stride) {
            let what = format!("{then} at call {at}");
            let (scene, tree, commits) = old();
            let program = killing_git(&scene, "*", at, then);
            let mortal = Git { program, ..scene.git.clone() };
            let first = take(&mortal, &scene, &tree);
            let over = read(&scene.beside, "count").lines().count() < at;
            // Some calls have another way round.
            assert!(first.is_ok() || !over, "{what}: {first:?}");
            let workspace = take(&scene.git, &scene, &tree).unwrap();
            let head = workspace.collect("collected", &author()).unwrap().head;
            let changed = scene.run(&tree, &["diff", "--name-status", "main~1", &head]);
            assert_eq!(changed, "A\tone\nA\tstaged\nA\ttwo", "{what}");
            assert_eq!(read(&tree, "staged"), "changed\n", "{what}");
            assert_eq!(scene.listed(&tree), None, "{what}: the worktree is gone");
            for commit in &commits {
                let places =
                    [&scene.top, &tree].map(|place| scene.git.has_commit(place, commit).unwrap().then_some(place));
                let holds = |place: &PathBuf| !scene.run(place, &["for-each-ref", "--contains", commit]).is_empty();
                assert!(places.into_iter().flatten().any(holds), "{what}: {commit} is lost");
            }
            let kept = scene.run(&scene.top, &["for-each-ref", "--format=%(objectname)", "refs/shuntyard/"]);
            let staged = |commit: &str| scene.run(&scene.top, &["ls-tree", "-r", commit]).contains("staged");
            assert!(kept.lines().any(staged), "{what}: {kept}");
            assert_eq!(scene.run(&scene.top, &["status", "--porcelain"]), "", "{what}");
            if over {
                break;
            }
        }
    }
}
