//! Where OpenCode keeps its files for one user and one directory. The environment is given, not read.

use std::{
    collections::BTreeMap,
    fmt,
    path::{Path, PathBuf},
};

/// What decides which files OpenCode reads.
#[derive(Clone)]
pub struct Places {
    pub home: PathBuf,
    /// The environment that a server would be started with; it may hold keys.
    pub variables: BTreeMap<String, String>,
    /// The directory that a dispatch works in.
    pub directory: PathBuf,
}

impl fmt::Debug for Places {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Variables hold keys, so that only their number is shown.
        f.debug_struct("Places")
            .field("home", &self.home)
            .field("variables", &self.variables.len())
            .field("directory", &self.directory)
            .finish()
    }
}

impl Places {
    /// A variable with a value: OpenCode takes an empty one for one that is not set.
    pub(super) fn variable(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    pub(super) fn flag(&self, name: &str) -> bool {
        self.variable(name).is_some_and(|value| value == "1" || value.eq_ignore_ascii_case("true"))
    }

    pub(super) fn config_directory(&self) -> PathBuf {
        self.base("XDG_CONFIG_HOME", ".config")
    }

    /// The catalogue that OpenCode has stored. `None` where only OpenCode knows its name.
    pub(super) fn models_cache(&self) -> Option<PathBuf> {
        if let Some(path) = self.variable("OPENCODE_MODELS_PATH") {
            return Some(self.directory.join(path));
        }
        // The catalogue of another address is stored under a hash of that address.
        if self.variable("OPENCODE_MODELS_URL").is_some() {
            return None;
        }
        Some(self.base("XDG_CACHE_HOME", ".cache").join("models.json"))
    }

    pub(super) fn logins(&self) -> PathBuf {
        self.base("XDG_DATA_HOME", ".local/share").join("auth.json")
    }

    /// The configuration that an administrator sets for all users.
    pub(super) fn managed_directory(&self) -> PathBuf {
        match self.variable("OPENCODE_TEST_MANAGED_CONFIG_DIR") {
            Some(directory) => PathBuf::from(directory),
            None if cfg!(target_os = "macos") => PathBuf::from("/Library/Application Support/opencode"),
            None => PathBuf::from("/etc/opencode"),
        }
    }

    /// The directory and its parents up to the root of the work tree, or of the file system without one.
    pub(super) fn ancestors(&self) -> Vec<&Path> {
        let mut found = Vec::new();
        for directory in self.directory.ancestors() {
            found.push(directory);
            if directory.join(".git").exists() {
                break;
            }
        }
        found
    }

    fn base(&self, variable: &str, usual: &str) -> PathBuf {
        self.variable(variable).map_or_else(|| self.home.join(usual), PathBuf::from).join("opencode")
    }
}
