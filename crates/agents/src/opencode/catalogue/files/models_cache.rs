//! The catalogue of models that OpenCode has downloaded and stored.

use super::{
    super::lenient::lenient,
    Places,
    described::Described,
    draft::{Draft, USUAL_PACKAGE},
};
use serde::Deserialize;
use std::collections::BTreeMap;
use switchyard_host::text_file::read_text;

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
    models: BTreeMap<String, Described>,
}

/// `None` when there is none that can be read: then OpenCode uses the one that it was built with.
pub(super) fn read(places: &Places, problems: &mut Vec<String>) -> Option<ModelsCache> {
    let path = places.models_cache()?;
    let problem = match read_text(&path, MOST_BYTES) {
        Ok(text) => match serde_json::from_str::<Option<ModelsCache>>(&text) {
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
            let draft = Draft::stored().with(described, described.name.clone().unwrap_or_default(), npm.to_owned());
            for (mode, way) in described.modes() {
                let id = described.id.as_ref().unwrap_or(key);
                drafts.insert(format!("{id}-{mode}"), draft.in_mode(mode, way.cost.as_ref()));
            }
            drafts.insert(key.clone(), draft);
        }
        drafts
    }
}
