//! One task line, read: its text apart from its fields, and where in the line each field is.

use super::{
    Checkbox, Estimate, Field, TaskId,
    amount::{amount, breakdown},
    checkbox::Opening,
    id::read_id,
    words::{Word, words},
};
use std::{ops::Range, time::Duration};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskLine {
    /// Counted from one, as editors do.
    pub line: usize,
    pub id: TaskId,
    pub checkbox: Checkbox,
    /// Without the fields and tags.
    pub description: String,
    /// Without their `#`.
    pub tags: Vec<String>,
    /// In the order of the line; one may be there twice.
    pub fields: Vec<FieldValue>,
    pub estimate: Option<Estimate>,
    /// The headings above the line, outermost first.
    pub sections: Vec<String>,
    /// By its dotted id if that one is in the file, otherwise by its indentation.
    pub parent: Option<TaskId>,
    /// Lines of open boxes below it that have no id of their own.
    pub open_steps: Vec<usize>,
    /// The mark in the box, in the line.
    pub(super) mark: Range<usize>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldValue {
    pub field: Field,
    pub value: String,
    /// The word, in the line.
    pub(super) word: Range<usize>,
    /// The word and what belongs to it, as the breakdown to an estimate.
    pub(super) whole: Range<usize>,
}

impl TaskLine {
    pub fn values(&self, field: Field) -> impl Iterator<Item = &str> {
        self.fields.iter().filter(move |found| found.field == field).map(|found| found.value.as_str())
    }

    /// The last value of a field: prose comes first, and fields follow it.
    #[must_use]
    pub fn value(&self, field: Field) -> Option<&str> {
        self.values(field).last()
    }

    /// The things named by a field that is a list, such as `blocked-by:t002,t003`.
    pub fn listed(&self, field: Field) -> impl Iterator<Item = &str> {
        self.values(field).flat_map(|value| value.split(',')).filter(|name| !name.is_empty())
    }

    #[must_use]
    pub fn actual(&self) -> Option<Duration> {
        self.value(Field::Actual).and_then(amount)
    }

    /// The number in `ref:GH#12`.
    #[must_use]
    pub fn github_issue(&self) -> Option<u64> {
        self.value(Field::Reference)?.strip_prefix("GH#")?.parse().ok()
    }

    /// The heading above the line.
    #[must_use]
    pub fn section(&self) -> Option<&str> {
        self.sections.last().map(String::as_str)
    }

    #[must_use]
    pub fn is_tagged(&self, tag: &str) -> bool {
        self.tags.iter().any(|found| found == tag)
    }

    /// Reads what comes behind the box; nothing when that does not begin with an id.
    pub(super) fn read(line: usize, text: &str, opening: &Opening) -> Option<Self> {
        let words = words(text, opening.text);
        let (first, rest) = words.split_first()?;
        let id = read_id(first.text)?;
        let mut read = Self {
            line,
            id,
            checkbox: opening.checkbox,
            description: String::new(),
            tags: Vec::new(),
            fields: Vec::new(),
            estimate: None,
            sections: Vec::new(),
            parent: None,
            open_steps: Vec::new(),
            mark: opening.mark.clone(),
        };
        read.take_words(text, rest);
        Some(read)
    }

    fn take_words(&mut self, text: &str, mut words: &[Word<'_>]) {
        let mut described_to = None;
        while let Some((word, rest)) = words.split_first() {
            words = rest;
            if word.is_code {
                self.describe(text, word, &mut described_to);
            } else if let Some((field, value)) = Field::read(word.text) {
                let taken = self.take_field(field, value, word, rest);
                words = &rest[taken..];
            } else if let Some(tag) = tag(word.text) {
                self.tags.push(tag.to_owned());
            } else {
                self.describe(text, word, &mut described_to);
            }
        }
    }

    /// Keeps the space between words as it is, unless something was taken out there.
    fn describe(&mut self, text: &str, word: &Word<'_>, described_to: &mut Option<usize>) {
        if let Some(end) = *described_to {
            let between = &text[end..word.at.start];
            self.description.push_str(if between.trim().is_empty() { between } else { " " });
        }
        self.description.push_str(word.text);
        *described_to = Some(word.at.end);
    }

    /// Returns how many of the words behind the field belong to it.
    fn take_field(&mut self, field: Field, value: &str, word: &Word<'_>, rest: &[Word<'_>]) -> usize {
        let mut whole = word.at.clone();
        let mut taken = 0;
        if let (Field::Estimate, Some(total)) = (field, amount(value)) {
            let plain = rest.iter().take_while(|word| !word.is_code).map(|word| word.text);
            let (parts, count) = breakdown(plain).unwrap_or_default();
            taken = count;
            whole.end = rest[..taken].last().map_or(whole.end, |last| last.at.end);
            self.estimate = Some(Estimate { total, parts });
        }
        self.fields.push(FieldValue { field, value: value.to_owned(), word: word.at.clone(), whole });
        taken
    }
}

/// `#tag`, and neither `#12` nor `#` nor `#tag,`.
fn tag(word: &str) -> Option<&str> {
    let name = word.strip_prefix('#')?;
    let fits = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '/');
    (name.starts_with(char::is_alphabetic) && name.chars().all(fits)).then_some(name)
}
