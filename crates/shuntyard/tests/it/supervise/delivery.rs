//! What is delivered is what was verified, and nothing of the user's moves or is lost.

use crate::supervise::{Yard, yard::git_in};
use std::path::{Path, PathBuf};

fn write(directory: &Path, name: &str, text: &str) {
    let path = directory.join(name);
    std::fs::create_dir_all(path.parent().expect("a directory")).expect("a directory");
    std::fs::write(path, text).expect("a file");
}

fn commit(yard: &Yard, files: &[(&str, &str)]) -> String {
    for (name, text) in files {
        write(&yard.repository(), name, text);
    }
    yard.git(&["add", "-A"]);
    yard.git(&["commit", "-qm", "by the user"]);
    yard.git(&["rev-parse", "HEAD"])
}

fn reason(yard: &Yard, id: &str) -> String {
    yard.task(id)["reason"].as_str().unwrap_or_default().to_owned()
}

fn workspaces(yard: &Yard) -> PathBuf {
    yard.env.data_dir().join("worktrees")
}

#[test]
fn what_is_ignored_or_hidden_from_git_does_not_turn_a_verify_green() {
    let yard = Yard::new("delivery-hidden");
    commit(&yard, &[(".gitignore", "ignored\n"), ("tracked", "old\n")]);
    let ignored = yard.add(&["a", "--command", "echo x > ignored; echo y > y", "--verify", "test -f ignored"]);
    let hidden = "git update-index --skip-worktree tracked; echo new > tracked; echo z > z";
    let hidden = yard.add(&["b", "--command", hidden, "--verify", "grep -q new tracked", "--deliver", "merge"]);
    yard.settle();
    assert_eq!(yard.phase(&ignored), "blocked");
    assert_eq!(yard.phase(&hidden), "done", "the bit does not hide the change");
    assert_eq!(yard.git(&["show", "main:tracked"]), "new");
    let task = yard.task(&hidden);
    assert_eq!(task["receipt"]["verify"][0]["clean"], true, "{task:#}");
    assert_eq!(task["receipt"]["commit"], yard.git(&["rev-parse", "main"]).as_str());
    yard.env.run(&["task", "verify", &hidden]).expect_code(0);
}

#[test]
fn what_verify_and_setup_leave_is_never_delivered() {
    let yard = Yard::new("delivery-leftovers");
    let setup = "echo s > from-setup; echo changed > README; cat marker > seen-by-setup 2>/dev/null; true";
    let verify = "test -f from-setup && echo v > from-verify && grep -q first README || grep -q changed README";
    let id = yard.add(&["a", "--command", "echo w > work", "--setup", setup, "--verify", verify, "--deliver", "merge"]);
    let red =
        yard.add(&["b", "--command", "echo r > red", "--verify", "echo v > from-red; false", "--deliver", "merge"]);
    yard.env.run(&["supervise", "--until-idle"]).expect_code(0);
    assert_eq!(yard.phase(&id), "done", "{:#}", yard.task(&id));
    assert_eq!(yard.phase(&red), "blocked");
    assert_eq!(yard.git(&["ls-tree", "--name-only", "main"]), "README\nwork");
    assert_eq!(yard.git(&["show", "main:README"]), "first");
}

#[test]
fn a_branch_of_another_is_left_alone_also_after_the_store_is_gone() {
    let yard = Yard::new("delivery-names");
    yard.git(&["branch", "shuntyard/t001"]);
    let first = yard.add(&["one", "--command", "echo 1 > one"]);
    yard.settle();
    assert_eq!(yard.task(&first)["branch"], "shuntyard/t001-2");
    assert_eq!(yard.git(&["rev-parse", "shuntyard/t001"]), yard.git(&["rev-parse", "main"]));
    for name in ["shuntyard.db", "shuntyard.db-wal", "shuntyard.db-shm"] {
        drop(std::fs::remove_file(yard.env.data_dir().join(name)));
    }
    let again = yard.add(&["nothing", "--command", "true"]);
    assert_eq!(again, first, "the new store counts from the beginning");
    yard.settle();
    assert_eq!(yard.phase(&again), "blocked", "a task that did nothing is not done by the work of another");
    let other = yard.add(&["two", "--command", "echo 2 > two", "--id", "t001b"]);
    yard.settle();
    assert_eq!(yard.git(&["show", &format!("shuntyard/{other}:two")]), "2");
    assert_eq!(yard.git(&["show", "shuntyard/t001-2:one"]), "1", "the work of the first store is there");
}

