//! An attempt that destroys the repository of its workspace, and users who prune theirs: nothing that was collected is
//! lost.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use shuntyard_host::git::{Hooks, Objects, Order, Purpose, Restarted, Source, Workspace};

use super::scene::{Scene, author, read, write};

const OWNER: &str = "t001-7";

fn workspace(scene: &Scene, start: &str, objects: Objects) -> Workspace {
    made(scene, start, objects, &scene.beside.join("spaces/t001"))
}

fn made(scene: &Scene, start: &str, objects: Objects, destination: &Path) -> Workspace {
    fs::create_dir_all(destination.parent().unwrap()).unwrap();
    let order = Order {
        source: Source::Repository(&scene.top),
        destination,
        owner: OWNER,
        branch: "shuntyard/t001",
        start,
        hooks: Hooks::None,
        purpose: Purpose::Work,
        objects,
    };
    scene.git.create_workspace(&order).unwrap()
}

/// What an agent does in its workspace, in a shell.
pub fn act(scene: &Scene, directory: &Path, script: &str) {
    let variables = scene.git.variables.iter().map(|(name, value)| (name, value));
    let output = Command::new("sh").args(["-c", script]).current_dir(directory).envs(variables).output().unwrap();
    assert!(output.status.success(), "{script}: {}", String::from_utf8_lossy(&output.stderr));
}

pub fn is_reachable(scene: &Scene, repository: &Path, commit: &str) -> bool {
    scene.git.output(repository, &["cat-file", "-e", commit]).is_ok()
        && !scene.run(repository, &["for-each-ref", "--contains", commit]).is_empty()
}

/// One attempt that commits, leaves a branch and a stash, and is collected. Returns all of its commits.
fn first_attempt(scene: &Scene, workspace: &Workspace) -> Vec<String> {
    let top = &workspace.directory;
    let mut commits = vec![scene.save(top, &[("one", "1\n")])];
    write(top, "file", "stashed\n");
    scene.run(top, &["stash", "push", "--quiet"]);
    commits.push(scene.run(top, &["rev-parse", "stash"]));
    scene.run(top, &["checkout", "--quiet", "-b", "aside", "HEAD~1"]);
    commits.push(scene.save(top, &[("beside", "b\n")]));
    scene.run(top, &["checkout", "--quiet", "shuntyard/t001"]);
    write(top, "two", "2\n");
    commits.push(workspace.collect("first", &author()).unwrap().head);
    commits
}

#[test]
fn what_was_collected_survives_whatever_a_later_attempt_does_to_its_repository() {
    let prune = "git reflog expire --expire=now --all; git gc -q --prune=now";
    for (attempt, rebuilt) in [
        (format!("rm -rf .git/refs .git/packed-refs; mkdir -p .git/refs/heads; {prune}"), false),
        (format!("rm -rf .git/refs .git/packed-refs; {prune} || true"), true),
        ("rm -rf .git; git init -q; git add -A; git commit -qm again; git branch -q mine".to_owned(), true),
        ("rm -rf .git file one".to_owned(), true),
        ("rm -rf .git; ln -s ../../'main tree'/.git .git".to_owned(), true),
        ("rm -rf .git/objects/pack .git/objects/??".to_owned(), true),
    ] {
        let (scene, first) = Scene::new();
        let mut workspace = workspace(&scene, &first, Objects::Linked);
        let commits = first_attempt(&scene, &workspace);
        let users = scene.run(&scene.top, &["for-each-ref"]);
        assert_eq!(workspace.restart(&first, &author()).unwrap(), Restarted::Ready);
        write(&workspace.directory, "three", "3\n");
        act(&scene, &workspace.directory, &attempt);
        let collected = workspace.collect("second", &author()).unwrap();
        assert_eq!(collected.rebuilt, rebuilt, "{attempt}");
        let changed = scene.run(&workspace.directory, &["diff", "--name-status", &first, &collected.head]);
        assert_eq!(changed, "A\tone\nA\tthree\nA\ttwo", "{attempt}");
        for commit in &commits {
            assert!(is_reachable(&scene, &workspace.directory, commit), "{attempt}: {commit}");
        }
        scene.run(&workspace.directory, &["fsck", "--no-dangling"]);
        assert_eq!(scene.run(&scene.top, &["for-each-ref"]), users, "{attempt}");
        assert_eq!(workspace.restart(&first, &author()).unwrap(), Restarted::Ready, "{attempt}");
        assert_eq!(scene.run(&workspace.directory, &["rev-parse", "HEAD"]), collected.head, "{attempt}");
        workspace.keep_others(&scene.top, &collected.head).unwrap();
        workspace.keep_everything(&scene.top).unwrap();
        workspace.remove().unwrap();
        for commit in &commits {
            assert!(is_reachable(&scene, &scene.top, commit), "{attempt}: {commit}, after the workspace was removed");
        }
    }
}

