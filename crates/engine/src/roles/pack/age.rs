//! How old what is installed is, beside the pack that this program has.

use super::{
    Bundle, Part,
    found::hash,
    manifest::{Manifest, State},
};
use serde::Serialize;
use std::cmp::Ordering;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Age {
    /// The files are those of this program, whatever the number of the version says.
    Current,
    /// Of an earlier version.
    Older,
    /// Of a later one.
    Newer,
    /// Of the same version by its number, and with other files all the same.
    Other,
}

impl Manifest {
    /// `bundle`: in the form that is installed. What the user has changed does not count, only what was put there.
    #[must_use]
    pub fn age(&self, bundle: &Bundle) -> Age {
        let ours = |path: &str| bundle.files.iter().find(|file| file.path == path);
        let same = self
            .files
            .iter()
            .all(|(path, entry)| ours(path).is_some_and(|file| hash(file.text.as_bytes()) == entry.sha256));
        // In the same version, a file that is not there was not wanted, or is the user's own.
        let complete = self.version == bundle.version || bundle.files.iter().all(|file| !self.lacks(&file.path));
        match (same && complete, numbers(&self.version).cmp(&numbers(&bundle.version))) {
            (true, _) => Age::Current,
            (false, Ordering::Less) => Age::Older,
            (false, Ordering::Greater) => Age::Newer,
            (false, Ordering::Equal) => Age::Other,
        }
    }

    /// Whether a change was begun and not finished.
    #[must_use]
    pub fn is_unfinished(&self) -> bool {
        self.state != State::Installed
    }

    /// Whether other files of this part are installed, and this one is not.
    fn lacks(&self, path: &str) -> bool {
        !self.files.contains_key(path) && self.files.keys().any(|known| Part::of(known) == Part::of(path))
    }
}

/// What is before a `-` or a `+`, number by number; what is no number counts as the lowest.
fn numbers(version: &str) -> Vec<u64> {
    let release = version.split(['-', '+']).next().unwrap_or_default();
    release.split('.').map(|part| part.parse().unwrap_or_default()).collect()
}
