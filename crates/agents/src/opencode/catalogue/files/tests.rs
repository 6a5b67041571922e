//! Tables for each kind of source, on a scratch home. A marker is wherever a key may be; it must
//! not be found in anything that comes out.

mod access;
mod access_request;
mod credential;
mod foreign_files;
mod secrets;

use super::{FromFiles, Places, from_files};
use serde_json::{Value, json};
use shuntyard_core::{
    Nano,
    routing::{Provider, Status},
};
use std::{collections::BTreeMap, path::Path};

const SECRET: &str = "sk-marker-0123456789";

struct Scratch {
    root: shuntyard_testkit::Scratch,
    variables: BTreeMap<String, String>,
}

impl Scratch {
    fn new() -> Self {
        let root = shuntyard_testkit::Scratch::of_test();
        std::fs::create_dir_all(root.path().join("project/.git")).unwrap();
        std::fs::create_dir_all(root.path().join("project/inner")).unwrap();
        let managed = root.path().join("managed").to_string_lossy().into_owned();
        let variables = [("OPENCODE_TEST_MANAGED_CONFIG_DIR".to_owned(), managed)].into();
        Self { root, variables }
    }

    fn file(self, path: &str, text: impl AsRef<str>) -> Self {
        let path = self.root.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text.as_ref()).unwrap();
        self
    }

    fn config(self, config: Value) -> Self {
        self.file("home/.config/opencode/opencode.json", config.to_string())
    }

    fn cache(self, cache: Value) -> Self {
        self.file("home/.cache/opencode/models.json", cache.to_string())
    }

    fn logins(self, logins: Value) -> Self {
        self.file("home/.local/share/opencode/auth.json", logins.to_string())
    }

    fn set(mut self, name: &str, value: impl Into<String>) -> Self {
        self.variables.insert(name.to_owned(), value.into());
        self
    }

    fn path(&self, path: &str) -> String {
        self.root.path().join(path).to_string_lossy().into_owned()
    }

    fn places(&self) -> Places {
        Places {
            home: self.root.path().join("home"),
            variables: self.variables.clone(),
            directory: self.root.path().join("project/inner"),
        }
    }

    fn read(&self) -> FromFiles {
        let places = self.places();
        let found = from_files(&places);
        let shown = format!("{places:?}{found:?}{}", String::from_utf8_lossy(&found.catalogue.to_bytes()));
        assert!(!shown.contains("marker"), "a key came out");
        found
    }

    fn model(&self) -> Option<String> {
        self.read().catalogue.default_model.map(|model| model.to_string())
    }
}

/// Three providers of the public catalogue, and OpenCode's own.
fn cache() -> Value {
    let model = |input: f64| json!({"name": "M", "cost": {"input": input, "output": 1.0}, "limit": {"context": 10, "output": 5}});
    json!({
        "one": {"id": "one", "name": "One", "env": ["ONE_KEY"], "npm": "@ai-sdk/openai", "models": {"m": model(1.0)}},
        "two": {"id": "two", "name": "Two", "env": ["TWO_KEY", "TWO_OTHER"], "models": {"m": model(1.0)}},
        "three": {"id": "three", "env": [], "models": {"m": model(1.0)}},
        "opencode": {"name": "Zen", "env": ["OPENCODE_API_KEY"], "models": {"free": model(0.0), "paid": model(2.0)}},
    })
}

/// `id source key|- model,model` of each connected provider.
fn connected(found: &FromFiles) -> Vec<String> {
    let line = |(id, provider): (&String, &Provider)| {
        let key = if provider.has_key { "key" } else { "-" };
        let models: Vec<&str> = provider.models.keys().map(String::as_str).collect();
        format!("{id} {} {key} {}", provider.source.as_str(), models.join(","))
    };
    found.catalogue.providers.iter().filter(|(_, provider)| provider.connected).map(line).collect()
}

