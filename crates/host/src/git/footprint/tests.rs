//! The real git: what a footprint contains, and that it leaves no trace.

use super::*;
use std::fs;
use std::os::unix::fs::PermissionsExt;

struct Repository {
    directory: shuntyard_testkit::Scratch,
    git: Git,
}

impl Repository {
    /// With a commit that has `README` and ignores `*.log` and `build/`.
    fn new() -> Self {
        let directory = shuntyard_testkit::Scratch::of_test();
        let mut variables: Vec<_> =
            ["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"].map(|name| (name.into(), "/dev/null".into())).into();
        for role in ["AUTHOR", "COMMITTER"] {
            variables.push((format!("GIT_{role}_NAME").into(), "A Tester".into()));
            variables.push((format!("GIT_{role}_EMAIL").into(), "tester@example.invalid".into()));
        }
        let repository = Self { directory, git: Git { variables, ..Git::default() } };
        repository.run(&["init", "--quiet", "--initial-branch=main"]);
        repository.write("README", "first\n");
        repository.write(".gitignore", "*.log\nbuild/\n");
        repository.commit("first");
        repository
    }

    fn top(&self) -> &Path {
        self.directory.path()
    }

    fn run(&self, args: &[&str]) -> String {
        self.git.line(&within(self.top(), args)).unwrap()
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.top().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn commit(&self, message: &str) -> String {
        self.run(&["add", "--all"]);
        self.run(&["commit", "--quiet", "-m", message]);
        self.run(&["rev-parse", "HEAD"])
    }

    fn look(&self) -> Footprint {
        self.git.footprint(self.top(), None).unwrap()
    }

    fn look_again(&self, before: &Footprint) -> Footprint {
        self.git.footprint(self.top(), Some(before)).unwrap()
    }
}

fn listings(footprint: &Footprint) -> Vec<(&str, Listing, bool)> {
    let shown = |(path, trace)| {
        let (path, trace): (&PathBuf, &FileTrace) = (path, trace);
        (path.to_str().unwrap(), trace.listing, trace.staged.is_some())
    };
    footprint.files.iter().map(shown).collect()
}

#[test]
fn every_kind_of_entry_is_listed() {
    let repository = Repository::new();
    for name in ["edited", "deleted", "staged", "forgotten"] {
        repository.write(name, "x");
    }
    repository.commit("more");
    assert_eq!(repository.look().files.len(), 0, "all is committed");
    repository.write("edited", "y");
    fs::remove_file(repository.top().join("deleted")).unwrap();
    repository.write("staged", "y");
    repository.run(&["add", "staged"]);
    repository.run(&["rm", "--quiet", "--cached", "forgotten"]);
    repository.write("odd 'name'\nü", "x");
    repository.write("new/inside", "x");
    repository.write("added", "x");
    repository.run(&["add", "added"]);
    repository.write("trace.log", "x");
    repository.write("build/deep/object", "x");
    let footprint = repository.look();
    assert_eq!(
        listings(&footprint),
        [
            ("added", Listing::Added, true),
            ("build", Listing::Ignored, false),
            ("deleted", Listing::Tracked, false),
            ("edited", Listing::Tracked, false),
            ("forgotten", Listing::Untracked, true),
            ("new/inside", Listing::Untracked, false),
            ("odd 'name'\nü", Listing::Untracked, false),
            ("staged", Listing::Tracked, true),
            ("trace.log", Listing::Ignored, false),
        ]
    );
    let disk = |name: &str| footprint.files[Path::new(name)].disk.clone();
    assert_eq!(disk("build"), OnDisk::Directory);
    assert_eq!(disk("deleted"), OnDisk::Absent);
    assert!(matches!(disk("edited"), OnDisk::File { content: Some(_), size: 1, .. }));
    assert!(matches!(disk("trace.log"), OnDisk::File { content: None, .. }), "an ignored file is not read");
    assert_eq!(repository.look(), footprint, "a second look sees the same");
}

#[test]
fn paths_of_the_earlier_look_are_looked_at_again() {
    let repository = Repository::new();
    repository.write("README", "mine\n");
    repository.write("notes.txt", "x");
    repository.write("build/object", "x");
    let before = repository.look();
    repository.run(&["checkout", "--quiet", "--", "README"]);
    fs::remove_file(repository.top().join("notes.txt")).unwrap();
    fs::remove_dir_all(repository.top().join("build")).unwrap();
    let after = repository.look_again(&before);
    let unlisted = |disk| FileTrace { listing: Listing::Unlisted, staged: None, disk };
    assert_eq!(after.files[Path::new("notes.txt")], unlisted(OnDisk::Absent));
    assert_eq!(after.files[Path::new("build")], unlisted(OnDisk::Absent));
    let (past, now) = (&before.files[Path::new("README")], &after.files[Path::new("README")]);
    assert_eq!(now.listing, Listing::Unlisted);
    let content = |trace: &FileTrace| match trace.disk {
        OnDisk::File { content, .. } => content,
        OnDisk::Absent | OnDisk::Directory => None,
    };
    assert!(content(past).is_some() && content(now).is_some() && content(past) != content(now));
}

#[test]
fn a_hash_is_of_the_content_and_of_the_mode() {
    let repository = Repository::new();
    let hash = || match repository.look().files[Path::new("script")].disk {
        OnDisk::File { content, .. } => content.unwrap(),
        OnDisk::Absent | OnDisk::Directory => panic!("it is a file"),
    };
    repository.write("script", "x");
    let first = hash();
    fs::remove_file(repository.top().join("script")).unwrap();
    repository.write("script", "x");
    assert_eq!(hash(), first, "another file with the same content");
    fs::set_permissions(repository.top().join("script"), fs::Permissions::from_mode(0o600)).unwrap();
    assert_ne!(hash(), first);
}

#[test]
fn the_repository_is_part_of_it() {
    let repository = Repository::new();
    let first = repository.run(&["rev-parse", "HEAD"]);
    repository.run(&["update-ref", "refs/shuntyard/tasks/t001/delivered/x", &first]);
    repository.run(&["branch", "shuntyard/t001"]);
    repository.run(&["tag", "v1"]);
    repository.write("README", "stashed\n");
    repository.run(&["stash", "--quiet"]);
    let before = repository.look();
    assert_eq!(before.head, "refs/heads/main");
    assert_eq!(before.commit.as_ref(), Some(&first));
    assert_eq!(before.references.keys().collect::<Vec<_>>(), ["refs/heads/main", "refs/tags/v1"]);
    assert_eq!(before.recorded, [first.clone()].into());
    assert_eq!(before.stashes, [repository.run(&["rev-parse", "stash@{0}"])]);
    repository.run(&["config", "user.name", "Eve"]);
    fs::create_dir_all(before.git_directory.join("hooks")).unwrap();
    fs::write(before.git_directory.join("hooks/pre-commit"), "exit 1\n").unwrap();
    repository.run(&["checkout", "--quiet", "--detach"]);
    repository.run(&["stash", "drop", "--quiet"]);
    repository.run(&["worktree", "add", "--quiet", "../tree", "main"]);
    let after = repository.look();
    assert_eq!(after.head, first);
    assert_eq!(after.stashes, [""; 0]);
    assert_ne!(after.settings["config"], before.settings["config"]);
    assert!(after.settings.contains_key("worktrees/tree/gitdir"));
    assert!(after.hooks.contains_key("pre-commit") && !before.hooks.contains_key("pre-commit"));
}

#[test]
fn a_repository_without_a_commit_is_seen() {
    let repository = Repository::new();
    repository.run(&["symbolic-ref", "HEAD", "refs/heads/unborn"]);
    let footprint = repository.look();
    assert_eq!((footprint.head.as_str(), footprint.commit), ("refs/heads/unborn", None));
}

#[test]
fn a_look_starts_no_program_of_the_repository_and_leaves_the_index() {
    let repository = Repository::new();
    let mark = repository.top().join("build/was-run");
    repository.write("build/program", &format!("#!/bin/sh\ntouch {}\n", mark.display()));
    let program = repository.top().join("build/program");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let hooks = repository.top().join("build/hooks");
    fs::create_dir_all(&hooks).unwrap();
    for hook in ["post-index-change", "reference-transaction", "pre-auto-gc"] {
        fs::copy(&program, hooks.join(hook)).unwrap();
    }
    repository.run(&["config", "core.fsmonitor", program.to_str().unwrap()]);
    repository.run(&["config", "core.hooksPath", hooks.to_str().unwrap()]);
    let _ = fs::remove_file(&mark);
    // Git would like to note the new time in its index.
    repository.write("README", "first\n");
    let index = fs::read(repository.top().join(".git/index")).unwrap();
    // A lock that another process holds is no reason to wait or to fail.
    fs::write(repository.top().join(".git/index.lock"), "").unwrap();
    repository.look();
    assert!(!mark.exists());
    assert_eq!(fs::read(repository.top().join(".git/index")).unwrap(), index);
}

#[test]
fn entries_beyond_the_limit_are_counted() {
    let repository = Repository::new();
    for number in 0..ENTRIES + 5 {
        fs::write(repository.top().join(format!("{number}.log")), "").unwrap();
    }
    repository.write("new", "x");
    let footprint = repository.look();
    assert_eq!((footprint.files.len(), footprint.uncounted), (ENTRIES, 6));
    assert!(footprint.files.contains_key(Path::new("new")), "what is not ignored comes first");
}

#[test]
fn only_moves_of_deliveries_are_ours() {
    let repository = Repository::new();
    let (top, git) = (repository.top(), &repository.git);
    let first = repository.run(&["rev-parse", "HEAD"]);
    repository.run(&["checkout", "--quiet", "-b", "work"]);
    repository.write("delivered", "x");
    let second = repository.commit("second");
    repository.write("delivered", "y");
    let third = repository.commit("third");
    repository.run(&["checkout", "--quiet", "main"]);
    for name in ["elsewhere", "recorded", "mixed"] {
        repository.run(&["branch", name, &first]);
    }
    let ours = |before: &Footprint| git.moved_by_deliveries(top, before, &repository.look()).unwrap();
    let before = repository.look();
    assert_eq!(ours(&before), BTreeSet::new());
    // The checked-out branch in two steps, and one that no working tree is on.
    git.fast_forward(top, "main", &first, &second).unwrap();
    git.fast_forward(top, "main", &second, &third).unwrap();
    git.fast_forward(top, "elsewhere", &first, &third).unwrap();
    git.fast_forward(top, "mixed", &first, &second).unwrap();
    repository.run(&["update-ref", "refs/heads/mixed", &third]);
    repository.run(&["update-ref", "refs/heads/recorded", &second]);
    let names = |names: &[&str]| names.iter().map(|name| format!("refs/heads/{name}")).collect::<BTreeSet<_>>();
    assert_eq!(ours(&before), names(&["main", "elsewhere"]));
    // A base that is pinned for a task is no delivery.
    repository.run(&["update-ref", "refs/shuntyard/tasks/t001/base", &second]);
    assert_eq!(ours(&before), names(&["main", "elsewhere"]));
    repository.run(&["update-ref", "refs/shuntyard/tasks/t001/delivered/x", &second]);
    assert_eq!(ours(&before), names(&["main", "elsewhere", "recorded"]));
    // The user goes on from what was delivered.
    repository.run(&["commit", "--quiet", "--allow-empty", "-m", "fourth"]);
    assert_eq!(ours(&before), names(&["elsewhere", "recorded"]));
}
