//! What there is to choose from, and every way of choosing, with providers that OpenCode knows in different ways.

use crate::yard::{Key, MARKER, Yard, model, plain, trace, with_models};
use serde_json::{Value, json};
use shuntyard_scripted::Step;
use shuntyard_testkit::{DOT, Outcome, outcome::assert_bill};
use std::{
    path::{Path, PathBuf},
    sync::OnceLock,
};

const TOML: &str = r#"
[tiers]
mine = ["nokey/m", "inlogin/m"]
[profiles]
scout = "mine"
"#;

/// The scene of these tests, with the output about it from before any server ran.
struct Scene {
    yard: Yard,
    agents: PathBuf,
    models: Outcome,
    all: Outcome,
    routes: Vec<(&'static str, Outcome)>,
    servers: usize,
}

fn scene() -> &'static Scene {
    static SCENE: OnceLock<Scene> = OnceLock::new();
    SCENE.get_or_init(|| {
        let sees = json!({"attachment": true, "modalities": {"input": ["text", "image"], "output": ["text"]}});
        let cheap = json!({"reasoning": true, "limit": {"context": 64_000, "output": 4096},
            "cost": {"input": 0.0375, "output": 0.15, "cache_read": 0.00375}});
        let providers = vec![
            with_models(
                "inconfig",
                Key::Config,
                &[model("m", &json!({})), model("quick-brown-fox", &json!({"name": "The Fox"}))],
            ),
            with_models("byenv", Key::Environment, &[model("m", &json!({})), model("small", &json!({}))]),
            with_models("inlogin", Key::Login, &[model("m", &cheap)]),
            plain("nokey", Key::Nowhere),
            with_models("seeing", Key::Config, &[model("eyes", &sees)]),
        ];
        let opencode = json!({"model": "inconfig/m", "small_model": "byenv/small"});
        let yard = Yard::new("choosing", providers, &opencode, TOML);
        yard.at("inlogin").price("m", [0.0375, 0.15, 0.00375]);
        let agents = yard.env.repository("agents");
        for (name, wish) in [("helper", "inlogin/m"), ("tiered", "mine"), ("lost", "nowhere/m")] {
            let folder = agents.join(".opencode/agent");
            std::fs::create_dir_all(&folder).expect("a directory");
            let text = format!("---\ndescription: {name}\nmodel: {wish}\n---\nYou help.\n");
            std::fs::write(folder.join(format!("{name}.md")), text).expect("written");
        }
        let directory = agents.to_string_lossy();
        let route = |agent| yard.env.run(&["route", "--json", "--agent", agent, "--dir", &directory, "hello there"]);
        Scene {
            models: yard.env.run(&["models", "--json"]),
            all: yard.env.run(&["models", "--json", "--all"]),
            routes: ["helper", "tiered"].map(|agent| (agent, route(agent))).into(),
            servers: yard.env.servers().len(),
            agents: agents.clone(),
            yard,
        }
    })
}

fn rows<'a>(document: &'a Value, list: &str) -> Vec<&'a Value> {
    document[list].as_array().into_iter().flatten().collect()
}

/// Without the variants: OpenCode generates more of them than its files contain.
fn comparable(document: &Value) -> Vec<Value> {
    let mut models: Vec<Value> = rows(document, "models").into_iter().cloned().collect();
    for model in &mut models {
        model.as_object_mut().expect("an object").remove("variants");
    }
    models
}

