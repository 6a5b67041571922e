//! A TODO.md, read. It keeps its text as it was, so that writing it back changes nothing.

use super::{
    TaskId, TaskLine,
    outline::{Heading, Outline},
};
use crate::values::markdown::{Line, lines};
use std::{
    collections::{HashMap, HashSet},
    fmt,
};

/// An id must name one line; with two of them the id is ambiguous.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{id} stands on more than one line: {}", listed(lines))]
pub struct Duplicate {
    pub id: TaskId,
    pub lines: Vec<usize>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    pub(super) text: String,
    pub(super) lines: Vec<Line>,
    pub(super) headings: Vec<Heading>,
    tasks: Vec<TaskLine>,
    /// The indices of each id in `tasks`.
    by_id: HashMap<TaskId, Vec<usize>>,
    children: HashMap<TaskId, Vec<usize>>,
}

impl Document {
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let text = text.to_owned();
        let lines = lines(&text);
        let mut outline = Outline::default();
        for (number, line) in lines.iter().enumerate() {
            outline.take(number, &text[line.start..line.end]);
        }
        let Outline { headings, mut tasks, above, .. } = outline;
        let mut by_id: HashMap<TaskId, Vec<usize>> = HashMap::new();
        for (index, task) in tasks.iter().enumerate() {
            by_id.entry(task.id.clone()).or_default().push(index);
        }
        let mut children: HashMap<TaskId, Vec<usize>> = HashMap::new();
        for (index, above) in above.into_iter().enumerate() {
            let dotted = std::iter::successors(tasks[index].id.parent(), TaskId::parent);
            let indented = || above.map(|above| tasks[above].id.clone());
            let parent = dotted.into_iter().find(|id| by_id.contains_key(id)).or_else(indented);
            if let Some(parent) = parent.clone() {
                children.entry(parent).or_default().push(index);
            }
            tasks[index].parent = parent;
        }
        Self { text, lines, headings, tasks, by_id, children }
    }

    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// In the order of the file.
    pub fn tasks(&self) -> impl Iterator<Item = &TaskLine> {
        self.tasks.iter()
    }

    pub fn task(&self, id: &TaskId) -> Result<Option<&TaskLine>, Duplicate> {
        match self.by_id.get(id).map(Vec::as_slice) {
            None | Some([]) => Ok(None),
            Some([only]) => Ok(self.tasks.get(*only)),
            Some(several) => {
                let lines = several.iter().map(|index| self.tasks[*index].line).collect();
                Err(Duplicate { id: id.clone(), lines })
            }
        }
    }

    /// All lines with an id; more than one is a fault of the file.
    pub fn named(&self, id: &TaskId) -> impl Iterator<Item = &TaskLine> {
        self.by_id.get(id).into_iter().flatten().map(|index| &self.tasks[*index])
    }

    /// The tasks right below a task.
    pub fn children(&self, id: &TaskId) -> impl Iterator<Item = &TaskLine> {
        self.children.get(id).into_iter().flatten().map(|index| &self.tasks[*index])
    }

    /// The tasks below a task at any depth, in the order of the file.
    #[must_use]
    pub fn descendants(&self, id: &TaskId) -> Vec<&TaskLine> {
        let mut found = Vec::new();
        let mut seen = HashSet::from([id]);
        let mut waiting = vec![id];
        while let Some(parent) = waiting.pop() {
            for child in self.children(parent) {
                if child.id != *id {
                    found.push(child);
                }
                if seen.insert(&child.id) {
                    waiting.push(&child.id);
                }
            }
        }
        found.sort_by_key(|task| task.line);
        found
    }

    /// The tasks above a task, the nearest first. Ids and indentation may contradict each other, so that a task seems
    /// to be its own ancestor; each is named once.
    #[must_use]
    pub fn ancestors<'d>(&'d self, task: &'d TaskLine) -> Vec<&'d TaskLine> {
        let mut found = Vec::new();
        let mut seen = HashSet::from([&task.id]);
        let mut parent = task.parent.as_ref();
        while let Some(id) = parent.filter(|id| seen.insert(*id)) {
            parent = None;
            for above in self.named(id) {
                found.push(above);
                parent = parent.or(above.parent.as_ref());
            }
        }
        found
    }

    /// The text of a line, without its ending.
    pub(super) fn line(&self, line: usize) -> &str {
        self.lines.get(line.wrapping_sub(1)).map_or("", |line| &self.text[line.start..line.end])
    }
}

impl fmt::Display for Document {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

pub(super) fn listed(lines: &[usize]) -> String {
    lines.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")
}
