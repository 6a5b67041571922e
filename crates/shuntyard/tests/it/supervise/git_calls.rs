//! How often git is started for one task. A process costs milliseconds each time, for users and for every test here.

use crate::supervise::Yard;

/// A little more than one task takes. Raise it only for a call that makes a step safe.
const MOST: usize = 96;

#[test]
fn one_task_starts_git_a_bounded_number_of_times() {
    let mut yard = Yard::new("git-calls");
    let (programs, log) = (yard.env.root.join("programs"), yard.env.root.join("git.log"));
    std::fs::create_dir_all(&programs).expect("a directory");
    let path = std::env::var("PATH").expect("a PATH");
    let git = format!("#!/bin/sh\necho \"$*\" >> '{}'\nPATH='{path}' exec git \"$@\"\n", log.display());
    shuntyard_testkit::script(&programs.join("git"), &git);
    yard.env.set("PATH", format!("{}:{path}", programs.display()));
    let id = yard.add(&["x", "--command", "echo b > b", "--verify", "test -f b", "--deliver", "merge"]);
    yard.settle();
    assert_eq!(yard.phase(&id), "done");
    let log = std::fs::read_to_string(log).expect("the calls");
    // The message of a commit has lines of its own; every call of ours begins with this option.
    let calls = log.lines().filter(|line| line.starts_with("--no-pager ")).count();
    assert!((1..=MOST).contains(&calls), "{calls} calls:\n{log}");
}
