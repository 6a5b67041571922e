//! Whether work may be merged although it was built on the work of other tasks.
//!
//! Invariant: a merge brings the task's own commits into the base and nothing else. Work of another task that is not in
//! the base never gets there with it, nor is it left out silently.

use super::{Delivered, Failure, TaskId};
use crate::experience::FailureMode;

/// A task that this one depends on, whose work it was built on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dependency {
    pub id: TaskId,
    pub delivered: Delivered,
    pub presence: Presence,
}

/// Whether a base has the work of a dependency.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    /// As a commit, or with the same content.
    InBase,
    NotInBase,
}

/// Why `task` cannot be merged into `base` yet, with the commands that change it.
#[must_use]
pub fn not_in_base(task: &TaskId, base: &str, dependencies: &[Dependency]) -> Option<Failure> {
    let missing: Vec<&Dependency> =
        dependencies.iter().filter(|dependency| dependency.presence == Presence::NotInBase).collect();
    let ids: Vec<&str> = missing.iter().map(|dependency| dependency.id.as_str()).collect();
    let ways: Vec<String> = missing.iter().filter_map(|dependency| way_into(base, dependency)).collect();
    if ways.is_empty() {
        return None;
    }
    let detail = format!("{}; then `shuntyard task retry {task}` merges it", ways.join("; "));
    let signature = format!("dependencies not in {base}: {}", ids.join(" "));
    Some(Failure { mode: FailureMode::Blocked, ..Failure::environment(signature, detail) })
}

/// How the work of a dependency gets into the base. None for one that has no work.
fn way_into(base: &str, dependency: &Dependency) -> Option<String> {
    let id = &dependency.id;
    Some(match &dependency.delivered {
        Delivered::Branch { branch, .. } => format!(
            "it builds on {id}, whose work is only on the branch {branch} and not in {base}: merge that first \
             (`git switch {base} && git merge {branch}`)"
        ),
        Delivered::Merged { base: other, head } => format!(
            "it builds on {id}, whose work was merged into {other} and is not in {base}: bring {} there first",
            head.chars().take(10).collect::<String>()
        ),
        Delivered::PullRequest { url, .. } => {
            format!("it builds on {id}, which was merged by {url}, and {base} here does not have it: pull first")
        }
        Delivered::Nothing => return None,
    })
}
