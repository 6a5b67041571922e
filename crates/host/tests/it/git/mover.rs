//! Another process that moves a branch, so that it can be killed: this executable, started once more.

use std::env;
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};

use shuntyard_host::git::Git;
use shuntyard_host::{ProcessIdentity, Signal};

use super::scene::Scene;
use super::workspace_deaths;

/// Program, repository, from, to; without the commits the process recovers. With a step, a workspace takes that.
const CHILD: &str = "SHUNTYARD_TEST_FORWARD";

/// Does nothing unless it was started by [`start`].
#[test]
fn the_other_process() {
    let Ok(words) = env::var(CHILD) else { return };
    let words: Vec<&str> = words.split('\n').collect();
    let git = Git { program: words[0].into(), ..Git::default() };
    match words[1..] {
        [top, from, to] => drop(git.fast_forward(Path::new(top), "main", from, to).unwrap()),
        [step, beside] => workspace_deaths::perform(&git, step, Path::new(beside)).unwrap(),
        [top] => drop(git.recover_checkouts(Path::new(top)).unwrap()),
        _ => panic!("{words:?}"),
    }
}

/// Starts it, in a process group of its own with the git that it starts.
pub fn start(scene: &Scene, program: &Path, words: &[&str]) -> Child {
    start_with(scene, program, words, &[])
}

/// The same, with more variables.
pub fn start_with(scene: &Scene, program: &Path, words: &[&str], more: &[(&str, &str)]) -> Child {
    let variables = scene.git.variables.iter().map(|(name, value)| (name, value));
    let words: Vec<&str> = [program.to_str().unwrap()].into_iter().chain(words.iter().copied()).collect();
    Command::new(env::current_exe().unwrap())
        .args(["--exact", "git::mover::the_other_process"])
        .envs(variables)
        .env(CHILD, words.join("\n"))
        .envs(more.iter().copied())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
        .unwrap()
}

pub fn ended(mut child: Child) -> ExitStatus {
    child.wait().unwrap()
}

pub fn kill_group(leader: &Child) {
    let group = rustix::process::Pid::from_raw(i32::try_from(leader.id()).unwrap()).unwrap();
    let _ = rustix::process::kill_process_group(group, Signal::KILL);
}

pub fn kill_alone(leader: &Child) {
    ProcessIdentity::of(leader.id()).map(|identity| identity.signal(Signal::KILL));
}

/// A git that does this instead of a call with one of these words, and for all others is the real one.
pub fn faulty_git(scene: &Scene, calls: &str, instead: &str) -> PathBuf {
    let program = scene.beside.join("faulty git");
    let text = format!("#!/bin/sh\ncase \" $* \" in {calls}) {instead};; esac\nexec git \"$@\"\n");
    shuntyard_testkit::script(&program, &text);
    program
}

/// Everything dies after git has written files and index, and before the branch moves.
pub fn die_before_the_branch_moves(scene: &Scene, top: &Path, from: &str, to: &str) {
    let program = faulty_git(scene, "*\" update-ref \"*", "kill -9 0");
    let status = ended(start(scene, &program, &[top.to_str().unwrap(), from, to]));
    assert!(!status.success());
}

/// Everything dies while git holds the locks of what it is about to move.
pub fn die_with_the_branch_locked(scene: &Scene, top: &Path, from: &str, to: &str) {
    let place = top.display();
    let instead = format!(
        "{{ printf 'start\\nupdate refs/heads/main {to} {from}\\nprepare\\n'; sleep 300; }} | \
         git -C '{place}' update-ref --stdin | {{ read started; read prepared; kill -9 0; }}"
    );
    let program = faulty_git(scene, "*\" update-ref \"*", &instead);
    assert!(!ended(start(scene, &program, &[top.to_str().unwrap(), from, to])).success());
}

/// Whatever only exists while a step is in progress.
pub fn leftovers(git_directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut directories = vec![git_directory.to_owned()];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(directory).unwrap().flatten() {
            let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
            if path.is_dir() && name != "objects" {
                directories.push(path);
            } else if name != "shuntyard.lock" && (name.ends_with(".lock") || name.contains("shuntyard")) {
                found.push(path);
            }
        }
    }
    found
}
