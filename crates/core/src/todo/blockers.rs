//! What a task waits for. Only a ticked or a declined box releases; what cannot be found or read keeps blocking.

use super::{Checkbox, Document, Field, TaskId, id::read_id};
use std::collections::HashMap;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blocker {
    /// As it is written, which need not be an id.
    pub id: String,
    pub why: BlockerState,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BlockerState {
    Open,
    /// Its box has an unknown mark.
    Marked(char),
    Missing,
    NotAnId,
    /// It is on several lines.
    Ambiguous {
        lines: Vec<usize>,
    },
}

/// Who waits for whom in a document, from both sides: `blocked-by:` and `blocks:`.
#[derive(Debug)]
pub struct Blocking<'d> {
    document: &'d Document,
    names: HashMap<&'d str, Vec<&'d str>>,
}

/// What a task still waits for, in the order of the file.
#[must_use]
pub fn blockers(document: &Document, id: &TaskId) -> Vec<Blocker> {
    Blocking::of(document).blockers(id)
}

impl<'d> Blocking<'d> {
    #[must_use]
    pub fn of(document: &'d Document) -> Self {
        let mut names: HashMap<&str, Vec<&str>> = HashMap::new();
        let mut wait = |waiting: &'d str, blocker: &'d str| {
            let known = names.entry(waiting).or_default();
            if !known.contains(&blocker) {
                known.push(blocker);
            }
        };
        for task in document.tasks() {
            task.listed(Field::BlockedBy).for_each(|blocker| wait(task.id.as_str(), blocker));
            task.listed(Field::Blocks).for_each(|waiting| wait(waiting, task.id.as_str()));
        }
        Self { document, names }
    }

    #[must_use]
    pub fn blockers(&self, id: &TaskId) -> Vec<Blocker> {
        let held = |name: &str| self.state(name).map(|why| Blocker { id: name.to_owned(), why });
        self.named_by(id).filter_map(held).collect()
    }

    /// All that a task names, done or not.
    pub(super) fn named_by(&self, id: &TaskId) -> impl Iterator<Item = &'d str> {
        self.names.get(id.as_str()).into_iter().flatten().copied()
    }

    /// Nothing when it releases.
    fn state(&self, name: &str) -> Option<BlockerState> {
        let Some(id) = read_id(name) else { return Some(BlockerState::NotAnId) };
        match self.document.task(&id) {
            Err(duplicate) => Some(BlockerState::Ambiguous { lines: duplicate.lines }),
            Ok(None) => Some(BlockerState::Missing),
            Ok(Some(task)) => match task.checkbox {
                Checkbox::Done | Checkbox::Declined => None,
                Checkbox::Open => Some(BlockerState::Open),
                Checkbox::Unknown(mark) => Some(BlockerState::Marked(mark)),
            },
        }
    }
}
