//! An output cut into lines while it arrives. What nothing ends is no line: git ends every line of a change.
//!
//! Invariant: no more than [`LONGEST_LINE`] bytes are held, however long a line is.

use std::ops::ControlFlow;

/// What is handed over of a line at once.
pub(super) const LONGEST_LINE: usize = 64 * 1024;

/// A line, or a part of one that is too long to be held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Piece<'a> {
    /// Without the line's end.
    pub(super) bytes: &'a [u8],
    pub(super) begins: bool,
    pub(super) ends: bool,
}

#[derive(Debug)]
pub(super) struct Lines {
    held: Vec<u8>,
    begins: bool,
}

impl Lines {
    pub(super) fn new() -> Self {
        Self { held: Vec::new(), begins: true }
    }

    pub(super) fn feed(
        &mut self,
        mut chunk: &[u8],
        each: &mut dyn FnMut(Piece<'_>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        while !chunk.is_empty() {
            let room = LONGEST_LINE - self.held.len();
            let end = chunk.iter().take(room).position(|byte| *byte == b'\n');
            let taken = end.unwrap_or(room.min(chunk.len()));
            self.held.extend_from_slice(&chunk[..taken]);
            chunk = &chunk[taken + usize::from(end.is_some())..];
            if end.is_some() || self.held.len() == LONGEST_LINE {
                self.hand_over(end.is_some(), each)?;
            }
        }
        ControlFlow::Continue(())
    }

    fn hand_over(&mut self, ends: bool, each: &mut dyn FnMut(Piece<'_>) -> ControlFlow<()>) -> ControlFlow<()> {
        let flow = each(Piece { bytes: &self.held, begins: self.begins, ends });
        self.held.clear();
        self.begins = ends;
        flow
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(chunks: &[&[u8]]) -> Vec<(usize, bool, bool)> {
        let mut found = Vec::new();
        let mut lines = Lines::new();
        let mut each = |piece: Piece<'_>| {
            found.push((piece.bytes.len(), piece.begins, piece.ends));
            ControlFlow::Continue(())
        };
        for chunk in chunks {
            assert!(lines.feed(chunk, &mut each).is_continue());
        }
        found
    }

    #[test]
    fn lines_are_whole_wherever_the_chunks_end() {
        let wanted = [(3, true, true), (0, true, true), (2, true, true)];
        assert_eq!(pieces(&[b"abc\n\nde\n"]), wanted);
        assert_eq!(pieces(&[b"a", b"bc", b"\n\nd", b"", b"e\n"]), wanted);
        assert_eq!(pieces(&[b"a\n"]), [(1, true, true)]);
        assert_eq!(pieces(&[]), []);
    }

    #[test]
    fn a_long_line_comes_in_parts() {
        let long = vec![b'x'; 2 * LONGEST_LINE + 5];
        let parts = [(LONGEST_LINE, true, false), (LONGEST_LINE, false, false), (5, false, true), (1, true, true)];
        assert_eq!(pieces(&[&long, b"\ny\n"]), parts);
        let exact = vec![b'x'; LONGEST_LINE];
        assert_eq!(pieces(&[&exact, b"\ny\n"]), [(LONGEST_LINE, true, false), (0, false, true), (1, true, true)]);
    }
}
