//! An environment with several providers, each a scripted one of its own that wants its own key. The place of the key
//! decides how OpenCode finds the provider.

use crate::own_env;
use serde_json::{Map, Value, json};
use shuntyard_agents::opencode::{Client, Endpoint};
use shuntyard_core::Nano;
use shuntyard_scripted::{Ending, Ledger, Step};
use shuntyard_store::{DispatchRecord, Event, SpendKey, Store as _, sqlite::SqliteStore};
use shuntyard_testkit::{Outcome, SharedProvider, TestEnv, eventually};
use std::{collections::BTreeMap, time::Duration};

/// In every key; it must never be seen where keys do not belong. It does not resemble a key, so that nothing masks it.
pub const MARKER: &str = "yard.marker.7c1f";

/// Where a provider's key is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key {
    /// In OpenCode's configuration, which describes the provider too.
    Config,
    /// In a variable that the public catalogue names.
    Environment,
    /// In the stored logins, for a provider of the public catalogue.
    Login,
    /// Nowhere: the public catalogue knows of the provider, and that is all.
    Nowhere,
    /// In the configuration, and the provider wants another one.
    Wrong,
    /// Nowhere, although the configuration describes the provider.
    Missing,
}

#[derive(Debug)]
pub struct Yard {
    pub env: TestEnv,
    providers: BTreeMap<String, SharedProvider>,
}

/// A model as configurations and the public catalogue describe it, with `extra` over the usual.
pub fn model(id: &str, extra: &Value) -> Value {
    let mut model = json!({"id": id, "name": id, "release_date": "2026-01-02", "attachment": false, "reasoning": false,
        "temperature": true, "tool_call": true, "limit": {"context": 128_000, "output": 8192},
        "modalities": {"input": ["text"], "output": ["text"]},
        "cost": {"input": 3, "output": 15, "cache_read": 0.3, "cache_write": 3.75}});
    if let (Some(model), Some(extra)) = (model.as_object_mut(), extra.as_object()) {
        model.extend(extra.clone());
    }
    model
}

/// A provider with the one usual model, `m`.
pub fn plain(id: &str, key: Key) -> (String, Key, Value) {
    with_models(id, key, &[model("m", &json!({}))])
}

pub fn with_models(id: &str, key: Key, models: &[Value]) -> (String, Key, Value) {
    let named = models.iter().map(|model| (model["id"].as_str().unwrap_or_default().to_owned(), model.clone()));
    (id.to_owned(), key, Value::Object(named.collect()))
}

impl Yard {
    /// `opencode` is laid over OpenCode's configuration, `toml` is Shuntyard's.
    pub fn new(name: &str, providers: Vec<(String, Key, Value)>, opencode: &Value, toml: &str) -> Self {
        let mut env = own_env(name);
        let mut started = BTreeMap::new();
        let (mut configured, mut public, mut logins) = (Map::new(), Map::new(), Map::new());
        for (id, key, models) in providers {
            let provider = SharedProvider::start();
            let secret = key_of(&id);
            provider.require_api_key(&secret);
            let url = provider.base_url();
            let variable = format!("{}_API_KEY", id.to_uppercase().replace('-', "_"));
            match key {
                Key::Config | Key::Wrong | Key::Missing => {
                    let mut options = json!({"baseURL": url});
                    match key {
                        Key::Missing => {}
                        Key::Wrong => options["apiKey"] = json!(format!("wrong.{secret}")),
                        _ => options["apiKey"] = json!(secret),
                    }
                    let entry = json!({"npm": "@ai-sdk/openai-compatible", "models": models, "options": options});
                    configured.insert(id.clone(), entry);
                }
                Key::Environment | Key::Login | Key::Nowhere => {
                    let entry = json!({"id": id, "name": id, "env": [variable.as_str()], "api": url,
                        "npm": "@ai-sdk/openai-compatible", "models": models});
                    public.insert(id.clone(), entry);
                }
            }
            match key {
                Key::Environment => env.set(&variable, key_of(&id)),
                Key::Login => drop(logins.insert(id.clone(), json!({"type": "api", "key": key_of(&id)}))),
                Key::Config | Key::Wrong | Key::Missing | Key::Nowhere => {}
            }
            started.insert(id, provider);
        }
        let mut config = json!({"share": "disabled", "autoupdate": false, "provider": configured});
        if let (Some(config), Some(more)) = (config.as_object_mut(), opencode.as_object()) {
            config.extend(more.clone());
        }
        env.write_opencode_config(config);
        env.write_public_catalogue(&Value::Object(public));
        env.write_logins(&Value::Object(logins));
        env.write_config(toml);
        Self { env, providers: started }
    }

