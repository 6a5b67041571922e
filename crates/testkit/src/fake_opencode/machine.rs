//! The environment that a fake process works in: its variables, its home and the directory it was started in.
//!
//! Only a fake with a machine reads configuration, asks providers and runs tools.

use super::store::Store;
use std::{
    collections::BTreeMap,
    env,
    path::{Path, PathBuf},
    time::Duration,
};

/// A factor for OpenCode's waits between retries, for tests that want many of them.
const RETRY_SCALE: &str = "FAKE_OPENCODE_RETRY_SCALE";

#[derive(Debug)]
pub(super) struct Machine {
    pub variables: BTreeMap<String, String>,
    pub home: PathBuf,
    pub directory: PathBuf,
    pub store: Store,
    pub http: reqwest::Client,
}

impl Machine {
    /// Takes everything from the process that calls it.
    pub fn of_this_process() -> Result<Self, String> {
        let variables: BTreeMap<String, String> = env::vars().collect();
        let home = variables.get("HOME").map_or_else(|| PathBuf::from("/"), PathBuf::from);
        let directory = env::current_dir().map_err(|error| format!("no working directory: {error}"))?;
        let database = variables.get("OPENCODE_DB").filter(|path| !path.is_empty()).map(PathBuf::from);
        let database = database.unwrap_or_else(|| home.join(".local/share/opencode/opencode.db"));
        // Providers are on this machine: no proxy, and no certificates to load.
        let http = reqwest::Client::builder().no_proxy().tcp_nodelay(true).tls_certs_only(std::iter::empty()).build();
        let http = http.map_err(|error| format!("no HTTP client: {error}"))?;
        Ok(Self { store: Store::at(database), variables, home, directory, http })
    }

    /// A variable with a value: OpenCode takes an empty one for one that is not set.
    pub fn variable(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    pub fn flag(&self, name: &str) -> bool {
        self.variable(name).is_some_and(|value| value == "1" || value.eq_ignore_ascii_case("true"))
    }

    pub fn config_directory(&self) -> PathBuf {
        self.base("XDG_CONFIG_HOME", ".config")
    }

    pub fn data_directory(&self) -> PathBuf {
        self.base("XDG_DATA_HOME", ".local/share")
    }

    pub fn models_file(&self) -> PathBuf {
        let named = self.variable("OPENCODE_MODELS_PATH").map(|path| self.directory.join(path));
        named.unwrap_or_else(|| self.base("XDG_CACHE_HOME", ".cache").join("models.json"))
    }

    /// Any client but OpenCode's own is not offered the tool that asks a person.
    pub fn has_person(&self) -> bool {
        matches!(self.variable("OPENCODE_CLIENT"), None | Some("app" | "cli" | "desktop"))
    }

    pub fn scaled(&self, wait: Duration) -> Duration {
        let scale = self.variable(RETRY_SCALE).and_then(|text| text.parse::<f64>().ok());
        scale.filter(|scale| (0.0..=10.0).contains(scale)).map_or(wait, |scale| wait.mul_f64(scale))
    }

    fn base(&self, variable: &str, usual: &str) -> PathBuf {
        self.variable(variable).map_or_else(|| self.home.join(usual), PathBuf::from).join("opencode")
    }
}

/// The root of the repository that a directory is in; without one OpenCode takes the root of the file system.
pub(super) fn worktree(directory: &Path) -> PathBuf {
    let root = directory.ancestors().find(|ancestor| ancestor.join(".git").exists());
    root.map_or_else(|| PathBuf::from("/"), Path::to_path_buf)
}
