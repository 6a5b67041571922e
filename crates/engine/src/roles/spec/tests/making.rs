//! New tasks: their numbers, their files, and what is left of failures.

use super::*;
use shuntyard_core::roles::spec::number_of;
use std::{collections::BTreeSet, os::unix::fs::symlink, sync::Barrier};

fn names(yard: &Yard) -> Vec<String> {
    let entries = fs::read_dir(yard.path("repo/.ai/tasks")).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn a_task_gets_the_next_number_and_a_spec() {
    let yard = Yard::new();
    let first = yard.create("add-export", &[]).unwrap();
    assert_eq!(first.directory, ".ai/tasks/001-add-export");
    assert_eq!(first.files, [".ai/tasks/001-add-export/task-spec.md"]);
    let text = fs::read_to_string(yard.path("repo/.ai/tasks/001-add-export/task-spec.md")).unwrap();
    assert!(text.starts_with("# Add export\n\n## Source Artifacts\n\n<!-- "), "{text}");
    yard.write(".ai/tasks/041-by-hand/task-spec.md", GOOD);
    yard.write(".ai/tasks/README.md", "not a task");
    assert_eq!(yard.create("add-export", &[]).unwrap().name.to_string(), "042-add-export");
}

#[test]
fn a_fresh_spec_lacks_only_what_a_person_has_to_decide() {
    let yard = Yard::new();
    yard.create("add-export", &[]).unwrap();
    let path = ".ai/tasks/001-add-export/task-spec.md";
    let wanted = [
        format!("{path}:3: section-empty: Source Artifacts says nothing yet"),
        format!("{path}:7: section-empty: Scope says nothing yet"),
        format!("{path}:11: nothing-would-run: Execution names nobody, so nothing would run"),
        format!("{path}:15: section-empty: Non-Goals says nothing yet"),
        format!("{path}:19: section-empty: Testable Acceptance Criteria says nothing yet"),
        format!("{path}:27: section-empty: Inspectable Acceptance Criteria says nothing yet"),
        format!("{path}:31: section-empty: Relevant Files says nothing yet"),
        format!("{path}:35: section-empty: Validation Plan says nothing yet"),
        format!("{path}:39: section-empty: Open Questions says nothing yet"),
    ];
    assert_eq!(yard.check(&[]).unwrap(), wanted);
}

#[test]
fn a_fresh_spec_that_is_filled_in_section_by_section_is_clean() {
    let yard = Yard::new();
    yard.create("add-export", &[]).unwrap();
    let path = yard.path("repo/.ai/tasks/001-add-export/task-spec.md");
    let mut text = fs::read_to_string(&path).unwrap();
    for (title, content) in [
        ("Source Artifacts", "None"),
        ("Scope", "CSV"),
        ("Execution", "- test-writer\n- implementer"),
        ("Non-Goals", "None"),
        ("Testable Acceptance Criteria", "- It is quoted\n\n### Test File Paths\n\n- tests/export.rs"),
        ("Inspectable Acceptance Criteria", "None"),
        ("Relevant Files", "None"),
        ("Validation Plan", "```sh\ncargo test\n```"),
        ("Open Questions", "None"),
    ] {
        text = shuntyard_core::roles::spec::set_section(&text, title, content).unwrap();
    }
    fs::write(&path, text).unwrap();
    assert_eq!(yard.check(&[]).unwrap(), [""; 0]);
}

#[test]
fn units_become_directories_and_rows() {
    let yard = Yard::new();
    let created = yard.create("rework", &["parser", "writer"]).unwrap();
    assert_eq!(
        created.files,
        [
            ".ai/tasks/001-rework/task-spec.md",
            ".ai/tasks/001-rework/01-parser/task-spec.md",
            ".ai/tasks/001-rework/02-writer/task-spec.md"
        ]
    );
    let told = yard.check(&[]).unwrap();
    let of = |path: &str| -> Vec<&str> {
        let prefix = format!(".ai/tasks/001-rework/{path}task-spec.md:");
        told.iter().filter_map(|fault| fault.strip_prefix(&prefix)?.split(": ").nth(1)).collect()
    };
    assert_eq!(of("01-parser/"), of("02-writer/"));
    assert_eq!(of("01-parser/").len(), 8, "{told:#?}");
    assert!(!told.iter().any(|fault| fault.contains("01-parser") && fault.contains("Source Artifacts")));
    assert_eq!(of(""), [["section-empty"; 4].as_slice(), &["unit-file"; 2]].concat());
    assert!(matches!(yard.create("x", &["a", "b", "a"]), Err(NewError::UnitTwice(twice)) if twice.as_str() == "a"));
    let many: Vec<String> = (0..100).map(|number| format!("u{number}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    assert!(matches!(yard.create("x", &many), Err(NewError::TooManyUnits(100))));
    assert_eq!(names(&yard), ["001-rework"], "what is refused leaves nothing");
}

#[test]
fn a_title_is_one_line_of_plain_text() {
    let yard = Yard::new();
    let title = Some("Export\n## Execution\n- implementer\u{1b}[31m".to_owned());
    let new = NewTask { title, ..new_task("a", &["b"]) };
    create(&yard.place(), &new, Run::Real).unwrap();
    for file in ["task-spec.md", "01-b/task-spec.md"] {
        let text = fs::read_to_string(yard.path("repo/.ai/tasks/001-a").join(file)).unwrap();
        assert!(!text.contains('\u{1b}') && !text.contains("\n- implementer"), "{text}");
    }
}

#[test]
fn a_dry_run_writes_nothing() {
    let yard = Yard::new();
    let planned = create(&yard.place(), &new_task("a", &["b"]), Run::Dry).unwrap();
    assert!(!yard.path("repo/.ai").exists());
    assert_eq!(yard.create("a", &["b"]).unwrap(), planned);
    let planned = create(&yard.place(), &new_task("c", &[]), Run::Dry).unwrap();
    assert_eq!((planned.name.to_string().as_str(), names(&yard).len()), ("002-c", 1));
}

#[test]
fn a_draft_that_was_left_keeps_its_number() {
    let yard = Yard::new();
    fs::create_dir_all(yard.path("repo/.ai/tasks/.007")).unwrap();
    assert_eq!(yard.create("a", &[]).unwrap().name.to_string(), "008-a");
    assert_eq!(yard.check(&["8"]).unwrap().len(), 9);
    assert_eq!(names(&yard), [".007", "008-a"]);
    fs::create_dir(yard.path("repo/.ai/tasks/4294967295-z")).unwrap();
    assert!(matches!(yard.create("b", &[]), Err(NewError::NoNumber)));
    assert_eq!(names(&yard).len(), 3);
}

#[test]
fn tasks_that_are_made_at_the_same_moment_have_different_numbers() {
    const AT_ONCE: usize = 16;
    const ROUNDS: usize = 12;
    let yard = Yard::new();
    let gate = Barrier::new(AT_ONCE);
    std::thread::scope(|scope| {
        for thread in 0..AT_ONCE {
            let (yard, gate) = (&yard, &gate);
            scope.spawn(move || {
                for round in 0..ROUNDS {
                    // Some ids are the same and some differ; neither may matter.
                    let id = format!("t{}-{round}", thread % 5);
                    gate.wait();
                    yard.create(&id, &["a", "b"]).unwrap();
                }
            });
        }
    });
    let names = names(&yard);
    let numbers: BTreeSet<u32> = names.iter().map(|name| number_of(name).unwrap()).collect();
    assert_eq!((names.len(), numbers.len()), (AT_ONCE * ROUNDS, AT_ONCE * ROUNDS), "{names:?}");
    assert!(names.iter().all(|name| !name.starts_with('.')), "no draft is left");
    for name in &names {
        assert!(yard.path("repo/.ai/tasks").join(name).join("02-b/task-spec.md").exists());
    }
}

#[test]
fn nothing_is_made_where_a_link_leads_out() {
    let yard = Yard::new();
    fs::create_dir(yard.path("elsewhere")).unwrap();
    symlink("../elsewhere", yard.path("repo/.ai")).unwrap();
    let refused = yard.create("a", &[]).unwrap_err().to_string();
    assert!(refused.contains("elsewhere, which is outside of"), "{refused}");
    fs::remove_file(yard.path("repo/.ai")).unwrap();
    fs::create_dir(yard.path("repo/.ai")).unwrap();
    symlink(yard.path("elsewhere"), yard.path("repo/.ai/tasks")).unwrap();
    assert!(matches!(yard.create("a", &[]), Err(NewError::Place(PlaceError::Outside { .. }))));
    assert_eq!(fs::read_dir(yard.path("elsewhere")).unwrap().count(), 0);
}

#[test]
fn a_link_within_the_repository_is_followed() {
    let yard = Yard::new();
    fs::create_dir(yard.path("repo/notes")).unwrap();
    symlink("notes", yard.path("repo/.ai")).unwrap();
    assert_eq!(yard.create("a", &[]).unwrap().directory, "notes/tasks/001-a");
    assert_eq!(yard.check(&[]).unwrap().len(), 9);
}
