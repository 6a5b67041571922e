//! The real git in temporary repositories that know nothing of this machine's settings.

use std::fs;

use super::changes::parse_status;
use super::*;
use crate::process::ProcessIdentity;

struct Repository {
    directory: shuntyard_testkit::Scratch,
    git: Git,
}

impl Repository {
    fn new() -> Self {
        let directory = shuntyard_testkit::Scratch::of_test();
        let nowhere = ["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"].map(|name| (name.into(), "/dev/null".into()));
        // A search for a repository must not find one above the temporary directory.
        let ceiling = ("GIT_CEILING_DIRECTORIES".into(), directory.path().parent().unwrap().into());
        let git = Git { variables: nowhere.into_iter().chain([ceiling]).collect(), ..Git::default() };
        Self { directory, git }
    }

    fn initialised() -> Self {
        let repository = Self::new();
        repository.git.init(repository.path()).unwrap();
        repository
    }

    fn path(&self) -> &Path {
        self.directory.path()
    }

    fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        fs::write(self.path().join(name), text).unwrap();
    }

    fn commit(&self, message: &str) -> Option<String> {
        let author = Author { name: "A Tester".to_owned(), email: "tester@example.invalid".to_owned() };
        self.git.commit_all(self.path(), message, &author).unwrap()
    }
}

fn entry(letters: &str, path: &str) -> StatusEntry {
    let mut letters = letters.chars();
    StatusEntry { index: letters.next().unwrap(), worktree: letters.next().unwrap(), path: path.into() }
}

#[test]
fn version_is_a_number() {
    let version = Git::default().version().unwrap();
    assert!(version.starts_with(|first: char| first.is_ascii_digit()), "{version}");
}

#[test]
fn a_repository_is_told_from_a_plain_directory() {
    let repository = Repository::new();
    assert_eq!(repository.git.toplevel(repository.path()).unwrap(), None);
    repository.git.init(repository.path()).unwrap();
    repository.git.init(repository.path()).unwrap();
    let below = repository.path().join("a b/ü");
    fs::create_dir_all(&below).unwrap();
    let top = repository.git.toplevel(&below).unwrap().unwrap();
    assert_eq!(top, repository.path().canonicalize().unwrap());
    assert_eq!(repository.git.toplevel(&top.join(".git")).unwrap(), None);
    assert!(matches!(repository.git.toplevel(Path::new("/no/such/place")), Err(GitError::Failed { .. })));
}

#[test]
fn commits_everything_once() {
    let repository = Repository::initialised();
    assert_eq!(repository.git.head(repository.path()).unwrap(), None);
    assert_eq!(repository.commit("empty"), None);
    repository.write("one", "1\n");
    repository.write("-two ü", "2\n");
    let first = repository.commit("- first\n\n# not a comment");
    assert_eq!(first.as_ref().map(String::len), Some(40));
    assert_eq!(repository.git.head(repository.path()).unwrap(), first);
    assert_eq!(repository.commit("again"), None);
    let shown = repository.git.line(&within(repository.path(), &["log", "-1", "--format=%an|%ce|%B"])).unwrap();
    assert_eq!(shown, "A Tester|tester@example.invalid|- first\n\n# not a comment");
}