#[test]
fn a_commit_of_a_repository_that_replaced_the_workspaces_own_is_kept() {
    let (scene, first) = Scene::new();
    let workspace = workspace(&scene, &first, Objects::Linked);
    act(&scene, &workspace.directory, "rm -rf .git; git init -q; echo x > x; git add -A; git commit -qm own");
    let own = scene.run(&workspace.directory, &["rev-parse", "HEAD"]);
    act(
        &scene,
        &workspace.directory,
        "git rm -q x; git commit -qm removed; git config core.fsmonitor 'touch ran; true'",
    );
    let collected = workspace.collect("work", &author()).unwrap();
    assert!(collected.rebuilt && is_reachable(&scene, &workspace.directory, &own));
    assert_eq!(collected.head, first, "what is checked out is as it was");
    assert_eq!(read(&workspace.directory, "ran"), "<entity not found>");
}

/// Not even its directory is there: it is made anew with the work.
#[test]
fn a_workspace_that_an_attempt_deleted_comes_back() {
    let (scene, first) = Scene::new();
    let workspace = workspace(&scene, &first, Objects::Linked);
    let commits = first_attempt(&scene, &workspace);
    fs::remove_dir_all(&workspace.directory).unwrap();
    scene.git.revive_workspace(&workspace.directory, "t001-8").unwrap();
    assert!(!workspace.directory.exists(), "another task's");
    scene.git.revive_workspace(&workspace.directory, OWNER).unwrap();
    let workspace = scene.git.open_workspace(&workspace.directory, OWNER).unwrap().unwrap();
    assert_eq!(scene.run(&workspace.directory, &["status", "--porcelain"]), "");
    assert_eq!(workspace.collect("nothing new", &author()).unwrap().head, commits[3]);
    for commit in &commits {
        assert!(is_reachable(&scene, &workspace.directory, commit), "{commit}");
    }
}

#[test]
fn a_workspace_that_is_set_aside_takes_its_archive_along() {
    for objects in [Objects::Linked, Objects::Borrowed] {
        let (scene, first) = Scene::new();
        let workspace = workspace(&scene, &first, objects);
        let commits = first_attempt(&scene, &workspace);
        fs::remove_dir_all(workspace.git_dir().join("refs")).unwrap();
        let directory = workspace.directory.clone();
        workspace.set_aside().unwrap();
        assert!(!directory.exists() && scene.git.open_workspace(&directory, OWNER).unwrap().is_none());
        // The task begins anew, is done and forgotten.
        let again = made(&scene, &first, objects, &directory);
        again.remove().unwrap();
        scene.git.forget_workspace(&scene.top, OWNER).unwrap();
        scene.run(&scene.top, &["commit", "--quiet", "--amend", "-m", "rewritten"]);
        act(&scene, &scene.top, "git reflog expire --expire=now --all; git gc -q --prune=now");
        let is_archive = |path: &PathBuf| path.join("archive").is_dir();
        let beside = fs::read_dir(scene.beside.join("spaces")).unwrap().map(|entry| entry.unwrap().path());
        let archive = beside.into_iter().find(is_archive).unwrap().join("archive");
        for commit in &commits {
            assert!(is_reachable(&scene, &archive, commit), "{objects:?}: {commit}");
        }
        scene.run(&archive, &["fsck", "--no-dangling"]);
    }
}

/// A workspace of an earlier release has no archive: it gets one with its next collection.
#[test]
fn an_archive_is_made_where_there_is_none() {
    let (scene, first) = Scene::new();
    let workspace = workspace(&scene, &first, Objects::Linked);
    fs::remove_dir_all(scene.beside.join("spaces/.t001.record/archive")).unwrap();
    act(&scene, &workspace.directory, "mv .git moved");
    assert!(!workspace.is_usable() && workspace.collect("none", &author()).is_err());
    act(&scene, &workspace.directory, "mv moved .git");
    let commits = first_attempt(&scene, &workspace);
    act(&scene, &workspace.directory, "rm -rf .git");
    assert!(workspace.is_usable() && workspace.collect("again", &author()).unwrap().rebuilt);
    assert!(commits.iter().all(|commit| is_reachable(&scene, &workspace.directory, commit)));
}

