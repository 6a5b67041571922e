//! Two texts as a unified diff: what is taken out, what is put in, and three lines around each place.

use shuntyard_core::values::redact::redact;
use similar::TextDiff;

/// The same of a configuration. Keys in it are redacted, because a model may have asked for the difference.
#[must_use]
pub fn unified_config(path: &str, from: &str, to: &str) -> String {
    redact(&unified(path, from, to))
}

#[must_use]
pub fn unified(path: &str, from: &str, to: &str) -> String {
    TextDiff::from_lines(from, to).unified_diff().header(path, path).to_string()
}
