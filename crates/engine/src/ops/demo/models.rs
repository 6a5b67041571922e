//! The models of the demo's provider: their names, their prices, and how the tiers lead to them.

use serde_json::{Map, Value, json};
use shuntyard_core::{
    ModelRef, Nano,
    settings::{Config, ConfigError, Layer, Layered, Origin},
    values::money::Price,
};
use std::path::Path;

pub(super) const PROVIDER: &str = "demo";
pub(super) const SWIFT: &str = "swift";
pub(super) const CAREFUL: &str = "careful";
/// The one whose allowance is used up.
pub(super) const RATIONED: &str = "rationed";
pub(super) const NAMES: [&str; 3] = [SWIFT, CAREFUL, RATIONED];

/// How the tasks are supervised, however busy or full the machine is.
const SUPERVISE: &str = r#"
[supervise]
adaptive = false
look_every = "1s"
trouble_rests = ["1s"]
start_timeout = "30s"
silence = "30s"
deadline = "45s"
verify_timeout = "20s"
disk_reserve_mib = 16
"#;

pub(super) fn model(name: &str) -> ModelRef {
    ModelRef::new(PROVIDER, name)
}

/// What a model costs, both in OpenCode's configuration and in the provider's ledger.
pub(super) fn price(name: &str) -> Price {
    let (input, output) = match name {
        CAREFUL => (3_000_000_000, 15_000_000_000),
        RATIONED => (1_000_000_000, 5_000_000_000),
        _ => (250_000_000, 1_250_000_000),
    };
    Price { input: Nano(input), output: Nano(output), ..Price::default() }
}

/// OpenCode's own configuration: this provider, and no permission that would wait for a person.
pub(super) fn opencode_config(base_url: &str) -> Value {
    let models: Map<String, Value> = NAMES
        .iter()
        .map(|name| {
            let price = price(name);
            let cost = json!({"input": price.input.as_usd(), "output": price.output.as_usd()});
            ((*name).to_owned(), json!({"limit": {"context": 128_000, "output": 8192}, "cost": cost}))
        })
        .collect();
    json!({
        "enabled_providers": [PROVIDER],
        "model": model(SWIFT).to_string(),
        "small_model": model(SWIFT).to_string(),
        "permission": {"*": "allow", "external_directory": "deny", "doom_loop": "deny", "question": "deny"},
        "provider": {PROVIDER: {
            "npm": "@ai-sdk/openai-compatible",
            "options": {"baseURL": base_url, "apiKey": "no-key-needed"},
            "models": models,
        }},
    })
}

/// What is other than built in, as the text of a settings file. Of each tier there is the first model, which is not
/// connected here, so that the trace shows how routing passes it over; then ours. One tier has two of them, so that
/// there is another to try when the first does not manage. Nothing waits as long as it would with paid models.
pub(super) fn settings(binary: &Path) -> Result<String, ConfigError> {
    let mut text = format!("[server]\nbinary = {}\n{SUPERVISE}[tiers]\n", json!(binary.to_string_lossy()));
    for (tier, models) in &Layered::merge(&[])?.config.tiers {
        let ours: &[&str] = match tier.as_str() {
            "haiku" => &[SWIFT],
            "flash" => &[SWIFT, CAREFUL],
            _ => &[CAREFUL],
        };
        let ours = ours.iter().map(|name| model(name).to_string());
        let chain: Vec<String> = models.iter().take(1).cloned().chain(ours).collect();
        text.push_str(&format!("{tier} = {}\n", json!(chain)));
    }
    Ok(text)
}

/// The settings in force with that text, as a worker has them that reads it from its file.
pub(super) fn configuration(text: String) -> Result<Config, ConfigError> {
    Ok(Layered::merge(&[Layer { origin: Origin::File("the demo".into()), text }])?.config)
}
