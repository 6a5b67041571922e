//! What is left of a run: the branches of roles whose work has gone into another branch.
//!
//! Invariant: a branch is removed only when the other has every commit of it. What is kept is reported with its reason.

use super::{
    Step,
    git::task_branches,
    look::Seen,
    names::Names,
    plan::Plan,
    report::{Kept, RunReport},
};
use shuntyard_core::work::task::{Delivered, State};
use shuntyard_host::git::{BranchDeletion, Git, GitError};
use std::{collections::HashSet, path::Path};

/// Removes what was merged, and writes into the report what is gone and what is not.
pub(super) fn clear(plan: &Plan, names: &Names, seen: &[Seen], report: &mut RunReport) -> Result<(), GitError> {
    let mut there = task_branches(&plan.repository)?;
    let of = |part: Option<usize>| {
        let of = move |seen: &&Seen| matches!(seen.step, Step::Role(_)) && (part.is_none() || seen.part == part);
        seen.iter().filter(of).map(Seen::branch)
    };
    let delivered: Vec<(Option<usize>, String)> = seen.iter().filter_map(delivery).collect();
    let (gone, into): (Vec<String>, &str) = match delivered.iter().find(|(part, _)| part.is_none()) {
        Some((_, base)) => (of(None).chain([names.meeting()]).collect(), base),
        None => (
            delivered.iter().flat_map(|(part, _)| of(*part)).collect(),
            delivered.first().map_or("", |(_, meeting)| meeting.as_str()),
        ),
    };
    for branch in gone.into_iter().filter(|branch| there.contains(branch)).collect::<HashSet<String>>() {
        match kept(&plan.repository, &branch, into) {
            None => report.removed.push(branch),
            Some(reason) => report.kept.push(Kept { branch, reason }),
        }
    }
    report.removed.sort();
    report.kept.sort_by(|left, right| left.branch.cmp(&right.branch));
    for branch in &report.removed {
        there.remove(branch);
    }
    for role in report.units.iter_mut().flat_map(|unit| &mut unit.roles) {
        role.branch = role.branch.take().filter(|branch| there.contains(branch));
    }
    Ok(())
}

/// The part that was delivered, and into what.
fn delivery(seen: &Seen) -> Option<(Option<usize>, String)> {
    match (&seen.step, &seen.record.task.state) {
        (Step::Deliver, State::Done { delivered: Delivered::Merged { .. } | Delivered::PullRequest { .. } }) => {
            Some((seen.part, seen.record.task.spec.base.clone()))
        }
        _ => None,
    }
}

/// Why it is still there.
fn kept(repository: &Path, branch: &str, into: &str) -> Option<String> {
    match Git::default().delete_branch_if_merged(repository, branch, into) {
        Ok(BranchDeletion::Deleted | BranchDeletion::Absent) => None,
        Ok(BranchDeletion::Unmerged { .. }) => Some(format!("{into} has not all of it")),
        Ok(BranchDeletion::CheckedOut { path }) => Some(format!("it is checked out in {}", path.display())),
        Ok(BranchDeletion::Moved) => Some("somebody has changed it".to_owned()),
        Err(error) => Some(format!("failed to {error}")),
    }
}
