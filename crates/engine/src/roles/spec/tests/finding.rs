//! What is found by listing, what an argument means, and what is refused.

use super::*;
use std::os::unix::fs::symlink;

/// What an argument means, from the top of the repository.
fn meant(yard: &Yard, argument: &str) -> String {
    match find(&yard.place(), &yard.path("repo"), argument) {
        Ok(Target::All) => "all".to_owned(),
        Ok(Target::Task(task)) => format!("task {}", task.name),
        Ok(Target::Unit { task, unit }) => format!("unit {} of {}", unit.name, task.name),
        Ok(Target::File(path)) => format!("file {}", yard.place().shown(&path)),
        Err(error) => format!("error {error}"),
    }
}

#[test]
fn tasks_are_found_by_number_name_and_path() {
    let yard = Yard::new();
    yard.create("add-export", &["parser"]).unwrap();
    yard.create("other", &[]).unwrap();
    yard.write(".ai/tasks/010-other/task-spec.md", GOOD);
    yard.write("drafts/plan.md", GOOD);
    let outside = yard.path("outside.md").display().to_string();
    fs::write(&outside, GOOD).unwrap();
    let table = [
        ("1", "task 001-add-export"),
        ("001", "task 001-add-export"),
        ("add-export", "task 001-add-export"),
        ("001-add-export", "task 001-add-export"),
        ("add-export/parser", "unit 01-parser of 001-add-export"),
        ("1/01-parser", "unit 01-parser of 001-add-export"),
        (".ai/tasks/001-add-export", "task 001-add-export"),
        (".ai/tasks/001-add-export/", "task 001-add-export"),
        (".ai/tasks/001-add-export/01-parser", "unit 01-parser of 001-add-export"),
        (".ai/tasks/001-add-export/task-spec.md", "file .ai/tasks/001-add-export/task-spec.md"),
        ("drafts/plan.md", "file drafts/plan.md"),
        (".ai/tasks", "all"),
        (".", "all"),
        ("other", "error `other` may be 002-other or 010-other"),
        ("10", "task 010-other"),
        ("11", "error there is no task and no file `11`"),
        ("", "all"),
        ("add-exprot", "error there is no task and no file `add-exprot`"),
        ("add-export/writer", "error there is no task and no file `add-export/writer`"),
        ("drafts/none.md", "error there is no task and no file `drafts/none.md`"),
    ];
    for (argument, wanted) in table {
        assert_eq!(meant(&yard, argument), wanted, "{argument}");
    }
    for outside in ["../outside.md", &outside, "/etc/passwd"] {
        assert!(meant(&yard, outside).contains("which is outside of"), "{outside}");
    }
    let near = find(&yard.place(), &yard.path("repo"), "add-exprot");
    assert!(matches!(near, Err(ReadError::NotFound { near, .. }) if near == ["001-add-export"]));
}

#[test]
fn a_repository_is_found_from_below_and_its_own_artifacts_come_first() {
    let yard = Yard::new();
    yard.write("src/deep/a.rs", "");
    assert_eq!(Place::of(&yard.path("repo/src/deep")).unwrap().root(), yard.path("repo"));
    fs::create_dir_all(yard.path("repo/src/.ai")).unwrap();
    assert_eq!(Place::of(&yard.path("repo/src/deep")).unwrap().root(), yard.path("repo/src"));
    // Without a repository nothing above is looked at. The build directory, where other tests have their files, usually
    // is in one.
    let loose = tempfile::tempdir().unwrap();
    let below = loose.path().canonicalize().unwrap().join("below");
    fs::create_dir_all(&below).unwrap();
    fs::create_dir_all(loose.path().join(".ai")).unwrap();
    assert_eq!(Place::of(&below).unwrap().root(), below);
    assert!(matches!(Place::of(&yard.path("nowhere")), Err(PlaceError::Io { .. })));
    yard.write("file", "");
    assert!(matches!(Place::of(&yard.path("repo/file")), Err(PlaceError::NotDirectory(_))));
}

#[test]
fn what_is_missing_or_broken_is_said_clearly() {
    let yard = Yard::new();
    let said = || yard.check(&[]).unwrap_err().to_string().replace(&yard.path("repo").display().to_string(), "REPO");
    assert_eq!(said(), "there is no .ai in REPO");
    fs::create_dir(yard.path("repo/.ai")).unwrap();
    assert_eq!(said(), "there is no .ai/tasks in REPO");
    symlink("gone", yard.path("repo/.ai/tasks")).unwrap();
    assert_eq!(said(), "REPO/.ai/tasks is a link to gone, which is not there");
    fs::remove_file(yard.path("repo/.ai/tasks")).unwrap();
    yard.write(".ai/tasks", "a file");
    assert_eq!(said(), "REPO/.ai/tasks is no directory");
    fs::remove_dir_all(yard.path("repo/.ai")).unwrap();
    symlink(".ai", yard.path("repo/.ai")).unwrap();
    assert!(said().starts_with("REPO/.ai cannot be used: "), "{}", said());
}