#[test]
fn a_half_made_workspace_is_never_used() {
    let yard = Yard::new("delivery-half");
    commit(&yard, &[("a", "a\n"), ("b", "b\n"), ("c", "c\n")]);
    let id = yard.add(&["work", "--command", "echo w > work", "--deliver", "merge", "--id", "half"]);
    yard.env.run(&["supervise", "--until-idle"]).expect_code(0);
    let root = std::fs::read_dir(workspaces(&yard)).expect("a root").next().expect("one").expect("it").path();
    assert_eq!(std::fs::read_dir(&root).expect("the root").count(), 0, "nothing is left of a task that is delivered");
    assert_eq!(yard.phase(&id), "done");
    // As a git that was killed leaves it: a repository without an index.
    let half = root.join(".t9~1.new");
    git_in(&yard.repository(), &["clone", "--quiet", "--no-checkout", ".", half.to_str().expect("text")]);
    let stray = root.join("t9");
    git_in(&yard.repository(), &["clone", "--quiet", "--no-checkout", ".", stray.to_str().expect("text")]);
    yard.add(&["more", "--command", "echo m > more", "--deliver", "merge", "--id", "t9"]);
    yard.settle();
    assert_eq!(yard.phase("t9"), "done", "{:#}", yard.task("t9"));
    assert_eq!(yard.git(&["ls-tree", "--name-only", "main"]), "README\na\nb\nc\nmore\nwork");
    assert!(stray.exists(), "what is not ours stays");
}

#[test]
fn a_mass_deletion_is_refused_unless_it_is_allowed() {
    let yard = Yard::new("delivery-deletion");
    commit(&yard, &[("a", "a\n"), ("b", "b\n"), ("c", "c\n")]);
    let command = "git rm -q a b c && git commit -qm gone";
    let id = yard.add(&["clean up", "--command", command, "--deliver", "merge"]);
    yard.settle();
    assert_eq!(yard.phase(&id), "blocked");
    assert!(reason(&yard, &id).contains("3 of 4 files were deleted"), "{}", reason(&yard, &id));
    let allowed = yard.add(&["clean up", "--command", command, "--deliver", "merge", "--allow-mass-deletion"]);
    yard.settle();
    assert_eq!(yard.phase(&allowed), "done", "{:#}", yard.task(&allowed));
    assert_eq!(yard.git(&["ls-tree", "--name-only", "main"]), "README");
}

#[test]
fn a_dependent_task_starts_with_the_work_of_its_dependencies() {
    let yard = Yard::new("delivery-dependencies");
    let one = yard.add(&["one", "--command", "echo 1 > one"]);
    let two = yard.add(&["two", "--command", "echo 2 > two"]);
    let both = format!("{one},{two}");
    let third =
        yard.add(&["three", "--command", "cat one two > three", "--depends-on", &both, "--verify", "grep -q 2 three"]);
    let clash = yard.add(&["clash", "--command", "echo other > one"]);
    let both = format!("{one},{clash}");
    let stuck = yard.add(&["stuck", "--command", "echo x > x", "--depends-on", &both]);
    yard.settle();
    assert_eq!(yard.phase(&third), "done", "{:#}", yard.task(&third));
    assert_eq!(yard.git(&["show", &format!("shuntyard/{third}:three")]), "1\n2");
    assert_eq!(yard.phase(&stuck), "blocked");
    assert!(
        reason(&yard, &stuck).contains("conflicts") && reason(&yard, &stuck).contains("one"),
        "{}",
        reason(&yard, &stuck)
    );
}