/// The user's repository is on another file system: its objects are borrowed, and the user deletes and prunes them.
#[test]
fn what_is_borrowed_stays_while_it_is_needed() {
    let (scene, first) = Scene::new();
    scene.run(&scene.top, &["checkout", "--quiet", "-b", "feature"]);
    let feature = scene.save(&scene.top, &[("feature", "f\n")]);
    scene.run(&scene.top, &["tag", "-a", "-m", "annotated", "v1"]);
    scene.run(&scene.top, &["checkout", "--quiet", "-B", "main", &first]);
    let base = scene.save(&scene.top, &[("removed later", "r\n")]);
    let elsewhere = other_file_system();
    let destination = elsewhere.as_ref().map_or(scene.beside.join("spaces/t001"), |place| place.0.join("t001"));
    let objects = if elsewhere.is_some() { Objects::Linked } else { Objects::Borrowed };
    let mut workspace = made(&scene, &base, objects, &destination);
    assert!(workspace.git_dir().join("objects/info/alternates").is_file(), "it borrows");
    let top = workspace.directory.clone();
    let first_work = scene.save(&top, &[("work", "w\n")]);
    scene.run(&top, &["checkout", "--quiet", "-b", "on-feature", "feature"]);
    let on_feature = scene.save(&top, &[("more", "m\n")]);
    scene.run(&top, &["checkout", "--quiet", "shuntyard/t001"]);
    workspace.collect("first", &author()).unwrap();
    // The user drops the branch, the tag and the newest commit of main.
    scene.run(&scene.top, &["reset", "--quiet", "--hard", &first]);
    scene.run(&scene.top, &["branch", "--quiet", "-D", "feature"]);
    scene.run(&scene.top, &["tag", "-d", "v1"]);
    let prune = "git reflog expire --expire=now --all; git gc -q --prune=now";
    act(&scene, &scene.top, prune);
    workspace.collect("second", &author()).unwrap();
    let newer = scene.save(&scene.top, &[("newer", "n\n")]);
    assert_eq!(workspace.restart_from(&scene.top, &newer, &author()).unwrap(), Restarted::Ready);
    act(&scene, &scene.top, prune);
    write(&top, "third", "3\n");
    let head = workspace.collect("third", &author()).unwrap().head;
    assert_eq!(scene.run(&top, &["show", "-s", "--format=%s", "v1"]).lines().next(), Some("tag v1"));
    for commit in [&first_work, &on_feature, &feature, &base, &head] {
        assert!(is_reachable(&scene, &top, commit), "{commit}");
    }
    scene.run(&top, &["fsck", "--no-dangling"]);
    let check = Order {
        source: Source::Workspace(&workspace),
        destination: &destination.with_file_name("t001~check"),
        owner: OWNER,
        branch: "shuntyard/check",
        start: &head,
        hooks: Hooks::None,
        purpose: Purpose::Check,
        objects: Objects::Linked,
    };
    let clean = scene.git.create_workspace(&check).unwrap();
    assert_eq!(read(&clean.directory, "third"), "3\n");
    clean.remove().unwrap();
    workspace.deliver_objects(&scene.top, &head, &head).unwrap();
    workspace.keep_others(&scene.top, &head).unwrap();
    workspace.remove().unwrap();
    scene.git.forget_workspace(&scene.top, OWNER).unwrap();
    let pins = scene.run(&scene.top, &["for-each-ref", "--format=%(refname)", "refs/shuntyard"]);
    assert!(!pins.contains("borrowed") && is_reachable(&scene, &scene.top, &on_feature), "{pins}");
}

/// A directory that is removed at the end, on another file system than the tests use; `None` where there is none.
fn other_file_system() -> Option<Elsewhere> {
    use std::os::unix::fs::MetadataExt;
    let device = |path: &Path| path.metadata().map(|found| found.dev()).ok();
    let used = device(shuntyard_testkit::Scratch::of_test().path())?;
    let build = std::env::current_exe().ok()?.parent()?.to_owned();
    let other = [PathBuf::from("/dev/shm"), build].into_iter().find(|place| device(place) != Some(used))?;
    let place = other.join(format!("shuntyard-test-{}", std::process::id()));
    fs::create_dir(&place).ok()?;
    Some(Elsewhere(place))
}

