//! Which of OpenCode's configuration files is edited: one that is there, else a new one.

use super::AgentsConfigError;
use crate::Context;
use shuntyard_host::text_file::{MOST_CONFIG_BYTES, read_text};
use std::path::{Path, PathBuf};

/// A file that is made with nothing else in it.
const MINIMAL: &str = "{\n  \"$schema\": \"https://opencode.ai/config.json\"\n}\n";

/// Whose configuration is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope<'a> {
    Project(&'a Path),
    User,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigFile {
    pub path: PathBuf,
    /// As it is, or as a new one begins.
    pub text: String,
    pub exists: bool,
}

impl ConfigFile {
    pub fn find(context: &Context, scope: Scope<'_>) -> Result<Self, AgentsConfigError> {
        let candidates = match scope {
            Scope::Project(directory) => of_project(directory),
            Scope::User => {
                let user = user_directory(context).ok_or(AgentsConfigError::NoHome)?;
                vec![user.join("opencode.jsonc"), user.join("opencode.json")]
            }
        };
        let there = candidates.iter().find(|path| path.symlink_metadata().is_ok());
        let Some(found) = there else {
            let path = candidates.into_iter().next().unwrap_or_default();
            return Ok(Self { path, text: MINIMAL.to_owned(), exists: false });
        };
        let unreadable = |reason: String| AgentsConfigError::Unreadable { path: found.clone(), reason };
        // A link is followed, because the file that it leads to is the one that the user keeps.
        let path = found.canonicalize().map_err(|error| unreadable(error.to_string()))?;
        let text = read_text(&path, MOST_CONFIG_BYTES).map_err(|error| unreadable(error.to_string()))?;
        Ok(Self { path, text, exists: true })
    }
}

/// The files that OpenCode reads in this directory: of the nearest directory that has one, up to the root of the
/// repository; without any, those of that root, so that they hold wherever OpenCode is started in it.
fn of_project(directory: &Path) -> Vec<PathBuf> {
    let root = directory.ancestors().find(|level| level.join(".git").exists()).unwrap_or(directory);
    let levels = directory.ancestors().take_while(|level| level.starts_with(root));
    let is_there = |path: &PathBuf| path.symlink_metadata().is_ok();
    levels.map(in_project).find(|files| files.iter().any(is_there)).unwrap_or_else(|| in_project(root))
}

/// The files of a project, the preferred first.
pub(super) fn in_project(project: &Path) -> Vec<PathBuf> {
    let names = ["opencode.jsonc", ".opencode/opencode.jsonc", "opencode.json", ".opencode/opencode.json"];
    names.iter().map(|name| project.join(name)).collect()
}

fn user_directory(context: &Context) -> Option<PathBuf> {
    let set = |name: &str| context.variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let config = set("XDG_CONFIG_HOME").or_else(|| Some(set("HOME")?.join(".config")))?;
    Some(config.join("opencode"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_file_up_to_the_root_of_the_repository_is_meant() {
        let scratch = shuntyard_testkit::Scratch::of_test();
        let top = scratch.path();
        let deep = top.join("repository/sub/deep");
        std::fs::create_dir_all(&deep).unwrap();
        std::fs::create_dir_all(top.join("repository/.git")).unwrap();
        std::fs::write(top.join("opencode.json"), "{}").unwrap();
        let first = |directory: &Path| of_project(directory)[0].clone();
        assert_eq!(first(&deep), top.join("repository/opencode.jsonc"), "what is above the repository is not its");
        std::fs::write(top.join("repository/sub/opencode.json"), "{}").unwrap();
        assert_eq!(first(&deep), top.join("repository/sub/opencode.jsonc"));
        assert_eq!(first(&top.join("repository")), top.join("repository/opencode.jsonc"));
    }
}
