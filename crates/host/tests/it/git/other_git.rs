//! The life of a task with the git that the system has, where that is another version than the usual one. Distributions
//! keep old versions for years, and some options are newer than those.

use std::fs;
use std::path::Path;

use shuntyard_host::git::{FastForward, Forecast, Git, Hooks, Objects, Order, Purpose, Pushed, Restarted, Source};

use super::scene::{Scene, author, read, write};

const SYSTEM: &str = "/usr/bin/git";
const OWNER: &str = "t001-7";
const BRANCH: &str = "shuntyard/t001";

#[test]
fn a_task_lives_with_the_git_of_the_system() {
    let system = Git { program: SYSTEM.into(), ..Git::default() };
    let usual = Git::default().version().unwrap();
    if !Path::new(SYSTEM).exists() || system.version().unwrap() == usual {
        return;
    }
    let (mut scene, first) = Scene::new();
    scene.git.program = SYSTEM.into();
    let (git, top) = (&scene.git, &scene.top);
    scene.run(top, &["clone", "--quiet", "--bare", ".", "../remote.git"]);
    scene.run(top, &["remote", "add", "up", "../remote.git"]);
    let destination = scene.beside.join("spaces/t001");
    fs::create_dir_all(destination.parent().unwrap()).unwrap();
    let order = Order {
        source: Source::Repository(top),
        destination: &destination,
        owner: OWNER,
        branch: BRANCH,
        start: &first,
        hooks: Hooks::None,
        purpose: Purpose::Work,
        objects: Objects::Linked,
    };
    let mut workspace = git.create_workspace(&order).unwrap();
    write(&destination, "left by setup", "l\n");
    workspace.ignore_leftovers(&first).unwrap();
    write(&destination, "work", "w\n");
    workspace.collect("work", &author()).unwrap();
    let newer = scene.save(top, &[("newer", "n\n")]);
    assert_eq!(workspace.restart_from(top, &newer, &author()).unwrap(), Restarted::Ready);
    let head = workspace.collect("work", &author()).unwrap().head;
    workspace.deliver_objects(top, &head, &head).unwrap();
    assert_eq!(git.publish_branch(top, OWNER, BRANCH, &head).unwrap().branch, BRANCH);
    assert_eq!(git.push_owned(top, "up", OWNER, BRANCH).unwrap(), Pushed::Done);
    assert!(matches!(git.merge_forecast(top, "main", &head).unwrap(), Forecast::Clean { .. }));
    write(top, "file", "uncommitted\n");
    assert_eq!(git.fast_forward(top, "main", &newer, &head).unwrap(), FastForward::Done);
    assert_eq!((read(top, "work").as_str(), read(top, "file").as_str()), ("w\n", "uncommitted\n"));
    assert!(!top.join("left by setup").exists());
    workspace.keep_everything(top).unwrap();
    workspace.remove().unwrap();
    git.withdraw_branches(top, OWNER, "main").unwrap();
    git.forget_workspace(top, OWNER).unwrap();
    assert_eq!((scene.at(BRANCH), scene.at("main")), (None, Some(head)));
}