#[test]
fn a_provider_is_connected_as_opencode_would() {
    const ZEN: &str = "opencode custom - free";
    let key = json!({"type": "api", "key": SECRET});
    let oauth = json!({"type": "oauth", "refresh": SECRET, "access": SECRET, "expires": 1});
    let table = [
        ("nothing", Scratch::new(), vec![ZEN]),
        ("a variable", Scratch::new().set("TWO_OTHER", SECRET), vec![ZEN, "two env key m"]),
        ("an empty variable", Scratch::new().set("ONE_KEY", ""), vec![ZEN]),
        ("a key", Scratch::new().logins(json!({"one": key, "unknown": key})), vec!["one api key m", ZEN]),
        ("an empty key", Scratch::new().logins(json!({"one": {"type": "api", "key": ""}})), vec!["one api - m", ZEN]),
        (
            "a key and a variable",
            Scratch::new().logins(json!({"one": key})).set("ONE_KEY", "x"),
            vec!["one api key m", ZEN],
        ),
        ("a browser login", Scratch::new().logins(json!({"one": oauth})), vec!["one custom key m", ZEN]),
        ("both", Scratch::new().logins(json!({"one": oauth})).set("ONE_KEY", "x"), vec!["one env key m", ZEN]),
        ("an odd login", Scratch::new().logins(json!({"one": {"type": "new"}, "two": 3})), vec![ZEN]),
        (
            "logins in a variable",
            Scratch::new().logins(json!({"one": key})).set("OPENCODE_AUTH_CONTENT", json!({"two": key}).to_string()),
            vec![ZEN, "two api key m"],
        ),
        ("configured", Scratch::new().config(json!({"provider": {"one": {}}})), vec!["one config - m", ZEN]),
        (
            "configured with a key",
            Scratch::new().config(json!({"provider": {"one": {"options": {"apiKey": SECRET}}}})),
            vec!["one config key m", ZEN],
        ),
        (
            "configured with a key elsewhere",
            Scratch::new().config(json!({"provider": {"one": {}}})).logins(json!({"one": key})),
            vec!["one config key m", ZEN],
        ),
        (
            "configured with another variable",
            Scratch::new().config(json!({"provider": {"one": {"env": ["MINE"]}}})).set("MINE", SECRET),
            vec!["one config key m", ZEN],
        ),
        ("configured without models", Scratch::new().config(json!({"provider": {"own": {}}})), vec![ZEN]),
        ("its own key", Scratch::new().set("OPENCODE_API_KEY", SECRET), vec!["opencode env key free,paid"]),
        (
            "its own configuration",
            Scratch::new().config(json!({"provider": {"opencode": {"options": {"apiKey": ""}}}})),
            vec!["opencode config - free"],
        ),
        (
            "a public key",
            Scratch::new().config(json!({"provider": {"opencode": {"options": {"apiKey": "public"}}}})),
            vec!["opencode config - free,paid"],
        ),
        (
            "disabled",
            Scratch::new().config(json!({"disabled_providers": ["opencode", "one"]})).set("ONE_KEY", "x"),
            vec![],
        ),
        (
            "enabled",
            Scratch::new().config(json!({"enabled_providers": ["one"]})).set("ONE_KEY", "x").set("TWO_KEY", "x"),
            vec!["one env key m"],
        ),
        ("none enabled", Scratch::new().config(json!({"enabled_providers": []})), vec![]),
    ];
    for (name, scratch, wanted) in table {
        let found = scratch.cache(cache()).read();
        let mut wanted = wanted;
        wanted.sort_unstable();
        assert_eq!(connected(&found), wanted, "{name}");
        assert_eq!((found.complete, found.problems), (true, vec![]), "{name}");
    }
}

#[test]
fn what_is_only_known_of_is_listed_unless_it_is_forbidden() {
    let scratch = Scratch::new().cache(cache()).config(json!({"disabled_providers": ["three"],
        "provider": {"one": {"whitelist": ["nothing"]}}}));
    let found = scratch.read().catalogue.providers;
    assert_eq!(found.keys().collect::<Vec<_>>(), ["one", "opencode", "two"]);
    assert!(!found["one"].connected && !found["two"].connected && found["opencode"].connected);
    assert_eq!(found["one"].models.keys().collect::<Vec<_>>(), ["m"]);
    assert_eq!((found["two"].name.as_str(), found["two"].env.len()), ("Two", 2));
}

