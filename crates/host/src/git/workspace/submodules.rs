//! Submodules of a workspace: cloned from the user's own copies, as far as the user has them.
//!
//! What an attempt changes or commits inside of one is not part of the work: a workspace that has such changes must not
//! be removed.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::super::{Git, GitError, alone, path_of, records, within};
use super::copies::copy_file;
use super::leftovers::{patterns, remove_all_others};
use super::{WORK, Workspace, file_error, is_plain, replace_file};

/// Files of a submodule's git directory that are recorded: its settings, what it ignores and the commit it is at.
const SAVED: [&str; 3] = ["config", "info/exclude", "HEAD"];

impl Workspace {
    /// Submodules with changes or commits that are nowhere else, by their names.
    pub fn unsaved_submodules(&self) -> Result<Vec<String>, GitError> {
        // One whose repository is gone has files that nothing else has.
        let orphaned = self.links(&self.git()?)?.into_iter().filter(|path| {
            let tree = self.directory.join(path);
            !tree.join(".git").exists() && fs::read_dir(tree).is_ok_and(|mut files| files.next().is_some())
        });
        let mut unsaved: Vec<String> = orphaned.map(|path| path.display().to_string()).collect();
        for module in modules(&self.git_dir()) {
            let Some(git) = self.module_git(&module)? else { continue };
            let status = ["status", "--porcelain", "-z", "--untracked-files=all", "--ignore-submodules=all"];
            let recorded = fs::read_to_string(self.saved_module(&module).join("HEAD")).unwrap_or_default();
            let mut made = vec!["--all", "--reflog", "--ignore-missing", "--max-count=1", "HEAD", "--not", "--remotes"];
            made.extend(Some(recorded.trim()).filter(|commit| !commit.is_empty() && !commit.contains(' ')));
            let is_changed = !git.succeed(&alone(&self.directory, &status))?.is_empty();
            if is_changed || !git.commits(&self.directory, &made)?.is_empty() {
                unsaved.push(module.display().to_string().replace("/modules/", "/"));
            }
        }
        Ok(unsaved)
    }

    /// After the repository was destroyed: links of submodules to repositories that were inside of it are removed,
    /// because git refuses to go on with them.
    pub(super) fn remove_dangling_links(&self) -> Result<(), GitError> {
        for path in self.links(&self.git()?)? {
            let (tree, link) = (self.directory.join(&path), self.directory.join(path).join(".git"));
            let text = fs::read_to_string(&link).unwrap_or_default();
            if text.strip_prefix("gitdir: ").is_some_and(|target| !tree.join(target.trim_end()).exists()) {
                fs::remove_file(&link).map_err(|source| file_error("remove", &link, source))?;
            }
        }
        Ok(())
    }

    /// The paths of submodules in the work.
    fn links(&self, git: &Git) -> Result<Vec<PathBuf>, GitError> {
        let tree = |of: &str| git.succeed(&within(&self.directory, &["ls-tree", "-r", "-z", "--full-tree", of]));
        let listed = match tree(WORK) {
            // There is no such ref here.
            Err(GitError::Failed { .. }) => tree(&self.collected()?.unwrap_or_else(|| self.record.base.clone()))?,
            listed => listed?,
        };
        let link = |entry: &[u8]| {
            let path = entry.iter().position(|byte| *byte == b'\t').map(|end| path_of(&entry[end + 1..]))?;
            entry.starts_with(b"160000 ").then_some(path)
        };
        Ok(records(&listed).filter_map(link).collect())
    }

    /// What setup left inside of submodules is no change.
    pub(super) fn ignore_in_modules(&self) -> Result<(), GitError> {
        for module in modules(&self.git_dir()) {
            let Some(git) = self.module_git(&module)? else { continue };
            let saved = self.saved_module(&module);
            let recorded = fs::read_to_string(saved.join("HEAD")).unwrap_or_default();
            if !recorded.trim().is_empty() {
                git.succeed(&alone(&self.directory, &["reset", "--hard", "--quiet", recorded.trim()]))?;
            }
            let words = ["ls-files", "--others", "--exclude-standard", "--directory", "--no-empty-directory", "-z"];
            let found = git.succeed(&alone(&self.directory, &words))?;
            let place = saved.join("info/exclude");
            let text = [fs::read(&place).unwrap_or_default(), patterns(&found)].concat();
            let write = || {
                fs::create_dir_all(saved.join("info"))?;
                fs::write(&place, text)
            };
            write().map_err(|source| file_error("write", &place, source))?;
            self.restore_module(&module)?;
        }
        Ok(())
    }

    /// Puts the submodules back that were there when the workspace was made.
    pub(super) fn undo_in_modules(&self) -> Result<(), GitError> {
        for module in modules(&self.git_dir()) {
            let Some(git) = self.module_git(&module)? else { continue };
            let recorded = fs::read_to_string(self.saved_module(&module).join("HEAD")).unwrap_or_default();
            if !recorded.trim().is_empty() {
                git.succeed(&["update-ref", "--no-deref", "HEAD", recorded.trim()])?;
                let tree = git.line(&["rev-parse", "--show-toplevel"])?;
                remove_all_others(&git, Path::new(&tree))?;
            }
        }
        Ok(())
    }