    pub fn at(&self, provider: &str) -> &SharedProvider {
        &self.providers[provider]
    }

    /// Scripts a provider's answers to prompts with `key`.
    pub fn script(&self, provider: &str, key: &str, steps: Vec<Step>) {
        self.at(provider).script_key(key, steps);
    }

    /// Makes a provider want the key that it was given wrongly, so that it works from now on.
    pub fn accept_wrong_key(&self, provider: &str) {
        self.at(provider).require_api_key(&format!("wrong.{}", key_of(provider)));
    }

    /// Stores the right keys of these providers as logins, and no others.
    pub fn log_in(&self, providers: &[&str]) {
        let login = |provider: &&str| ((*provider).to_owned(), json!({"type": "api", "key": key_of(provider)}));
        self.env.write_logins(&Value::Object(providers.iter().map(login).collect()));
    }

    pub fn dispatch(&self, args: &[&str]) -> Outcome {
        self.env.dispatch(args)
    }

    /// `dispatch --json` to each of these models.
    pub fn ask(&self, models: &[&str], args: &[&str]) -> Outcome {
        self.dispatch(&[&flags(models), args].concat())
    }

    /// What all providers together have reported as used, in dollars to the nano.
    pub fn booked(&self) -> Nano {
        self.providers.values().map(|provider| provider.ledger().total_reported().cost).sum()
    }

    /// Waits until no provider has a request open: every client that left has hung up.
    #[track_caller]
    pub fn wait_until_let_go(&self) {
        eventually("all providers are let go", Duration::from_secs(20), || {
            let entries = self.providers.values().flat_map(|provider| provider.ledger().entries);
            entries.into_iter().all(|entry| entry.ending != Ending::InFlight)
        });
    }

    /// All requests that a provider has had.
    pub fn asked(&self, provider: &str) -> usize {
        self.at(provider).ledger().entries.len()
    }

    /// The requests of a prompt with `key`, at all providers together.
    pub fn ledger(&self, key: &str) -> Ledger {
        let mentions = |text: &str| text.contains(key);
        let entries = self.providers.values().flat_map(|provider| provider.ledger().entries);
        Ledger { entries: entries.filter(|entry| entry.messages.iter().any(|said| mentions(&said.text))).collect() }
    }

    /// How many of them one provider has had.
    pub fn asked_for(&self, provider: &str, key: &str) -> usize {
        let entries = self.at(provider).ledger().entries;
        entries.iter().filter(|entry| entry.messages.iter().any(|said| said.text.contains(key))).count()
    }
}

/// `-m` before each.
pub fn flags<'a>(models: &[&'a str]) -> Vec<&'a str> {
    models.iter().flat_map(|model| ["-m", model]).collect()
}

/// The targets of a batch, in its own order: the model as it was asked for, the status and the class.
pub fn targets(report: &Value) -> Vec<(String, String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    let results = report["results"].as_array().cloned().unwrap_or_default();
    let row = |result: &Value| {
        (text(&result["requested"]["model"]), text(&result["status"]), text(&result["error"]["class"]))
    };
    results.iter().map(row).collect()
}