#[test]
fn changes_are_listed_and_counted() {
    let repository = Repository::initialised();
    repository.write("edited", "a\nb\nc\n");
    repository.write("emptied", "x\n");
    repository.write("gone", "x\n");
    repository.write("image", [0, 1, 2]);
    let first = repository.commit("first").unwrap();
    assert_eq!(repository.git.status_porcelain(repository.path()).unwrap(), []);
    repository.write("edited", "a\nB\nc\nd\n");
    repository.write("image", [0, 1, 3]);
    repository.write("new \"ü\"\n", "n\n");
    fs::remove_file(repository.path().join("gone")).unwrap();
    let status = repository.git.status_porcelain(repository.path()).unwrap();
    assert_eq!(
        status,
        [(" M", "edited"), (" D", "gone"), (" M", "image"), ("??", "new \"ü\"\n")].map(|(l, p)| entry(l, p))
    );
    let diff = |path: &str, lines: Option<(u64, u64)>| FileDiff {
        path: path.into(),
        lines: lines.map(|(added, deleted)| ChangedLines { added, deleted }),
        is_gone: path == "gone",
        is_emptied: path == "emptied",
        is_symlink: false,
        link: None,
    };
    let expected =
        [diff("edited", Some((2, 1))), diff("emptied", Some((0, 1))), diff("gone", Some((0, 1))), diff("image", None)];
    repository.write("emptied", "");
    fs::remove_file(repository.path().join("new \"ü\"\n")).unwrap();
    let second = repository.commit("second").unwrap();
    let between = |from: &str| repository.git.diff_stat_between(repository.path(), from, &second);
    assert_eq!(between(&first).unwrap(), expected);
    assert!(matches!(between("--output=x"), Err(GitError::Failed { .. })));
}

#[test]
fn a_rename_is_one_entry() {
    assert_eq!(parse_status(b"R  new\0old\0?? x\0"), [entry("R ", "new"), entry("??", "x")]);
    assert_eq!(parse_status(b""), []);
}

#[test]
fn the_environment_cannot_point_elsewhere() {
    let command = Git::default().command(&["status"]);
    let changed = |name: &str| command.get_envs().find(|(other, _)| *other == name).map(|(_, value)| value);
    for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY"] {
        assert_eq!(changed(name), Some(None), "{name}");
    }
    assert_eq!(changed("GIT_TERMINAL_PROMPT"), Some(Some(OsStr::new("0"))));
}

#[test]
fn failures_say_what_was_run() {
    let missing = Git { program: "no-such-git-anywhere".into(), ..Git::default() };
    assert!(matches!(missing.version(), Err(GitError::Missing)));
    let repository = Repository::initialised();
    let error = repository.git.is_ancestor(repository.path(), "no-such-base", "no-such-base").unwrap_err();
    let GitError::Failed { command, code, stderr } = error else { panic!("{error:?}") };
    assert!(command.starts_with("git -C ") && command.ends_with("no-such-base no-such-base"), "{command}");
    assert!(code == Some(128) && stderr.contains("no-such-base"), "{code:?} {stderr}");
}

#[test]
fn a_hung_git_is_ended_with_all_it_started() {
    let directory = shuntyard_testkit::Scratch::of_test();
    let (program, pids) = (directory.path().join("git"), directory.path().join("pids"));
    let script = format!("#!/bin/sh\ntrap '' TERM\nsleep 300 &\necho $$ $! > {}\nwait\nsleep 300\n", pids.display());
    crate::bounded::install_script(&program, &script);
    let git = Git { program, idle_deadline: Duration::from_millis(2500), ..Git::default() };
    assert!(matches!(git.version(), Err(GitError::Deadline { command, .. }) if command == "git --version"));
    let pids = fs::read_to_string(pids).unwrap();
    for pid in pids.split_whitespace().map(|pid| pid.parse().unwrap()) {
        assert!(!ProcessIdentity::of(pid).is_some_and(|process| process.is_alive()), "{pid} lives");
    }
}

#[test]
fn a_checkout_may_take_longer_than_it_may_be_idle() {
    let repository = Repository::initialised();
    for number in 0..5 {
        repository.write(&format!("{number}.large"), format!("{number}\n"));
    }
    repository.write(".gitattributes", "*.large filter=slow\n");
    let base = repository.commit("first").unwrap();
    // As a filter that fetches each file from elsewhere.
    repository.git.succeed(&within(repository.path(), &["config", "filter.slow.smudge", "sleep 1; cat"])).unwrap();
    let patient = Git { idle_deadline: Duration::from_secs(3), ..repository.git.clone() };
    let elsewhere = shuntyard_testkit::Scratch::of_test();
    let tree = elsewhere.path().join("tree");
    let check_out = |tree: &Path| {
        let (place, words) = (tree.to_str().unwrap(), ["worktree", "add", "--quiet", "--detach"]);
        patient.succeed(&within(repository.path(), &[&words[..], &[place, &base]].concat()))
    };
    check_out(&tree).unwrap();
    assert_eq!(fs::read_to_string(tree.join("4.large")).unwrap(), "4\n");

    let stuck = ["config", "filter.slow.smudge", "exec sleep 300"];
    repository.git.succeed(&within(repository.path(), &stuck)).unwrap();
    let hung = check_out(&elsewhere.path().join("hung"));
    assert!(matches!(hung, Err(GitError::Deadline { .. })), "{hung:?}");
}

