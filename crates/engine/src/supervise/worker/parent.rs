//! The checkout that the task's repository has besides: no worker may touch it.

use super::place::{Place, git};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    time::SystemTime,
};

/// What is not committed there, and how each of it looks. Commits may come and go: others deliver theirs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Parent {
    uncommitted: BTreeMap<PathBuf, Look>,
}

type Look = Option<(u64, SystemTime)>;

impl Parent {
    pub(super) async fn look(place: &Place) -> Option<Self> {
        place.branch.as_ref()?;
        let repository = place.repository.clone();
        tokio::task::spawn_blocking(move || read(&repository)).await.ok().flatten()
    }

    /// What is different by now and was named in a call of the agent's: a person may work there as well, and what
    /// they change is theirs.
    pub(super) async fn trespass(&self, place: &Place, calls: &[String]) -> Vec<String> {
        let Some(after) = Self::look(place).await else { return Vec::new() };
        let root = place.repository.display().to_string();
        let inside = place.directory.display().to_string();
        after
            .uncommitted
            .iter()
            .filter(|(path, look)| self.uncommitted.get(*path) != Some(look))
            .map(|(path, _)| path.display().to_string())
            .filter(|path| calls.iter().any(|call| names(call, &root, &inside, path)))
            .collect()
    }
}

/// Whether a call names a file of the parent checkout, and not the one of the same name in the worktree.
fn names(call: &str, root: &str, inside: &str, path: &str) -> bool {
    let elsewhere = call.replace(inside, "");
    elsewhere.contains(&format!("{root}/{path}"))
        || (elsewhere.contains(root) && elsewhere.contains(path))
        || (elsewhere.contains("..") && elsewhere.contains(path))
}

fn read(repository: &Path) -> Option<Parent> {
    let entries = git().status_porcelain(repository).ok()?;
    let look = |path: &Path| {
        let found = std::fs::symlink_metadata(repository.join(path)).ok()?;
        Some((found.len(), found.modified().ok()?))
    };
    let uncommitted = entries.into_iter().map(|entry| (entry.path.clone(), look(&entry.path))).collect();
    Some(Parent { uncommitted })
}

#[cfg(test)]
mod tests {
    use super::names;

    #[test]
    fn only_a_file_of_the_parent_is_named() {
        let (root, inside) = ("/home/ann/app", "/home/ann/.local/share/switchyard/worktrees/app-1/t001");
        for (call, named) in [
            (r#"edit {"filePath":"/home/ann/app/src/a.rs"}"#, true),
            (r#"edit {"filePath":"/home/ann/.local/share/switchyard/worktrees/app-1/t001/src/a.rs"}"#, false),
            (r#"bash {"command":"cd /home/ann/app && echo x > src/a.rs"}"#, true),
            (r#"bash {"command":"echo x > ../../app/src/a.rs"}"#, true),
            (r#"edit {"filePath":"src/a.rs"}"#, false),
            (r#"bash {"command":"cat /home/ann/app/README"}"#, false),
        ] {
            assert_eq!(names(call, root, inside, "src/a.rs"), named, "{call}");
        }
    }
}
