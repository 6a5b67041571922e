//! The catalogue of models that OpenCode has downloaded and stored.

use super::{
    super::lenient::lenient,
    Places,
    described::Described,
    draft::{Draft, USUAL_PACKAGE},
    wire::Wire,
};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::value::RawValue;
use shuntyard_host::text_file::read_text;
use std::collections::BTreeMap;

/// Many times what all models of the world need today.
const MOST_BYTES: u64 = 64 * 1024 * 1024;

pub(super) type ModelsCache = BTreeMap<String, StoredProvider>;

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct StoredProvider {
    #[serde(deserialize_with = "lenient")]
    pub(super) name: String,
    #[serde(deserialize_with = "lenient")]
    pub(super) env: Vec<String>,
    #[serde(deserialize_with = "lenient")]
    pub(super) npm: Option<String>,
    /// The address of its API.
    #[serde(deserialize_with = "lenient")]
    pub(super) api: Option<String>,
    models: BTreeMap<String, Described>,
}

/// `None` when there is none that can be read: then OpenCode uses the one that it was built with.
pub(super) fn read(places: &Places, problems: &mut Vec<String>) -> Option<ModelsCache> {
    parsed(places, problems)
}

/// The same with one provider at most: to take in the models of all the others would take many times as long.
pub(super) fn read_one(places: &Places, provider: &str, problems: &mut Vec<String>) -> Option<ModelsCache> {
    let all: BTreeMap<String, Box<RawValue>> = parsed(places, problems)?;
    let Some(raw) = all.get(provider) else { return Some(ModelsCache::new()) };
    match serde_json::from_str(raw.get()) {
        Ok(stored) => Some([(provider.to_owned(), stored)].into()),
        Err(_) => {
            problems.push("the stored catalogue holds something else than a provider".to_owned());
            None
        }
    }
}

fn parsed<T: DeserializeOwned>(places: &Places, problems: &mut Vec<String>) -> Option<T> {
    let path = places.models_cache()?;
    let problem = match read_text(&path, MOST_BYTES) {
        Ok(text) => match serde_json::from_str::<Option<T>>(&text) {
            Ok(cache) => return cache,
            Err(_) => "is not a catalogue of models".to_owned(),
        },
        // Normal before the first download, but a file that the user names should be there.
        Err(error) if error.is_absent() && places.variable("OPENCODE_MODELS_PATH").is_none() => return None,
        Err(error) => format!("cannot be read: {error}"),
    };
    problems.push(format!("{}: {problem}", path.display()));
    None
}

impl StoredProvider {
    /// Its models, with each of their modes as a model of its own.
    pub(super) fn drafts(&self) -> BTreeMap<String, Draft> {
        let mut drafts = BTreeMap::new();
        for (key, described) in &self.models {
            let npm = described.npm().or(self.npm.as_deref()).unwrap_or(USUAL_PACKAGE);
            let id = described.id.as_ref().unwrap_or(key);
            let url = described.api().or(self.api.as_deref()).unwrap_or_default();
            let wire = Wire::default().with(described, id.clone(), url.to_owned());
            let name = described.name.clone().unwrap_or_default();
            let draft = Draft::stored().with(described, name, npm.to_owned(), wire);
            for (mode, way) in described.modes() {
                drafts.insert(format!("{id}-{mode}"), draft.in_mode(mode, way));
            }
            drafts.insert(key.clone(), draft);
        }
        drafts
    }
}
