//! Which of OpenCode's configuration files is edited: one that is there, else a new one.

use super::AgentsConfigError;
use crate::Context;
use std::path::{Path, PathBuf};
use switchyard_host::text_file::{MOST_CONFIG_BYTES, read_text};

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
            Scope::Project(project) => in_project(project),
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
