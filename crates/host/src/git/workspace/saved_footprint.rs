//! What the user's checkout looked like before an attempt, for the case that its worker dies: the next one compares
//! with that, or else it would take what the attempt did for the user's own.

use std::fs;

use super::super::Footprint;
use super::{Workspace, remove_any};
use crate::paths::write_private;

/// In the admin directory.
const NAME: &str = "footprint";

impl Workspace {
    /// Kept until [`Workspace::forget_footprint`]. A path that is no text cannot be kept.
    pub fn save_footprint(&self, footprint: &Footprint) -> std::io::Result<()> {
        write_private(&self.admin().join(NAME), &serde_json::to_vec(footprint)?)
    }

    /// What an attempt saved whose end nothing has seen.
    #[must_use]
    pub fn saved_footprint(&self) -> Option<Footprint> {
        serde_json::from_slice(&fs::read(self.admin().join(NAME)).ok()?).ok()
    }

    pub fn forget_footprint(&self) {
        drop(remove_any(&self.admin().join(NAME)));
    }
}
