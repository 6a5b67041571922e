//! The user's checkout while tasks run: what a task changes there blocks it, what the user changes does not.

use crate::supervise::Yard;
use serde_json::json;
use shuntyard_scripted::Step;
use std::path::PathBuf;

/// A checkout with something of each kind that a task could damage.
fn furnished(name: &str) -> Yard {
    let yard = Yard::new(name);
    write(&yard, ".gitignore", "*.log\n");
    write(&yard, "other.txt", "first\n");
    yard.git(&["add", "-A"]);
    yard.git(&["commit", "-qm", "second"]);
    yard.git(&["branch", "side"]);
    write(&yard, "other.txt", "stashed\n");
    yard.git(&["stash", "-q"]);
    write(&yard, "README", "being written\n");
    write(&yard, "notes.txt", "untracked\n");
    write(&yard, "trace.log", "ignored\n");
    yard
}

fn write(yard: &Yard, name: &str, text: &str) {
    std::fs::write(yard.repository().join(name), text).expect("written");
}

fn exists(yard: &Yard, name: &str) -> bool {
    yard.repository().join(name).exists()
}

/// A command that writes a file when it has begun, and goes on when the test creates another.
struct Waiting {
    begun: PathBuf,
    go: PathBuf,
}

impl Waiting {
    fn new(yard: &Yard, name: &str) -> Self {
        Self { begun: yard.env.root.join(format!("{name}-begun")), go: yard.env.root.join(format!("{name}-go")) }
    }

    fn command(&self) -> String {
        format!(": > {}; while [ ! -e {} ]; do sleep 0.05; done", self.begun.display(), self.go.display())
    }

    fn wait(&self, yard: &Yard) {
        yard.pulse_until("it to begin", || self.begun.exists());
    }

    fn go_on(&self) {
        std::fs::write(&self.go, "").expect("written");
    }
}

#[test]
fn what_a_command_does_to_the_checkout_blocks_its_task() {
    let yard = furnished("trespass").trespassed();
    let root = yard.repository().display().to_string();
    let stash = yard.git(&["rev-parse", "stash@{0}"]);
    let table = [
        (format!("git -C {root} checkout -q -- README"), "reverted README".to_owned()),
        (format!("rm {root}/notes.txt"), "deleted notes.txt".to_owned()),
        (format!("echo x > {root}/planted.txt"), "created planted.txt".to_owned()),
        (format!("(cd {root} && rm trace.log)"), "deleted trace.log".to_owned()),
        (format!("echo x > {root}/other.txt"), "modified other.txt".to_owned()),
        (format!("git -C {root} stash drop -q"), format!("dropped the stash {stash}")),
        (format!("git -C {root} branch -f side HEAD~1"), "moved refs/heads/side".to_owned()),
        (format!("git -C {root} config user.name Eve"), "changed git's config".to_owned()),
        (format!("echo exit > {root}/.git/hooks/pre-commit"), "changed the hook pre-commit".to_owned()),
        (format!("git -C {root} add other.txt"), "staged other.txt".to_owned()),
        (format!("git -C {root} checkout -q --detach"), "moved HEAD".to_owned()),
    ];
    std::fs::create_dir_all(yard.repository().join(".git/hooks")).expect("a directory");
    for (command, change) in table {
        let id = yard.add(&["stay inside", "--command", &format!("{command}; echo x > x.txt")]);
        yard.settle();
        let task = yard.task(&id);
        assert_eq!(task["phase"], "blocked", "{command}: {task:#}");
        assert_eq!(task["receipt"]["findings"]["trespass"], json!([change]), "{command}: {task:#}");
        assert_eq!(task["attempts"].as_array().map(Vec::len), Some(1), "it is not tried again: {task:#}");
    }
}

#[test]
fn what_the_user_does_meanwhile_is_not_blamed_on_the_task() {
    let yard = furnished("innocent");
    let waiting = Waiting::new(&yard, "innocent");
    // It reads the user's changes, and has files of the same names in its own directory.
    let root = yard.repository().display().to_string();
    let command = format!("{}; cat {root}/README > README; echo x > notes.txt; git stash list", waiting.command());
    let id = yard.add(&["work inside", "--command", &command]);
    waiting.wait(&yard);
    yard.as_user(|| {
        write(&yard, "README", "the user goes on\n");
        write(&yard, "new.txt", "by the user\n");
        for name in ["notes.txt", "trace.log"] {
            std::fs::remove_file(yard.repository().join(name)).expect("removed");
        }
        yard.git(&["stash", "drop", "-q"]);
        write(&yard, "other.txt", "stashed again\n");
        yard.git(&["stash", "push", "-q", "--", "other.txt"]);
        yard.git(&["branch", "-q", "-D", "side"]);
        yard.git(&["branch", "mine"]);
        yard.git(&["config", "user.name", "Bob"]);
        yard.git(&["add", "new.txt"]);
        yard.git(&["commit", "-qm", "by the user", "--", "new.txt"]);
    });
    waiting.go_on();
    yard.wait_for_phase(&id, "done");
    let task = yard.task(&id);
    assert_eq!(task["receipt"]["findings"]["trespass"], json!([]), "{task:#}");
    let noted = task["receipt"]["findings"]["notes"].to_string();
    for change in
        ["README was modified", "notes.txt was deleted", "trace.log was deleted", "refs/heads/side was deleted"]
    {
        assert!(noted.contains(&format!("{change} in the user's checkout")), "{change}: {noted}");
    }
    assert_eq!(yard.git(&["show", &format!("shuntyard/{id}:README")]), "the user goes on");
    assert!(!exists(&yard, "notes.txt") && exists(&yard, "new.txt"), "the checkout is as the user left it");
}

