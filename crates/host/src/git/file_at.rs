//! One file as a commit has it, read without a checkout.

use super::{Git, GitError};
use std::path::Path;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileAt {
    /// Such as `100644`; a link or a submodule has another one.
    pub mode: String,
    /// Empty for what is no file.
    pub bytes: Vec<u8>,
}

impl Git {
    /// The file at `path` in `commit`; `None` when it is not there or has more than `most` bytes.
    pub fn file_at(&self, repository: &Path, commit: &str, path: &str, most: u64) -> Result<Option<FileAt>, GitError> {
        let words = ["ls-tree", "-z", "-l", "--full-tree", "--end-of-options", commit, "--", path];
        let listed = String::from_utf8_lossy(&self.output(repository, &words)?).into_owned();
        let entry = listed.split('\0').filter_map(|entry| entry.split_once('\t')).find(|(_, name)| *name == path);
        let Some((fields, _)) = entry else { return Ok(None) };
        let fields: Vec<&str> = fields.split_whitespace().collect();
        let [mode, kind, object, size] = fields.as_slice() else { return Ok(None) };
        if size.parse::<u64>().is_ok_and(|size| size > most) {
            return Ok(None);
        }
        let bytes = if *kind == "blob" { self.output(repository, &["cat-file", "blob", object])? } else { Vec::new() };
        Ok(Some(FileAt { mode: (*mode).to_owned(), bytes }))
    }
}
