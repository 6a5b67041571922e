//! Which directory outside of the project a path is in, as OpenCode asks for it under `external_directory`.
//!
//! Paths are compared as text: what a link points to is not looked at, by OpenCode neither.

/// Where an agent works. For a directory that is no repository, OpenCode's worktree is `/`.
#[derive(Debug, Clone, Copy)]
pub struct Place<'a> {
    pub directory: &'a str,
    pub worktree: &'a str,
    pub home: &'a str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathKind {
    File,
    Directory,
}

/// What is asked for: the directory with `/*`. None for a path that belongs to the project.
#[must_use]
pub fn outside(path: &str, place: Place<'_>, kind: PathKind) -> Option<String> {
    let path = match path.strip_prefix('~') {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => format!("{}{rest}", place.home),
        _ => path.to_owned(),
    };
    let full = resolve(place.directory, &path);
    let inside = |root: &str| full == root || full.starts_with(&format!("{}/", root.trim_end_matches('/')));
    if inside(place.directory) || (place.worktree != "/" && inside(place.worktree)) {
        return None;
    }
    let directory = match kind {
        PathKind::Directory => full.as_str(),
        PathKind::File => full.rsplit_once('/').map_or("", |(parent, _)| parent),
    };
    Some(format!("{}/*", directory.trim_end_matches('/')))
}

fn resolve(directory: &str, path: &str) -> String {
    let whole = if path.starts_with('/') { path.to_owned() } else { format!("{directory}/{path}") };
    let mut parts: Vec<&str> = Vec::new();
    for part in whole.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            name => parts.push(name),
        }
    }
    format!("/{}", parts.join("/"))
}