#[test]
fn the_models_are_known_without_a_server_and_a_server_says_the_same() {
    let scene = scene();
    assert_eq!(scene.servers, 0, "to list and to decide starts no server");
    for (offline, flags) in [(&scene.models, &["--refresh"][..]), (&scene.all, &["--refresh", "--all"])] {
        let (files, server) =
            (offline.expect_code(0).json(), scene.yard.env.run(&[&["models", "--json"], flags].concat()));
        let server = server.expect_code(0).json();
        assert_eq!((&files["from"], &server["from"]), (&json!("files"), &json!("server")));
        assert_eq!((&files["problems"], &server["problems"]), (&json!([]), &json!([])));
        let pretty = |document: &Value| serde_json::to_string_pretty(&comparable(document)).expect("JSON");
        assert_eq!(pretty(&files), pretty(&server));
    }
    let connected = scene.models.json();
    let found = |provider: &str, id: &str| {
        let is_it = |row: &&Value| row["provider"] == provider && row["model"] == id;
        rows(&connected, "models").into_iter().find(is_it).cloned().expect("the model is listed")
    };
    for (provider, source) in [("inconfig", "config"), ("byenv", "env"), ("inlogin", "api")] {
        let row = found(provider, "m");
        assert_eq!((&row["usable"], &row["source"]), (&json!(true), &json!(source)), "{row:#}");
    }
    let (eyes, cheap) = (found("seeing", "eyes"), found("inlogin", "m"));
    assert_eq!(
        eyes["capabilities"],
        json!({"image": true, "tools": true, "reasoning": false, "structured_output": true, "attachments": true})
    );
    assert_eq!(cheap["capabilities"]["image"], false);
    assert_eq!(cheap["capabilities"]["reasoning"], true);
    assert_eq!(cheap["limits"], json!({"context": 64_000, "output": 4096}));
    assert_eq!(
        cheap["price"],
        json!({"input": 0.0375, "output": 0.15, "cache_read": 0.00375, "cache_write": 0.0, "known": true})
    );
    let all = scene.all.json();
    let known_of: Vec<&Value> = rows(&all, "models").into_iter().filter(|row| row["usable"] == false).collect();
    assert_eq!(known_of.len(), 1, "{all:#}");
    assert_eq!((&known_of[0]["provider"], &known_of[0]["connected"]), (&json!("nokey"), &json!(false)));
}

#[test]
fn models_that_are_not_connected_are_listed_only_when_asked_for() {
    let scene = scene();
    let later = ["--refresh", "--provider=inlogin"].map(|flag| scene.yard.env.run(&["models", "--json", flag]));
    let again = scene.yard.env.run(&["models", "--json"]);
    for outcome in later.iter().chain([&again, &scene.models]) {
        let document = outcome.expect_code(0).json();
        let unconnected: Vec<&Value> =
            rows(&document, "models").into_iter().filter(|row| row["connected"] == false).collect();
        assert_eq!(unconnected, Vec::<&Value>::new(), "from {}", document["from"]);
    }
    let providers = scene.yard.env.run(&["providers", "--json", "--refresh"]).expect_code(0).json();
    let names: Vec<&Value> = rows(&providers, "providers").into_iter().map(|row| &row["provider"]).collect();
    assert_eq!(names, ["byenv", "inconfig", "inlogin", "seeing"]);
}

fn files_below(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() { files_below(&path, found) } else { found.push(path) }
    }
}

#[test]
fn every_key_reaches_its_provider_and_nothing_else() {
    let Scene { yard, .. } = scene();
    let mut said = String::new();
    for provider in ["inconfig", "byenv", "inlogin"] {
        let key = yard.at(provider).script("reached", vec![Step::text(format!("from {provider}"))]);
        let outcome = yard.dispatch(&["-m", &format!("{provider}/m"), &key]);
        assert_eq!(outcome.expect_ok()["text"], format!("from {provider}"), "the provider wants its own key");
        assert_bill(&outcome.json(), &yard.ledger(&key));
        said.push_str(&outcome.stdout);
    }
    let listed = yard.env.run(&["providers", "--json", "--all", "--refresh"]);
    let document = listed.expect_code(0).json();
    let standing: Vec<[&str; 3]> = rows(&document, "providers")
        .into_iter()
        .map(|row| ["provider", "source", "standing"].map(|field| row[field].as_str().unwrap_or_default()))
        .collect();
    assert_eq!(
        standing,
        [
            ["byenv", "env", "key from the environment"],
            ["inconfig", "config", "configured, with a key"],
            ["inlogin", "api", "stored login"],
            ["nokey", "api", "not connected"],
            ["seeing", "config", "configured, with a key"],
        ]
    );
    let usable = |row: &&Value| row["usable"] == true && row["has_key"] == true && row["connected"] == true;
    assert_eq!(rows(&document, "providers").into_iter().filter(usable).count(), 4, "{document:#}");

    let unconnected = yard.dispatch(&["-m", "nokey/m", "hello"]);
    unconnected.expect_code(4).expect_class("provider_not_connected");
    assert_eq!(yard.asked("nokey"), 0);

    let words: [&[&str]; 8] = [
        &["doctor", "--quick"],
        &["models", "--all"],
        &["models", "compare", "inlogin/m", "byenv/m"],
        &["providers", "--all"],
        &["fallback"],
        &["route", "hello"],
        &["config", "show"],
        &["opencode", "status"],
    ];
    for outcome in words.iter().map(|args| yard.env.run(args)).chain([listed, unconnected]) {
        said.push_str(&outcome.stdout);
        said.push_str(&outcome.stderr);
    }
    assert!(said.contains("inlogin") && !said.contains(MARKER), "a key was printed: {said}");
    let mut files = Vec::new();
    files_below(&yard.env.data_dir(), &mut files);
    assert!(files.iter().filter(|file| file.parent().is_some_and(|p| p.ends_with("catalogues"))).count() >= 2);
    for file in files {
        let bytes = std::fs::read(&file).unwrap_or_default();
        assert!(!bytes.windows(MARKER.len()).any(|at| at == MARKER.as_bytes()), "a key is in {}", file.display());
    }
}