#[test]
fn a_merge_is_blocked_until_the_base_has_what_it_builds_on() {
    let yard = Yard::new("delivery-builds-on");
    let one = yard.add(&["one", "--command", "echo 1 > one"]);
    let command = "cat one one > two; echo x >> $TRACE";
    let command = command.replace("$TRACE", &yard.env.root.join("trace").display().to_string());
    let verify = "test $(wc -l < two) = 2 && test -f one";
    let two = yard.add(&["two", "--command", &command, "--depends-on", &one, "--verify", verify, "--deliver", "merge"]);
    yard.settle();
    let main = yard.git(&["rev-parse", "main"]);
    assert_eq!(yard.phase(&two), "blocked", "{:#}", yard.task(&two));
    let why = reason(&yard, &two);
    let named = ["shuntyard/t001", "`git switch main && git merge shuntyard/t001`", "`shuntyard task retry t002`"];
    assert!(named.iter().all(|part| why.contains(part)), "{why}");
    assert_eq!(yard.git(&["ls-tree", "--name-only", "main"]), "README", "nothing was merged without being asked for");
    // The content counts, and not the commit: as a pull request that is squashed.
    yard.git(&["merge", "-q", "--squash", &format!("shuntyard/{one}")]);
    yard.git(&["commit", "-qm", "one, squashed"]);
    std::fs::write(yard.repository().join("one"), "1\nand more\n").expect("written");
    yard.git(&["commit", "-qam", "one, changed further"]);
    yard.env.run(&["task", "retry", &two]).expect_code(0);
    yard.settle();
    assert_eq!(yard.phase(&two), "done", "{:#}", yard.task(&two));
    assert_eq!(yard.git(&["ls-tree", "--name-only", "main"]), "README\none\ntwo");
    assert_eq!(yard.git(&["rev-list", "--count", &format!("{main}..main")]), "3");
    let trace = std::fs::read_to_string(yard.env.root.join("trace")).expect("a trace");
    assert_eq!(trace, "x\n", "the work was done once");
}

#[test]
fn a_change_without_a_changed_line_counts() {
    let yard = Yard::new("delivery-lineless");
    commit(&yard, &[("script", "true\n"), ("old", "o\n"), ("link", "l\n")]);
    let commands = [
        ("mode", "chmod +x script", "test -x script"),
        ("empty", "mkdir pkg; : > pkg/__init__.py", "test -f pkg/__init__.py"),
        ("rename", "git mv old new", "test -f new"),
        ("binary", "printf '\\000\\001' > data.bin", "test -s data.bin"),
        ("symlink", "rm link; ln -s script link", "test -L link"),
    ];
    for (id, command, verify) in commands {
        yard.add(&[id, "--id", id, "--command", command, "--verify", verify, "--deliver", "merge"]);
    }
    yard.add(&["none", "--id", "none", "--command", "git commit -q --allow-empty -m nothing", "--deliver", "merge"]);
    yard.settle();
    for (id, ..) in commands {
        assert_eq!(yard.phase(id), "done", "{:#}", yard.task(id));
    }
    assert_eq!(yard.phase("none"), "blocked");
    assert!(reason(&yard, "none").contains("nothing was changed"), "{}", reason(&yard, "none"));
}

#[test]
fn no_commit_becomes_unreachable() {
    let yard = Yard::new("delivery-tips");
    let trace = yard.env.root.join("tips");
    let note = format!("git rev-parse HEAD >> {}", trace.display());
    let command = format!(
        "echo 1 > one; git add -A; git commit -qm one; {note}; git checkout -q --detach; echo 2 > two; git add -A; \
         git commit -qm two; {note}; git reset -q --hard HEAD~1; echo 3 > three; git stash -q -u; \
         git rev-parse stash >> {}; echo 4 > four",
        trace.display()
    );
    let id = yard.add(&["tips", "--command", &command, "--deliver", "merge"]);
    yard.settle();
    assert_eq!(yard.phase(&id), "done", "{:#}", yard.task(&id));
    let tips = std::fs::read_to_string(&trace).expect("the trace");
    assert_eq!(tips.lines().count(), 3, "{tips}");
    for tip in tips.lines() {
        let containing = yard.git(&["for-each-ref", "--contains", tip, "--format=%(refname)"]);
        assert!(!containing.is_empty(), "{tip} is reachable");
    }
    assert_eq!(yard.git(&["ls-tree", "--name-only", "main"]), "README\nfour\none");
    assert_eq!(yard.git(&["stash", "list"]), "");
}

