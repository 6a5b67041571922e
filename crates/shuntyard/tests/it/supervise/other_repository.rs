//! The user's repository disappears, or another one is in its place, while a task runs: nothing is written to any other
//! repository, and the task goes on once its own is back.

use crate::supervise::{Yard, yard::git_in};
use shuntyard_testkit::eventually;
use std::path::{Path, PathBuf};

/// What is at the place of the user's repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Instead {
    /// Git finds the repository above.
    Nothing,
    Another,
}

struct Scene {
    yard: Yard,
    id: String,
    /// The repository that must not be touched.
    other: PathBuf,
    before: String,
    go: PathBuf,
}

fn new_repository(at: &Path) {
    git_in(at, &["init", "-q", "-b", "main"]);
    git_in(at, &["-c", "user.name=a", "-c", "user.email=b", "commit", "-q", "--allow-empty", "-m", "other"]);
}

/// Everything in a git directory but objects.
fn state(repository: &Path) -> String {
    let found = std::process::Command::new("find")
        .args([".git", "-type", "f", "-not", "-path", "*/objects/*", "-not", "-name", "index"])
        .current_dir(repository)
        .output()
        .expect("find runs");
    let mut files: Vec<String> = String::from_utf8_lossy(&found.stdout).lines().map(str::to_owned).collect();
    files.sort();
    format!("{}\n{}", files.join("\n"), git_in(repository, &["for-each-ref"]))
}

impl Scene {
    /// A task whose command waits; then the repository is moved away.
    fn new(name: &str, deliver: &str, instead: Instead) -> Self {
        let yard = Yard::new(&format!("other-{name}-{deliver}")).trespassed();
        let (begun, go) = (yard.env.root.join("begun"), yard.env.root.join("go"));
        let command =
            format!(": > {}; while [ ! -e {} ]; do sleep 0.05; done; echo w > w", begun.display(), go.display());
        let verify = ["--verify", "test -f w"];
        let id = yard.add(&[&["work", "--command", &command, "--deliver", deliver], &verify[..]].concat());
        yard.pulse_until("it to begin", || begun.exists());
        let own = yard.repository();
        std::fs::rename(own.join(".git"), own.with_file_name("away")).expect("moved");
        let other = match instead {
            Instead::Nothing => own.parent().expect("a parent").to_owned(),
            Instead::Another => own.clone(),
        };
        new_repository(&other);
        let before = state(&other);
        Self { yard, id, other, before, go }
    }

    fn expect_untouched(&self) {
        assert_eq!(state(&self.other), self.before, "{:#}", self.yard.task(&self.id));
    }

    fn bring_back(&self) {
        let own = self.yard.repository();
        std::fs::remove_dir_all(self.other.join(".git")).expect("removed");
        std::fs::rename(own.with_file_name("away"), own.join(".git")).expect("moved back");
    }
}

#[test]
fn a_delivery_goes_to_no_other_repository_and_waits_for_its_own() {
    for instead in [Instead::Nothing, Instead::Another] {
        for deliver in ["merge", "branch"] {
            let scene = Scene::new(&format!("{instead:?}"), deliver, instead);
            let Scene { yard, id, .. } = &scene;
            std::fs::write(&scene.go, "").expect("written");
            eventually("the delivery to be refused", std::time::Duration::from_secs(60), || {
                yard.env.run(&["pulse"]).expect_code(0);
                let task = yard.task(id);
                task["phase"] == "done" || task["reason"].as_str().is_some_and(|why| why.contains("repository"))
            });
            scene.expect_untouched();
            assert_ne!(yard.phase(id), "done", "{:#}", yard.task(id));
            scene.bring_back();
            if yard.phase(id) == "blocked" {
                yard.env.run(&["task", "retry", id]).expect_code(0);
            }
            yard.settle();
            assert_eq!(yard.phase(id), "done", "{:#}", yard.task(id));
            let branch = if deliver == "merge" { "main".to_owned() } else { format!("shuntyard/{id}") };
            assert_eq!(yard.git(&["show", &format!("{branch}:w")]), "w");
        }
    }
}

#[test]
fn a_cancelled_task_leaves_nothing_in_another_repository() {
    for instead in [Instead::Nothing, Instead::Another] {
        let scene = Scene::new(&format!("cancel-{instead:?}"), "merge", instead);
        let Scene { yard, id, .. } = &scene;
        let workspace = PathBuf::from(yard.task(id)["worktree"].as_str().expect("a workspace"));
        std::fs::write(workspace.join("unsaved"), "u").expect("written");
        yard.env.run(&["task", "cancel", id]).expect_code(0);
        yard.wait_for_phase(id, "cancelled");
        drop(yard.env.run(&["pulse"]));
        drop(yard.env.run(&["task", "cancel", id, "--discard"]));
        scene.expect_untouched();
        assert!(workspace.join("unsaved").exists(), "its work is nowhere else");
        scene.bring_back();
        yard.env.run(&["task", "cancel", id, "--discard"]).expect_code(0);
        assert!(!workspace.exists());
    }
}
