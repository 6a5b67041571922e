//! The beginning of a diff as text, without what is no text.
//!
//! Invariant: no more than the limit is held, and a little of the line that reaches it.

use std::ops::ControlFlow;

use super::lines::Piece;

/// Where a zero byte shows that a file is no text, as git itself decides.
const LOOKED_AT: usize = 8000;

#[derive(Debug)]
pub(super) struct Excerpt {
    text: Vec<u8>,
    limit: usize,
    cut: bool,
    /// Where the file that is being read begins, and where its content does.
    file: usize,
    content: Option<usize>,
    /// The rest of the file is left out.
    skips: bool,
}

impl Excerpt {
    pub(super) fn new(limit: usize) -> Self {
        Self { text: Vec::new(), limit, cut: false, file: 0, content: None, skips: false }
    }

    pub(super) fn is_cut(&self) -> bool {
        self.cut
    }

    pub(super) fn into_text(mut self) -> String {
        self.text.truncate(self.limit);
        String::from_utf8_lossy(&self.text).into_owned()
    }

    pub(super) fn add(&mut self, piece: Piece<'_>) -> ControlFlow<()> {
        if piece.begins && piece.bytes.starts_with(b"diff --git ") {
            (self.file, self.content, self.skips) = (self.text.len(), None, false);
        }
        if self.skips {
            return ControlFlow::Continue(());
        }
        if piece.begins && self.content.is_none() && piece.bytes.starts_with(b"@@ ") {
            self.content = Some(self.text.len());
        }
        if self.is_no_text(piece.bytes) {
            self.leave_out();
        } else {
            self.text.extend_from_slice(piece.bytes);
            if piece.ends {
                self.text.push(b'\n');
            }
        }
        if self.text.len() > self.limit {
            self.cut = true;
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }

    fn is_no_text(&self, bytes: &[u8]) -> bool {
        let Some(content) = self.content else { return false };
        let left = LOOKED_AT.saturating_sub(self.text.len() - content);
        bytes.iter().take(left).any(|byte| *byte == 0)
    }

    /// Notes that the file differs, in git's own words.
    fn leave_out(&mut self) {
        let content = self.content.unwrap_or(self.text.len());
        let head = String::from_utf8_lossy(&self.text[self.file..content]).into_owned();
        self.text.truncate(self.file);
        let (mut before, mut after) = ("", "");
        for line in head.lines() {
            if let Some(name) = line.strip_prefix("--- ") {
                before = name.trim_end_matches('\t');
            } else if let Some(name) = line.strip_prefix("+++ ") {
                after = name.trim_end_matches('\t');
            } else {
                self.text.extend_from_slice(line.as_bytes());
                self.text.push(b'\n');
            }
        }
        self.text.extend_from_slice(format!("Binary files {before} and {after} differ\n").as_bytes());
        self.skips = true;
    }
}
