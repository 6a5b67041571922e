//! Paths that a spec names: from the top of the repository, and never out of it.

/// Why a path cannot be used; each completes "… {}".
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PathFault {
    #[error("is empty")]
    Empty,
    #[error("is absolute")]
    Absolute,
    #[error("leads out of the repository")]
    Escapes,
    #[error("is within `.git`")]
    Git,
    #[error("has a backslash or a character that cannot be typed")]
    Letters,
}

/// The path in its one form: no `.`, no `..`, no doubled or closing slash.
pub fn inside(text: &str) -> Result<String, PathFault> {
    let text = text.trim();
    if text.is_empty() {
        return Err(PathFault::Empty);
    }
    if text.contains('\\') || text.chars().any(char::is_control) {
        return Err(PathFault::Letters);
    }
    if text.starts_with('/') {
        return Err(PathFault::Absolute);
    }
    let mut parts: Vec<&str> = Vec::new();
    for part in text.split('/').filter(|part| !part.is_empty() && *part != ".") {
        match part {
            ".." if parts.pop().is_none() => return Err(PathFault::Escapes),
            ".." => {}
            _ => parts.push(part),
        }
    }
    let Some(first) = parts.first() else { return Err(PathFault::Empty) };
    // `~` is a home directory for a shell, and `C:` a disk; also when only the other parts were in front of it.
    let drive =
        first.as_bytes().get(1) == Some(&b':') && first.starts_with(|letter: char| letter.is_ascii_alphabetic());
    if first.starts_with('~') || drive {
        return Err(PathFault::Absolute);
    }
    if first.eq_ignore_ascii_case(".git") {
        return Err(PathFault::Git);
    }
    Ok(parts.join("/"))
}

/// Whether two paths in their one form name the same thing, or one is a directory above the other.
#[must_use]
pub(super) fn overlap(left: &str, right: &str) -> bool {
    let below =
        |above: &str, path: &str| path.strip_prefix(above).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    below(left, right) || below(right, left)
}