#[test]
fn output_that_nobody_can_hold_is_an_error() {
    let repository = Repository::initialised();
    let file = fs::File::create(repository.path().join("large")).unwrap();
    file.set_len(70 * 1024 * 1024).unwrap();
    repository.commit("first").unwrap();
    let shown = repository.git.output(repository.path(), &["cat-file", "blob", "HEAD:large"]);
    let Err(GitError::TooLarge { command, limit }) = shown else { panic!("{:?}", shown.map(|bytes| bytes.len())) };
    assert!(command.ends_with("cat-file blob HEAD:large") && limit == 64 * 1024 * 1024, "{command} {limit}");
}

#[test]
fn a_diff_has_new_files_and_leaves_the_index_alone() {
    let repository = Repository::initialised();
    repository.write("old.txt", "known\n");
    repository.commit("first").unwrap();
    let top = repository.path();
    repository.write("new.txt", "not known yet\n");
    let scratch = shuntyard_testkit::Scratch::of_test();
    let before = repository.git.status_porcelain(top).unwrap();
    let head = repository.git.commit_of(top, "HEAD").unwrap();
    let diff = repository.git.diff_of_all(top, &head, &scratch.path().join("index")).unwrap();
    assert!(diff.contains("+not known yet"), "{diff}");
    assert_eq!(repository.git.status_porcelain(top).unwrap(), before);
    assert!(!repository.git.diff_of(top, "HEAD").unwrap().contains("not known yet"));
    assert!(repository.git.diff_of(top, "--output=/tmp/never").is_err(), "a range is never an option");
    assert!(repository.git.commit_of(top, "no-such-name").is_err());
}

#[test]
fn a_diff_runs_nothing_hides_nothing_and_leaves_nothing() {
    let repository = Repository::initialised();
    repository.write("old.txt", "known\n");
    repository.commit("first").unwrap();
    let top = repository.path();
    let ran = top.join("ran");
    let hooks = top.join("hooks");
    fs::create_dir(&hooks).unwrap();
    let hook = hooks.join("post-index-change");
    fs::write(&hook, format!("#!/bin/sh\ntouch {}\n", ran.display())).unwrap();
    std::process::Command::new("chmod").arg("+x").arg(&hook).status().unwrap();
    let config = top.join(".git/config");
    let text = fs::read_to_string(&config).unwrap();
    fs::write(
        &config,
        format!("{text}[core]\n\thooksPath = {}\n\tfsmonitor = touch {}\n", hooks.display(), ran.display()),
    )
    .unwrap();
    repository.write(".gitattributes", "*.py -diff\n");
    repository.write("hidden.py", "import os\n");
    repository.write("picture.bin", [0_u8, 1, 2, 0, 3]);
    let objects = || walk(&top.join(".git/objects"));
    let before = objects();
    let scratch = shuntyard_testkit::Scratch::of_test();
    let diff = repository.git.diff_of_all(top, "HEAD", &scratch.path().join("index")).unwrap();
    assert!(diff.contains("+import os"), "{diff}");
    assert!(diff.contains("picture.bin differ"), "{diff}");
    assert!(!ran.exists(), "a program of the repository was run");
    assert_eq!(objects(), before);
    let empty = repository.git.empty_tree(top).unwrap();
    assert!(repository.git.diff_of_all(top, &empty, &scratch.path().join("other")).unwrap().contains("+known"));
}

fn walk(directory: &Path) -> usize {
    let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    entries.map(|path| if path.is_dir() { walk(&path) } else { 1 }).sum()
}
