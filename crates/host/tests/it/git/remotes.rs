//! A bare repository as the remote, and two clones that meet there.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use shuntyard_host::git::{Fetched, Pushed};

use super::scene::Scene;

/// The scene's main tree and another clone, both of one bare repository with one commit on `main`.
fn two_clones() -> (Scene, PathBuf) {
    let (scene, _) = Scene::new();
    let (bare, other) = (scene.beside.join("bare.git"), scene.beside.join("other"));
    scene.run(&scene.beside, &["init", "--quiet", "--bare", bare.to_str().unwrap()]);
    scene.run(&scene.top, &["remote", "add", "origin", bare.to_str().unwrap()]);
    assert_eq!(scene.git.push(&scene.top, "origin", "main").unwrap(), Pushed::Done);
    scene.run(&scene.beside, &["clone", "--quiet", bare.to_str().unwrap(), other.to_str().unwrap()]);
    (scene, other)
}

#[test]
fn what_one_pushes_the_other_fetches() {
    let (scene, other) = two_clones();
    assert_eq!(scene.git.remotes(&scene.top).unwrap(), ["origin"]);
    let commit = scene.save(&scene.top, &[("file", "2\n")]);
    let push = || scene.git.push(&scene.top, "origin", "refs/heads/main:refs/heads/main").unwrap();
    assert_eq!((push(), push()), (Pushed::Done, Pushed::Done));
    let fetched = scene.git.fetch(&other, "origin", "main").unwrap();
    assert_eq!(fetched, Fetched::Done { commit: commit.clone() });
    assert_eq!(scene.git.commit_of(&other, "refs/remotes/origin/main").unwrap(), commit);
    assert_ne!(scene.git.head(&other).unwrap(), Some(commit), "nothing that is checked out moves");
    assert_eq!(scene.git.fetch(&other, "origin", "none").unwrap(), Fetched::Absent);
}

#[test]
fn who_comes_second_is_rejected_and_nothing_is_overwritten() {
    let (scene, other) = two_clones();
    let first = scene.save(&scene.top, &[("file", "first\n")]);
    scene.save(&other, &[("file", "second\n")]);
    assert_eq!(scene.git.push(&scene.top, "origin", "main").unwrap(), Pushed::Done);
    let second = scene.git.push(&other, "origin", "main").unwrap();
    assert!(matches!(&second, Pushed::Rejected(reason) if reason.contains("fetch first")), "{second:?}");
    assert_eq!(scene.git.fetch(&other, "origin", "main").unwrap(), Fetched::Done { commit: first.clone() });
    let behind = scene.git.push(&other, "origin", "main").unwrap();
    assert!(matches!(&behind, Pushed::Rejected(reason) if reason.contains("non-fast-forward")), "{behind:?}");
    assert_eq!(scene.run(&scene.beside.join("bare.git"), &["rev-parse", "main"]), first);
}

#[test]
fn a_hook_over_there_can_reject() {
    let (scene, _) = two_clones();
    let hook = scene.beside.join("bare.git/hooks/pre-receive");
    fs::create_dir_all(hook.parent().unwrap()).unwrap();
    fs::write(&hook, "#!/bin/sh\nexit 1\n").unwrap();
    assert!(Command::new("chmod").arg("+x").arg(&hook).status().unwrap().success());
    scene.save(&scene.top, &[("file", "2\n")]);
    let pushed = scene.git.push(&scene.top, "origin", "main").unwrap();
    assert!(matches!(&pushed, Pushed::Rejected(reason) if reason.contains("pre-receive")), "{pushed:?}");
}

#[test]
fn what_cannot_be_reached_is_told_from_what_is_wrong() {
    let (scene, _) = two_clones();
    let git = &scene.git;
    // Nothing listens there, and no name is looked up.
    scene.run(&scene.top, &["remote", "add", "away", "git://127.0.0.1:1/none.git"]);
    scene.run(&scene.top, &["remote", "add", "wrong", "/no/such/repository"]);
    let (pushed, fetched) = (git.push(&scene.top, "away", "main").unwrap(), git.fetch(&scene.top, "away", "main"));
    assert!(matches!(pushed, Pushed::Offline(_)), "{pushed:?}");
    assert!(matches!(fetched, Ok(Fetched::Offline(_))), "{fetched:?}");
    for (remote, refspec) in [("wrong", "main"), ("origin", "no-such"), ("--all", "main"), ("no-such", "main")] {
        let pushed = git.push(&scene.top, remote, refspec).unwrap();
        assert!(matches!(pushed, Pushed::Failed(_)), "{remote} {refspec}: {pushed:?}");
    }
    let fetched = git.fetch(&scene.top, "wrong", "main").unwrap();
    assert!(matches!(fetched, Fetched::Failed(_)), "{fetched:?}");
}

#[test]
fn a_remote_that_never_answers_counts_as_away() {
    let (scene, _) = two_clones();
    let mut hurried = scene.git.clone();
    hurried.network_deadline = Duration::from_millis(1500);
    hurried.variables.push(("GIT_SSH_COMMAND".into(), "sleep 300; true".into()));
    scene.run(&scene.top, &["remote", "add", "silent", "ssh://host.invalid/repository"]);
    let pushed = hurried.push(&scene.top, "silent", "main").unwrap();
    assert!(matches!(&pushed, Pushed::Offline(why) if why == "no progress for 1.5 s"), "{pushed:?}");
}

/// Git is killed at each moment at which it has locked refs.
#[test]
fn a_fetch_that_is_killed_leaves_no_lock_that_stops_the_user() {
    let (scene, other) = two_clones();
    let mut kills = 0;
    for number in 1.. {
        scene.save(&scene.top, &[("file", &format!("{number}\n"))]);
        assert_eq!(scene.git.push(&scene.top, "origin", "main").unwrap(), Pushed::Done);
        let count = scene.beside.join("count");
        let _ = fs::remove_file(&count);
        let (count, hook) = (count.display(), other.join(".git/hooks/reference-transaction"));
        let kill = format!("echo x >> '{count}'; test $(wc -l < '{count}') -ne {number} || kill -9 $PPID");
        shuntyard_testkit::script(&hook, &format!("#!/bin/sh\nif [ $1 = prepared ]; then {kill}; fi\n"));
        let fetched = scene.git.fetch(&other, "origin", "main");
        fs::remove_file(hook).unwrap();
        scene.run(&other, &["fetch", "--quiet", "origin"]);
        let again = scene.git.fetch(&other, "origin", "main").unwrap();
        assert!(matches!(again, Fetched::Done { .. }), "{number}: {again:?}");
        if matches!(fetched, Ok(Fetched::Done { .. })) {
            break;
        }
        kills += 1;
    }
    assert!(kills > 1, "{kills}");
}
