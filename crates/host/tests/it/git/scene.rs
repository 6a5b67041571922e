//! A repository in a directory of its own, with space beside it for working trees and remotes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use shuntyard_host::git::{Author, Git, Worktree};

pub struct Scene {
    pub git: Git,
    /// The main working tree, on branch `main`.
    pub top: PathBuf,
    /// Resolved, as git resolves paths.
    pub beside: PathBuf,
    _scratch: shuntyard_testkit::Scratch,
}

pub fn author() -> Author {
    Author { name: "A Tester".to_owned(), email: "tester@example.invalid".to_owned() }
}

impl Scene {
    /// Without a commit.
    pub fn empty() -> Self {
        let scratch = shuntyard_testkit::Scratch::of_test();
        let beside = scratch.path().canonicalize().unwrap();
        let top = beside.join("main tree");
        fs::create_dir(&top).unwrap();
        let fixed = [
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
            ("GIT_CONFIG_SYSTEM", "/dev/null"),
            ("GIT_CONFIG_COUNT", "1"),
            ("GIT_CONFIG_KEY_0", "init.defaultBranch"),
            ("GIT_CONFIG_VALUE_0", "main"),
            ("GIT_AUTHOR_NAME", "Plain Hand"),
            ("GIT_AUTHOR_EMAIL", "hand@example.invalid"),
            ("GIT_COMMITTER_NAME", "Plain Hand"),
            ("GIT_COMMITTER_EMAIL", "hand@example.invalid"),
            ("HOME", "/nowhere"),
        ];
        // A search for a repository must not find the one that the build directory is in.
        let ceiling = ("GIT_CEILING_DIRECTORIES".into(), beside.parent().unwrap().into());
        let variables = fixed.map(|(name, value)| (name.into(), value.into())).into_iter().chain([ceiling]);
        let git = Git { variables: variables.collect(), ..Git::default() };
        git.init(&top).unwrap();
        Self { git, top, beside, _scratch: scratch }
    }

    /// With the one commit that is returned; it has `file` with the lines a to e.
    pub fn new() -> (Self, String) {
        let scene = Self::empty();
        let first = scene.save(&scene.top, &[("file", "a\nb\nc\nd\ne\n"), ("other", "o\n")]);
        (scene, first)
    }

    /// Writes files in a working tree and commits all that is there.
    pub fn save(&self, tree: &Path, files: &[(&str, &str)]) -> String {
        for (name, text) in files {
            write(tree, name, text);
        }
        self.git.commit_all(tree, "work", &author()).unwrap().unwrap()
    }

    /// A plain git command that must succeed; returns what it printed.
    pub fn run(&self, directory: &Path, args: &[&str]) -> String {
        let variables = self.git.variables.iter().map(|(name, value)| (name, value));
        let output =
            Command::new(&self.git.program).arg("-C").arg(directory).args(args).envs(variables).output().unwrap();
        assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    /// All refs but those that begin with this.
    pub fn refs_beside(&self, directory: &Path, prefix: &str) -> String {
        let all = self.run(directory, &["for-each-ref", "--format=%(refname) %(objectname)"]);
        all.lines().filter(|line| !line.starts_with(prefix)).collect::<Vec<_>>().join("\n")
    }

    /// A working tree on a new branch of the same name.
    pub fn tree(&self, name: &str, base: &str) -> PathBuf {
        let path = self.beside.join(name);
        self.run(&self.top, &["worktree", "add", "--quiet", "-b", name, path.to_str().unwrap(), base]);
        path
    }

    pub fn listed(&self, path: &Path) -> Option<Worktree> {
        self.git.worktree_list(&self.top).unwrap().into_iter().find(|tree| tree.path == path)
    }

    pub fn at(&self, branch: &str) -> Option<String> {
        self.git.branch_commit(&self.top, branch).unwrap()
    }
}

pub fn write(tree: &Path, name: &str, text: &str) {
    let path = tree.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

pub fn read(tree: &Path, name: &str) -> String {
    fs::read_to_string(tree.join(name)).unwrap_or_else(|error| format!("<{}>", error.kind()))
}

/// What a working tree is, as far as git and the disk are concerned.
pub fn look(scene: &Scene, tree: &Path) -> (Option<String>, Option<String>, String, String) {
    let git = &scene.git;
    let status = scene.run(tree, &["status", "--porcelain", "--untracked-files=all"]);
    (git.head(tree).unwrap(), git.current_branch(tree).unwrap(), status, read(tree, "file"))
}
