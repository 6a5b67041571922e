//! How far tasks are, from real files.

use super::*;
use shuntyard_core::roles::spec::State;

fn only(yard: &Yard, id: &str) -> TaskStatus {
    let mut overview = status(&yard.place(), &yard.path("repo"), Some(id)).unwrap();
    assert_eq!(overview.tasks.len(), 1);
    overview.tasks.remove(0)
}

#[test]
fn a_task_goes_from_a_draft_to_a_verdict() {
    let yard = Yard::new();
    yard.create("a", &[]).unwrap();
    let task = only(&yard, "a");
    assert_eq!((task.state, task.reason.as_deref()), (State::Draft, Some("the spec has 9 faults")));
    let with_tests = GOOD
        .replace("- implementer", "- test-writer\n- implementer")
        .replace("It is quoted\n", "It is quoted\n### Test File Paths\n- tests/a.rs\n");
    yard.write(".ai/tasks/001-a/task-spec.md", &with_tests);
    let stands = |state, next| {
        let task = only(&yard, "1");
        assert_eq!((task.state, task.next), (state, next));
    };
    stands(State::Planned, Some("test-writer"));
    yard.write("tests/a.rs", "");
    stands(State::TestsWritten, Some("implementer"));
    yard.write(".ai/tasks/001-a/implementation-report.md", "## Outcome\r\n\r\ndone\r\n");
    stands(State::Implemented, Some("validator"));
    yard.write(".ai/tasks/001-a/validation-report.md", "Verdict: fail\n");
    stands(State::Failed, None);
    yard.write(".ai/tasks/001-a/validation-report.md", "Verdict: pass\n");
    stands(State::Passed, None);
}

#[test]
fn a_test_file_that_a_link_leads_to_outside_does_not_count() {
    let yard = Yard::new();
    let text = GOOD
        .replace("- implementer", "- test-writer")
        .replace("It is quoted\n", "It is quoted\n### Test File Paths\n- tests/a.rs\n");
    yard.write(".ai/tasks/001-a/task-spec.md", &text);
    fs::create_dir(yard.path("repo/tests")).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", yard.path("repo/tests/a.rs")).unwrap();
    assert_eq!(only(&yard, "a").state, State::Planned);
}

#[test]
fn a_task_with_units_has_their_order_and_their_states() {
    let yard = Yard::new();
    yard.create("rework", &["parser", "writer", "reader"]).unwrap();
    assert_eq!(only(&yard, "1").state, State::Draft);
    let manifest = "# Rework\n## Source Artifacts\nNone\n## Scope\nAll\n## Non-Goals\nNone\n## Open Questions\nNone\n\
        ## Units\n| Unit | Files | Depends On | Parallel |\n|--|--|--|--|\n| parser | a | None | yes |\n\
        | writer | b | None | yes |\n| reader | a | parser | yes |\n";
    yard.write(".ai/tasks/001-rework/task-spec.md", manifest);
    for unit in ["01-parser", "02-writer", "03-reader"] {
        yard.write(&format!(".ai/tasks/001-rework/{unit}/task-spec.md"), GOOD);
    }
    let task = only(&yard, "rework");
    assert_eq!(task.waves, [vec!["parser", "writer"], vec!["reader"]]);
    assert_eq!((task.state, task.next), (State::Planned, Some("implementer")));
    yard.write(".ai/tasks/001-rework/02-writer/validation-report.md", "Verdict: pass\n");
    yard.write(".ai/tasks/001-rework/03-reader/implementation-report.md", "## Outcome\nblocked\n");
    let task = only(&yard, "rework");
    let units: Vec<(&str, State)> = task.units.iter().map(|unit| (unit.id.as_str(), unit.state)).collect();
    assert_eq!(units, [("01-parser", State::Planned), ("02-writer", State::Passed), ("03-reader", State::Blocked)]);
    assert_eq!(task.state, State::Blocked);
    assert_eq!(task.reason.unwrap(), "reader: implementation-report.md says blocked; 1 of 3 units passed");
}

#[test]
fn a_thin_handoff_blocks_and_a_full_one_waits_for_a_plan() {
    let yard = Yard::new();
    yard.write(".ai/tasks/001-a/handoff.md", "## User Intent\nNone\n");
    let task = only(&yard, "a");
    assert_eq!(task.state, State::Blocked);
    assert!(task.reason.unwrap().starts_with("planning is blocked"));
    let full: String =
        shuntyard_core::roles::spec::Field::ALL.iter().map(|field| format!("## {field}\nyes\n")).collect();
    yard.write(".ai/tasks/001-a/handoff.md", &full);
    assert_eq!(only(&yard, "a").state, State::Unplanned);
}

#[test]
fn context_and_decisions_are_looked_for_by_their_paths() {
    let yard = Yard::new();
    yard.create("a", &[]).unwrap();
    let overview = || status(&yard.place(), &yard.path("repo"), None).unwrap();
    assert_eq!((overview().context, overview().decisions), (false, 0));
    yard.write(".ai/context.md", "# Project\n");
    yard.write(".ai/decisions/001-csv.md", "");
    assert_eq!((overview().context, overview().decisions), (true, 1));
    let missing = status(&yard.place(), &yard.path("repo"), Some(".ai/context.md"));
    assert!(matches!(missing, Err(ReadError::NotFound { .. })));
}
