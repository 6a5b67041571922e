//! The reasons against asking without OpenCode, before anything is known of the model itself.

use super::{
    super::{
        super::{
            super::launch::TEXT_AGENT,
            secrets::{masked, secret_values},
        },
        Places,
        build::Sources,
        foreign::without_project,
        layers::folders,
        settings,
    },
    NoAccess,
    options::ProviderOptions,
};
use serde_json::{Map, Value};
use shuntyard_core::ModelRef;
use std::path::{Path, PathBuf};

/// Providers for which OpenCode has code of its own: another protocol, another kind of login, an address that it
/// builds, or headers that name it as the caller.
const OWN_WAYS: [&str; 24] = [
    "amazon-bedrock",
    "anthropic",
    "azure",
    "azure-cognitive-services",
    "cerebras",
    "cloudflare-ai-gateway",
    "cloudflare-workers-ai",
    "digitalocean",
    "gitlab",
    "google-vertex",
    "google-vertex-anthropic",
    "kilo",
    "llmgateway",
    "meta",
    "modal",
    "nvidia",
    "openai",
    "openrouter",
    "poe",
    "sap-ai-core",
    "snowflake-cortex",
    "vercel",
    "xai",
    "zenmux",
];

pub(super) fn has_own_ways(provider: &str) -> bool {
    OWN_WAYS.contains(&provider) || provider.starts_with("opencode") || provider.contains("github-copilot")
}

/// The places as they are for a directory without any settings. What is read from there is the user's own, or this
/// fails.
pub(super) fn without_directory(places: &Places) -> Result<Places, NoAccess> {
    let mut own = without_project(places);
    // A relative name in a variable leads somewhere else from here, and so shows up as a difference.
    own.directory.clone_from(&own.home);
    let named = ["OPENCODE_CONFIG", "OPENCODE_CONFIG_DIR", "OPENCODE_MODELS_PATH"];
    let named = named.iter().filter_map(|name| own.variable(name)).map(PathBuf::from);
    let usual = [own.home.clone(), own.config_directory(), own.logins(), own.managed_directory()];
    let mut paths = usual.into_iter().chain(own.models_cache()).chain(named);
    let tree = tree(places);
    // Who keeps the whole home in one repository owns that repository.
    let belongs_to_tree = |path: &Path| path.starts_with(tree) && !own.home.starts_with(tree);
    if paths.any(|path| !path.is_absolute() || belongs_to_tree(&path)) {
        return Err(NoAccess::Foreign);
    }
    Ok(own)
}

/// The work tree of the directory, or the directory itself outside of any.
fn tree(places: &Places) -> &Path {
    let outermost = places.ancestors().pop().filter(|directory| directory.join(".git").exists());
    outermost.unwrap_or(&places.directory)
}

/// Whether a directory sets anything at all about the provider: stricter than a check of where prompts go, since here
/// nothing asks the user again.
pub(super) fn is_foreign(provider: &str, everything: &Map<String, Value>, own: &Map<String, Value>) -> bool {
    let said = |config: &Map<String, Value>| config.get("provider").and_then(|all| all.get(provider)).cloned();
    let allowed = |config: &Map<String, Value>| settings::of(config.clone(), &mut Vec::new()).allows(provider);
    said(everything) != said(own) || allowed(everything) != allowed(own)
}

/// Plugins see each request of OpenCode and may change it.
pub(super) fn has_plugins(places: &Places, config: &Map<String, Value>) -> bool {
    if places.flag("OPENCODE_PURE") {
        return false;
    }
    let named = config.get("plugin").is_some_and(|named| named.as_array().is_none_or(|list| !list.is_empty()));
    let mut folders = folders(places);
    folders.push(places.config_directory());
    named
        || folders
            .iter()
            .flat_map(|folder| ["plugin", "plugins"].map(|name| folder.join(name)))
            .any(|folder| holds_code(&folder))
}

/// A folder that cannot be looked into may hold anything.
fn holds_code(folder: &Path) -> bool {
    let is_code = |path: &Path| path.extension().is_some_and(|end| end == "ts" || end == "js");
    match folder.read_dir() {
        Ok(mut entries) => entries.any(|entry| entry.map_or(true, |entry| is_code(&entry.path()))),
        Err(error) => !matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory),
    }
}

/// Who tunes the agent of our text prompts wants it used.
pub(super) fn text_agent(config: &Map<String, Value>) -> Result<(), NoAccess> {
    let tuned = |kind: &str| config.get(kind).is_some_and(|agents| agents.get(TEXT_AGENT).is_some());
    if tuned("agent") || tuned("mode") { Err(NoAccess::Options("agent".to_owned())) } else { Ok(()) }
}

/// Whether OpenCode is sure to see the model as it is seen from here.
pub(super) fn is_certain(sources: &Sources<'_>, model: &ModelRef, options: &ProviderOptions) -> Result<(), NoAccess> {
    let (id, configured) = (model.provider.as_str(), sources.configured(&model.provider));
    let described = configured.and_then(|own| own.models.get(&model.model));
    // A nickname takes over the settings of its model by then, which depends on the order of the two.
    let behind = described.and_then(|described| described.id.as_ref()).filter(|behind| **behind != model.model);
    if behind.is_some_and(|behind| configured.is_some_and(|own| own.models.contains_key(behind))) {
        return Err(NoAccess::Options("id".to_owned()));
    }
    if sources.cache.is_some() {
        return Ok(());
    }
    // Without a stored catalogue the one inside OpenCode fills every gap.
    let complete = configured.zip(described).is_some_and(|(own, described)| {
        let package = described.npm().or(own.npm.as_deref());
        let address = options.base_url.as_deref().or(described.api()).or(own.api.as_deref());
        let key = options.api_key.is_some() || sources.logins.contains_key(id) || own.env.is_some();
        package.is_some() && address.is_some() && key
    });
    if complete { Ok(()) } else { Err(NoAccess::Catalogue) }
}

/// The name of an option, which a configuration can have made of anything.
pub(super) fn presentable(name: String, places: &Places) -> String {
    const LONGEST: usize = 32;
    let is_name = name.len() <= LONGEST && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if is_name { masked(name, &secret_values(&places.variables)) } else { "…".to_owned() }
}