#[test]
fn some_models_are_not_offered() {
    let model = |status: &str| json!({"name": "M", "status": status});
    let cache = json!({"openai": {"env": ["KEY"], "models": {"a": model("alpha"), "b": model("beta"), "c": model("active"),
        "d": model("deprecated"), "gpt-5-chat-latest": model("active")}}});
    let lists = json!({"provider": {"openai": {"whitelist": ["b", "c"], "blacklist": ["c"]}}});
    let known = || Scratch::new().cache(cache.clone()).set("KEY", SECRET);
    assert_eq!(connected(&known().read()), ["openai env key b,c"]);
    assert_eq!(connected(&known().set("OPENCODE_ENABLE_EXPERIMENTAL_MODELS", "TRUE").read()), ["openai env key a,b,c"]);
    assert_eq!(connected(&known().config(lists).read()), ["openai config key b"]);
    let all = Scratch::new().cache(cache).read().catalogue;
    assert_eq!(all.providers["openai"].models.len(), 5);
    assert_eq!(all.providers["openai"].models["d"].status, Status::Deprecated);
}

#[test]
fn the_configuration_describes_models_field_by_field() {
    let cache = json!({"p": {"id": "p", "npm": "@ai-sdk/openai", "env": [], "models": {"m": {
        "id": "m", "name": "Em", "family": "ems", "attachment": true, "reasoning": true, "tool_call": false,
        "structured_output": true, "modalities": {"input": ["text", "image", "pdf"], "output": ["text"]},
        "cost": {"input": 1, "output": 2, "cache_read": 0.5}, "limit": {"context": 1000, "output": 100},
        "release_date": "2026-01-02", "status": "beta",
        "reasoning_options": [{"type": "toggle"}, {"type": "effort", "values": [null, "low", "high"]}],
        "experimental": {"modes": {"fast": {"cost": {"input": 6, "output": 7}}, "slow": {}}}}}}});
    let config = json!({"provider": {"p": {"options": {"apiKey": SECRET}, "models": {
        "m": {"cost": {"output": 9}, "limit": {"context": 2000}, "modalities": {"input": ["text"]}, "attachment": false,
            "variants": {"low": {"disabled": true}, "mine": {"key": SECRET}}},
        "nick": {"id": "m", "tool_call": true},
        "new": {"name": "New"},
        "moved": {"id": "m", "provider": {"npm": "@ai-sdk/anthropic"}, "name": "Moved"}}}}});
    let found = Scratch::new().cache(cache).config(config).read().catalogue;
    let models = &found.providers["p"].models;
    assert_eq!(models.keys().collect::<Vec<_>>(), ["m", "m-fast", "m-slow", "moved", "new", "nick"]);

    let m = &models["m"];
    assert_eq!((m.name.as_str(), m.family.as_str(), m.release_date.as_str()), ("Em", "ems", "2026-01-02"));
    assert_eq!((m.image_input, m.attachments, m.tool_calls, m.reasoning), (false, false, false, true));
    assert_eq!((m.structured_output, m.text_output, m.status), (true, true, Status::Beta));
    assert_eq!((m.context, m.output), (2000, 100));
    let nano = |price: shuntyard_core::values::money::Price| {
        [price.input, price.output, price.cache_read].map(|nano| nano.0 / 1_000_000)
    };
    assert_eq!(nano(m.price), [1000, 9000, 500]);
    assert_eq!(m.variants, ["high", "mine", "none"]);

    let fast = &models["m-fast"];
    assert_eq!((fast.id.as_str(), fast.name.as_str(), nano(fast.price)), ("m-fast", "Em Fast", [6000, 7000, 0]));
    assert_eq!(nano(models["m-slow"].price), [1000, 2000, 500]);
    assert!(fast.attachments && fast.image_input);

    // A nickname is described like the model behind it, as that is by then.
    let nick = &models["nick"];
    assert_eq!((nick.name.as_str(), nick.tool_calls, nick.context), ("nick", true, 2000));
    assert_eq!((models["moved"].name.as_str(), models["moved"].variants.len()), ("Moved", 0));

    let new = &models["new"];
    assert_eq!((new.name.as_str(), new.tool_calls, new.text_output, new.attachments), ("New", true, true, false));
    assert_eq!((new.price.input, new.context, new.variants.len()), (Nano(0), 0, 0));
}