#[test]
fn what_is_only_in_a_merge_commit_is_delivered_on_a_newer_base_and_the_commit_is_kept() {
    let yard = Yard::new("delivery-merge-commit");
    let (go, head) = (yard.env.root.join("go"), yard.env.root.join("head"));
    let command = format!(
        "while [ ! -e {} ]; do sleep 0.05; done; git checkout -qb side; echo s > side; git add -A; git commit -qm side; \
         git checkout -q -; echo w > work; git add -A; git commit -qm work; git merge -q --no-ff --no-commit side; \
         echo m > merged; git add -A; git commit -qm merge; git rev-parse HEAD > {}",
        go.display(),
        head.display()
    );
    let id = yard.add(&["work", "--command", &command, "--deliver", "merge", "--verify", "test -e merged"]);
    yard.pulse_until("it is at work", || yard.task(&id)["worktree"].is_string());
    yard.as_user(|| commit(&yard, &[("users", "u\n")]));
    write(yard.env.root.as_path(), "go", "");
    yard.settle();
    assert_eq!(yard.phase(&id), "done", "{:#}", yard.task(&id));
    assert_eq!(yard.git(&["ls-tree", "--name-only", "main"]), "README\nmerged\nside\nusers\nwork");
    let head = std::fs::read_to_string(head).expect("a commit");
    let kept = yard.git(&["for-each-ref", "--contains", head.trim(), "--format=%(refname)", "refs/shuntyard/tasks/"]);
    assert!(kept.contains("/kept/"), "{kept}");
}

#[test]
fn a_commit_that_the_user_removed_does_not_come_back() {
    let yard = Yard::new("delivery-removed");
    let first = yard.git(&["rev-parse", "HEAD"]);
    commit(&yard, &[("removed", "r\n")]);
    let go = yard.env.root.join("go");
    let command = format!("while [ ! -e {} ]; do sleep 0.05; done; echo w > work", go.display());
    let id = yard.add(&["work", "--command", &command, "--deliver", "merge", "--verify", "test ! -e removed"]);
    yard.pulse_until("it is at work", || yard.task(&id)["worktree"].is_string());
    yard.as_user(|| yard.git(&["reset", "-q", "--hard", &first]));
    write(yard.env.root.as_path(), "go", "");
    yard.settle();
    assert_eq!(yard.phase(&id), "done", "{:#}", yard.task(&id));
    assert_eq!(yard.git(&["ls-tree", "--name-only", "main"]), "README\nwork");
}

#[test]
fn a_delivery_waits_while_the_user_is_in_the_middle_of_something() {
    let yard = Yard::new("delivery-busy");
    commit(&yard, &[("file", "base\n")]);
    yard.git(&["checkout", "-q", "-b", "other"]);
    commit(&yard, &[("file", "other\n")]);
    yard.git(&["checkout", "-q", "main"]);
    commit(&yard, &[("file", "main\n")]);
    let stopped = std::process::Command::new("git")
        .arg("-C")
        .arg(yard.repository())
        .args(["rebase", "-q", "other"])
        .output()
        .expect("git runs");
    assert!(!stopped.status.success(), "the rebase stops at a conflict");
    let main = yard.git(&["rev-parse", "main"]);
    let id = yard.add(&["work", "--base", "main", "--command", "echo w > work", "--deliver", "merge"]);
    yard.pulse_until("it waits", || reason(&yard, &id).contains("rebase"));
    assert_eq!(yard.git(&["rev-parse", "main"]), main, "the branch is not moved under the user");
    yard.as_user(|| yard.git(&["rebase", "--abort"]));
    yard.settle();
    assert_eq!(yard.phase(&id), "done", "{:#}", yard.task(&id));
    assert_eq!(yard.git(&["show", "main:work"]), "w");
    assert_eq!(yard.git(&["status", "--porcelain"]), "");
}

