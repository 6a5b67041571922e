//! `shuntyard task cancel --discard`: removes what a cancelled task has left, or lists it before that.

use crate::{failure::Failure, ui};
use clap::ValueEnum;
use serde_json::{Value, json};
use shuntyard_core::{values::clean, work::task::TaskId};
use shuntyard_engine::{
    Context,
    queue::supervise::{self as engine, Discard, DiscardError, Leftovers},
};

/// Paths and commits that are named, at most.
const NAMED: usize = 10;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum What {
    /// The workspace; commits and uncommitted files are kept below refs/shuntyard/tasks
    Workspace,
    /// The workspace and everything that was kept of the task there
    All,
}

impl What {
    fn how(self) -> Discard {
        match self {
            Self::Workspace => Discard::Workspace,
            Self::All => Discard::Everything,
        }
    }
}

/// What would be removed, for people.
pub async fn describe(context: &Context, id: &TaskId, what: What) -> Result<(String, Value), Failure> {
    let left = engine::leftovers(context, id).await.map_err(|error| failed(&error))?;
    Ok((would(&left, what), document(&left)))
}

pub async fn discard(context: &Context, ids: &[TaskId], what: What) -> Result<Vec<(TaskId, Leftovers)>, Failure> {
    let mut discarded = Vec::with_capacity(ids.len());
    for id in ids {
        let left = engine::discard(context, id, what.how()).await.map_err(|error| failed(&error))?;
        discarded.push((id.clone(), left));
    }
    Ok(discarded)
}

pub fn tell(discarded: &[(TaskId, Leftovers)]) {
    for (id, left) in discarded {
        let removed = match &left.worktree {
            Some(worktree) => format!("{} is removed", worktree.display()),
            None => "it had no workspace any more".to_owned(),
        };
        let kept = match left.kept.len() {
            0 => String::new(),
            1 => format!("; 1 tip of its work is kept below {}", left.refs),
            count => format!("; {count} tips of its work are kept below {}", left.refs),
        };
        let aside: Vec<String> = left.aside.iter().map(|path| format!("; {} stays", path.display())).collect();
        ui::result(&format!("{id}: {removed}{kept}{}", aside.concat()));
    }
}

pub fn document(left: &Leftovers) -> Value {
    json!({
        "worktree": left.worktree, "uncommitted": left.uncommitted, "commits": left.commits,
        "refs": left.refs, "kept": left.kept, "aside": left.aside,
    })
}

fn would(left: &Leftovers, what: What) -> String {
    let mut lines = Vec::new();
    if let Some(worktree) = &left.worktree {
        lines.push(format!("would remove {}, with every file that git ignores in it", worktree.display()));
    }
    let fate = match what {
        What::Workspace => "would be kept",
        What::All => "would be lost",
    };
    for (kind, all) in [("uncommitted", &left.uncommitted), ("commit", &left.commits), ("kept earlier", &left.kept)] {
        lines.extend(all.iter().take(NAMED).map(|one| format!("{kind} {} {fate}", clean(one))));
        if all.len() > NAMED {
            lines.push(format!("and {} more", all.len() - NAMED));
        }
    }
    lines.extend(left.aside.iter().map(|path| match what {
        What::Workspace => format!("an earlier workspace would stay: {}", path.display()),
        What::All => format!("would remove an earlier workspace: {}", path.display()),
    }));
    if lines.is_empty() {
        lines.push("there is nothing to discard".to_owned());
    }
    lines.iter().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n")
}

fn failed(error: &DiscardError) -> Failure {
    let message = format!("failed to {error}");
    match error {
        DiscardError::Look { task, .. } => Failure::failed(message, format!("`shuntyard task show {task}`")),
        DiscardError::InUse { task, .. } => {
            Failure::refused(message, format!("`shuntyard task cancel {task} --wait --discard`"))
        }
        DiscardError::Kept { task, .. } => {
            let hint = format!("`shuntyard task cancel {task} --discard=all` removes it without keeping anything");
            Failure::failed(message, hint)
        }
    }
}
