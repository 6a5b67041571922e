//! Whether the files of a repository are its own. An attempt can put a link in the place of one of them, and git would
//! then write into whatever the link leads to, such as the user's repository.

use std::fs;
use std::path::{Path, PathBuf};

/// Directories of which everything is looked at. Of the others, only what is directly in them.
const WHOLE: [&str; 5] = ["refs", "logs", "info", "reftable", "lfs"];

/// The first link in a git directory. Git itself makes none. The repositories of submodules are checked on their own.
pub(super) fn link_in(git_dir: &Path) -> Option<PathBuf> {
    let (link, directories) = look(git_dir);
    link.or_else(|| {
        directories.into_iter().find_map(|directory| {
            let name = directory.file_name().unwrap_or_default().to_owned();
            if WHOLE.iter().any(|whole| name == *whole) { link_below(&directory) } else { look(&directory).0 }
        })
    })
}

fn link_below(directory: &Path) -> Option<PathBuf> {
    let (link, directories) = look(directory);
    link.or_else(|| directories.iter().find_map(|below| link_below(below)))
}

/// A link in the directory, and the directories in it.
fn look(directory: &Path) -> (Option<PathBuf>, Vec<PathBuf>) {
    let mut directories = Vec::new();
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        match entry.file_type() {
            Ok(kind) if kind.is_symlink() => return (Some(entry.path()), directories),
            Ok(kind) if kind.is_dir() => directories.push(entry.path()),
            Ok(_) | Err(_) => {}
        }
    }
    (None, directories)
}

#[cfg(test)]
mod tests {
    use super::link_in;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_link_is_found_wherever_git_writes() {
        let table = [
            "index",
            "HEAD.lock",
            "logs",
            "logs/refs/heads/a",
            "refs/shuntyard",
            "refs/heads/a/b",
            "info/exclude",
            "objects/ab",
            "objects/pack",
            "reftable/tables.list",
            "lfs/objects/ab/cd/ef",
            "packed-refs",
        ];
        for name in table {
            let scratch = shuntyard_testkit::Scratch::of_test();
            let git_dir = scratch.join("git");
            let place = git_dir.join(name);
            fs::create_dir_all(place.parent().unwrap()).unwrap();
            fs::write(git_dir.join("HEAD"), "").unwrap();
            assert_eq!(link_in(&git_dir), None, "{name}");
            symlink(scratch.path(), &place).unwrap();
            assert_eq!(link_in(&git_dir), Some(place), "{name}");
        }
    }
}
