//! Server-sent events out of bytes that arrive in any pieces.
//!
//! Invariant: never more than one line and one event are held, and neither is longer than [`LONGEST_EVENT`]. The
//! library parser that the event stream of OpenCode uses has no such bound and fails at a field that it does not
//! know, which is right for a server that we start ourselves and not for any provider.

use std::ops::ControlFlow;

/// A whole long answer in one event still fits.
pub(super) const LONGEST_EVENT: usize = 4 * 1024 * 1024;
/// Capacity that is kept for the next event; more is given back.
const KEPT: usize = 16 * 1024;

#[derive(Debug, Default)]
pub(super) struct Frames {
    /// The beginning of a line whose end has not come.
    line: Vec<u8>,
    data: Vec<u8>,
    has_data: bool,
    is_error: bool,
    after_carriage_return: bool,
    begun: bool,
}

/// One event; comments and empty ones are none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Event<'a> {
    pub(super) data: &'a [u8],
    /// Its own name marks it as an error.
    pub(super) is_error: bool,
}

/// An event is longer than we are willing to hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TooLong;

type Each<'a> = &'a mut dyn FnMut(Event<'_>) -> ControlFlow<()>;

impl Frames {
    /// Hands every event that is complete now to `each`, until it has enough.
    pub(super) fn push(&mut self, mut bytes: &[u8], each: Each<'_>) -> Result<ControlFlow<()>, TooLong> {
        while let Some(end) = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            let (piece, rest) = bytes.split_at(end);
            let is_second_half = end == 0 && rest[0] == b'\n' && self.after_carriage_return;
            self.after_carriage_return = rest[0] == b'\r';
            bytes = &rest[1..];
            if is_second_half {
                continue;
            }
            let flow = if self.line.is_empty() {
                self.take_line(piece, each)?
            } else {
                self.hold(piece)?;
                let line = std::mem::take(&mut self.line);
                let flow = self.take_line(&line, each)?;
                self.line = emptied(line);
                flow
            };
            if flow.is_break() {
                return Ok(flow);
            }
        }
        if !bytes.is_empty() {
            self.after_carriage_return = false;
            self.hold(bytes)?;
        }
        Ok(ControlFlow::Continue(()))
    }

    /// The stream has ended: an event without its empty line counts all the same.
    pub(super) fn end(&mut self, each: Each<'_>) -> Result<(), TooLong> {
        let line = std::mem::take(&mut self.line);
        if self.take_line(&line, each)?.is_continue() {
            let _: ControlFlow<()> = self.dispatch(each);
        }
        Ok(())
    }

    fn hold(&mut self, bytes: &[u8]) -> Result<(), TooLong> {
        if self.line.len() + bytes.len() > LONGEST_EVENT {
            return Err(TooLong);
        }
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    fn take_line(&mut self, line: &[u8], each: Each<'_>) -> Result<ControlFlow<()>, TooLong> {
        let line = if self.begun { line } else { line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line) };
        self.begun = true;
        if line.is_empty() {
            return Ok(self.dispatch(each));
        }
        let colon = line.iter().position(|byte| *byte == b':');
        let (field, value) = colon.map_or((line, &[][..]), |colon| (&line[..colon], &line[colon + 1..]));
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"data" => {
                if self.data.len() + value.len() >= LONGEST_EVENT {
                    return Err(TooLong);
                }
                if self.has_data {
                    self.data.push(b'\n');
                }
                self.has_data = true;
                self.data.extend_from_slice(value);
            }
            b"event" => self.is_error = value == b"error",
            // Comments, ids and all other fields are no part of the answer.
            _ => {}
        }
        Ok(ControlFlow::Continue(()))
    }

    fn dispatch(&mut self, each: Each<'_>) -> ControlFlow<()> {
        let is_error = std::mem::take(&mut self.is_error);
        if !std::mem::take(&mut self.has_data) {
            return ControlFlow::Continue(());
        }
        let flow =
            if self.data.is_empty() { ControlFlow::Continue(()) } else { each(Event { data: &self.data, is_error }) };
        self.data = emptied(std::mem::take(&mut self.data));
        flow
    }
}

fn emptied(mut buffer: Vec<u8>) -> Vec<u8> {
    buffer.clear();
    buffer.shrink_to(KEPT);
    buffer
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn events(pieces: &[&[u8]]) -> Vec<(String, bool)> {
        let mut frames = Frames::default();
        let mut found = Vec::new();
        let mut each = |event: Event<'_>| {
            found.push((String::from_utf8_lossy(event.data).into_owned(), event.is_error));
            ControlFlow::Continue(())
        };
        for piece in pieces {
            assert_eq!(frames.push(piece, &mut each), Ok(ControlFlow::Continue(())));
        }
        assert_eq!(frames.end(&mut each), Ok(()));
        found
    }

    const STREAM: &str = "\u{feff}data: one\n\n: ping\n\ndata:two\r\ndata: lines\r\n\r\nfoo: bar\nretry: soon\nid\n\
        event: error\ndata: bad\n\ndata:\n\ndata: ü\r\rdata: [DONE]";

    fn expected() -> Vec<(String, bool)> {
        [("one", false), ("two\nlines", false), ("bad", true), ("ü", false), ("[DONE]", false)]
            .map(|(data, is_error)| (data.to_owned(), is_error))
            .to_vec()
    }

    #[test]
    fn events_are_told_from_comments_and_unknown_fields() {
        assert_eq!(events(&[STREAM.as_bytes()]), expected());
        assert_eq!(events(&[b": ping\n\n: ping\n\n"]), []);
        assert_eq!(events(&[]), []);
    }

    proptest! {
        #[test]
        fn how_the_bytes_are_cut_makes_no_difference(cuts in proptest::collection::vec(0..STREAM.len(), 0..12)) {
            let mut cuts = cuts;
            cuts.sort_unstable();
            let mut pieces = Vec::new();
            let mut from = 0;
            for cut in cuts {
                pieces.push(&STREAM.as_bytes()[from..cut]);
                from = cut;
            }
            pieces.push(&STREAM.as_bytes()[from..]);
            prop_assert_eq!(events(&pieces), expected());
        }
    }

    #[test]
    fn nothing_is_held_without_bound() {
        let block = vec![b'x'; 64 * 1024];
        let flood = |pieces: &[&[u8]]| {
            let mut frames = Frames::default();
            for _ in 0..2 * LONGEST_EVENT / block.len() {
                for piece in pieces {
                    if frames.push(piece, &mut |_| ControlFlow::Continue(())).is_err() {
                        return (frames.line.capacity() + frames.data.capacity(), Err(TooLong));
                    }
                }
            }
            (frames.line.capacity() + frames.data.capacity(), Ok(()))
        };
        for pieces in [&[&block[..]][..], &[b"data: ", &block, b"\n"]] {
            let (held, result) = flood(pieces);
            assert_eq!(result, Err(TooLong));
            assert!(held <= 3 * LONGEST_EVENT, "{held}");
        }
        let (held, result) = flood(&[b"data: ", &block, b"\n\n"]);
        assert_eq!(result, Ok(()));
        assert!(held <= 2 * KEPT + block.len(), "{held}");
    }

    #[test]
    fn a_listener_that_has_heard_enough_hears_no_more() {
        let mut heard = 0;
        let flow = Frames::default().push(b"data: a\n\ndata: b\n\n", &mut |_| {
            heard += 1;
            ControlFlow::Break(())
        });
        assert_eq!((flow, heard), (Ok(ControlFlow::Break(())), 1));
    }
}
