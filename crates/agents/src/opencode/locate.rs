//! Finding the OpenCode binary: the configured one, PATH, its usual places, then the managed install.

use super::TESTED_VERSION;
use shuntyard_host::npm::installed_opencode;
use std::path::{Path, PathBuf};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Located {
    pub path: PathBuf,
    pub found_in: FoundIn,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FoundIn {
    Configuration,
    SearchPath,
    UsualPlace,
    ManagedInstall,
}

impl FoundIn {
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Configuration => "configuration",
            Self::SearchPath => "PATH",
            Self::UsualPlace => "one of OpenCode's usual places",
            Self::ManagedInstall => "the managed install",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotLocated {
    #[error("the configured OpenCode binary {0} is not an executable file")]
    ConfiguredIsMissing(PathBuf),
    #[error("OpenCode was not found: not in PATH, not in its usual places, and not installed by Shuntyard")]
    Nowhere,
}

/// Where to look, all of it given by the caller.
#[derive(Debug, Clone)]
pub struct Search<'a> {
    /// Empty when nothing is configured.
    pub configured: &'a str,
    pub search_path: Option<&'a str>,
    pub home: Option<&'a Path>,
    /// Where managed installs live, one directory for each version.
    pub installs: &'a Path,
}

pub fn locate(search: &Search<'_>) -> Result<Located, NotLocated> {
    let found = |path: PathBuf, found_in| Ok(Located { path, found_in });
    if !search.configured.is_empty() {
        let path = PathBuf::from(search.configured);
        return match which::which_in_global(&path, search.search_path).ok().and_then(|mut paths| paths.next()) {
            Some(path) => found(path, FoundIn::Configuration),
            None => Err(NotLocated::ConfiguredIsMissing(path)),
        };
    }
    if let Some(path) = which::which_in_global("opencode", search.search_path).ok().and_then(|mut paths| paths.next()) {
        return found(path, FoundIn::SearchPath);
    }
    for place in usual_places(search.home) {
        if which::which_in_global(&place, None::<&str>).is_ok_and(|mut paths| paths.next().is_some()) {
            return found(place, FoundIn::UsualPlace);
        }
    }
    match installed_opencode(search.installs, TESTED_VERSION) {
        Some(path) => found(path, FoundIn::ManagedInstall),
        None => Err(NotLocated::Nowhere),
    }
}

fn usual_places(home: Option<&Path>) -> Vec<PathBuf> {
    let below_home = [".opencode/bin/opencode", ".local/bin/opencode", ".bun/bin/opencode"];
    let mut places: Vec<PathBuf> = home.map(|home| below_home.map(|tail| home.join(tail)).to_vec()).unwrap_or_default();
    places.extend(["/usr/local/bin/opencode", "/opt/homebrew/bin/opencode"].map(PathBuf::from));
    places
}
