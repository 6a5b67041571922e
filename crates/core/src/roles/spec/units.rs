//! The table of units in a manifest: what each touches, what it waits for, and whether it may run beside others.

use super::{
    document::{Section, plain_title},
    name::{Slug, UnitName},
    section::is_none,
};

/// A unit's directory begins with two digits.
pub const MOST_UNITS: usize = 99;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnitTable {
    /// Of the heading.
    pub line: usize,
    /// Columns that the table should have and has not; all of them when there is no table.
    pub missing: Vec<&'static str>,
    pub units: Vec<Unit>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unit {
    pub line: usize,
    /// As others name it: without its number.
    pub name: String,
    /// When the table gives it.
    pub number: Option<u32>,
    /// As written.
    pub files: Vec<String>,
    pub depends_on: Vec<String>,
    pub parallel: Parallel,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Parallel {
    /// It may run at the same time as others with this value.
    Yes,
    /// It runs alone.
    No,
    Unclear(String),
}

impl Unit {
    #[must_use]
    pub fn slug(&self) -> Option<Slug> {
        self.name.parse().ok()
    }
}

const COLUMNS: [&str; 4] = ["Unit", "Files", "Depends On", "Parallel"];

impl UnitTable {
    /// The first table of the section.
    pub(super) fn read(section: Section<'_>) -> Self {
        let mut rows = section
            .said()
            .skip_while(|said| said.is_code || !said.text.contains('|'))
            .take_while(|said| !said.is_code && said.text.contains('|'));
        let head: Vec<String> = rows.next().map(|said| cells(said.text)).unwrap_or_default();
        let place = |column: &str| head.iter().position(|cell| plain_title(cell) == plain_title(column));
        let missing: Vec<&str> = COLUMNS.into_iter().filter(|column| place(column).is_none()).collect();
        let places = COLUMNS.map(place);
        let units = rows.filter(|said| !is_rule(said.text)).map(|said| {
            let row = cells(said.text);
            let cell = |column: usize| places[column].and_then(|at| row.get(at)).map_or("", String::as_str);
            let (number, name) = named(cell(0));
            Unit {
                line: said.line,
                name,
                number,
                files: listed(cell(1)),
                depends_on: listed(cell(2)).iter().map(|unit| named(unit).1).collect(),
                parallel: parallel(cell(3)),
            }
        });
        let units = units.collect();
        Self { line: section.heading.line, missing, units }
    }
}

/// The cells of a row. A pipe behind a backslash is part of a cell.
fn cells(row: &str) -> Vec<String> {
    let row = row.trim();
    let row = row.strip_prefix('|').unwrap_or(row);
    let mut cells = vec![String::new()];
    let mut letters = row.chars().peekable();
    while let Some(letter) = letters.next() {
        let escaped = letter == '\\' && letters.peek() == Some(&'|');
        match cells.last_mut() {
            Some(cell) if escaped => cell.extend(letters.next()),
            Some(cell) if letter != '|' => cell.push(letter),
            Some(_) | None => cells.push(String::new()),
        }
    }
    // A pipe at the end closes the last cell and opens none.
    if row.ends_with('|') && !row.ends_with("\\|") {
        cells.pop();
    }
    cells.iter().map(|cell| cell.trim().to_owned()).collect()
}

/// The line between the head and the rows.
fn is_rule(row: &str) -> bool {
    row.contains('-') && row.chars().all(|letter| matches!(letter, '|' | '-' | ':' | ' ' | '\t'))
}

/// `01-parser` and `parser` are the same unit.
fn named(cell: &str) -> (Option<u32>, String) {
    let word = cell.trim_matches(|letter: char| letter.is_whitespace() || matches!(letter, '`' | '*'));
    match UnitName::parse(word) {
        Some(unit) => (Some(unit.number), unit.slug.to_string()),
        None => (None, word.to_owned()),
    }
}

/// The texts in back-ticks; without any, what commas and line breaks part.
fn listed(cell: &str) -> Vec<String> {
    let cell = cell.replace("<br>", ",").replace("<br/>", ",").replace("<br />", ",");
    let quoted: Vec<&str> = cell.split('`').skip(1).step_by(2).collect();
    let words = if quoted.is_empty() { cell.split(',').collect() } else { quoted };
    let words = words.into_iter().map(str::trim).filter(|word| !word.is_empty() && !is_none(word));
    words.filter(|word| !word.chars().all(|letter| matches!(letter, '-' | '–' | '—'))).map(str::to_owned).collect()
}

fn parallel(cell: &str) -> Parallel {
    let word = cell.trim_matches(['`', '*']).trim().to_lowercase();
    match word.as_str() {
        "yes" => Parallel::Yes,
        "no" => Parallel::No,
        _ => Parallel::Unclear(cell.to_owned()),
    }
}
