//! What agents do to git in their workspace, and what users have around it: the work is delivered on top of what the
//! user has, or not at all, and nothing of the user's is touched.

use crate::supervise::{Yard, yard::git_in};
use shuntyard_testkit::{eventually, script};
use std::path::Path;

fn commit(yard: &Yard, file: &str, text: &str) {
    std::fs::write(yard.repository().join(file), text).expect("written");
    yard.git(&["add", "-A"]);
    yard.git(&["commit", "-qm", file]);
}

fn merged(yard: &Yard, command: &str, more: &[&str]) -> String {
    yard.add(&[&["work", "--command", command, "--deliver", "merge"], more].concat())
}

#[test]
fn a_link_in_the_place_of_gits_own_files_leads_nowhere() {
    let yard = Yard::new("links");
    commit(&yard, "Cargo.lock", "kept\n");
    let top = yard.repository().display().to_string();
    let before = yard.git(&["for-each-ref", "refs/heads"]);
    for (linked, target) in [("logs", ""), ("index", "/.git/index"), ("refs/shuntyard", "/.git/refs/heads")] {
        let command = format!("echo w > w; rm -rf .git/{linked}; ln -s {top}{target} .git/{linked}");
        let id = merged(&yard, &command, &["--attempts", "1"]);
        yard.settle();
        let task = yard.task(&id);
        assert_eq!(task["phase"], "failed", "{linked}: {task:#}");
        assert!(yard.repository().join("Cargo.lock").exists(), "{linked}");
        assert_eq!(yard.git(&["status", "--porcelain"]), "", "{linked}");
        assert_eq!(yard.git(&["for-each-ref", "refs/heads"]), before, "{linked}");
    }
}

#[test]
fn a_branch_of_the_user_that_is_forced_to_the_base_is_a_trespass() {
    let yard = Yard::new("forced").trespassed();
    yard.git(&["checkout", "-q", "-b", "feature"]);
    commit(&yard, "feature", "f\n");
    yard.git(&["checkout", "-q", "main"]);
    let command = format!("git -C {} branch -f feature main; echo w > w", yard.repository().display());
    let id = merged(&yard, &command, &["--attempts", "1"]);
    yard.settle();
    let task = yard.task(&id);
    assert_eq!(task["phase"], "blocked", "{task:#}");
    assert!(task["reason"].as_str().expect("a reason").contains("feature"), "{task:#}");
}

#[test]
fn work_on_an_older_commit_takes_nothing_back() {
    let yard = Yard::new("older");
    for (number, how) in
        ["checkout -q HEAD~1", "reset -q --hard HEAD~1", "checkout -q -b fix HEAD~1"].iter().enumerate()
    {
        commit(&yard, &format!("user-{number}"), "u\n");
        let identity = "-c user.name=a -c user.email=b";
        let command = format!("git {how}; echo w > work-{number}; git add -A; git {identity} commit -qm work");
        let id = merged(&yard, &command, &["--verify", &format!("test -f work-{number} -a -f user-{number}")]);
        yard.settle();
        assert_eq!(yard.phase(&id), "done", "{how}: {:#}", yard.task(&id));
        assert_eq!(yard.git(&["show", &format!("main:user-{number}")]), "u", "{how}");
    }
    // Work that contradicts what the base has since is not delivered.
    commit(&yard, "README", "by the user\n");
    let main = yard.git(&["rev-parse", "main"]);
    let id = merged(&yard, "git checkout -q HEAD~1; echo by the agent > README", &["--attempts", "1"]);
    yard.settle();
    let task = yard.task(&id);
    assert!(task["reason"].as_str().expect("a reason").contains("conflict"), "{task:#}");
    assert_eq!((task["phase"].as_str(), yard.git(&["rev-parse", "main"])), (Some("failed"), main));
}

#[test]
fn an_older_commit_of_the_own_branch_that_was_only_looked_at_is_not_the_work() {
    let yard = Yard::new("looked-at");
    let command = "echo w > w; git add -A; git commit -qm one; git checkout -q --detach HEAD~1";
    let id = merged(&yard, command, &["--verify", "test -f w"]);
    yard.settle();
    assert_eq!(yard.phase(&id), "done", "{:#}", yard.task(&id));
    assert_eq!(yard.git(&["show", "main:w"]), "w");
}

#[test]
fn what_setup_left_is_not_delivered_although_the_agent_commits_everything() {
    let yard = Yard::new("setup-left");
    let command = "echo w > w; git add -A; git commit -qm all";
    let id = merged(&yard, command, &["--setup", "mkdir -p deep/er; echo s > deep/er/left; echo s > left"]);
    yard.settle();
    assert_eq!(yard.phase(&id), "done", "{:#}", yard.task(&id));
    assert_eq!(yard.git(&["ls-tree", "-r", "--name-only", "main"]), "README\nw");
}

#[test]
fn emptied_files_count_as_deleted() {
    let yard = Yard::new("emptied");
    for name in ["a", "b", "c", "d"] {
        commit(&yard, name, name);
    }
    for command in ["for f in *; do : > $f; done", "for f in *; do ln -sf /dev/null $f; done"] {
        let id = merged(&yard, command, &["--attempts", "1"]);
        yard.settle();
        let task = yard.task(&id);
        assert!(task["reason"].as_str().expect("a reason").contains("emptied"), "{task:#}");
        assert_eq!(yard.git(&["show", "main:a"]), "a");
    }
}

