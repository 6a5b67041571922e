//! Tables for what is read and decided, and properties for what must survive any text.

mod claiming;
mod editing;
mod pickup;
mod properties;
mod reading;
mod reconciling;
mod waiting;

use super::*;

/// A line with everything.
pub(super) const FULL: &str = "- [ ] t001 Description text #tag #auto-dispatch ~4h (ai:2h test:1h) assignee:alice \
    started:2026-11-16T04:00:00Z ref:GH#12 blocked-by:t002,t003 blocks:t004 logged:2026-11-15 completed:2026-11-16 \
    actual:3h model:sonnet pr:#34 verified:2026-11-16";

pub(super) fn id(text: &str) -> TaskId {
    text.parse().unwrap()
}

pub(super) fn read(line: &str) -> TaskLine {
    Document::parse(line).tasks().next().unwrap_or_else(|| panic!("no task in {line}")).clone()
}

/// The text after an edit, and the line that it changed.
pub(super) fn told(edited: &Edited) -> (&str, Option<usize>) {
    (edited.document.text(), edited.line)
}