#[test]
fn a_task_of_a_linked_worktree_goes_back_to_its_branch() {
    let yard = Yard::new("delivery-linked");
    let linked = yard.env.root.join("linked");
    yard.git(&["worktree", "add", "-q", "-b", "feature", linked.to_str().expect("text")]);
    let main = yard.git(&["rev-parse", "main"]);
    let repo = linked.display().to_string();
    let id = yard.add(&["work", "--repo", &repo, "--command", "echo w > work", "--deliver", "merge"]);
    yard.settle();
    assert_eq!((yard.phase(&id).as_str(), yard.task(&id)["base"].as_str()), ("done", Some("feature")));
    assert_eq!((yard.git(&["show", "feature:work"]), yard.git(&["rev-parse", "main"])), ("w".to_owned(), main));
    assert_eq!(git_in(&linked, &["status", "--porcelain"]), "");
}

#[test]
fn a_repository_above_is_never_touched() {
    let yard = Yard::new("delivery-above");
    // The home directory is a repository, as with dotfiles.
    let home = yard.env.data_dir();
    let home = home.ancestors().nth(3).expect("a home");
    git_in(home, &["init", "-q"]);
    let id = yard.add(&["work", "--command", "rm -rf .git; echo w > work"]);
    yard.settle();
    assert_ne!(yard.phase(&id), "done", "{:#}", yard.task(&id));
    assert_eq!(git_in(home, &["rev-list", "--all", "--count"]), "0", "nothing was committed there");
}

#[test]
fn a_verify_command_has_to_fail_first_when_that_is_asked_for() {
    let yard = Yard::new("delivery-red-first");
    let red = yard.add(&["a", "--command", "echo w > work", "--verify", "test -f work", "--expect-red-first"]);
    let green = yard.add(&["b", "--command", "echo w > other", "--verify", "true", "--expect-red-first"]);
    yard.settle();
    let task = yard.task(&red);
    assert_eq!(
        (&task["phase"], &task["receipt"]["verify"][0]["red_before"]),
        (&"done".into(), &true.into()),
        "{task:#}"
    );
    assert_eq!(yard.phase(&green), "blocked");
    assert!(reason(&yard, &green).contains("before the work"), "{}", reason(&yard, &green));
    yard.env.run(&["task", "add", "c", "--command", "true", "--expect-red-first"]).expect_code(2);
}

#[test]
fn what_is_verified_is_the_commit_and_not_what_replaces_it() {
    let yard = Yard::new("delivery-replaced");
    let command = "echo evil > README; git commit -qam evil; E=$(git rev-parse HEAD); echo good > README; \
                   git commit -qa --amend -m good; G=$(git rev-parse HEAD); git reset -q --hard $E; git replace $E $G; \
                   git reset -q --hard";
    let id = yard.add(&["replace", "--command", command, "--verify", "grep -q good README", "--deliver", "merge"]);
    yard.settle();
    assert!(yard.phase(&id) == "blocked" || yard.git(&["show", "main:README"]) == "good", "{:#}", yard.task(&id));
    assert_ne!(yard.git(&["show", "main:README"]), "evil");
}

#[test]
fn variables_of_a_hook_lead_no_agent_into_the_users_repository() {
    let yard = Yard::new("delivery-hook");
    let main = yard.git(&["rev-parse", "main"]);
    let command = "echo x > x; git add -A; git commit -qm agent";
    let id = yard.add(&["work", "--command", command, "--verify", "test -f x"]);
    let git_dir = yard.repository().join(".git").display().to_string();
    let index = format!("{git_dir}/index");
    let variables = [("GIT_DIR", git_dir.as_str()), ("GIT_INDEX_FILE", index.as_str())];
    yard.env.run_with(&variables, &["supervise", "--until-idle"]).expect_code(0);
    assert_eq!(yard.phase(&id), "done", "{:#}", yard.task(&id));
    assert_eq!((yard.git(&["rev-parse", "main"]), yard.git(&["status", "--porcelain"])), (main, String::new()));
}

