//! The catalogue from OpenCode's files beside that of a real server which was started with the same
//! files: what is read without a server must be what a server would list.

use serde_json::{Value, json};
use shuntyard_agents::opencode::{
    Client, Endpoint,
    catalogue::{FromFiles, Places, from_files},
    launch::{SERVE_ARGUMENTS, listening_address},
};
use shuntyard_core::routing::{Catalogue, Model};
use shuntyard_testkit::TestEnv;
use std::{
    collections::BTreeMap,
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
    time::Duration,
};

const SECRET: &str = "sk-marker-0123456789";
const PASSWORD: &str = "catalogue-test";

/// A server of this test alone, without the configuration that a managed one gets.
struct Server {
    child: Child,
    url: String,
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn serve(variables: &BTreeMap<String, String>, env: &TestEnv) -> Server {
    let mut child = Command::new(&variables["SHUNTYARD_OPENCODE_BIN"])
        .args(SERVE_ARGUMENTS)
        .env_clear()
        .envs(variables)
        .env("OPENCODE_DB", env.root.join("catalogue.db"))
        .env("OPENCODE_SERVER_PASSWORD", PASSWORD)
        .env("npm_config_registry", "http://127.0.0.1:9/")
        .env("npm_config_fetch_retries", "0")
        .current_dir(env.project())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("OpenCode starts");
    let output = BufReader::new(child.stdout.take().expect("a pipe"));
    let mut server = Server { child, url: String::new() };
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        for line in output.lines().map_while(Result::ok) {
            if let Some(address) = listening_address(&line) {
                drop(sender.send(address.to_owned()));
            }
        }
    });
    server.url = receiver.recv_timeout(Duration::from_secs(60)).expect("OpenCode says where it listens");
    server
}

/// The public catalogue of this world. The real one has the same shape.
fn public_models() -> Value {
    let model = |id: &str, extra: Value| {
        let mut model = json!({
            "id": id, "name": format!("The {id}"), "family": "family", "release_date": "2026-03-04", "attachment": false,
            "reasoning": true, "temperature": true, "tool_call": true, "limit": {"context": 200_000, "output": 32_000},
            "modalities": {"input": ["text"], "output": ["text"]}, "cost": {"input": 3, "output": 15, "cache_read": 0.3},
        });
        if let (Some(model), Some(extra)) = (model.as_object_mut(), extra.as_object()) {
            model.extend(extra.clone());
        }
        model
    };
    let efforts = json!([{"type": "effort", "values": [null, "low", "high"]}]);
    json!({
        "env-provider": {"id": "env-provider", "name": "By variable", "env": ["ENV_PROVIDER_KEY"], "npm": "@ai-sdk/openai", "models": {
            "sees": model("sees", json!({"modalities": {"input": ["text", "image", "pdf"], "output": ["text"]}})),
            "thinks": model("thinks", json!({"reasoning_options": efforts, "status": "beta",
                "experimental": {"modes": {"fast": {"cost": {"input": 30, "output": 150}}, "slow": {}}}})),
            "draws": model("draws", json!({"modalities": {"input": ["text"], "output": ["image"]}, "tool_call": false})),
            "old": model("old", json!({"status": "deprecated"})), "raw": model("raw", json!({"status": "alpha"})),
            "priceless": model("priceless", json!({"cost": null})),
        }},
        "login-provider": {"id": "login-provider", "name": "By login", "env": ["NOT_SET"], "npm": "@ai-sdk/anthropic", "models": {
            "one": model("one", json!({})), "two": model("two", json!({})), "three": model("three", json!({})),
        }},
        "both": {"id": "both", "name": "Twice", "env": ["BOTH_KEY"], "npm": "@ai-sdk/openai", "models": {
            "big": model("big", json!({"reasoning_options": efforts})), "unlisted": model("unlisted", json!({})),
            "blocked": model("blocked", json!({})),
        }},
        "emptied": {"id": "emptied", "name": "Nothing left", "env": ["ENV_PROVIDER_KEY"], "models": {"old": model("old", json!({"status": "deprecated"}))}},
        "unused": {"id": "unused", "name": "Not mine", "env": ["UNUSED_KEY"], "models": {"any": model("any", json!({}))}},
        "disabled": {"id": "disabled", "name": "Off", "env": ["ENV_PROVIDER_KEY"], "models": {"any": model("any", json!({}))}},
        "opencode": {"id": "opencode", "name": "Zen", "env": ["OPENCODE_API_KEY"], "models": {
            "free": model("free", json!({"cost": {"input": 0, "output": 0}})), "paid": model("paid", json!({})),
        }},
    })
}

