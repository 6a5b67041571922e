//! A text as lines, each with its own ending. Put together again they are the text.

/// Where a line stands: `start..end` is what it says, `end..next` is how it ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Line {
    pub start: usize,
    pub end: usize,
    pub next: usize,
}

pub(super) fn lines(text: &str) -> Vec<Line> {
    let mut start = 0;
    let split = text.split_inclusive('\n').map(|line| {
        let said = line.strip_suffix('\n').map_or(line, |said| said.strip_suffix('\r').unwrap_or(said));
        let here = Line { start, end: start + said.len(), next: start + line.len() };
        start = here.next;
        here
    });
    let mut all: Vec<Line> = split.collect();
    // A byte order mark belongs to the file and not to what its first line says.
    if let Some(first) = all.first_mut().filter(|_| text.starts_with('\u{feff}')) {
        first.start = '\u{feff}'.len_utf8();
    }
    all
}