    fn saved_module(&self, module: &Path) -> PathBuf {
        self.admin().join("modules").join(module)
    }

    /// Git, bound to a submodule with its recorded settings; `None` when it has no files.
    fn module_git(&self, module: &Path) -> Result<Option<Git>, GitError> {
        self.restore_module(module)?;
        let git_dir = self.git_dir().join("modules").join(module);
        let plain = self.git.bound_to(&git_dir, None)?;
        let Some(tree) = plain.setting(&git_dir, "core.worktree")? else { return Ok(None) };
        match git_dir.join(tree).canonicalize() {
            Ok(tree) if tree.starts_with(&self.directory) && tree.join(".git").exists() => {
                Ok(Some(self.git.bound_to(&git_dir, Some(&tree))?))
            }
            _ => Ok(None),
        }
    }

    fn restore_module(&self, module: &Path) -> Result<(), GitError> {
        for name in ["config", "info/exclude"] {
            let place = self.git_dir().join("modules").join(module).join(name);
            let Ok(wanted) = fs::read(self.saved_module(module).join(name)) else { continue };
            if !is_plain(&place) || fs::read(&place).ok().as_ref() != Some(&wanted) {
                replace_file(&place, &wanted)?;
            }
        }
        Ok(())
    }
}

/// Records the submodules of a new workspace.
pub(super) fn save_modules(git_dir: &Path, admin: &Path) -> io::Result<()> {
    for module in modules(git_dir) {
        let saved = admin.join("modules").join(&module);
        fs::create_dir_all(saved.join("info"))?;
        for name in SAVED {
            copy_file(&git_dir.join("modules").join(&module).join(name), &saved.join(name))?;
        }
    }
    Ok(())
}

/// The git directories of all submodules, nested ones too, relative to the first directory of submodules.
fn modules(git_dir: &Path) -> Vec<PathBuf> {
    fn search(root: &Path, inside: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(root.join(inside)).into_iter().flatten().flatten() {
            if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                continue;
            }
            let path = inside.join(entry.file_name());
            if root.join(&path).join("objects").is_dir() {
                search(root, &path.join("modules"), found);
                found.push(path);
            } else {
                search(root, &path, found);
            }
        }
    }
    let mut found = Vec::new();
    search(&git_dir.join("modules"), Path::new(""), &mut found);
    found.sort();
    found
}

impl Git {
    /// Fills the submodules of the work tree at `top`, which this git is bound to. One that the user has not
    /// initialised, or whose commit the user's copy does not have, stays empty. `plain` is bound to nothing.
    pub(super) fn copy_submodules(&self, plain: &Git, source: &Path, top: &Path) -> Result<(), GitError> {
        if !top.join(".gitmodules").is_file() {
            return Ok(());
        }
        let words = ["config", "--file", ".gitmodules", "-z", "--get-regexp", r"^submodule\..*\.path$"];
        let listed = match self.succeed(&within(top, &words)) {
            Ok(listed) => listed,
            Err(GitError::Failed { .. }) => return Ok(()),
            Err(error) => return Err(error),
        };
        for entry in records(&listed) {
            let Some(end) = entry.iter().position(|byte| *byte == b'\n') else { continue };
            let key = String::from_utf8_lossy(&entry[..end]).into_owned();
            let name = key.trim_start_matches("submodule.").trim_end_matches(".path").to_owned();
            let path = path_of(&entry[end + 1..]);
            let theirs = source.join(&path);
            if theirs.join(".git").exists() {
                self.copy_submodule(plain, &theirs, top, &name, &path)?;
            }
        }
        Ok(())
    }

    fn copy_submodule(&self, plain: &Git, theirs: &Path, top: &Path, name: &str, path: &Path) -> Result<(), GitError> {
        let copy = plain.common_directory(theirs)?;
        let address = format!("submodule.{name}.url={}", copy.display());
        let allow = ["-c", "protocol.file.allow=always", "-c", &address].map(OsStr::new);
        let update = ["submodule", "--quiet", "update", "--init", "--no-recommend-shallow", "--"];
        let mut args: Vec<&OsStr> = allow.into_iter().chain(within(top, &update)).collect();
        args.push(path.as_os_str());
        match self.succeed(&args) {
            Ok(_) => {}
            // The user's copy does not have the commit.
            Err(GitError::Failed { .. }) => return Ok(()),
            Err(error) => return Err(error),
        }
        let ours = top.join(path);
        let git_dir = plain.common_directory(&ours)?;
        let git = plain.bound_to(&git_dir, Some(&ours))?;
        let url = plain.setting(theirs, "remote.origin.url")?;
        let own =
            [("remote.origin.url", url.as_deref()), ("remote.origin.pushurl", Some(super::configuration::NO_PUSH))];
        for (key, value) in own.into_iter().chain([("gc.auto", Some("0")), ("core.hooksPath", Some("/dev/null"))]) {
            if let Some(value) = value {
                git.succeed(&["config", key, value])?;
            }
        }
        git.copy_submodules(plain, theirs, &ours)
    }
}