#[test]
fn a_stronger_layer_wins() {
    let model = |name: &str| json!({"model": format!("l/{name}")}).to_string();
    // From the weakest to the strongest: each is added to those before it.
    let layers = [
        "home/.config/opencode/config.json",
        "home/.config/opencode/opencode.json",
        "home/.config/opencode/opencode.jsonc",
        "custom.json",
        "project/opencode.json",
        "project/opencode.jsonc",
        "project/inner/opencode.json",
        "project/inner/.opencode/opencode.json",
        "project/.opencode/opencode.json",
        "project/.opencode/opencode.jsonc",
        "home/.opencode/opencode.json",
        "folder/opencode.json",
    ];
    let mut scratch = Scratch::new();
    let (custom, folder) = (scratch.path("custom.json"), scratch.path("folder"));
    // Above the root of the work tree nothing counts.
    scratch = scratch.file("opencode.json", model("outside"));
    scratch = scratch.set("OPENCODE_CONFIG", custom).set("OPENCODE_CONFIG_DIR", folder);
    assert_eq!(scratch.model(), None);
    for (number, layer) in layers.into_iter().enumerate() {
        scratch = scratch.file(layer, model(&number.to_string()));
        assert_eq!(scratch.model(), Some(format!("l/{number}")), "{layer}");
    }
    scratch = scratch.set("OPENCODE_CONFIG_CONTENT", model("content"));
    assert_eq!(scratch.model(), Some("l/content".to_owned()));
    scratch = scratch.file("managed/opencode.json", model("managed"));
    assert_eq!(scratch.model(), Some("l/managed".to_owned()));
}

