//! The prompt of an agent.

use super::{Tally, Task};
use std::fmt::Write as _;

/// The task, the rules of the place, and what earlier tries have taught.
#[must_use]
pub fn prompt(task: &Task) -> String {
    let spec = &task.spec;
    let mut text = spec.description.trim().to_owned();
    text.push_str("\n\nRules:\n- Work only in the current directory; it is a git worktree made for this task.\n");
    text.push_str("- Nobody can answer questions: decide, and say what you decided.\n");
    text.push_str("- Leave no secrets in files. Do not push, and do not switch branches.\n");
    if !spec.allow_paths.is_empty() {
        let _ = writeln!(text, "- Change nothing outside of: {}", spec.allow_paths.join(", "));
    }
    if spec.todo.is_some() && !spec.may_change_todo() {
        text.push_str("- Leave TODO.md as it is: it is written by the supervisor, also when you are done.\n");
    }
    for command in &spec.verify {
        let _ = writeln!(text, "- When you are done this has to succeed: {command}");
    }
    if let Tally { lessons, .. } = &task.tally
        && !lessons.is_empty()
    {
        text.push_str(
            "\nEarlier tries failed. Their work is in this directory as far as it was kept. What went wrong:\n",
        );
        for lesson in lessons {
            let _ = writeln!(text, "- {}", lesson.replace('\n', "\n  "));
        }
    }
    text
}