#[test]
fn a_tag_a_profile_a_tier_and_a_remembered_name_lead_to_their_models() {
    let Scene { yard, .. } = scene();
    let table: [(&[&str], &str, &str); 7] = [
        (&["--tag", "auto"], "inconfig/m", "tag"),
        (&["--tag", "auto:fast"], "byenv/small", "tag"),
        (&["-m", "node:vision"], "seeing/eyes", "tag"),
        (&["--profile", "vision"], "seeing/eyes", "profile"),
        (&["--profile", "scout"], "inlogin/m", "profile"),
        (&["--tier", "mine"], "inlogin/m", "tier"),
        (&["-m", "the fox"], "inconfig/quick-brown-fox", "explicit"),
    ];
    for (args, expected, rule) in table {
        let (provider, model) = expected.split_once('/').expect("a name");
        let key = yard.at(provider).script("chosen", vec![Step::text("chosen")]);
        let report = yard.dispatch(&[args, &[key.as_str()]].concat()).expect_ok();
        assert_eq!(report["text"], "chosen", "{args:?}: {report:#}");
        assert_eq!(
            (&report["model"]["provider"], &report["model"]["model"]),
            (&json!(provider), &json!(model)),
            "{args:?}"
        );
        assert_eq!(report["route"]["rule"], rule, "{args:?}");
        assert_eq!(yard.ledger(&key).entries.len(), 1, "{args:?}: nobody else was asked");
        let decided = yard.env.run(&[&["route", "--json", "hello"], args].concat()).expect_code(0).json();
        assert_eq!(decided["ref"], expected, "route says the same: {args:?}");
    }
    let routed = yard.dispatch(&["--tier", "mine", "hello"]).expect_ok();
    assert_eq!(trace(&routed["route"], "tier")[0], "nokey/m: its provider is not connected");
}

#[test]
fn a_name_that_fits_several_models_or_none_is_refused_with_names() {
    let Scene { yard, .. } = scene();
    let asked = || ["inconfig", "byenv", "inlogin"].map(|provider| yard.asked_for(provider, "ambiguous"));
    let several = yard.dispatch(&["-m", "m", "ambiguous"]);
    several.expect_code(2).expect_class("model_not_found");
    let message = several.json()["error"]["message"].as_str().unwrap_or_default().to_owned();
    for name in ["byenv/m", "inconfig/m", "inlogin/m"] {
        assert!(message.contains(name), "{message}");
    }
    assert!(!message.contains("nokey"), "{message}");
    let none = yard.dispatch(&["-m", "quick-brwn-fox", "ambiguous"]);
    none.expect_code(2).expect_class("model_not_found");
    assert!(none.stdout.contains("inconfig/quick-brown-fox"), "{}", none.stdout);
    assert_eq!(asked(), [0, 0, 0]);
}