#[test]
fn a_project_may_be_left_out() {
    let scratch = Scratch::new()
        .config(json!({"model": "l/user", "small_model": "l/small"}))
        .file("project/opencode.json", r#"{"model": "l/project"}"#)
        .file("project/.opencode/opencode.json", r#"{"model": "l/folder"}"#);
    assert_eq!(scratch.model(), Some("l/folder".to_owned()));
    let scratch = scratch.set("OPENCODE_DISABLE_PROJECT_CONFIG", "1");
    assert_eq!(scratch.model(), Some("l/user".to_owned()));
    assert_eq!(scratch.read().catalogue.small_model, Some("l/small".parse().unwrap()));
}

#[test]
fn layers_are_merged_key_by_key() {
    let scratch = Scratch::new()
        .file(
            "home/.config/opencode/opencode.jsonc",
            "{ // mine\n \"enabled_providers\": [\"p\", \"q\"], /* both */ \"provider\": {\"p\": {\"name\": \"P\", \
             \"models\": {\"a\": {\"limit\": {\"context\": 7, \"output\": 3,},},},},},}",
        )
        .file(
            "project/opencode.json",
            r#"{"enabled_providers": ["p"], "model": "nothing",
                "provider": {"q": {"models": {"z": {}}}, "p": {"models": {"a": {"limit": {"context": 9}}, "b": {}}}}}"#,
        );
    let found = scratch.read();
    assert_eq!(connected(&found), ["p config - a,b"]);
    let provider = &found.catalogue.providers["p"];
    assert_eq!((provider.name.as_str(), provider.models["a"].context, provider.models["a"].output), ("P", 9, 3));
    assert_eq!((found.catalogue.default_model, found.complete), (None, true));
}

#[test]
fn references_in_a_configuration_are_followed_without_reading_keys() {
    let table = [
        ("{env:A_KEY}", true, 0),
        ("{env:NOT_SET}", false, 0),
        ("{file:key.txt}", true, 0),
        ("{file:~/key.txt}", true, 0),
        ("{file:blank.txt}", false, 0),
        ("{file:missing.txt}", false, 1),
        ("{env:}", true, 0),
    ];
    for (reference, has_key, problems) in table {
        let config = format!(
            "{{\n // {{file:commented.txt}}\n\"provider\": {{\"p\": {{\"options\": {{\"apiKey\": \"{reference}\"}}, \"models\": {{\"m\": {{}}}}}}}}}}"
        );
        let scratch = Scratch::new()
            .file("project/opencode.jsonc", config)
            .file("project/key.txt", format!("\n{SECRET}\n"))
            .file("home/key.txt", SECRET)
            .file("project/blank.txt", " \n")
            .set("A_KEY", SECRET);
        let found = scratch.read();
        assert_eq!((found.catalogue.has_key("p"), found.problems.len()), (has_key, problems), "{reference}");
    }
}

#[test]
fn a_broken_file_is_named_and_skipped() {
    let scratch = Scratch::new()
        .config(json!({"model": "l/user", "provider": {"odd": SECRET, "p": {"models": {"m": {"limit": SECRET, "cost": []}}}}}))
        .file("home/.config/opencode/config.json", format!("{{\"provider\": {{\n {SECRET} }}"))
        .file("project/opencode.json", format!("[\"{SECRET}\"]"))
        .file("project/inner/opencode.json", " \n")
        .file("home/.local/share/opencode/auth.json", format!("\"{SECRET}\""))
        .file("home/.cache/opencode/models.json", format!("[\"{SECRET}\"]"))
        .set("OPENCODE_CONFIG_CONTENT", format!("{{\"{SECRET}\""))
        .set("OPENCODE_AUTH_CONTENT", SECRET);
    let found = scratch.read();
    assert_eq!(found.catalogue.default_model, Some("l/user".parse().unwrap()));
    assert_eq!(connected(&found), ["p config - m"]);
    let root = scratch.root.path().to_string_lossy().into_owned();
    let problems: Vec<String> = found.problems.iter().map(|problem| problem.replace(&root, "")).collect();
    let wanted = [
        "/home/.config/opencode/config.json: is not JSON at line 2, column 23",
        "/project/opencode.json: is not an object",
        "OPENCODE_CONFIG_CONTENT: is not JSON at line 1, column 24",
        "the configuration of the provider `odd` is not an object",
        "OPENCODE_AUTH_CONTENT: is not a JSON object",
        "/home/.local/share/opencode/auth.json: is not a JSON object",
        "/home/.cache/opencode/models.json: is not a catalogue of models",
    ];
    assert_eq!(problems, wanted);
}

#[test]
fn it_says_when_only_opencode_can_know_the_rest() {
    let own = || json!({"provider": {"own": {"models": {"m": {}}}}});
    let key = |id: &str| json!({id: {"type": "api", "key": SECRET}});
    let organisation = json!({"https://example.invalid": {"type": "wellknown", "key": "K", "token": SECRET}});
    let table = [
        ("nothing at all", Scratch::new(), false),
        ("a described provider", Scratch::new().config(own()), true),
        ("its key", Scratch::new().config(own()).logins(key("own")), true),
        ("a key of another", Scratch::new().config(own()).logins(key("other")), false),
        (
            "a key of a disabled one",
            Scratch::new()
                .config(json!({"provider": own()["provider"], "disabled_providers": ["other"]}))
                .logins(key("other")),
            true,
        ),
        (
            "a provider that is only named",
            Scratch::new().config(json!({"provider": {"own": {"models": {"m": {}}}, "other": {"options": {}}}})),
            false,
        ),
        ("a stored catalogue", Scratch::new().cache(json!({})), true),
        ("a stored catalogue and a key", Scratch::new().cache(cache()).logins(key("elsewhere")), true),
        ("an organisation", Scratch::new().cache(cache()).logins(organisation), false),
        ("a catalogue of another address", Scratch::new().cache(cache()).set("OPENCODE_MODELS_URL", "http://x"), false),
        ("no catalogue inside", Scratch::new().cache(Value::Null), false),
    ];
    for (name, scratch, complete) in table {
        assert_eq!(scratch.read().complete, complete, "{name}");
    }
}

#[test]
fn the_usual_places_can_be_moved() {
    let scratch = Scratch::new()
        .file("config/opencode/opencode.json", json!({"model": "two/m"}).to_string())
        .file("data/opencode/auth.json", json!({"two": {"type": "api", "key": SECRET}}).to_string())
        .file("cache/opencode/models.json", cache().to_string())
        .cache(json!({"wrong": {"models": {"m": {}}}}))
        .config(json!({"model": "wrong/m"}));
    let (config, data, moved) = (scratch.path("config"), scratch.path("data"), scratch.path("cache"));
    let scratch = scratch.set("XDG_CONFIG_HOME", config).set("XDG_DATA_HOME", data).set("XDG_CACHE_HOME", moved);
    assert_eq!(connected(&scratch.read()), ["opencode custom - free", "two api key m"]);
    assert_eq!(scratch.model(), Some("two/m".to_owned()));
    let other = scratch.path("other.json");
    let scratch = scratch.file("other.json", "{}").set("OPENCODE_MODELS_PATH", other.clone());
    assert!(scratch.read().catalogue.providers.is_empty());
    std::fs::remove_file(Path::new(&other)).unwrap();
    assert_eq!(scratch.read().problems.len(), 1);
}
