//! The repository that a directory belongs to, found in the files alone: no program is run for it.

use std::path::{Path, PathBuf};

/// The top of the main checkout. A linked worktree belongs to the repository that it was made from.
#[must_use]
pub fn repository_of(directory: &Path) -> Option<PathBuf> {
    let top = directory.ancestors().find(|level| level.join(".git").exists())?;
    let mark = top.join(".git");
    if mark.is_dir() {
        return Some(top.to_owned());
    }
    Some(main_checkout(top, &mark).unwrap_or_else(|| top.to_owned()))
}

/// `gitdir: /repo/.git/worktrees/name` leads to `/repo`.
fn main_checkout(top: &Path, mark: &Path) -> Option<PathBuf> {
    let text = crate::text_file::read_text(mark, 4096).ok()?;
    let place = top.join(text.strip_prefix("gitdir:")?.trim());
    let worktrees = place.parent()?;
    let git = worktrees.parent()?;
    (worktrees.file_name()? == "worktrees" && git.file_name()? == ".git").then(|| git.parent().map(Path::to_owned))?
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_worktree_belongs_to_the_repository_that_it_was_made_from() {
        let scratch = shuntyard_testkit::Scratch::of_test();
        let (main, linked) = (scratch.path().join("main"), scratch.path().join("linked"));
        fs::create_dir_all(main.join(".git/worktrees/linked")).unwrap();
        fs::create_dir_all(main.join("src/deep")).unwrap();
        fs::create_dir_all(linked.join("src")).unwrap();
        let pointer = format!("gitdir: {}\n", main.join(".git/worktrees/linked").display());
        fs::write(linked.join(".git"), pointer).unwrap();
        for inside in [main.clone(), main.join("src/deep"), linked.join("src"), linked.clone()] {
            assert_eq!(repository_of(&inside), Some(main.clone()), "{}", inside.display());
        }
        fs::write(linked.join(".git"), "gitdir: ../elsewhere/.git/modules/linked\n").unwrap();
        assert_eq!(repository_of(&linked.join("src")), Some(linked.clone()), "a submodule is its own");
        fs::write(linked.join(".git"), "nonsense").unwrap();
        assert_eq!(repository_of(&linked), Some(linked));
        assert_eq!(repository_of(Path::new("/")), None);
    }
}
