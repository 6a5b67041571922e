//! Reads the configuration files and variables, opens the store, and makes the context of a command.

use crate::{failure::Failure, inside::as_outside, ui};
use secrecy::SecretString;
use shuntyard_core::settings::{Layer, Layered, Origin, overrides_from_variables};
use shuntyard_engine::{Context, base::direct_cache::DirectCache, queue::supervise::adopt_repositories};
use shuntyard_host::{
    former_name::{adopt_directories, present_name},
    git::MISLEADING,
    paths::Paths,
};
use shuntyard_store::sqlite::SqliteStore;
use std::{
    collections::BTreeMap,
    ffi::OsString,
    io::ErrorKind,
    path::{Path, PathBuf},
    sync::Arc,
};

/// The configuration of this run, with the places that it was read from.
#[derive(Debug)]
pub struct Settings {
    pub layered: Layered,
    pub paths: Paths,
    pub environment: BTreeMap<String, String>,
}

/// What the command line itself sets.
#[derive(Debug, Clone, Default)]
pub struct Overrides {
    pub server: Option<String>,
}

impl Settings {
    pub fn load(overrides: &Overrides) -> Result<Self, Failure> {
        let (environment, paths) = environment_and_paths()?;
        let mut layers = file_layers(&environment, &paths)?;
        layers.extend(above_files(&environment, overrides));
        let layered = Layered::merge(&layers).map_err(Failure::configuration)?;
        Ok(Self { layered, paths, environment })
    }

    /// The same settings with one more file over all others, as a policy to compare with.
    pub fn under_policy(overrides: &Overrides, policy: &Path) -> Result<Layered, Failure> {
        let (environment, paths) = environment_and_paths()?;
        let mut layers = file_layers(&environment, &paths)?;
        layers.extend(above_files(&environment, overrides));
        let missing = || Failure::configuration(format!("there is no file {}", policy.display()));
        layers.push(optional_file(policy)?.ok_or_else(missing)?);
        Layered::merge(&layers).map_err(Failure::configuration)
    }

    /// The user's own file, which does not have to exist.
    pub fn user_file() -> Result<PathBuf, Failure> {
        let (_, paths) = environment_and_paths()?;
        Ok(paths.config_dir.join("config.toml"))
    }

    /// The settings as they would be with this text in the user's own file.
    pub fn with_user_text(overrides: &Overrides, text: String) -> Result<Layered, Failure> {
        let (environment, paths) = environment_and_paths()?;
        let path = paths.config_dir.join("config.toml");
        let own = Layer { origin: Origin::File(path.display().to_string()), text };
        let mut layers = vec![own];
        layers.extend(file_layers_above_own(&environment)?);
        layers.extend(above_files(&environment, overrides));
        Layered::merge(&layers).map_err(Failure::configuration)
    }

    /// The settings for diagnosis when the files are broken: the variables and flags, or if those are to blame the
    /// built-in settings alone.
    pub fn without_files(overrides: &Overrides) -> Result<Self, Failure> {
        let (environment, paths) = environment_and_paths()?;
        let layered = Layered::merge(&above_files(&environment, overrides))
            .or_else(|_| Layered::merge(&[]))
            .map_err(Failure::configuration)?;
        Ok(Self { layered, paths, environment })
    }

    /// Opens the store and makes the context.
    pub async fn into_context(self) -> Result<Context, Failure> {
        let store_path = self.store_path()?;
        self.into_context_with(store_path).await
    }

    pub async fn into_context_with(self, store_path: PathBuf) -> Result<Context, Failure> {
        let store = SqliteStore::open(&store_path).await?;
        let program = std::env::current_exe().map_err(|error| {
            Failure::unavailable("host", format!("this program cannot find itself: {error}"), "reinstall shuntyard")
        })?;
        let server_password =
            self.environment.get("SHUNTYARD_OPENCODE_PASSWORD").map(|password| SecretString::from(password.clone()));
        let context = Context {
            direct: DirectCache::default(),
            store: Arc::new(store),
            store_path,
            origins: set_somewhere(&self.layered),
            config: self.layered.config,
            paths: self.paths,
            environment: self.environment,
            program,
            server_password,
        };
        for message in adopt_repositories(&context).await? {
            ui::warn(&message);
        }
        Ok(context)
    }

