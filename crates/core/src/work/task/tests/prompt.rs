//! The prompt of an agent.

use super::*;

#[test]
fn the_task_and_the_rules_of_the_place() {
    let text = prompt(&task(State::Running));
    let wanted = "mend the fence\n\n\
        Rules:\n\
        - Work only in the current directory; it is a git worktree made for this task.\n\
        - Nobody can answer questions: decide, and say what you decided.\n\
        - Leave no secrets in files. Do not push, and do not switch branches.\n";
    assert_eq!(text, wanted);
}

#[test]
fn what_is_special_about_the_task() {
    let mut task = task(State::Running);
    task.spec.description = "\n  mend the fence  \n".into();
    task.spec.allow_paths = texts(&["src", "docs/*.md"]);
    task.spec.verify = texts(&["cargo test", "cargo fmt --check"]);
    let text = prompt(&task);
    assert!(text.starts_with("mend the fence\n\nRules:\n"), "{text}");
    let wanted = "- Change nothing outside of: src, docs/*.md\n\
        - When you are done this has to succeed: cargo test\n\
        - When you are done this has to succeed: cargo fmt --check\n";
    assert!(text.ends_with(wanted), "{text}");
}

#[test]
fn a_task_of_todo_leaves_that_file_unless_it_may_change_it() {
    let rule = "- Leave TODO.md as it is";
    for (todo, allowed, wanted) in [
        (None, &[][..], false),
        (Some("t001"), &[], true),
        (Some("t001"), &["*.md"], true),
        (Some("t001"), &["TODO.md"], false),
    ] {
        let mut task = task(State::Running);
        (task.spec.todo, task.spec.allow_paths) = (todo.map(id), texts(allowed));
        assert_eq!(prompt(&task).contains(rule), wanted, "{todo:?} {allowed:?}");
    }
}

#[test]
fn what_earlier_tries_have_taught() {
    let mut task = task(State::Running);
    task.tally.lessons =
        texts(&["`cargo test` ended with exit 101:\nassertion failed\nat line 3", "nothing was changed"]);
    let text = prompt(&task);
    let wanted = "Earlier tries failed. Their work is in this directory as far as it was kept. What went wrong:\n\
        - `cargo test` ended with exit 101:\n  assertion failed\n  at line 3\n\
        - nothing was changed\n";
    assert!(text.ends_with(wanted), "{text}");
    assert!(text.contains("\n\nEarlier tries"), "{text}");
}

/// Whatever a task is called or costs, and wherever it is kept, is none of the agent's business.
#[test]
fn nothing_else_is_told() {
    let mut task = task(State::Running);
    let plain = prompt(&task);
    task.spec.repository = "/home/ann/private".into();
    task.spec.max_cost = Some(Nano(5));
    task.spec.labels = texts(&["secret-label"]);
    task.batch = Some("night".into());
    task.tally.avoid = texts(&["acme/x"]);
    task.tally.last = Some("signature".into());
    assert_eq!(prompt(&task), plain);
}
