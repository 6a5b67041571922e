//! What a server has read for one directory. It is read at the directory's first request and kept until the instance
//! is disposed of; a configuration that could not be read is remembered until the process ends.

use super::{
    agents::{self, Agent},
    catalogue::{self, Catalogue},
    config::{self, Broken, Node},
    machine::{Machine, worktree},
};
use serde_json::{Value, json};
use shuntyard_core::roles::pack::Rule;
use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

#[derive(Debug)]
pub(super) struct Instance {
    pub directory: PathBuf,
    pub worktree: PathBuf,
    pub config: Node,
    pub agents: Vec<Agent>,
    pub catalogue: Catalogue,
    /// What was allowed for good since the instance was loaded.
    pub approved: Mutex<Vec<Rule>>,
}

#[derive(Debug, Default)]
pub(super) struct Instances {
    loaded: Mutex<HashMap<PathBuf, Result<Arc<Instance>, Broken>>>,
}

impl Instances {
    pub fn get(&self, machine: &Machine, directory: &Path) -> Result<Arc<Instance>, Broken> {
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        loaded.entry(directory.to_owned()).or_insert_with(|| Instance::load(machine, directory).map(Arc::new)).clone()
    }

    /// Forgets a directory, or all of them.
    pub fn dispose(&self, directory: Option<&Path>) {
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        loaded.retain(|path, instance| instance.is_err() || directory.is_some_and(|directory| path != directory));
    }
}

impl Instance {
    fn load(machine: &Machine, directory: &Path) -> Result<Self, Broken> {
        let config = config::load(machine, directory)?;
        for folder in config::project(machine, directory) {
            run_plugins(&folder.join(".opencode"));
        }
        Ok(Self {
            agents: agents::read(machine, &config),
            catalogue: catalogue::read(machine, &config.value()),
            directory: directory.to_owned(),
            worktree: worktree(directory),
            config,
            approved: Mutex::default(),
        })
    }

    pub fn agent(&self, name: &str) -> Option<&Agent> {
        self.agents.iter().find(|agent| agent.name == name)
    }

    pub fn default_agent(&self) -> &str {
        self.config.string("default_agent").unwrap_or("build")
    }

    /// The model of a prompt that names none.
    pub fn default_model(&self) -> (String, String) {
        if let Some((provider, model)) = self.config.string("model").and_then(|name| name.split_once('/')) {
            return (provider.to_owned(), model.to_owned());
        }
        let first = self.catalogue.connected.first().map(|provider| provider["id"].as_str().unwrap_or_default());
        let defaults = Catalogue::defaults(&self.catalogue.connected);
        let provider = first.unwrap_or("opencode");
        (provider.to_owned(), defaults[provider].as_str().unwrap_or_default().to_owned())
    }

    pub fn config_json(&self) -> Value {
        let mut config = self.config.value();
        for (key, usual) in [("plugin", json!([])), ("agent", json!({})), ("mode", json!({})), ("command", json!({}))] {
            if config[key].is_null() {
                config[key] = usual;
            }
        }
        config
    }

    /// As `GET /command` has them; OpenCode's own come first.
    pub fn commands(&self) -> Vec<Value> {
        let own = ["init", "review"].map(|name| {
            json!({ "name": name, "source": "command", "template": format!("{name} $ARGUMENTS"), "hints": ["$ARGUMENTS"] })
        });
        let configured =
            self.config.get("command").map(Node::entries).unwrap_or_default().iter().map(|(name, command)| {
                let mut value = command.value();
                value["name"] = json!(name);
                value["source"] = json!("command");
                value["hints"] = json!([]);
                value
            });
        own.into_iter().chain(configured).collect()
    }
}

/// Plugins are code that runs as soon as a directory is loaded. The fake knows one statement of theirs, by which a test
/// detects that they were run.
fn run_plugins(folder: &Path) {
    const STATEMENT: &str = "\nwriteFileSync(";
    let files = ["plugin", "plugins"].into_iter().flat_map(|name| std::fs::read_dir(folder.join(name))).flatten();
    for text in files.flatten().filter_map(|file| std::fs::read_to_string(file.path()).ok()) {
        let path = text.split_once(STATEMENT).and_then(|(_, after)| after.split_once(", "));
        if let Some(path) = path.and_then(|(path, _)| serde_json::from_str::<PathBuf>(path).ok()) {
            drop(std::fs::write(path, "x"));
        }
    }
}
