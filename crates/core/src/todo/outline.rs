//! The shape of a file: the headings above a line, and its list item.
//!
//! Read from top to bottom, a line at a time.

use super::{
    TaskLine,
    checkbox::{indent, opening},
    hidden::Block,
};
use std::ops::RangeInclusive;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Heading {
    /// Its lines, counted from zero; an underlined heading has two.
    pub first: usize,
    pub last: usize,
    pub level: usize,
    pub title: String,
}

/// What has been read so far.
#[derive(Debug, Default)]
pub(super) struct Outline {
    pub headings: Vec<Heading>,
    pub tasks: Vec<TaskLine>,
    /// For each task the one that it is indented under.
    pub above: Vec<Option<usize>>,
    block: Block,
    /// The headings above, outermost first.
    open_headings: Vec<usize>,
    /// The list items above: their column, and the nearest task that they belong to or are.
    items: Vec<(usize, Option<usize>)>,
    before: Before,
}

/// The line above, as far as it matters to the next.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
enum Before {
    #[default]
    Blank,
    /// Text at the margin, that an underline would make a heading.
    Margin(String),
    Other,
}

impl Outline {
    pub fn take(&mut self, line: usize, text: &str) {
        let before = std::mem::replace(&mut self.before, Before::Other);
        if self.block.hides(text) {
            return;
        }
        if text.trim().is_empty() {
            self.before = Before::Blank;
        } else if let Some((level, title)) = heading(text) {
            self.head(line..=line, level, title);
        } else if let (Before::Margin(title), Some(level)) = (&before, underline(text)) {
            self.head(line - 1..=line, level, title);
        } else if let Some(column) = item(text) {
            self.items.truncate(self.items.partition_point(|(above, _)| *above < column));
            let above = self.items.last().and_then(|(_, task)| *task);
            let task = self.check(line, text, above).or(above);
            self.items.push((column, task));
        } else {
            let column = indent(text);
            if before == Before::Blank {
                self.items.truncate(self.items.partition_point(|(above, _)| *above < column));
            }
            if column == 0 {
                self.before = Before::Margin(text.trim().to_owned());
            }
        }
    }

    fn head(&mut self, lines: RangeInclusive<usize>, level: usize, title: &str) {
        self.items.clear();
        while self.open_headings.pop_if(|above| self.headings[*above].level >= level).is_some() {}
        self.open_headings.push(self.headings.len());
        self.headings.push(Heading { first: *lines.start(), last: *lines.end(), level, title: title.to_owned() });
    }

    /// Takes a list item that may have a box and may be a task; returns the index of the task.
    fn check(&mut self, line: usize, text: &str, above: Option<usize>) -> Option<usize> {
        let opening = opening(text)?;
        let Some(mut task) = TaskLine::read(line + 1, text, &opening) else {
            let owner = above.and_then(|above| self.tasks.get_mut(above));
            if let Some(owner) = owner.filter(|_| !opening.checkbox.releases()) {
                owner.open_steps.push(line + 1);
            }
            return None;
        };
        task.sections = self.open_headings.iter().map(|above| self.headings[*above].title.clone()).collect();
        self.tasks.push(task);
        self.above.push(above);
        Some(self.tasks.len() - 1)
    }
}

/// `## Title`, with or without `#`s behind it.
fn heading(text: &str) -> Option<(usize, &str)> {
    let text = text.trim_end();
    let marked = text.trim_start_matches(' ');
    let title = marked.trim_start_matches('#');
    let level = marked.len() - title.len();
    // Indented by four it would be code.
    if text.len() - marked.len() > 3 || !(1..=6).contains(&level) {
        return None;
    }
    if !title.is_empty() && !title.starts_with([' ', '\t']) {
        return None;
    }
    let bare = title.trim_end_matches('#');
    let title = if bare.is_empty() || bare.ends_with([' ', '\t']) { bare } else { title };
    Some((level, title.trim()))
}

/// A line of `=` or `-` makes a heading of the text above it.
fn underline(text: &str) -> Option<usize> {
    let text = text.trim_end();
    let all = |mark: char| !text.is_empty() && text.chars().all(|c| c == mark);
    if all('=') {
        Some(1)
    } else if all('-') {
        Some(2)
    } else {
        None
    }
}

/// The column of a list item's bullet or number.
fn item(text: &str) -> Option<usize> {
    let marked = text.trim_start_matches([' ', '\t']);
    let number = marked.trim_start_matches(|c: char| c.is_ascii_digit());
    let after = if number.len() < marked.len() {
        number.strip_prefix(['.', ')'])?
    } else {
        marked.strip_prefix(['-', '*', '+'])?
    };
    (after.is_empty() || after.starts_with([' ', '\t'])).then(|| indent(text))
}
