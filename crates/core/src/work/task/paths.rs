//! Which paths a pattern covers. A pattern is a path from the top of the repository: a file, a directory with all
//! that is in it, or either with `*` for a part of a name and `**` for any number of directories.
//!
//! Invariant: the work is at most the length of the pattern times that of the path, from any source.

use std::iter::once;

/// The paths that no pattern covers; none when there are no patterns.
#[must_use]
pub fn outside(patterns: &[String], paths: &[String]) -> Vec<String> {
    if patterns.is_empty() {
        return Vec::new();
    }
    paths.iter().filter(|path| !patterns.iter().any(|pattern| covers(pattern, path))).cloned().collect()
}

/// The paths that git refuses to check out, because a name in them would be `.git` or lead elsewhere on some file
/// system. A commit that has one can be made with plumbing commands, and breaks every checkout that fetches it.
#[must_use]
pub fn not_checked_out(paths: &[String]) -> Vec<String> {
    paths.iter().filter(|path| path.split('/').any(is_refused)).cloned().collect()
}

/// Windows ignores spaces and dots at the end of a name and what follows a colon, separates names by a backslash, too,
/// and has a short form of long names; macOS ignores some invisible characters. Neither distinguishes capital letters.
fn is_refused(name: &str) -> bool {
    let visible = name.chars().filter(|letter| !is_ignored(*letter)).collect::<String>().to_lowercase();
    let is_repository = |part: &str| {
        let stem = part.split(':').next().unwrap_or_default().trim_end_matches([' ', '.']);
        matches!(stem, ".git" | "git~1")
    };
    matches!(name, "" | "." | "..") || visible.split('\\').any(is_repository)
}

fn is_ignored(letter: char) -> bool {
    matches!(letter, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}')
}

#[must_use]
pub fn covers(pattern: &str, path: &str) -> bool {
    // The top is written as `.` or `/`. An empty pattern is more likely a mistake, and must not allow all.
    if pattern.trim().is_empty() || path.starts_with('/') {
        return false;
    }
    let (pattern, path) = (parts(pattern), parts(path));
    // What would lead out of the repository covers nothing, and is covered by nothing.
    if pattern.iter().chain(&path).any(|part| *part == "..") || path.is_empty() {
        return false;
    }
    // A pattern that is used up covers what lies below.
    used(&pattern, &path, |part| *part == "**", |part, name| one(part, name)).contains(&true)
}

fn parts(text: &str) -> Vec<&str> {
    text.split('/').filter(|part| !part.is_empty() && *part != ".").collect()
}

/// `*` for any part of one name.
fn one(pattern: &str, name: &str) -> bool {
    if !pattern.contains('*') {
        return pattern == name;
    }
    used(pattern.as_bytes(), name.as_bytes(), |byte| *byte == b'*', |byte, letter| byte == letter).last() == Some(&true)
}

/// For each number of leading things, none included, whether the whole pattern can be used up by just these. Each part
/// of the pattern is gone through once, for all numbers together, so that many stars cost no more than one.
pub(super) fn used<T>(
    pattern: &[T],
    things: &[T],
    any: impl Fn(&T) -> bool,
    fits: impl Fn(&T, &T) -> bool,
) -> Vec<bool> {
    let mut used: Vec<bool> = once(true).chain(things.iter().map(|_| false)).collect();
    for part in pattern {
        used = if any(part) {
            let reached = |reached: &mut bool, here: bool| {
                *reached |= here;
                Some(*reached)
            };
            used.into_iter().scan(false, reached).collect()
        } else {
            let further = used.iter().zip(things).map(|(here, thing)| *here && fits(part, thing));
            once(false).chain(further).collect()
        };
    }
    used
}
