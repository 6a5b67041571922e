//! What holds after every supervisor test, whatever its subject: the user's checkout is as the user left it, and no
//! commit of an agent is unreachable.
//!
//! The first compares the output of git and the files on disk before and after. For the second, every git below the
//! supervisor traces its ref transactions into one file, so a commit is known although its workspace is gone.

use super::yard::git_in;
use serde_json::Value;
use shuntyard_testkit::eventually;
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

/// The variable that has git write its ref transactions to a file.
pub const TRACE: &str = "GIT_TRACE_REFS";

/// Everything of a checkout that only its user may change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkout {
    /// By name, without the refs that belong to tasks.
    refs: BTreeMap<String, String>,
    /// HEAD, stash, configuration, hooks and the content of every file that is not as committed.
    content: BTreeMap<String, Vec<u8>>,
}

impl Checkout {
    pub fn of(top: &Path) -> Self {
        let git_dir = top.join(".git");
        if !git_dir.exists() {
            // The user has moved it away. Git would find a repository above it.
            return Self { refs: BTreeMap::new(), content: BTreeMap::new() };
        }
        let listed = git_in(top, &["for-each-ref", "--format=%(refname) %(objectname)"]);
        let of_tasks = |name: &str| name.starts_with("refs/shuntyard/") || name.starts_with("refs/heads/shuntyard/");
        let refs = listed.lines().filter_map(|line| line.split_once(' ')).filter(|(name, _)| !of_tasks(name));
        let refs = refs.map(|(name, commit)| (name.to_owned(), commit.to_owned())).collect();
        let mut content = BTreeMap::new();
        for name in ["HEAD", "config", "info/exclude", "info/attributes", "logs/refs/stash"] {
            content.insert(name.to_owned(), fs::read(git_dir.join(name)).unwrap_or_default());
        }
        for hook in fs::read_dir(git_dir.join("hooks")).into_iter().flatten().flatten() {
            let name = hook.file_name().to_string_lossy().into_owned();
            content.insert(format!("hook {name}"), fs::read(hook.path()).unwrap_or_default());
        }
        let words = ["--no-optional-locks", "status", "--porcelain=v2", "-z", "--ignored", "--untracked-files=all"];
        let status = git_in(top, &words);
        for entry in status.split('\0').filter(|entry| !entry.is_empty()) {
            let fields = match entry.as_bytes()[0] {
                b'1' => 9,
                b'2' => 10,
                b'u' => 11,
                _ => 2,
            };
            let path = entry.splitn(fields, ' ').last().unwrap_or_default();
            content.insert(entry.to_owned(), fs::read(top.join(path)).unwrap_or_default());
        }
        Self { refs, content }
    }

    /// What is different `now`. A branch that tasks deliver to may have gone ahead.
    pub fn differences(&self, now: &Self, top: &Path, delivered_to: &BTreeSet<String>) -> Vec<String> {
        let went_ahead = |name: &str| {
            // A push may also create it, or replace what the task pushed before.
            if name.starts_with("refs/remotes/") {
                return delivered_to.contains(name);
            }
            let (Some(old), Some(new)) = (self.refs.get(name), now.refs.get(name)) else { return false };
            let mut git = Command::new("git");
            git.arg("-C").arg(top).args(["merge-base", "--is-ancestor", old, new]);
            delivered_to.contains(name) && git.status().is_ok_and(|status| status.success())
        };
        let refs = differing(&self.refs, &now.refs).into_iter().filter(|name| !went_ahead(name));
        refs.chain(differing(&self.content, &now.content)).collect()
    }
}

fn differing<T: PartialEq>(before: &BTreeMap<String, T>, now: &BTreeMap<String, T>) -> Vec<String> {
    let names: BTreeSet<&String> = before.keys().chain(now.keys()).collect();
    names.into_iter().filter(|name| before.get(*name) != now.get(*name)).cloned().collect()
}

/// The refs that these tasks deliver to. With a pushed branch, git notes where the remote has it.
pub fn delivered_to(tasks: &[Value]) -> BTreeSet<String> {
    let names = |task: &Value| {
        let below = |place: &str, field: &str| task[field].as_str().map(|name| format!("{place}/{name}"));
        match task["deliver"].as_str() {
            Some("merge") => vec![below("refs/heads", "base")],
            // The remote's base is fetched when a pull request is rebased or was merged.
            Some("pr") => ["branch", "base"].map(|field| below("refs/remotes/origin", field)).to_vec(),
            _ => Vec::new(),
        }
    };
    tasks.iter().flat_map(names).flatten().collect()
}

