//! Copying the files of a repository without git. Files that are never written again are linked, so that the copy
//! takes next to no space.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// How the files of a directory come into another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Files {
    Copied,
    /// For files that are never written again, such as objects.
    Linked,
}

/// Makes a repository at `to` with the objects, refs and format of another one. Index and reflogs are not part of it.
pub(super) fn copy_repository(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to.join("refs"))?;
    for name in ["HEAD", "config", "packed-refs", "shallow"] {
        copy_file(&from.join(name), &to.join(name))?;
    }
    // `objects/info` names other repositories, and is written in place: a link would change along with it.
    for name in ["refs", "reftable", "info", "hooks", "git-crypt", "objects/info"] {
        copy_tree(&from.join(name), &to.join(name), Files::Copied)?;
    }
    for name in ["objects", "lfs/objects"] {
        copy_tree(&from.join(name), &to.join(name), Files::Linked)?;
    }
    Ok(())
}

pub(super) fn copy_file(from: &Path, to: &Path) -> io::Result<()> {
    match fs::read(from) {
        Ok(bytes) => fs::write(to, bytes),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

/// Adds what a directory has to another. One that does not exist is left out; a file that is there stays.
pub(super) fn copy_tree(from: &Path, to: &Path, files: Files) -> io::Result<()> {
    let Ok(entries) = fs::read_dir(from) else { return Ok(()) };
    fs::create_dir_all(to)?;
    for entry in entries {
        let entry = entry?;
        let (from, to): (PathBuf, PathBuf) = (entry.path(), to.join(entry.file_name()));
        if from.is_dir() {
            copy_tree(&from, &to, files)?;
        } else if to.symlink_metadata().is_err() && (files == Files::Copied || fs::hard_link(&from, &to).is_err()) {
            // Under its name when it is whole: a later call takes what has the name for done.
            let mut draft = to.clone().into_os_string();
            draft.push(format!(".{}", std::process::id()));
            fs::copy(&from, &draft)?;
            fs::rename(&draft, &to)?;
        }
    }
    Ok(())
}
