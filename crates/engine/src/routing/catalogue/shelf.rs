//! Our own copy of OpenCode's list of models, so that a decision needs no server and no large document.
//!
//! A copy belongs to what OpenCode would read: the environment's keys, the logins, the configuration of the user and
//! of the directory. When any of that changes, it is another copy; keys themselves are in none.

use crate::{
    Context,
    base::hash::short_hash,
    servers::{fingerprint, locate_binary, project_stamps},
};
use serde::{Deserialize, Serialize};
use shuntyard_core::routing::Catalogue;
use shuntyard_host::{
    clock::now_micros,
    paths::{private_dir, write_private},
};
use std::{
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

/// The version of the first line; a file of another version is not read. The bytes that follow it have a version of
/// their own.
const VERSION: u32 = 3;
/// Copies that were not refreshed for this long are removed.
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

/// How much of it is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    Connected,
    /// Also what is only known of.
    All,
}

/// A list of models, and where and when it was read.
#[derive(Debug, Clone)]
pub struct Listed {
    pub origin: Origin,
    /// Microseconds since the Unix epoch.
    pub read_at: i64,
    /// What could not be read.
    pub problems: Vec<String>,
    pub catalogue: Catalogue,
}

/// The first line of a copy, as JSON. The bytes of the catalogue follow it.
#[derive(Debug, Serialize, Deserialize)]
struct Header {
    version: u32,
    origin: Origin,
    read_at: i64,
    problems: Vec<String>,
}

impl Listed {
    pub(super) fn now(origin: Origin, catalogue: Catalogue, problems: Vec<String>) -> Self {
        Self { origin, read_at: now_micros(), problems, catalogue }
    }

    /// The same without providers that are not connected.
    pub(super) fn connected(&self) -> Self {
        Self { catalogue: self.catalogue.connected(), problems: self.problems.clone(), ..*self }
    }

    fn to_bytes(&self) -> serde_json::Result<Vec<u8>> {
        let Self { origin, read_at, problems, catalogue } = self;
        let header = Header { version: VERSION, origin: *origin, read_at: *read_at, problems: problems.clone() };
        Ok([serde_json::to_vec(&header)?, b"\n".to_vec(), catalogue.to_bytes()].concat())
    }
}

/// Where one copy is stored: the connected models, and beside them all models that OpenCode knows.
#[derive(Debug, Clone)]
pub(crate) struct Shelf {
    directory: PathBuf,
    key: String,
}

impl Shelf {
    pub(crate) fn of(context: &Context, directory: &Path) -> Self {
        let server = &context.config.server.url;
        let environment = if server.is_empty() {
            let binary = locate_binary(context).map(|located| located.path).unwrap_or_default();
            fingerprint(context, &binary)
        } else {
            server.clone()
        };
        Self::within(context, &environment, directory, &project_stamps(directory))
    }

    /// The same for a caller that knows the fingerprint of the environment and the directory's stamps already.
    pub(crate) fn within(context: &Context, environment: &str, directory: &Path, stamps: &str) -> Self {
        let key = short_hash(&format!("{environment}\n{}\n{stamps}", directory.display()));
        Self { directory: context.paths.data_dir.join("catalogues"), key }
    }

    /// The connected models, if they were listed not longer ago than `max_age`.
    pub(crate) fn connected(&self, max_age: Option<Duration>) -> Option<Listed> {
        read(&self.file("connected"), max_age)
    }

    /// All models that OpenCode knows, if they were listed not longer ago than `max_age`.
    pub(crate) fn all(&self, max_age: Option<Duration>) -> Option<Listed> {
        read(&self.file("all"), max_age)
    }

    /// Stores a list of all models, or of those that are connected.
    pub(crate) fn put(&self, listed: &Listed, extent: Extent) {
        let written = self.write("connected", &listed.connected()).and_then(|()| match extent {
            Extent::All => self.write("all", listed),
            Extent::Connected => Ok(()),
        });
        if let Err(error) = written {
            tracing::warn!(%error, "could not store the list of models");
        }
        self.forget_old();
    }

    fn file(&self, what: &str) -> PathBuf {
        self.directory.join(format!("{}.{what}.models", self.key))
    }

    fn write(&self, what: &str, listed: &Listed) -> std::io::Result<()> {
        private_dir(&self.directory)?;
        write_private(&self.file(what), &listed.to_bytes()?)
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
    let mut bytes = std::fs::read(file).ok()?;
    let end = bytes.iter().position(|byte| *byte == b'\n')?;
    let Header { version, origin, read_at, problems } = serde_json::from_slice(&bytes[..end]).ok()?;
    let age = now_micros() - read_at;
    let longest = max_age.map_or(i64::MAX, |age| i64::try_from(age.as_micros()).unwrap_or(i64::MAX));
    if version != VERSION || !(0..longest).contains(&age) {
        return None;
    }
    let catalogue = Catalogue::from_bytes(bytes.split_off(end + 1))?;
    Some(Listed { origin, read_at, problems, catalogue })
}

#[cfg(test)]
mod tests {
    use super::{Extent, Listed, Origin, Shelf};
    use shuntyard_core::routing::{Catalogue, Model, Provider};
    use std::{fs, os::unix::fs::PermissionsExt, time::Duration};

    #[test]
    fn a_copy_is_read_until_it_is_old_damaged_or_of_another_version() {
        let scratch = tempfile::tempdir().unwrap();
        let shelf = Shelf { directory: scratch.path().join("catalogues"), key: "key".into() };
        let provider = |connected| Provider {
            connected,
            models: [("m".to_owned(), Model { name: "line\nbreak".into(), ..Model::default() })].into(),
            ..Provider::default()
        };
        let providers = [("far", false), ("near", true)].map(|(id, connected)| (id.to_owned(), provider(connected)));
        let catalogue = Catalogue { providers: providers.into(), ..Catalogue::default() };
        shelf.put(&Listed::now(Origin::Server, catalogue.clone(), vec!["a\nproblem".into()]), Extent::All);
        let all = shelf.all(None).unwrap();
        assert_eq!((all.origin, &all.problems[..]), (Origin::Server, &["a\nproblem".to_owned()][..]));
        assert_eq!(all.catalogue, catalogue);
        assert_eq!(shelf.connected(Some(Duration::from_secs(3600))).unwrap().catalogue, catalogue.connected());
        assert!(shelf.connected(Some(Duration::ZERO)).is_none(), "too old");
        let file = shelf.file("all");
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        let bytes = fs::read(&file).unwrap();
        let changed = |place: usize| {
            let mut changed = bytes.clone();
            changed[place] ^= 1;
            changed
        };
        let version = bytes.windows(11).position(|own| own == b"\"version\":3").unwrap() + 10;
        let shorter = bytes[..bytes.len() - 1].to_vec();
        for unreadable in [changed(version), changed(bytes.len() - 1), shorter, b"{}".to_vec(), Vec::new()] {
            fs::write(&file, &unreadable).unwrap();
            assert!(shelf.all(None).is_none(), "{}", String::from_utf8_lossy(&unreadable));
        }
        fs::write(&file, bytes).unwrap();
        assert!(shelf.all(None).is_some());
    }
}