/// The commits of agents, by the trace.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Made {
    /// What a commit, a merge or a stash was about to bring into a ref, with its subject, and every collected work that
    /// git read, without one.
    commits: BTreeMap<String, Option<String>>,
    /// What a rebase has applied elsewhere.
    picked: BTreeSet<String>,
}

impl Made {
    pub fn by(trace: &Path) -> Self {
        let text = fs::read(trace).unwrap_or_default();
        let mut made = Self::default();
        for line in String::from_utf8_lossy(&text).lines() {
            if let Some((_, read)) = line.split_once("read_raw_ref: refs/shuntyard/work: ") {
                let commit = read.split(' ').next().unwrap_or_default();
                made.commits.entry(commit.to_owned()).or_default();
            }
            let Some((head, rest)) = line.split_once(" -> ") else { continue };
            let Some((new, message)) = rest.split_once(" (F=") else { continue };
            let message = message.split_once('"').map_or("", |(_, message)| message).trim_end_matches('"');
            let acts = ["commit", "merge", "cherry-pick", "revert", "WIP on", "On "];
            if head.contains(" CHERRY_PICK_HEAD ") {
                made.picked.insert(new.to_owned());
            } else if !head.contains(" ORIG_HEAD ") && acts.iter().any(|act| message.starts_with(act)) {
                let subject = message.split_once(": ").map_or(message, |(_, subject)| subject);
                made.commits.insert(new.to_owned(), Some(subject.to_owned()));
            }
        }
        let is_id = |text: &str| text.len() >= 40 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        made.commits.retain(|commit, _| is_id(commit) && commit.bytes().any(|byte| byte != b'0'));
        made
    }

    /// Those that no ref leads to, neither in a repository of the user's nor in a workspace. One that was rebased for
    /// its delivery is there under another id.
    pub fn lost(&self, repositories: &BTreeSet<PathBuf>) -> Vec<String> {
        if self.commits.is_empty() {
            return Vec::new();
        }
        let (mut ids, mut subjects) = (BTreeSet::new(), BTreeSet::new());
        for repository in repositories {
            for line in log_of(repository).lines() {
                let (id, subject) = line.split_once(' ').unwrap_or((line, ""));
                ids.insert(id.to_owned());
                subjects.insert(subject.to_owned());
            }
        }
        let rebased = |(commit, subject): &(&String, &Option<String>)| {
            self.picked.contains(*commit) && subject.as_ref().is_none_or(|subject| subjects.contains(subject))
        };
        let missing = self.commits.iter().filter(|(commit, _)| !ids.contains(*commit));
        missing.filter(|entry| !rebased(entry)).map(|(commit, _)| commit.clone()).collect()
    }
}

