//! OpenCode's configuration, its layers merged from the weakest to the strongest: objects key by key,
//! anything else replaced whole.
//!
//! The merged value holds the keys that are written in the files themselves: its readers take what they need and drop
//! the rest.

use super::{
    Places,
    substitute::{Mark, substitute},
};
use jsonc_parser::{ParseOptions, parse_to_serde_value};
use serde_json::{Map, Value};
use shuntyard_host::text_file::{MOST_CONFIG_BYTES, read_text};
use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

const CONTENT: &str = "OPENCODE_CONFIG_CONTENT";
/// The list that OpenCode adds up over the layers: no layer takes away a plugin of another one.
const PLUGINS: &str = "plugin";

enum Layer {
    File(PathBuf),
    /// The configuration that a variable holds.
    Content(String),
}

pub(super) fn merged(places: &Places, mark: Mark, problems: &mut Vec<String>) -> Map<String, Value> {
    let mut config = Map::new();
    for layer in weak_to_strong(places) {
        match layer.read(places, mark) {
            Ok(Read { config: mut stronger, missing_files }) => {
                if let (Some(Value::Array(weaker)), Some(Value::Array(more))) =
                    (config.get(PLUGINS), stronger.get_mut(PLUGINS))
                {
                    more.extend_from_slice(weaker);
                }
                merge(&mut config, stronger);
                if missing_files > 0 {
                    problems.push(format!("{}: names a file that cannot be read", layer.name()));
                }
            }
            Err(problem) => problems.push(format!("{}: {problem}", layer.name())),
        }
    }
    config
}

fn weak_to_strong(places: &Places) -> Vec<Layer> {
    let config = places.config_directory();
    let mut files: Vec<PathBuf> =
        ["config.json", "opencode.json", "opencode.jsonc"].map(|name| config.join(name)).into();
    files.extend(places.variable("OPENCODE_CONFIG").map(|path| places.directory.join(path)));
    files.extend(project(places).iter().rev().flat_map(|directory| both_names(directory)));
    files.extend(folders(places).iter().flat_map(|folder| both_names(folder)));

    let mut layers: Vec<Layer> = files.into_iter().map(Layer::File).collect();
    layers.extend(places.variable(CONTENT).map(|text| Layer::Content(text.to_owned())));
    layers.extend(both_names(&places.managed_directory()).map(Layer::File));
    layers
}

fn project(places: &Places) -> Vec<&Path> {
    if places.flag("OPENCODE_DISABLE_PROJECT_CONFIG") { Vec::new() } else { places.ancestors() }
}

/// The folders for configuration and for what else OpenCode takes from a directory, besides its own.
pub(super) fn folders(places: &Places) -> Vec<PathBuf> {
    // OpenCode reads these from the inside out: among them the outermost is the strongest.
    let mut folders: Vec<PathBuf> = project(places).iter().map(|directory| directory.join(".opencode")).collect();
    folders.push(places.home.join(".opencode"));
    folders.extend(places.variable("OPENCODE_CONFIG_DIR").map(|path| places.directory.join(path)));
    let mut seen = BTreeSet::new();
    folders.retain(|folder| seen.insert(folder.clone()));
    folders
}

fn both_names(directory: &Path) -> [PathBuf; 2] {
    ["opencode.json", "opencode.jsonc"].map(|name| directory.join(name))
}

#[derive(Default)]
struct Read {
    config: Map<String, Value>,
    missing_files: usize,
}

impl Layer {
    fn name(&self) -> String {
        match self {
            Self::File(path) => path.display().to_string(),
            Self::Content(_) => CONTENT.to_owned(),
        }
    }

    /// A missing file is empty. A reason never quotes the text.
    fn read(&self, places: &Places, mark: Mark) -> Result<Read, String> {
        let (text, base) = match self {
            Self::Content(text) => (text.clone(), places.directory.as_path()),
            Self::File(path) => match read_text(path, MOST_CONFIG_BYTES) {
                Ok(text) => (text, path.parent().unwrap_or(&places.directory)),
                Err(error) if error.is_absent() => return Ok(Read::default()),
                Err(error) => return Err(format!("cannot be read: {error}")),
            },
        };
        if text.trim().is_empty() {
            return Ok(Read::default());
        }
        let substituted = substitute(&text, base, places, mark);
        match parse_to_serde_value::<Value>(&substituted.text, &ParseOptions::default()) {
            Ok(Value::Object(config)) => Ok(Read { config, missing_files: substituted.missing_files }),
            Ok(_) => Err("is not an object".to_owned()),
            Err(error) => {
                Err(format!("is not JSON at line {}, column {}", error.line_display(), error.column_display()))
            }
        }
    }
}

/// The stronger over the weaker.
pub(super) fn merge(weaker: &mut Map<String, Value>, stronger: Map<String, Value>) {
    for (key, value) in stronger {
        match (weaker.get_mut(&key), value) {
            (Some(Value::Object(weaker)), Value::Object(stronger)) => merge(weaker, stronger),
            (_, value) => {
                weaker.insert(key, value);
            }
        }
    }
}
