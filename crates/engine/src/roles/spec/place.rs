//! Where task artifacts are: `.ai/tasks` of a repository. Links are followed as long as they stay in it.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

#[derive(Debug, thiserror::Error)]
pub enum PlaceError {
    #[error("{} is no directory", .0.display())]
    NotDirectory(PathBuf),
    #[error("there is no {name} in {}", root.display())]
    Missing { name: String, root: PathBuf },
    #[error("{} is a link to {}, which is not there", path.display(), target.display())]
    Dangling { path: PathBuf, target: PathBuf },
    #[error("{} leads to {}, which is outside of {}", path.display(), target.display(), root.display())]
    Outside { path: PathBuf, target: PathBuf, root: PathBuf },
    #[error("{} cannot be used: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
}

impl PlaceError {
    /// Whether there is nothing, and so nothing wrong.
    #[must_use]
    pub fn is_missing(&self) -> bool {
        matches!(self, Self::Missing { .. })
    }
}

/// A repository, or a directory that is used like one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    root: PathBuf,
}

impl Place {
    /// The nearest directory with `.ai`, at most as far up as the top of the repository; without a repository the
    /// directory itself.
    pub fn of(directory: &Path) -> Result<Self, PlaceError> {
        let here = fs::canonicalize(directory).map_err(|source| Self::io(directory, source))?;
        if !here.is_dir() {
            return Err(PlaceError::NotDirectory(here));
        }
        let has = |level: &Path, name: &str| level.join(name).symlink_metadata().is_ok();
        let Some(top) = here.ancestors().find(|level| has(level, ".git")) else { return Ok(Self { root: here }) };
        let within = here.ancestors().take_while(|level| level.starts_with(top));
        let root = within.into_iter().find(|level| has(level, ".ai")).unwrap_or(top).to_owned();
        Ok(Self { root })
    }

    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// `.ai/tasks`, as a path without links.
    pub fn tasks(&self) -> Result<PathBuf, PlaceError> {
        let artifacts = self.directory(&self.root.join(".ai"))?;
        self.directory(&artifacts.join("tasks"))
    }

    /// The same; what is missing of it is made.
    pub(super) fn make_tasks(&self) -> Result<PathBuf, PlaceError> {
        let artifacts = self.make(&self.root.join(".ai"))?;
        self.make(&artifacts.join("tasks"))
    }

    fn make(&self, path: &Path) -> Result<PathBuf, PlaceError> {
        match fs::create_dir(path) {
            Ok(()) => {}
            // Another process may have made it just now; what it is gets checked below.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(source) => return Err(Self::io(path, source)),
        }
        self.directory(path)
    }

    fn directory(&self, path: &Path) -> Result<PathBuf, PlaceError> {
        let found = self.inside(path)?;
        if found.is_dir() { Ok(found) } else { Err(PlaceError::NotDirectory(path.to_owned())) }
    }

    /// The path without links, when it is there and in the repository.
    pub fn inside(&self, path: &Path) -> Result<PathBuf, PlaceError> {
        let found = match fs::canonicalize(path) {
            Ok(found) => found,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(match fs::read_link(path) {
                    Ok(target) => PlaceError::Dangling { path: path.to_owned(), target },
                    Err(_) => PlaceError::Missing { name: self.shown(path), root: self.root.clone() },
                });
            }
            Err(source) => return Err(Self::io(path, source)),
        };
        if found.starts_with(&self.root) {
            return Ok(found);
        }
        Err(PlaceError::Outside { path: path.to_owned(), target: found, root: self.root.clone() })
    }

    /// The path as people read it: from the top of the repository.
    #[must_use]
    pub fn shown(&self, path: &Path) -> String {
        let short = path.strip_prefix(&self.root).unwrap_or(path);
        if short.as_os_str().is_empty() { ".".to_owned() } else { short.display().to_string() }
    }

    fn io(path: &Path, source: io::Error) -> PlaceError {
        PlaceError::Io { path: path.to_owned(), source }
    }
}
