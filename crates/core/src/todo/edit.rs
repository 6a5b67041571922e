//! Edits: each changes the bytes of one field in one line, or adds one line, and gives a new document.
//!
//! What already has the wanted value stays as it is, so an edit may be repeated.

use super::{Checkbox, Document, Duplicate, Field, FieldValue, TaskId, TaskLine, document::listed};
use std::ops::Range;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    #[error("there is no task {0}")]
    Missing(TaskId),
    #[error(transparent)]
    Duplicate(#[from] Duplicate),
    #[error("line {line} has `{}` more than once: leave one of them", field.prefix())]
    Repeated { field: Field, line: usize },
    #[error("`{value}` cannot stand behind `{}`", field.prefix())]
    BadValue { field: Field, value: String },
    #[error("the mark `{0}` cannot stand in a box")]
    BadMark(char),
    #[error("there is no section `{0}`")]
    NoSection(String),
    #[error("the section `{title}` is there more than once: lines {}", listed(lines))]
    SectionTwice { title: String, lines: Vec<usize> },
    #[error("`{0}` is not one line with a box and an id")]
    NotATask(String),
    #[error("{id} is already on line {line}")]
    AlreadyThere { id: TaskId, line: usize },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edited {
    pub document: Document,
    /// The line that changed or is new; nothing when all was as it should be.
    pub line: Option<usize>,
}

impl Edited {
    #[must_use]
    pub fn unchanged(document: &Document) -> Self {
        Self { document: document.clone(), line: None }
    }

    /// Goes on editing, as when a line needs two fields.
    pub(super) fn then(self, edit: impl FnOnce(&Document) -> Result<Self, EditError>) -> Result<Self, EditError> {
        let next = edit(&self.document)?;
        Ok(Self { line: next.line.or(self.line), document: next.document })
    }
}

impl Document {
    /// Sets a field in its place, or adds it behind the last word of the line.
    pub fn set_field(&self, id: &TaskId, field: Field, value: &str) -> Result<Edited, EditError> {
        if !field.accepts(value) {
            return Err(EditError::BadValue { field, value: value.to_owned() });
        }
        let task = self.existing(id)?;
        let written = format!("{}{value}", field.prefix());
        match only(task, field)? {
            Some(found) if found.value == value => Ok(Edited::unchanged(self)),
            Some(found) => Ok(self.replace(task.line, found.word.clone(), &written)),
            None => {
                // Two spaces at the end of a line mean something in Markdown.
                let end = self.line(task.line).trim_end().len();
                Ok(self.replace(task.line, end..end, &format!(" {written}")))
            }
        }
    }

    /// Takes a field out, with one of the spaces before it.
    pub fn remove_field(&self, id: &TaskId, field: Field) -> Result<Edited, EditError> {
        let task = self.existing(id)?;
        let Some(found) = only(task, field)? else { return Ok(Edited::unchanged(self)) };
        let before = &self.line(task.line)[..found.whole.start];
        let space = before.chars().next_back().map_or(0, char::len_utf8);
        Ok(self.replace(task.line, found.whole.start - space..found.whole.end, ""))
    }

    pub fn set_box(&self, id: &TaskId, checkbox: Checkbox) -> Result<Edited, EditError> {
        let mark = checkbox.mark();
        let checkbox = Checkbox::of(mark);
        if mark == ']' || mark.is_control() {
            return Err(EditError::BadMark(mark));
        }
        let task = self.existing(id)?;
        if task.checkbox == checkbox {
            return Ok(Edited::unchanged(self));
        }
        Ok(self.replace(task.line, task.mark.clone(), mark.encode_utf8(&mut [0; 4])))
    }

    /// Adds a line below the content of a section before the next heading.
    pub fn append_task(&self, section: &str, line: &str) -> Result<Edited, EditError> {
        let not_a_task = || EditError::NotATask(line.to_owned());
        let alone = Self::parse(line);
        let new = alone.tasks().next().filter(|_| !line.contains(['\n', '\r'])).ok_or_else(not_a_task)?;
        if let Some(there) = self.task(&new.id)? {
            let is_same = self.line(there.line).trim_end() == line.trim_end() && there.section() == Some(section);
            let error = EditError::AlreadyThere { id: new.id.clone(), line: there.line };
            return if is_same { Ok(Edited::unchanged(self)) } else { Err(error) };
        }
        let last = self.last_line_of(section)?;
        let ending = |end: usize, next: usize| Some(&self.text[end..next]).filter(|ending| !ending.is_empty());
        let here = self.lines[last];
        let usual = self.lines.iter().find_map(|line| ending(line.end, line.next)).unwrap_or("\n");
        let mut text = self.text.clone();
        match ending(here.end, here.next) {
            Some(ending) => text.insert_str(here.next, &format!("{line}{ending}")),
            // The file goes on to end without a line ending.
            None => text.insert_str(here.next, &format!("{usual}{line}")),
        }
        let document = Self::parse(&text);
        // It could be in an unclosed block of code.
        let is_read = document.task(&new.id)?.is_some_and(|task| task.section() == Some(section));
        if is_read { Ok(Edited { document, line: Some(last + 2) }) } else { Err(not_a_task()) }
    }

    pub(super) fn existing(&self, id: &TaskId) -> Result<&TaskLine, EditError> {
        self.task(id)?.ok_or_else(|| EditError::Missing(id.clone()))
    }

    /// The last line with content of a section, counted from zero.
    fn last_line_of(&self, section: &str) -> Result<usize, EditError> {
        let mut found = self.headings.iter().enumerate().filter(|(_, heading)| heading.title == section);
        let (index, heading) = found.next().ok_or_else(|| EditError::NoSection(section.to_owned()))?;
        if found.next().is_some() {
            let same = self.headings.iter().filter(|heading| heading.title == section);
            let lines = same.map(|heading| heading.first + 1).collect();
            return Err(EditError::SectionTwice { title: section.to_owned(), lines });
        }
        let next = self.headings.get(index + 1).map_or(self.lines.len(), |next| next.first);
        let says = |line: &usize| !self.line(line + 1).trim().is_empty();
        Ok((heading.last..next).rev().find(says).unwrap_or(heading.last))
    }

    /// The only place where bytes change.
    fn replace(&self, line: usize, range: Range<usize>, with: &str) -> Edited {
        let start = self.lines[line - 1].start;
        let mut text = self.text.clone();
        text.replace_range(start + range.start..start + range.end, with);
        Edited { document: Self::parse(&text), line: Some(line) }
    }
}

/// A field that may occur once in the line.
fn only(task: &TaskLine, field: Field) -> Result<Option<&FieldValue>, EditError> {
    let mut found = task.fields.iter().filter(|found| found.field == field);
    let first = found.next();
    match found.next() {
        None => Ok(first),
        Some(_) => Err(EditError::Repeated { field, line: task.line }),
    }
}