/// Every dispatch and every attempt has ended in the store, and nothing is reserved any more.
#[track_caller]
pub fn assert_settled(env: &TestEnv) {
    let (records, reserved) = in_store(env, async |store| {
        let records = store.recent_dispatches(100).await.expect("dispatches");
        (records, store.reserved(&SpendKey::overall()).await.expect("what is reserved"))
    });
    let open = |record: &&DispatchRecord| {
        record.ended_at.is_none() || record.attempts.iter().any(|attempt| attempt.ended_at.is_none())
    };
    assert_eq!(records.iter().filter(open).collect::<Vec<_>>(), Vec::<&DispatchRecord>::new());
    assert_eq!((reserved.cost, reserved.attempts), (Nano::ZERO, 0), "{reserved:?}");
}

/// The ledger holds at least what a provider has reported to its clients, whatever died in between. Of a killed
/// attempt, more is counted than was reported.
#[track_caller]
pub fn assert_covered(env: &TestEnv, told: Nano) {
    let key = (SpendKey::overall(), i64::MIN, i64::MAX);
    let (settled, reserved) = in_store(env, async |store| store.standings(&[key]).await.expect("sums")[0]);
    assert!(settled.cost + reserved.cost >= told, "{told} was spent: {settled:?} {reserved:?}");
}

/// Nothing runs on the managed servers, and no session is left there.
#[track_caller]
pub fn wait_until_swept(env: &TestEnv) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    eventually("the servers are empty", Duration::from_secs(40), || {
        env.servers().iter().all(|server| {
            let Some(id) = server["id"].as_str() else { return false };
            let password = std::fs::read_to_string(env.data_dir().join(format!("servers/{id}.password")));
            let Ok(password) = password else { return false };
            let url = server["url"].as_str().unwrap_or_default().to_owned();
            let endpoint = Endpoint { url, password: Some(password.into()) };
            let client = Client::new(&endpoint).expect("a client").in_directory(&env.project());
            runtime.block_on(async {
                let (running, left) = tokio::join!(client.running(), client.find_sessions(""));
                running.is_ok_and(|running| running.is_empty()) && left.is_ok_and(|left| left.is_empty())
            })
        })
    });
}

fn key_of(provider: &str) -> String {
    format!("{provider}.{MARKER}")
}

/// The models that were asked according to a report or a record, each with how that ended.
pub fn attempts(report: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or("ok").to_owned();
    let attempts = report["attempts"].as_array().cloned().unwrap_or_default();
    attempts.iter().map(|attempt| (text(&attempt["model"]), text(&attempt["error_class"]))).collect()
}

/// The lines of a trace that belong to one step, as `candidate: why`.
pub fn trace(resolution: &Value, step: &str) -> Vec<String> {
    let steps = resolution["trace"].as_array().cloned().unwrap_or_default();
    let lines = steps.iter().filter(|line| line["step"] == step);
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    lines.map(|line| format!("{}: {}", text(&line["candidate"]), text(&line["why"]))).collect()
}

/// Reads or changes the store as another process would.
pub fn in_store<T>(env: &TestEnv, read: impl AsyncFnOnce(SqliteStore) -> T) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let path = env.data_dir().join("shuntyard.db");
    runtime.block_on(async { read(SqliteStore::open_existing(&path).await.expect("the store")).await })
}

/// The newest dispatch whose attempts asked this model, as the store has it.
pub fn record_of(env: &TestEnv, model: &str) -> DispatchRecord {
    let records = in_store(env, async |store| store.recent_dispatches(100).await.expect("dispatches"));
    let asked = |record: &DispatchRecord| record.attempts.iter().any(|attempt| attempt.model == model);
    records.into_iter().find(asked).expect("a dispatch that asked the model")
}

/// The events of a dispatch in the log.
pub fn events(env: &TestEnv, kind: &str, dispatch: &str) -> Vec<Value> {
    let all: Vec<Event> = in_store(env, async |store| store.events_after(0, 10_000).await.expect("events"));
    let ours = all.into_iter().filter(|event| event.kind == kind && event.subject == dispatch);
    ours.map(|event| event.data).collect()
}