#[test]
fn a_repository_inside_a_workspace_is_not_discarded_with_it() {
    let yard = Yard::new("nested-discard").untraced();
    let command = "git init -q sub; cd sub; git config user.name a; git config user.email b; echo s > s; git add s; \
                   git commit -qm s; echo u > u";
    let id = yard.add(&["work", "--attempts", "1", "--command", command]);
    yard.settle();
    let inside = Path::new(yard.task(&id)["worktree"].as_str().expect("a workspace")).join("sub/u");
    let refused = yard.env.run(&["task", "cancel", &id, "--discard"]);
    assert_ne!(refused.code, Some(0), "{}{}", refused.stdout, refused.stderr);
    assert!(inside.exists() && refused.stderr.contains("sub is a repository of its own"), "{}", refused.stderr);
    yard.env.run(&["task", "cancel", &id, "--discard=all"]).expect_code(0);
    assert!(!inside.exists());
}

/// What git ignores goes with the workspace, but no commit that is nowhere else.
#[test]
fn a_repository_that_git_ignores_keeps_its_workspace_as_long_as_only_it_has_a_commit() {
    let yard = Yard::new("nested-ignored").untraced();
    commit(&yard, ".gitignore", "deps/\n");
    let root = yard.repository().display().to_string();
    let command = format!("echo w > w; git clone -q {root} deps/clone");
    let clone = merged(&yard, &command, &[]);
    let command =
        format!("{command}; cd deps/clone; git -c user.name=a -c user.email=b commit -q --allow-empty -m own");
    let own = merged(&yard, &command, &["--no-gate"]);
    yard.settle();
    let place = |id: &str| yard.task(id)["worktree"].as_str().map(|path| Path::new(path).join("deps/clone"));
    assert_eq!((yard.phase(&clone).as_str(), yard.phase(&own).as_str()), ("done", "done"), "{:#}", yard.task(&own));
    assert!(!place(&clone).is_some_and(|path| path.exists()));
    assert!(place(&own).is_some_and(|path| path.exists()), "{:#}", yard.task(&own));
}

#[test]
fn work_outside_a_sparse_checkout_is_verified() {
    let yard = Yard::new("sparse-outside");
    for name in ["in", "out"] {
        std::fs::create_dir(yard.repository().join(name)).expect("a directory");
        commit(&yard, &format!("{name}/file"), "f\n");
    }
    yard.git(&["sparse-checkout", "set", "--cone", "in"]);
    let id = merged(&yard, "mkdir -p out; echo w > out/w", &["--verify", "test -f out/w -a -f in/file"]);
    yard.settle();
    assert_eq!(yard.phase(&id), "done", "{:#}", yard.task(&id));
    assert_eq!(yard.git(&["show", "main:out/file"]), "f");
}

#[test]
fn a_lock_of_head_is_waited_for() {
    let yard = Yard::new("head-lock");
    let lock = yard.repository().join(".git/HEAD.lock");
    let id = yard.add(&["work", "--command", "echo w > w", "--deliver", "merge"]);
    yard.as_user(|| std::fs::write(&lock, "").expect("locked"));
    yard.pulse_until("it waits", || yard.task(&id)["reason"].as_str().is_some_and(|why| why.contains("HEAD.lock")));
    assert_ne!(yard.phase(&id), "blocked", "{:#}", yard.task(&id));
    yard.as_user(|| std::fs::remove_file(&lock).expect("unlocked"));
    yard.settle();
    assert_eq!(yard.phase(&id), "done", "{:#}", yard.task(&id));
}

#[test]
fn a_user_who_allows_only_network_protocols_has_workspaces_too() {
    let mut yard = Yard::new("protocols");
    yard.env.set("GIT_ALLOW_PROTOCOL", "https:ssh");
    let id = merged(&yard, "echo w > w", &["--verify", "test -f w"]);
    yard.settle();
    assert_eq!(yard.phase(&id), "done", "{:#}", yard.task(&id));
}

/// Git is killed while it deletes a ref of ours, and leaves its lock of the packed refs.
#[test]
fn a_lock_of_the_packed_refs_that_we_left_is_removed_and_one_of_the_user_is_not() {
    let mut yard = Yard::with("packed-lock", "effect_lease = \"2s\"\n");
    let lock = yard.repository().join(".git/packed-refs.lock");
    let (tools, died) = (yard.env.root.join("tools"), yard.env.root.join("died"));
    std::fs::create_dir(&tools).expect("a directory");
    let path = std::env::var("PATH").unwrap_or_default();
    let text = format!(
        "#!/bin/sh\nPATH={path}\ncase \" $* \" in *\" update-ref -d \"*refs/shuntyard/tasks/*) \
         if mkdir {}; then : > {}; kill -9 $PPID $$; fi;; esac\nexec git \"$@\"\n",
        died.display(),
        lock.display()
    );
    script(&tools.join("git"), &text);
    yard.env.set("PATH", format!("{}:{path}", tools.display()));
    let id = merged(&yard, "echo w > w", &[]);
    eventually("it is done", std::time::Duration::from_secs(60), || {
        drop(yard.env.run(&["supervise", "--until-idle"]));
        yard.phase(&id) == "done" && died.exists()
    });
    eventually("the lock is gone", std::time::Duration::from_secs(30), || {
        drop(yard.env.run(&["pulse"]));
        !lock.exists()
    });
    yard.settle();
    assert_eq!(git_in(&yard.repository(), &["for-each-ref", "refs/shuntyard"]), "", "nothing of ours is left");
    // A lock of the user's stays.
    std::fs::write(&lock, "").expect("locked");
    let id = merged(&yard, "echo v > v", &[]);
    drop(yard.env.run(&["pulse"]));
    eventually("it has ended", std::time::Duration::from_secs(60), || {
        drop(yard.env.run(&["pulse"]));
        yard.phase(&id) == "done"
    });
    assert!(lock.exists());
    std::fs::remove_file(&lock).expect("unlocked");
    yard.settle();
}