    pub fn store_path(&self) -> Result<PathBuf, Failure> {
        let url = self.layered.config.store.url.as_str();
        if url.is_empty() {
            return Ok(self.paths.data_dir.join("shuntyard.db"));
        }
        match url.strip_prefix("sqlite:") {
            Some(path) if Path::new(path).is_absolute() => Ok(PathBuf::from(path)),
            Some(path) => Err(Failure::configuration(format!("store.url: `{path}` is not an absolute path"))),
            None => Err(Failure::configuration(format!("store.url: `{url}` is not of the form sqlite:PATH"))),
        }
    }
}

/// Where each setting comes from that is not as it is built in.
fn set_somewhere(layered: &Layered) -> BTreeMap<String, String> {
    layered.origins.iter().map(|(key, origin)| (key.clone(), origin.to_string())).collect()
}

fn environment_and_paths() -> Result<(BTreeMap<String, String>, Paths), Failure> {
    // A hook of git sets variables that name its repository; what we start works in another one.
    let environment: BTreeMap<String, String> = std::env::vars_os()
        .filter(|(name, _)| !MISLEADING.iter().any(|misleading| name == misleading))
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect();
    let environment = with_former_variables(as_outside(environment));
    let paths = Paths::new(|name| environment.get(name).map(OsString::from)).map_err(Failure::configuration)?;
    let messages = adopt_directories(&paths).map_err(|error| {
        let hint = "move ~/.local/share/switchyard and ~/.config/switchyard to their new name yourself";
        Failure::unavailable("host", format!("data of the former name Switchyard cannot be moved: {error}"), hint)
    })?;
    messages.iter().for_each(|message| ui::note(message));
    Ok((environment, paths))
}

/// A variable of the former name counts as long as the present one is not set.
fn with_former_variables(mut environment: BTreeMap<String, String>) -> BTreeMap<String, String> {
    let former: Vec<(String, String)> = environment
        .keys()
        .filter(|name| name.starts_with("SWITCHYARD_"))
        .filter_map(|name| Some((name.clone(), present_name(name)?)))
        .collect();
    for (former, present) in former {
        if let Some(value) = environment.remove(&former).filter(|_| !environment.contains_key(&present)) {
            ui::warn(&format!("{former} is the former name of {present}; rename it"));
            environment.insert(present, value);
        }
    }
    environment
}

/// The files, from the weakest to the strongest.
fn file_layers(environment: &BTreeMap<String, String>, paths: &Paths) -> Result<Vec<Layer>, Failure> {
    let mut layers = Vec::new();
    layers.extend(optional_file(&paths.config_dir.join("config.toml"))?);
    layers.extend(file_layers_above_own(environment)?);
    Ok(layers)
}

/// The files that come after the user's own one.
fn file_layers_above_own(environment: &BTreeMap<String, String>) -> Result<Vec<Layer>, Failure> {
    let mut layers = Vec::new();
    if let Some(directory) = repository_config() {
        let layer = optional_file(&directory.join("config.toml"))?;
        layers.extend(layer.map(|layer| Layer { origin: Origin::Repository(layer.origin.to_string()), ..layer }));
    }
    if let Some(path) = environment.get("SHUNTYARD_CONFIG").filter(|path| !path.is_empty()) {
        layers.push(required_file(Path::new(path))?);
    }
    Ok(layers)
}

/// The layers that come after every file.
fn above_files(environment: &BTreeMap<String, String>, overrides: &Overrides) -> Vec<Layer> {
    let mut layers: Vec<Layer> = overrides_from_variables(|name| environment.get(name).cloned()).into_iter().collect();
    if let Some(url) = &overrides.server {
        let url = toml::Value::String(url.clone());
        layers.push(Layer { origin: Origin::Flag("--server".into()), text: format!("server.url = {url}\n") });
    }
    layers
}

/// The `.shuntyard` directory of the repository that the command was called in.
fn repository_config() -> Option<PathBuf> {
    let here = std::env::current_dir().ok()?;
    let root = here.ancestors().find(|level| level.join(".git").exists())?;
    let (directory, former) = (root.join(".shuntyard"), root.join(".switchyard"));
    if former.join("config.toml").is_file() && !directory.exists() {
        ui::warn(&format!("{} has the former name of this program; rename it to .shuntyard", former.display()));
        return Some(former);
    }
    Some(directory)
}

fn optional_file(path: &Path) -> Result<Option<Layer>, Failure> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some(Layer { origin: Origin::File(path.display().to_string()), text })),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
        Err(error) => Err(Failure::configuration(format!("{} cannot be read: {error}", path.display()))),
    }
}

fn required_file(path: &Path) -> Result<Layer, Failure> {
    optional_file(path)?.ok_or_else(|| {
        Failure::configuration(format!("SHUNTYARD_CONFIG names {}, which does not exist", path.display()))
    })
}