/// Its commits with their subjects; nothing of a workspace that is removed meanwhile, since its work was delivered
/// before.
fn log_of(repository: &Path) -> String {
    let mut log = None;
    eventually("the commits of a repository", Duration::from_secs(20), || {
        let mut git = Command::new("git");
        let output = git.arg("-C").arg(repository).args(["log", "--all", "--format=%H %s"]).output().expect("git runs");
        if output.status.success() {
            log = Some(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        log.is_some() || !repository.exists()
    });
    log.unwrap_or_default()
}

/// Every workspace below the data directory, and the repositories that agents made in them.
pub fn workspaces(data_dir: &Path) -> Vec<PathBuf> {
    let entries = |path: PathBuf| fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path());
    let hidden = |path: &PathBuf| path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
    let workspaces = entries(data_dir.join("worktrees")).flat_map(entries).filter(|path| !hidden(path));
    let workspaces: Vec<PathBuf> = workspaces.collect();
    let nested: Vec<PathBuf> = workspaces.iter().cloned().flat_map(entries).collect();
    workspaces.into_iter().chain(nested).filter(|path| path.join(".git/HEAD").is_file()).collect()
}

/// A repository with something of each kind, whose git is traced.
struct Sample {
    top: PathBuf,
    trace: PathBuf,
    _scratch: shuntyard_testkit::Scratch,
}

impl Sample {
    fn new() -> Self {
        let scratch = shuntyard_testkit::Scratch::of_test();
        let (top, trace) = (scratch.join("top"), scratch.join("trace"));
        fs::create_dir(&top).expect("a directory");
        let sample = Self { top, trace, _scratch: scratch };
        sample.run(
            "git init -q -b main; git config user.name Ann; git config user.email ann@example.org; echo a > tracked; \
             echo '*.log' > .gitignore; git add -A; git commit -qm first; git branch side; echo s > tracked; \
             git stash -q; echo i > ignored.log; echo u > untracked; echo st > staged; git add staged",
        );
        fs::remove_file(&sample.trace).expect("the trace of the preparation");
        sample
    }

    fn run(&self, script: &str) -> String {
        let mut shell = Command::new("sh");
        shell.args(["-ec", script]).current_dir(&self.top).env(TRACE, &self.trace);
        let output = shell.output().expect("a shell");
        assert!(output.status.success(), "{script}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    fn lost(&self) -> Vec<String> {
        Made::by(&self.trace).lost(&[self.top.clone()].into())
    }
}

#[test]
fn every_change_of_a_checkout_is_a_difference() {
    let changes = [
        "echo x > tracked",
        "rm tracked",
        "echo x > untracked",
        "rm untracked",
        "echo x > planted",
        "echo x > ignored.log",
        "rm ignored.log",
        "git rm -q --cached staged",
        "echo x > staged; git add staged",
        "git stash drop -q",
        "git branch -D -q side",
        "git tag new",
        "git config user.name Eve",
        "mkdir -p .git/hooks; echo exit > .git/hooks/pre-commit",
        "git checkout -q --detach",
        "git commit -q -m second",
    ];
    for change in changes {
        let sample = Sample::new();
        let before = Checkout::of(&sample.top);
        let differences = || before.differences(&Checkout::of(&sample.top), &sample.top, &BTreeSet::new());
        assert_eq!(differences(), [""; 0], "{change}");
        sample.run(change);
        assert_ne!(differences(), [""; 0], "{change}");
    }
}

#[test]
fn a_branch_may_go_ahead_only_by_a_delivery() {
    let sample = Sample::new();
    sample.run("git reset -q --hard; rm untracked");
    let before = Checkout::of(&sample.top);
    let differences = |branches: &[&str]| {
        let delivered = branches.iter().map(|branch| format!("refs/heads/{branch}")).collect();
        before.differences(&Checkout::of(&sample.top), &sample.top, &delivered)
    };
    sample.run("echo d > delivered; git add -A; git commit -qm delivered");
    assert_eq!((differences(&["main"]), differences(&["side"])), (vec![], vec!["refs/heads/main".to_owned()]));
    sample.run("git commit -q --amend -m rewritten; git reset -q --hard $(git commit-tree -m other HEAD^{tree})");
    assert_eq!(differences(&["main"]), ["refs/heads/main"], "it did not go ahead");
}

#[test]
fn a_commit_that_no_ref_leads_to_is_found() {
    let sample = Sample::new();
    sample.run("git reset -q --hard; echo k > kept; git add kept; git commit -qm kept");
    assert_eq!((Made::by(&sample.trace).commits.len(), sample.lost()), (1, vec![]));
    let ways = [
        "echo x > x; git add x; git commit -qm x; git rev-parse HEAD; git reset -q --hard HEAD~1",
        "git checkout -q --detach; git commit -q --allow-empty -m y; git rev-parse HEAD; git checkout -q main",
        "echo z > tracked; git stash -q; git rev-parse stash; git stash drop -q",
        "git update-ref refs/shuntyard/work $(git commit-tree -m w HEAD^{tree}); git rev-parse refs/shuntyard/work; \
         git update-ref refs/shuntyard/work HEAD",
    ];
    for way in ways {
        let commit = sample.run(way);
        assert_eq!(sample.lost(), [commit.as_str()], "{way}");
        sample.run(&format!("git update-ref refs/kept/{commit} {commit}"));
        assert_eq!(sample.lost(), [""; 0], "{way}");
    }
    sample.run(
        "git checkout -q -b moved side; echo m > m; git add m; git commit -qm moved; git rebase -q main; \
         git checkout -q --detach side; echo n > n; git add n; git commit -qm other; git checkout -q main",
    );
    assert_eq!(sample.lost().len(), 1, "what was rebased is there, what was left is not");
}