#[test]
fn a_nested_repository_is_not_delivered_without_its_content() {
    let yard = Yard::new("delivery-nested");
    let command = "echo x > x; git init -q nested; cd nested; git config user.name n; git config user.email n@n; \
                   echo y > y; git add .; git commit -qm nested";
    let id = yard.add(&["nested", "--command", command, "--deliver", "merge"]);
    yard.settle();
    assert_eq!(yard.phase(&id), "blocked");
    assert!(reason(&yard, &id).contains("nested"), "{}", reason(&yard, &id));
    let task = yard.task(&id);
    let workspace = Path::new(task["worktree"].as_str().expect("its workspace stays"));
    assert!(workspace.join("nested/y").exists(), "with the work in it");
    let refused = yard.add(&["empty", "--command", "echo x > x; git init -q empty; echo y > empty/y"]);
    yard.settle();
    yard.env.run(&["task", "reset", &refused]).expect_code(0);
    yard.settle();
    assert!(!reason(&yard, &refused).contains("workspace could not be made"), "{}", reason(&yard, &refused));
}

/// The workspace is there while the work is verified, and not later.
#[test]
fn a_link_into_a_workspace_is_not_delivered() {
    let yard = Yard::new("delivery-links");
    commit(&yard, &[(".gitignore", "*.log\n"), ("dir/a", "a\n")]);
    for (id, target) in [("absolute", "$PWD/x.log"), ("beside", "../../beside/x.log")] {
        let command = format!("echo x > x.log; ln -s {target} dir/link");
        let verify = "grep -q x dir/link";
        yard.add(&["link", "--id", id, "--attempts", "1", "--command", &command, "--verify", verify]);
    }
    yard.add(&["link", "--id", "inside", "--command", "ln -s ../dir/a dir/link; ln -s /dev/null null"]);
    yard.settle();
    for id in ["absolute", "beside"] {
        assert!(reason(&yard, id).contains("dir/link leads to a place in a workspace"), "{}", reason(&yard, id));
    }
    assert_eq!(yard.phase("inside"), "done", "{:#}", yard.task("inside"));
}

#[test]
fn files_that_an_agent_took_out_of_its_checkout_are_not_deleted() {
    let yard = Yard::new("delivery-sparse");
    commit(&yard, &[("in/a", "a\n"), ("out/b", "b\n"), ("out/c", "c\n")]);
    let id = yard.add(&["sparse", "--command", "git sparse-checkout set in; echo n > in/new", "--deliver", "merge"]);
    yard.settle();
    assert_eq!(yard.phase(&id), "done", "{:#}", yard.task(&id));
    assert_eq!(yard.git(&["ls-tree", "-r", "--name-only", "main"]), "README\nin/a\nin/new\nout/b\nout/c");
}

#[test]
fn a_shallow_repository_is_worked_in_and_verified() {
    let yard = Yard::new("delivery-shallow");
    commit(&yard, &[("second", "s\n")]);
    let shallow = yard.env.root.join("shallow");
    let address = format!("file://{}", yard.repository().display());
    yard.git(&["clone", "-q", "--depth=1", &address, shallow.to_str().expect("text")]);
    let repo = shallow.display().to_string();
    let id =
        yard.add(&["work", "--repo", &repo, "--command", "echo w > w", "--verify", "test -f w", "--deliver", "merge"]);
    yard.env.run(&["supervise", "--until-idle"]).expect_code(0);
    assert_eq!(yard.phase(&id), "done", "{:#}", yard.task(&id));
    assert_eq!(git_in(&shallow, &["show", "HEAD:w"]), "w");
}
