//! The base moves while a task runs: what is verified and recorded is exactly the commit that is delivered.

use crate::supervise::{Yard, yard::git_in};
use std::path::{Path, PathBuf};

/// A task that waits until the user has changed the base.
struct Moving {
    yard: Yard,
    id: String,
    go: PathBuf,
}

fn save(directory: &Path, files: &[(&str, &str)]) {
    for (name, text) in files {
        std::fs::write(directory.join(name), text).expect("written");
    }
    git_in(directory, &["add", "-A"]);
    git_in(directory, &["-c", "user.name=a", "-c", "user.email=b", "commit", "-qm", "user"]);
}

impl Moving {
    fn new(yard: Yard, verify: &str) -> Self {
        let (begun, go) = (yard.env.root.join("begun"), yard.env.root.join("go"));
        let command =
            format!(": > {}; while [ ! -e {} ]; do sleep 0.05; done; echo w > w", begun.display(), go.display());
        let id =
            yard.add(&["work", "--command", &command, "--verify", verify, "--deliver", "merge", "--attempts", "1"]);
        yard.pulse_until("it to begin", || begun.exists());
        Self { yard, id, go }
    }

    /// The user acts, and the task goes on to its end.
    fn after(self, act: impl FnOnce(&Path)) -> (Yard, serde_json::Value) {
        self.yard.as_user(|| act(&self.yard.repository()));
        std::fs::write(&self.go, "").expect("written");
        self.yard.settle();
        let task = self.yard.task(&self.id);
        (self.yard, task)
    }
}

#[test]
fn submodules_are_verified_at_the_commits_of_the_new_base() {
    let yard = Yard::new("base-submodules");
    for name in ["one", "two"] {
        let library = yard.env.root.join(name);
        std::fs::create_dir(&library).expect("a directory");
        git_in(&library, &["init", "-q", "-b", "main"]);
        save(&library, &[("v", "1\n")]);
    }
    let add = |name: &str| {
        let from = yard.env.root.join(name).display().to_string();
        let submodule = ["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", &from];
        yard.git(&submodule);
        yard.git(&["commit", "-qm", name]);
    };
    add("one");
    let from = yard.env.root.join("two").display().to_string();
    let verify = "test -f w && { test ! -f newer || test ! -e one/.git || test \"$(cat one/v two/v)\" = \"$(printf '2\\n1')\"; }";
    let (yard, task) = Moving::new(yard, verify).after(|top| {
        save(&top.join("one"), &[("v", "2\n")]);
        git_in(top, &["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", &from]);
        save(top, &[("newer", "n\n")]);
    });
    assert_eq!(task["phase"], "done", "{task:#}");
    assert_eq!(task["receipt"]["commit"], yard.git(&["rev-parse", "main"]).as_str(), "{task:#}");
}

#[test]
fn files_are_verified_with_the_attributes_of_the_new_base() {
    let yard = Yard::new("base-attributes");
    save(&yard.repository(), &[("data", "a\n")]);
    let verify = "test -f w && { test ! -f .gitattributes || grep -q \"$(printf '\\r')\" data; }";
    let (yard, task) = Moving::new(yard, verify).after(|top| save(top, &[(".gitattributes", "data eol=crlf\n")]));
    assert_eq!(task["phase"], "done", "{task:#}");
    assert_eq!(yard.git(&["show", "main:w"]), "w");
}

#[test]
fn work_that_the_base_has_already_is_verified_there() {
    let yard = Yard::new("base-same");
    let (yard, task) = Moving::new(yard, "test -f w -a -f newer -o ! -f newer").after(|top| {
        save(top, &[("w", "w\n")]);
        save(top, &[("newer", "n\n")]);
    });
    assert_eq!(task["phase"], "done", "{task:#}");
    assert_eq!(task["receipt"]["commit"], yard.git(&["rev-parse", "main"]).as_str(), "{task:#}");
    assert_eq!(task["receipt"]["findings"]["checks"][0]["exit"]["code"], 0, "{task:#}");
}

#[test]
fn a_base_that_has_the_work_and_is_red_is_not_reported_as_done() {
    let yard = Yard::new("base-same-red");
    let (yard, task) = Moving::new(yard, "test -f w -a ! -f broken").after(|top| {
        save(top, &[("w", "w\n")]);
        save(top, &[("broken", "b\n")]);
    });
    assert_ne!(task["phase"], "done", "{task:#}");
    assert_eq!(yard.git(&["show", "main:broken"]), "b");
}