#[test]
fn links_out_of_the_repository_are_told_and_not_followed() {
    let yard = Yard::new();
    yard.write(".ai/tasks/001-good/task-spec.md", GOOD);
    fs::create_dir_all(yard.path("secret/002-theirs")).unwrap();
    fs::write(yard.path("secret/002-theirs/task-spec.md"), GOOD).unwrap();
    symlink(yard.path("secret/002-theirs"), yard.path("repo/.ai/tasks/002-theirs")).unwrap();
    fs::create_dir(yard.path("repo/.ai/tasks/003-file")).unwrap();
    symlink(yard.path("secret/002-theirs/task-spec.md"), yard.path("repo/.ai/tasks/003-file/task-spec.md")).unwrap();
    fs::create_dir(yard.path("repo/.ai/tasks/004-device")).unwrap();
    symlink("/dev/zero", yard.path("repo/.ai/tasks/004-device/task-spec.md")).unwrap();
    let told = yard.check(&[]).unwrap();
    let places: Vec<&str> = told.iter().filter_map(|fault| fault.split(":1: unreadable").next()).collect();
    assert_eq!(
        places,
        [".ai/tasks", ".ai/tasks/003-file/task-spec.md", ".ai/tasks/004-device/task-spec.md"],
        "{told:#?}"
    );
    assert!(told.iter().all(|fault| fault.contains("outside of")), "{told:#?}");
    let overview = status(&yard.place(), &yard.path("repo"), None).unwrap();
    assert_eq!(overview.troubles.len(), 1);
    assert_eq!(overview.tasks[1].reason.as_deref(), Some("the spec cannot be read"));
}

#[test]
fn files_that_are_no_text_or_too_large_are_told() {
    let yard = Yard::new();
    yard.write(".ai/tasks/001-large/task-spec.md", &"x".repeat(300 * 1024));
    yard.write(".ai/tasks/002-bytes/task-spec.md", "");
    fs::write(yard.path("repo/.ai/tasks/002-bytes/task-spec.md"), [0xff, 0xfe]).unwrap();
    fs::create_dir_all(yard.path("repo/.ai/tasks/003-directory/task-spec.md")).unwrap();
    assert_eq!(
        yard.check(&[]).unwrap(),
        [
            ".ai/tasks/001-large/task-spec.md:1: unreadable: the file cannot be read: larger than 256 KiB",
            ".ai/tasks/002-bytes/task-spec.md:1: unreadable: the file cannot be read: not UTF-8",
            ".ai/tasks/003-directory/task-spec.md:1: unreadable: the file cannot be read: not a regular file",
        ]
    );
}

#[test]
fn directories_are_checked_with_their_names_and_their_files() {
    let yard = Yard::new();
    yard.write(".ai/tasks/001-good/task-spec.md", GOOD);
    yard.write(".ai/tasks/001-twice/task-spec.md", GOOD);
    yard.write(".ai/tasks/2-Bad/task-spec.md", GOOD);
    yard.write(".ai/tasks/notes/README.md", "no task");
    yard.write(".ai/tasks/unnumbered/task-spec.md", GOOD);
    yard.write(".ai/tasks/004-empty/notes.txt", "");
    yard.write(".ai/tasks/005-handed/handoff.md", "## User Intent\nCSV\n");
    yard.write(".ai/tasks/006-reported/task-spec.md", GOOD);
    yard.write(".ai/tasks/006-reported/validation-report.md", "Fine.\n");
    yard.write(".ai/tasks/006-reported/01-stray/task-spec.md", GOOD);
    let told = yard.check(&[]).unwrap();
    let short: Vec<String> = told
        .iter()
        .map(|fault| fault.trim_start_matches(".ai/tasks/").splitn(3, ": ").take(2).collect::<Vec<_>>().join(" "))
        .collect();
    let handed = ["005-handed/handoff.md:1 handoff-field"; 9];
    assert_eq!(
        short,
        [
            &["001-twice:1 number-twice", "004-empty:1 spec-missing"],
            handed.as_slice(),
            &[
                "005-handed/handoff.md:1 planning-blocked",
                "006-reported/task-spec.md:1 unit-directory-unlisted",
                "006-reported/validation-report.md:1 report-unclear",
                "2-Bad:1 task-name",
                "unnumbered:1 task-name",
            ],
        ]
        .concat()
    );
    assert_eq!(
        yard.check(&["good", "1-good", "001-good"]).unwrap_err().to_string(),
        "there is no task and no file `1-good`"
    );
    assert_eq!(yard.check(&["good", ".ai/tasks/001-good/task-spec.md"]).unwrap(), [""; 0]);
}

#[test]
fn a_file_is_checked_as_what_it_is() {
    let yard = Yard::new();
    yard.create("a", &["b"]).unwrap();
    yard.write("plan.md", GOOD);
    yard.write("handoff.md", "");
    yard.write("implementation-report.md", "");
    let rules = |path: &str| -> Vec<String> {
        let told = yard.check(&[path]).unwrap();
        told.iter().filter_map(|fault| fault.split(": ").nth(1)).map(str::to_owned).collect()
    };
    assert_eq!(rules("plan.md"), [""; 0]);
    assert_eq!(rules("handoff.md").len(), 11);
    assert_eq!(rules("implementation-report.md"), ["report-unclear"]);
    fs::remove_dir_all(yard.path("repo/.ai/tasks/001-a/01-b")).unwrap();
    assert!(rules(".ai/tasks/001-a/task-spec.md").contains(&"unit-directory-missing".to_owned()));
    yard.write(".ai/tasks/001-a/01-b/task-spec.md", "## Units\n");
    assert!(rules(".ai/tasks/001-a/01-b/task-spec.md").contains(&"units-nested".to_owned()));
    assert!(rules("a/b").contains(&"units-nested".to_owned()));
}

#[test]
fn names_of_directories_bring_no_escapes_into_a_message() {
    let yard = Yard::new();
    yard.write(".ai/tasks/007-a\u{1b}[2J/task-spec.md", GOOD);
    yard.write(".ai/tasks/007-b/task-spec.md", GOOD);
    let checked = check(&yard.place(), &yard.path("repo"), &[]).unwrap();
    let messages: Vec<&str> = checked.faults.iter().map(|found| found.fault.message.as_str()).collect();
    assert!(messages.contains(&"007-a\u{fffd}[2J has this number already"), "{messages:?}");
    assert!(!messages.iter().any(|message| message.contains(char::is_control)), "{messages:?}");
}