#[test]
fn an_image_goes_to_a_model_that_sees_or_nowhere() {
    let Scene { yard, .. } = scene();
    let image = yard.env.root.join("dot.png");
    std::fs::write(&image, DOT).expect("written");
    let image = image.to_string_lossy();
    let key = yard.at("seeing").script("image", vec![Step::text("a dot")]);
    let report = yard.dispatch(&["--tag", "auto:fast", "--image", &image, &key]).expect_ok();
    assert_eq!(report["model"], json!({"provider": "seeing", "model": "eyes", "variant": null}));
    let ledger = yard.ledger(&key);
    assert_eq!(ledger.entries.len(), 1);
    assert_eq!(ledger.entries[0].images, ["image/png"], "the image itself reached the model");
    let passed = trace(&report["route"], "tag");
    assert!(passed.iter().any(|line| line.starts_with("byenv/small: ") && line.contains("take images")), "{passed:?}");

    // A project that turns that provider off has no model that sees.
    let blind = yard.env.repository("blind");
    let allowed = json!({"enabled_providers": ["inconfig", "byenv", "inlogin"]});
    std::fs::write(blind.join("opencode.json"), allowed.to_string()).expect("written");
    let key = yard.at("byenv").script("unseen", vec![]);
    let refused = yard.dispatch(&["--tag", "auto:fast", "--image", &image, "--dir", &blind.to_string_lossy(), &key]);
    refused.expect_code(3).expect_class("capability_missing");
    assert_eq!(yard.ledger(&key).entries.len(), 0, "nothing was sent");
}

#[test]
fn an_agents_own_model_counts_when_none_is_named_with_a_server_and_without() {
    let Scene { yard, agents, routes, .. } = scene();
    let directory = agents.to_string_lossy();
    for (agent, decided) in routes {
        let decided = decided.expect_code(0).json();
        assert_eq!(decided["catalogue"]["from"], "files", "{decided:#}");
        let key = yard.at("inlogin").script("agent", vec![Step::text("led")]);
        let report = yard.dispatch(&["--agent", agent, "--dir", &directory, &key]).expect_ok();
        assert_eq!(report["text"], "led");
        assert_eq!(report["route"]["rule"], "agent", "{agent}: {report:#}");
        assert_eq!((&decided["rule"], &decided["ref"]), (&json!("agent"), &json!("inlogin/m")), "{agent}: {decided:#}");
        assert_eq!(yard.ledger(&key).entries[0].model, "m");
    }
    // What was named beats the agent's own.
    let key = yard.at("byenv").script("named", vec![Step::text("named")]);
    let report = yard.dispatch(&["--agent", "helper", "-m", "byenv/m", "--dir", &directory, &key]).expect_ok();
    assert_eq!((&report["text"], &report["route"]["rule"]), (&json!("named"), &json!("explicit")));
    // An agent whose model is not there is refused, and not silently run by another model.
    let lost = yard.dispatch(&["--agent", "lost", "--dir", &directory, "hello"]);
    lost.expect_code(4).expect_class("provider_not_connected");
    let decided = yard.env.run(&["route", "--json", "--agent", "lost", "--dir", &directory, "hello"]);
    decided.expect_code(4).expect_class("provider_not_connected");
}

#[test]
fn a_bare_name_after_m_is_a_model_and_a_tier_is_named_as_one() {
    let Scene { yard, .. } = scene();
    // There is a tier of that name, and no model.
    for args in [&["dispatch", "--json", "-m", "mine", "hello"][..], &["route", "--json", "-m", "mine", "hello"]] {
        let refused = yard.env.run(args);
        refused.expect_code(2).expect_class("model_not_found");
        assert!(refused.stdout.contains("`--tier mine`"), "{args:?}: {}", refused.stdout);
    }
    let several = yard.env.run(&["dispatch", "--json", "-m", "mine", "-m", "inlogin/m", "hello"]);
    assert!(several.stdout.contains("`--tier mine`"), "{}", several.stdout);
    let by_flag = yard.env.run(&["route", "--json", "--tier", "mine", "hello"]).expect_code(0).json();
    let by_name = yard.env.run(&["route", "--json", "-m", "tier:mine", "hello"]).expect_code(0).json();
    assert_eq!((&by_name["rule"], &by_name["ref"]), (&json!("tier"), &by_flag["ref"]), "{by_name:#}");
    let tagged = yard.env.run(&["route", "--json", "-m", "tag:fast", "hello"]).expect_code(0).json();
    assert_eq!(tagged["rule"], "tag", "{tagged:#}");
    let unknown = yard.env.run(&["route", "--json", "-m", "tier:no-such", "hello"]);
    assert!(unknown.expect_code(2).stdout.contains("unknown tier `no-such`"), "{}", unknown.stdout);
}
