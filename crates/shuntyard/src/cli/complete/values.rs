//! Names for the cursor: of tasks and batches from the store, of models from what is at hand, of the rest from the
//! configuration.

use super::place::{Candidate, Source};
use crate::{cli::Global, settings::Settings};
use shuntyard_core::{
    settings::{Config, setting_paths},
    values::clean_line,
};
use shuntyard_engine::{Context, routing::catalogue::at_hand};
use shuntyard_store::{TaskFilter, Tasks as _, sqlite::SqliteStore};
use std::collections::BTreeSet;

/// Characters of a task's text beside its id.
const ROOM: usize = 60;
/// More than a user can read at a cursor.
const MOST_TASKS: u32 = 5000;

/// Whatever cannot be read has no names.
pub async fn of(global: &Global, source: Source) -> Vec<Candidate> {
    let Ok(settings) = global.settings().or_else(|_| Settings::without_files(&global.overrides())) else {
        return Vec::new();
    };
    let config = &settings.layered.config;
    match source {
        Source::Tasks => tasks(&settings).await,
        Source::Batches => batches(&settings).await,
        Source::Models => models(settings).await,
        Source::Providers => providers(settings).await,
        Source::Tiers => plain(config.tiers.keys().chain(config.tier_aliases.keys())),
        Source::TaskTypes => pairs(&config.task_types),
        Source::Tags => plain(config.tags.keys().map(|tag| tag_name(tag)).collect::<Vec<_>>().iter()),
        Source::Profiles => pairs(&config.profiles),
        Source::Settings => setting_paths().into_iter().map(|(value, about)| Candidate { value, about }).collect(),
    }
}

/// As a tag is written on a command line.
fn tag_name(tag: &str) -> String {
    if tag == "any" { "auto".to_owned() } else { format!("auto:{tag}") }
}

fn plain<'a>(names: impl Iterator<Item = &'a String>) -> Vec<Candidate> {
    names.map(|name| Candidate { value: name.clone(), about: String::new() }).collect()
}

fn pairs(table: &std::collections::BTreeMap<String, String>) -> Vec<Candidate> {
    table.iter().map(|(name, about)| Candidate { value: name.clone(), about: about.clone() }).collect()
}

/// The store, when there is one.
async fn store(settings: &Settings) -> Option<SqliteStore> {
    let path = settings.store_path().ok()?;
    SqliteStore::open_existing(&path).await.ok()
}

async fn tasks(settings: &Settings) -> Vec<Candidate> {
    let Some(store) = store(settings).await else { return Vec::new() };
    let filter = TaskFilter { limit: MOST_TASKS, ..TaskFilter::default() };
    let records = store.tasks(&filter).await.unwrap_or_default();
    let shown = records.into_iter().map(|record| {
        let text = clean_line(&record.task.spec.description, ROOM);
        Candidate { value: record.task.id.to_string(), about: format!("{}: {text}", record.task.state.name()) }
    });
    shown.collect()
}

async fn batches(settings: &Settings) -> Vec<Candidate> {
    let Some(store) = store(settings).await else { return Vec::new() };
    let names: Vec<String> = store.batches().await.unwrap_or_default().into_iter().map(|batch| batch.name).collect();
    plain(names.iter())
}

/// Without a store nothing was ever asked, and the models that the tiers name are what is known.
async fn models(settings: Settings) -> Vec<Candidate> {
    let named = named_models(&settings.layered.config);
    let known = match context(settings).await {
        Some(context) => listed(&context),
        None => Vec::new(),
    };
    let names = if known.is_empty() { named } else { known };
    plain(names.iter())
}

async fn providers(settings: Settings) -> Vec<Candidate> {
    let models = models(settings).await;
    let providers: BTreeSet<String> =
        models.iter().filter_map(|model| Some(model.value.split_once('/')?.0.to_owned())).collect();
    plain(providers.iter())
}

fn named_models(config: &Config) -> Vec<String> {
    let named: BTreeSet<&String> = config.tiers.values().flatten().collect();
    named.into_iter().cloned().collect()
}

fn listed(context: &Context) -> Vec<String> {
    let here = std::env::current_dir().unwrap_or_else(|_| context.paths.data_dir.clone());
    let listed = at_hand(context, &here);
    listed.catalogue.models().map(|(provider, _, model)| format!("{provider}/{}", model.id)).collect()
}

async fn context(settings: Settings) -> Option<Context> {
    let path = settings.store_path().ok().filter(|path| path.is_file())?;
    settings.into_context_with(path).await.ok()
}
