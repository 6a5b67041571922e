//! Our own copy of OpenCode's list of models, so that a decision needs no server and no large document.
//!
//! A copy belongs to what OpenCode would read: the environment's keys, the logins, the configuration of the user and
//! of the directory. When any of that changes, it is another copy; keys themselves are in none.

use super::Extent;
use crate::{
    Context,
    server::{fingerprint, locate_binary, project_stamps, short_hash},
};
use serde::{Deserialize, Serialize};
use std::{
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};
use switchyard_core::route::Catalogue;
use switchyard_host::{
    clock::now_micros,
    paths::{private_dir, write_private},
};

/// The shape of the files; another number is not read.
const SHAPE: u32 = 1;
/// Copies that nobody refreshed for so long are removed.
const FORGET_AFTER: Duration = Duration::from_secs(14 * 24 * 3600);

/// Where a list comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// A server was asked: this is what OpenCode itself says.
    Server,
    /// OpenCode's files were read; it may know more.
    Files,
}

/// A list of models with its story.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Listed {
    shape: u32,
    pub origin: Origin,
    /// Microseconds since the Unix epoch.
    pub read_at: i64,
    /// What could not be read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
    pub catalogue: Catalogue,
}

impl Listed {
    pub(super) fn now(origin: Origin, catalogue: Catalogue, problems: Vec<String>) -> Self {
        Self { shape: SHAPE, origin, read_at: now_micros(), problems, catalogue }
    }

    /// The same without what is only known of.
    pub(super) fn connected(&self) -> Self {
        Self { catalogue: self.catalogue.connected(), problems: self.problems.clone(), ..*self }
    }
}

/// The place of one copy: the connected models, and beside them all that are known of.
#[derive(Debug, Clone)]
pub(crate) struct Shelf {
    directory: PathBuf,
    key: String,
}

impl Shelf {
    pub(crate) fn of(context: &Context, directory: &Path) -> Self {
        let server = &context.config.server.url;
        let surroundings = if server.is_empty() {
            let binary = locate_binary(context).map(|located| located.path).unwrap_or_default();
            fingerprint(context, &binary)
        } else {
            server.clone()
        };
        Self::within(context, &surroundings, directory, &project_stamps(directory))
    }

    /// The same for those who know the surroundings and the directory's stamps already.
    pub(crate) fn within(context: &Context, surroundings: &str, directory: &Path, stamps: &str) -> Self {
        let key = short_hash(&format!("{surroundings}\n{}\n{stamps}", directory.display()));
        Self { directory: context.paths.data_dir.join("catalogues"), key }
    }

    /// The connected models, if they were listed not longer ago than `max_age`.
    pub(crate) fn connected(&self, max_age: Option<Duration>) -> Option<Listed> {
        read(&self.file("connected"), max_age)
    }

    /// Everything that is known of.
    pub(crate) fn all(&self, max_age: Option<Duration>) -> Option<Listed> {
        read(&self.file("all"), max_age)
    }

    /// Keeps a list that tells all, or only what is connected.
    pub(crate) fn put(&self, listed: &Listed, extent: Extent) {
        let written = self.write("connected", &listed.connected()).and_then(|()| match extent {
            Extent::All => self.write("all", listed),
            Extent::Connected => Ok(()),
        });
        if let Err(error) = written {
            tracing::warn!(%error, "the list of models could not be kept");
        }
        self.forget_old();
    }

    fn file(&self, what: &str) -> PathBuf {
        self.directory.join(format!("{}.{what}.json", self.key))
    }

    fn write(&self, what: &str, listed: &Listed) -> std::io::Result<()> {
        private_dir(&self.directory)?;
        write_private(&self.file(what), &serde_json::to_vec(listed)?)
    }

    fn forget_old(&self) {
        let Ok(entries) = std::fs::read_dir(&self.directory) else { return };
        for entry in entries.flatten() {
            let changed = entry.metadata().and_then(|meta| meta.modified());
            let is_old = changed
                .is_ok_and(|changed| SystemTime::now().duration_since(changed).is_ok_and(|age| age > FORGET_AFTER));
            if is_old {
                drop(std::fs::remove_file(entry.path()));
            }
        }
    }
}

fn read(file: &Path, max_age: Option<Duration>) -> Option<Listed> {
    let listed: Listed = serde_json::from_slice(&std::fs::read(file).ok()?).ok()?;
    let age = now_micros() - listed.read_at;
    let longest = max_age.map_or(i64::MAX, |age| i64::try_from(age.as_micros()).unwrap_or(i64::MAX));
    (listed.shape == SHAPE && (0..longest).contains(&age)).then_some(listed)
}
