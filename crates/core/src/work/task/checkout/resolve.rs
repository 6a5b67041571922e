//! Where a path in a call leads, by its text alone: links are not followed.

/// A part of a name that a pattern leaves open.
pub(super) const WILD: char = '\u{0}';
/// A text that only the shell knows, such as an unset variable.
pub(super) const UNKNOWN: char = '\u{1}';

/// The directories that a call can concern. All are absolute and normalised.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scene {
    /// The top of the user's checkout.
    pub root: String,
    /// Where git keeps the repository, as a rule `.git` in the root.
    pub git_directory: String,
    /// Where the agent works; nothing in it is the user's, also when it is below the root.
    pub workspace: String,
    pub home: String,
}

/// What a word in a call can mean.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Target {
    /// An absolute path, in which [`WILD`] stands for any part of a name.
    Path(String),
    /// Something below this directory, by a name that is not known.
    Below(String),
}

impl Scene {
    /// None for what is in the workspace, or leads to an unknown place. No directory means an unknown one.
    pub(super) fn target(&self, directory: Option<&str>, word: &str) -> Option<Target> {
        let target = self.resolve(directory, word)?;
        let (Target::Path(path) | Target::Below(path)) = &target;
        (!is_within(path, &self.workspace)).then_some(target)
    }

    /// As [`Scene::target`], for a directory, also in the workspace.
    pub(super) fn directory(&self, directory: Option<&str>, word: &str) -> Option<String> {
        match self.resolve(directory, word)? {
            Target::Path(path) if !path.contains(WILD) => Some(path),
            Target::Path(_) | Target::Below(_) => None,
        }
    }

    fn resolve(&self, directory: Option<&str>, word: &str) -> Option<Target> {
        if word.is_empty() || word.starts_with(UNKNOWN) {
            return None;
        }
        let whole = match word.strip_prefix('~') {
            Some(rest) if rest.is_empty() || rest.starts_with('/') => format!("{}{rest}", self.home),
            Some(_) => return None,
            None if word.starts_with('/') => word.to_owned(),
            None => format!("{}/{word}", directory?),
        };
        match whole.find(UNKNOWN) {
            None => Some(Target::Path(normal(&whole))),
            // What follows an unknown part may lead anywhere by `..`.
            Some(at) if whole[at..].contains("..") => None,
            Some(at) => Some(Target::Below(normal(&whole[..whole[..at].rfind('/')?]))),
        }
    }

    /// The user's own settings of git, which hold in every repository.
    pub(super) fn global_settings(&self) -> [String; 2] {
        [".gitconfig", ".config/git/config"].map(|name| format!("{}/{name}", self.home))
    }

    /// Of a path from the top of the user's checkout.
    pub(super) fn path(&self, name: &str) -> String {
        format!("{}/{name}", self.root)
    }

    /// Whether a directory belongs to the user's repository.
    pub(super) fn is_users(&self, directory: &str) -> bool {
        !is_within(directory, &self.workspace)
            && (is_within(directory, &self.root) || is_within(directory, &self.git_directory))
    }
}

/// Without `.`, `..` and doubled slashes.
fn normal(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            name => parts.push(name),
        }
    }
    format!("/{}", parts.join("/"))
}

pub(super) fn is_within(path: &str, directory: &str) -> bool {
    path.strip_prefix(directory).is_some_and(|rest| rest.is_empty() || rest.starts_with('/') || directory == "/")
}

/// Whether a pattern, name by name, is this very path.
pub(super) fn is_at(pattern: &str, path: &str) -> bool {
    pattern.split('/').count() == path.split('/').count() && leads_to(pattern, path)
}

/// Whether a pattern is this path or a directory above it.
pub(super) fn leads_to(pattern: &str, path: &str) -> bool {
    let mut names = path.split('/');
    pattern == "/" || pattern.split('/').all(|part| names.next().is_some_and(|name| fits(part, name)))
}

fn fits(pattern: &str, name: &str) -> bool {
    if !pattern.contains(WILD) {
        return pattern == name;
    }
    let (pattern, name): (Vec<char>, Vec<char>) = (pattern.chars().collect(), name.chars().collect());
    let used = crate::work::task::paths::used(&pattern, &name, |letter| *letter == WILD, |one, other| one == other);
    used.last() == Some(&true)
}
