//! `--deliver pr`, with a `gh` that answers as the real one does, and a remote on this disk.

use crate::supervise::{hub::Hub, yard::git_in};
use shuntyard_testkit::script;
use std::path::PathBuf;

#[test]
fn a_pull_request_is_opened_once_and_follows_the_work() {
    let hub = Hub::new("pr-life");
    let yard = &hub.yard;
    let id = hub.add("one");
    hub.until_review(&id);
    let first = hub.at("shuntyard/one");
    assert_eq!(yard.task(&id)["receipt"]["commit"], first.as_str());
    assert!(hub.reason(&id).contains("https://github.com/ann/app/pull/1"), "{}", hub.reason(&id));
    // It is done again: the branch that was pushed is replaced, and its pull request is the same.
    yard.env.run(&["task", "cancel", &id]).expect_code(0);
    yard.env.run(&["task", "reset", &id]).expect_code(0);
    hub.until_review(&id);
    let second = hub.at("shuntyard/one");
    assert_eq!((yard.task(&id)["receipt"]["commit"].as_str(), hub.open()), (Some(second.as_str()), 1));
    assert_ne!(first, second);
    hub.set("shuntyard_one.1", "MERGED");
    yard.pulse_until("it is done", || yard.phase(&id) == "done");
    assert!(hub.reason(&id).contains("merged by https://github.com/ann/app/pull/1"), "{}", hub.reason(&id));
    let closed = hub.add("two");
    hub.until_review(&closed);
    hub.set("shuntyard_two.2", "CLOSED");
    yard.pulse_until("it is blocked", || yard.phase(&closed) == "blocked");
    assert!(hub.reason(&closed).contains("closed without being merged"), "{}", hub.reason(&closed));
}

#[test]
fn a_branch_that_another_moved_on_the_remote_is_not_overwritten() {
    let hub = Hub::new("pr-lease");
    let yard = &hub.yard;
    let id = hub.add("one");
    hub.until_review(&id);
    let other = yard.env.root.join("other");
    yard.git(&["clone", "-q", "-b", "shuntyard/one", &hub.directory.join("remote").display().to_string(), "../other"]);
    git_in(
        &other,
        &["-c", "user.name=Bo", "-c", "user.email=b@b", "commit", "-q", "--allow-empty", "-m", "by another"],
    );
    git_in(&other, &["push", "-q", "origin", "shuntyard/one"]);
    let theirs = hub.at("shuntyard/one");
    yard.env.run(&["task", "cancel", &id]).expect_code(0);
    yard.env.run(&["task", "reset", &id]).expect_code(0);
    hub.until_review(&id);
    assert_eq!(hub.at("shuntyard/one"), theirs);
    let task = yard.task(&id);
    assert_eq!((task["branch"].as_str(), hub.open()), (Some("shuntyard/one-2"), 2), "{task:#}");
    assert_eq!(task["receipt"]["commit"], hub.at("shuntyard/one-2").as_str());
    // What the remote refuses under any name is not tried under other names.
    script(&hub.directory.join("remote/hooks/pre-receive"), "#!/bin/sh\necho no >&2\nexit 1\n");
    let refused = hub.add("two");
    yard.pulse_until("it is refused", || hub.reason(&refused).contains("hook declined"));
    assert_eq!(yard.git(&["branch", "--list", "shuntyard/two*"]).lines().count(), 1);
}

#[test]
fn a_worker_that_dies_and_a_gh_that_fails_open_no_second_pull_request() {
    let hub = Hub::new("pr-death");
    let yard = &hub.yard;
    hub.set("lost", "");
    // Its worker dies when the pull request is open and nothing is recorded.
    let id = hub.add("one");
    hub.until_review(&id);
    assert!(!hub.directory.join("lost").exists(), "it has died");
    assert_eq!((hub.created(), hub.open()), (1, 1));
    hub.set("broken", "");
    let later = hub.add("two");
    yard.pulse_until("it waits", || hub.reason(&later).contains("error connecting"));
    assert_eq!(yard.phase(&id), "waiting", "what cannot be known leaves it open");
    std::fs::remove_file(hub.directory.join("broken")).expect("mended");
    if yard.phase(&later) == "blocked" {
        yard.env.run(&["task", "retry", &later]).expect_code(0);
    }
    hub.until_review(&later);
    assert_eq!(hub.open(), 2);
}

#[test]
fn a_gh_that_hangs_is_ended_and_asked_again() {
    let hub = Hub::new("pr-hung");
    let yard = &hub.yard;
    let config = yard.env.root.join("home/.config/shuntyard/config.toml");
    let text = std::fs::read_to_string(config).expect("the configuration");
    yard.env.write_config(&format!("{text}gh_timeout = \"1s\"\n"));
    hub.set("hung", "");
    let id = hub.add("one");
    yard.pulse_until("it is given up", || hub.reason(&id).contains("have it finish within 1 s"));
    let pid = std::fs::read_to_string(hub.directory.join("hung")).expect("its process");
    std::fs::remove_file(hub.directory.join("hung")).expect("removed");
    assert!(!PathBuf::from("/proc").join(pid.trim()).exists(), "it was ended");
    if yard.phase(&id) == "blocked" {
        yard.env.run(&["task", "retry", &id]).expect_code(0);
    }
    hub.until_review(&id);
    assert_eq!(hub.open(), 1);
}

#[test]
fn large_files_are_uploaded_before_the_branch_that_needs_them() {
    let hub = Hub::new("pr-lfs");
    let yard = &hub.yard;
    yard.git(&["lfs", "install", "--local", "--skip-repo"]);
    yard.git(&["lfs", "track", "*.bin"]);
    yard.git(&["add", "-A"]);
    yard.git(&["commit", "-qm", "large files"]);
    let id = yard.add(&["one", "--id", "one", "--command", "echo large > new.bin", "--deliver", "pr"]);
    hub.until_review(&id);
    let fresh = yard.env.root.join("fresh");
    let filter = ["-c", "filter.lfs.process=git-lfs filter-process", "-c", "filter.lfs.required=true"];
    let places = [hub.directory.join("remote").display().to_string(), fresh.display().to_string()];
    let clone = [&["clone", "-q", "-b", "shuntyard/one"][..], &filter, &places.each_ref().map(String::as_str)].concat();
    yard.git(&clone);
    assert_eq!(std::fs::read_to_string(fresh.join("new.bin")).expect("checked out"), "large\n");
}