struct Elsewhere(PathBuf);

impl Drop for Elsewhere {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn commits_of_a_replaced_repository_that_only_its_log_or_its_head_knows_are_kept() {
    let (scene, first) = Scene::new();
    let workspace = workspace(&scene, &first, Objects::Linked);
    let top = &workspace.directory;
    fs::remove_dir_all(top.join(".git")).unwrap();
    scene.run(top, &["init", "--quiet"]);
    scene.save(top, &[("one", "1\n")]);
    scene.run(top, &["checkout", "--quiet", "--detach"]);
    let logged = scene.save(top, &[("logged", "l\n")]);
    scene.run(top, &["reset", "--quiet", "--hard", "HEAD~1"]);
    let detached = scene.save(top, &[("detached", "d\n")]);
    fs::remove_file(top.join(".git/logs/HEAD")).unwrap();
    fs::write(top.join(".git/logs/HEAD"), format!("{} {logged} a <b> 1 +0000\tx\n", "0".repeat(40))).unwrap();
    assert!(workspace.collect("left", &author()).unwrap().rebuilt);
    for commit in [logged, detached] {
        let refs = scene.run(top, &["for-each-ref", "--contains", &commit, "--format=%(refname)"]);
        assert!(refs.contains("refs/shuntyard/kept/"), "{commit}: {refs}");
    }
}

/// Neither a ref nor a log leads to them any more: only the objects are there, loose or packed by a collection.
#[test]
fn commits_that_nothing_leads_to_are_kept() {
    let git = "git -c user.name=a -c user.email=a@b.c";
    let commit = format!("echo $x > $x; git add -A; {git} commit -qm $x; git rev-parse HEAD >> ../tips");
    let script = format!(
        "echo 1 > file; {git} stash -q; git rev-parse stash >> ../tips; echo 2 > file; {git} stash -q; \
         git stash drop -q stash@{{1}}; x=expired; {commit}; git reset -q --hard HEAD~1; git reflog expire --expire=now --all; \
         git gc -q --prune=never; git config core.logAllRefUpdates false; rm -rf .git/logs; git checkout -q --detach; \
         x=unlogged; {commit}; git checkout -q shuntyard/t001; echo left > left"
    );
    for objects in [Objects::Linked, Objects::Borrowed] {
        let (scene, first) = Scene::new();
        let workspace = workspace(&scene, &first, objects);
        act(&scene, &workspace.directory, &script);
        let head = workspace.collect("left", &author()).unwrap().head;
        let tips = read(&scene.beside, "spaces/tips");
        assert_eq!(tips.lines().count(), 3, "{tips}");
        let is_kept = |tip: &str| is_reachable(&scene, &workspace.directory, tip);
        assert!(tips.lines().all(is_kept), "{objects:?}: {tips}");
        workspace.keep_others(&scene.top, &head).unwrap();
        assert!(tips.lines().all(|tip| is_reachable(&scene, &scene.top, tip)), "{objects:?}");
    }
}

/// A machine that loses its power leaves files without content: a branch, HEAD, the index, an object.
#[test]
fn what_a_repository_with_empty_files_has_left_is_kept() {
    for (file, rebuilt) in [("refs/heads/side", false), ("HEAD", true)] {
        let (scene, first) = Scene::new();
        let workspace = workspace(&scene, &first, Objects::Linked);
        let top = &workspace.directory;
        let on_branch = scene.save(top, &[("one", "1\n")]);
        scene.run(top, &["checkout", "--quiet", "-b", "side"]);
        let on_side = scene.save(top, &[("two", "2\n")]);
        let lost = scene.save(top, &[("three", "3\n")]);
        let object = format!("objects/{}/{}", &lost[..2], &lost[2..]);
        for file in [file, "refs/heads/side", "index", &object] {
            fs::remove_file(top.join(".git").join(file)).unwrap();
            fs::write(top.join(".git").join(file), "").unwrap();
        }
        let collected = workspace.collect("left", &author()).unwrap();
        assert_eq!(collected.rebuilt, rebuilt, "{file}");
        for commit in [&on_branch, &on_side] {
            assert!(is_reachable(&scene, top, commit), "{file}: {commit}");
        }
        assert_eq!(scene.run(top, &["show", &format!("{}:three", collected.head)]), "3", "{file}");
    }
}