/// The user's own configuration; parts of it are overridden by the project.
fn configuration(env: &TestEnv) -> Value {
    let mut config = env.opencode_config();
    let keep = ["provider", "share", "autoupdate"];
    config.as_object_mut().expect("an object").retain(|key, _| keep.contains(&key.as_str()));
    config["model"] = json!("scripted/beta");
    config["small_model"] = json!("env-provider/thinks");
    config["disabled_providers"] = json!(["disabled"]);
    config["provider"]["scripted"]["options"]["apiKey"] = json!("{env:SCRIPTED_KEY}");
    config["provider"]["keyless"]["options"]["apiKey"] = json!("{env:NOBODY_SETS_THIS}");
    config["provider"]["filed"] = json!({"npm": "@ai-sdk/openai-compatible", "models": {"m": {}},
        "options": {"baseURL": "http://127.0.0.1:9", "apiKey": "{file:./filed.key}"}});
    config["provider"]["both"] = json!({"whitelist": ["big", "blocked", "nick", "own"], "blacklist": ["blocked"], "models": {
        "big": {"cost": {"input": 1, "output": 2}, "limit": {"context": 50_000, "output": 5000}, "attachment": true,
            "variants": {"low": {"disabled": true}, "mine": {"reasoningEffort": "high"}}},
        "nick": {"id": "unlisted", "tool_call": false, "modalities": {"input": ["text", "image"]}},
        "own": {"name": "Own", "family": "mine", "release_date": "2025-01-01", "status": "beta"}}});
    config["provider"]["no-models"] = json!({"npm": "@ai-sdk/openai-compatible", "options": {"apiKey": SECRET}});
    config
}

fn world(name: &str) -> TestEnv {
    let mut env = TestEnv::real(name, "", env!("CARGO_TARGET_TMPDIR"));
    let write = |path: &str, text: String| {
        let path = env.root.join(path);
        std::fs::create_dir_all(path.parent().expect("a directory")).expect("a directory");
        std::fs::write(path, text).expect("a file");
    };
    write("models.json", public_models().to_string());
    write(
        "home/.local/share/opencode/auth.json",
        json!({
        "login-provider": {"type": "api", "key": SECRET}, "stranger": {"type": "api", "key": SECRET}})
        .to_string(),
    );
    write("home/.config/opencode/filed.key", format!("{SECRET}\n"));
    // The same setting in each, so that the strongest can be seen.
    write("project/opencode.json", r#"{"provider": {"login-provider": {"whitelist": ["one"]}}}"#.to_owned());
    write(
        "project/inner/opencode.jsonc",
        "{ // the project's\n \"model\": \"scripted/odd\", \"provider\": {\"login-provider\": {\"name\": \"Renamed\", \"whitelist\": [\"two\"],},},}".to_owned(),
    );
    write(
        "project/inner/.opencode/opencode.json",
        json!({"provider": {
        "login-provider": {"whitelist": ["three"]}, "keyless": {"name": "from inside"}}})
        .to_string(),
    );
    write(
        "project/.opencode/opencode.json",
        json!({"provider": {"login-provider": {"whitelist": ["two", "three"]}}}).to_string(),
    );
    env.write_opencode_config(configuration(&env));
    for name in ["SCRIPTED_KEY", "ENV_PROVIDER_KEY", "BOTH_KEY"] {
        env.set(name, SECRET);
    }
    env
}

fn variables(env: &TestEnv) -> BTreeMap<String, String> {
    env.variables().map(|(name, value)| (name.clone(), value.clone())).collect()
}

fn read(env: &TestEnv, directory: &Path) -> FromFiles {
    from_files(&Places { home: env.root.join("home"), variables: variables(env), directory: directory.to_owned() })
}

/// Takes the variants out of a catalogue: OpenCode makes up more of them than its files say.
fn without_variants(mut catalogue: Catalogue) -> (Catalogue, BTreeMap<(String, String), Vec<String>>) {
    let mut variants = BTreeMap::new();
    for (id, provider) in &mut catalogue.providers {
        provider.models.edit(|models| {
            for (name, model) in models {
                variants.insert((id.clone(), name.clone()), std::mem::take(&mut model.variants));
            }
        });
    }
    (catalogue, variants)
}

#[tokio::test]
async fn the_files_tell_what_a_server_would() {
    let env = world("catalogue");
    let server = serve(&variables(&env), &env);
    let endpoint = Endpoint { url: server.url.clone(), password: Some(PASSWORD.to_owned().into()) };
    let client = Client::new(&endpoint).expect("a client");
    for directory in [env.project().join("inner"), env.project()] {
        let client = client.in_directory(&directory);
        let files = read(&env, &directory);
        assert_eq!((files.complete, &files.problems), (true, &Vec::new()));
        let (read, read_variants) = without_variants(files.catalogue);
        let (told, told_variants) = without_variants(client.full_catalogue().await.expect("the server's catalogue"));
        assert_eq!(read, told, "in {}", directory.display());
        for (model, variants) in read_variants {
            let told = &told_variants[&model];
            assert!(variants.iter().all(|variant| told.contains(variant)), "{model:?}: {variants:?} of {told:?}");
        }
        let (used, _) = without_variants(client.catalogue().await.expect("the server's shorter catalogue"));
        assert_eq!(used, read.connected());
        assert!(!format!("{told:?}{used:?}").contains("marker"));
    }

    // Agreement about nothing would prove nothing.
    let found = read(&env, &env.project().join("inner")).catalogue;
    let connected: Vec<&str> = found.providers.iter().filter(|(_, p)| p.connected).map(|(id, _)| id.as_str()).collect();
    assert_eq!(connected, ["both", "env-provider", "filed", "keyless", "login-provider", "opencode", "scripted"]);
    assert_eq!(found.providers["both"].models["big"].variants, ["high", "mine", "none"]);
    assert_eq!(found.default_model, Some("scripted/odd".parse().expect("a model")));
    let odd: &Model = &found.providers["scripted"].models["odd"];
    assert!(odd.price.input.0 > 0 && found.has_key("filed") && !found.has_key("keyless"));
}