#[test]
fn a_delivery_of_another_task_is_not_blamed_on_a_task_that_runs_git_in_the_checkout() {
    let yard = Yard::new("delivered");
    let waiting = Waiting::new(&yard, "first");
    let root = yard.repository().display().to_string();
    // It commits nothing, and only the history of the branch shows that.
    let command = format!("{}; git -C {root} commit -q --dry-run -m x; echo x > x.txt", waiting.command());
    let first = yard.add(&["look around", "--command", &command]);
    waiting.wait(&yard);
    let second = yard.add(&["deliver", "--command", "echo y > README", "--deliver", "merge"]);
    yard.env.run(&["pulse"]).expect_code(0);
    yard.wait_for_phase(&second, "done");
    assert_eq!(yard.git(&["show", "main:README"]), "y");
    waiting.go_on();
    yard.wait_for_phase(&first, "done");
    let task = yard.task(&first);
    assert_eq!(task["receipt"]["findings"]["trespass"], json!([]), "{task:#}");
    assert_eq!(task["receipt"]["findings"]["notes"], json!(null), "a delivery is not even noted: {task:#}");
}

#[test]
fn an_edit_with_dots_that_stays_inside_is_not_blamed_for_the_users_own() {
    let yard = Yard::new("dots");
    let waiting = Waiting::new(&yard, "dots");
    let steps = vec![
        Step::tool("write", json!({"filePath": "sub/../README", "content": "by the agent\n"})),
        Step::tool("bash", json!({"command": waiting.command(), "description": "wait"})),
        Step::text("done"),
    ];
    let key = yard.env.provider.script("dots", steps);
    let id = yard.add(&[&format!("write the README {key}"), "--model", "scripted/alpha"]);
    waiting.wait(&yard);
    yard.as_user(|| write(&yard, "README", "by the user\n"));
    waiting.go_on();
    yard.wait_for_phase(&id, "done");
    let task = yard.task(&id);
    assert_eq!(task["receipt"]["findings"]["trespass"], json!([]), "{task:#}");
    assert_eq!(yard.git(&["show", &format!("shuntyard/{id}:README")]), "by the agent");
    assert_eq!(std::fs::read_to_string(yard.repository().join("README")).expect("read"), "by the user\n");
}

#[test]
fn a_model_that_changes_the_checkout_by_a_shell_is_blocked() {
    let yard = furnished("shell").trespassed();
    let root = yard.repository().display().to_string();
    // OpenCode checks no path of `find`.
    let command = format!("find {root} -name notes.txt -delete");
    let steps = vec![
        Step::tool("write", json!({"filePath": "x.txt", "content": "x\n"})),
        Step::tool("bash", json!({"command": command, "description": "tidy"})),
        Step::text("done"),
    ];
    let key = yard.env.provider.script("shell", steps);
    let id = yard.add(&[&format!("tidy up {key}"), "--model", "scripted/alpha"]);
    yard.settle();
    let task = yard.task(&id);
    assert_eq!(task["phase"], "blocked", "{task:#}");
    assert_eq!(task["receipt"]["findings"]["trespass"], json!(["deleted notes.txt"]), "{task:#}");
}

#[test]
fn files_that_git_does_not_look_at_are_compared_too() {
    for bit in ["--skip-worktree", "--assume-unchanged"] {
        let yard = furnished(&format!("hidden{bit}")).trespassed();
        yard.git(&["update-index", bit, "other.txt"]);
        let command = format!("echo x > {}/other.txt; echo x > x.txt", yard.repository().display());
        let id = yard.add(&["stay inside", "--command", &command]);
        yard.settle();
        let task = yard.task(&id);
        assert_eq!(task["phase"], "blocked", "{bit}: {task:#}");
        assert_eq!(task["receipt"]["findings"]["trespass"], json!(["modified other.txt"]), "{bit}: {task:#}");
    }
}

#[test]
fn what_an_attempt_did_whose_worker_died_is_found_by_the_next() {
    let yard = furnished("trespass-died").trespassed();
    let (root, once, begun) = (yard.repository(), yard.env.root.join("once"), yard.env.root.join("begun"));
    let command = format!(
        "if mkdir {}; then rm {}/notes.txt; : > {}; sleep 600; fi; echo x > x.txt",
        once.display(),
        root.display(),
        begun.display()
    );
    let id = yard.add(&["stay inside", "--command", &command]);
    yard.pulse_until("it to begin", || begun.exists());
    for worker in yard.workers() {
        std::process::Command::new("kill").args(["-9", &worker.to_string()]).status().expect("killed");
    }
    yard.settle();
    let task = yard.task(&id);
    assert_eq!(task["phase"], "blocked", "{task:#}");
    assert_eq!(task["receipt"]["findings"]["trespass"], json!(["deleted notes.txt"]), "{task:#}");
}
