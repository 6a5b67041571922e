//! Which models can be asked without OpenCode, with which key, and each reason why one cannot.

use super::{
    super::{Access, NoAccess, access},
    SECRET, Scratch,
};
use secrecy::ExposeSecret;
use serde_json::{Value, json};

pub(super) const URL: &str = "https://api.example/v1";
const PACKAGE: &str = "@ai-sdk/openai-compatible";
const OTHER: &str = "sk-marker-9876543210";

/// What comes out, after a check that none of it shows a key.
pub(super) fn ask(scratch: &Scratch, model: &str) -> Result<Access, NoAccess> {
    let found = access(&scratch.places(), &model.parse().unwrap());
    let told = found.as_ref().err().map(ToString::to_string);
    assert!(!format!("{found:?}{told:?}").contains("marker"), "a key came out");
    found
}

/// `ok` for a model that can be asked.
fn outcome(scratch: &Scratch, model: &str) -> Result<&'static str, NoAccess> {
    ask(scratch, model).map(|_| "ok")
}

fn key(scratch: &Scratch, model: &str) -> Result<Option<String>, NoAccess> {
    ask(scratch, model).map(|access| access.key.map(|key| key.expose_secret().to_owned()))
}

/// A catalogue with one provider that takes one key, and its like.
fn catalogue() -> Value {
    let models = json!({"m": {"id": "m", "name": "M", "limit": {"context": 10, "output": 5}},
        "old": {"id": "old", "name": "Old", "status": "deprecated"},
        "elsewhere": {"id": "elsewhere", "name": "E", "provider": {"npm": "@ai-sdk/anthropic"}}});
    let provider = |env: Value, npm: &str, api: &str| json!({"env": env, "npm": npm, "api": api, "models": models});
    json!({
        "one": provider(json!(["ONE_KEY"]), PACKAGE, URL),
        "two": provider(json!(["TWO_KEY", "TWO_OTHER"]), PACKAGE, URL),
        "local": provider(json!(["LOCAL_KEY"]), PACKAGE, "http://127.0.0.1:1234/v1"),
        "other": provider(json!(["OTHER_KEY"]), "@ai-sdk/openai", URL),
        "nowhere": provider(json!(["NO_KEY"]), PACKAGE, ""),
        "opencode": provider(json!(["OPENCODE_API_KEY"]), PACKAGE, URL),
        "opencode-go": provider(json!(["ONE_KEY"]), PACKAGE, URL),
        "nvidia": provider(json!(["ONE_KEY"]), PACKAGE, URL),
        "github-copilot-enterprise": provider(json!(["ONE_KEY"]), PACKAGE, URL),
    })
}

pub(super) fn known() -> Scratch {
    Scratch::new().cache(catalogue()).set("ONE_KEY", SECRET)
}

pub(super) fn options(options: Value) -> Value {
    json!({"provider": {"one": {"options": options}}})
}

pub(super) fn model(described: Value) -> Value {
    json!({"provider": {"one": {"models": {"m": described}}}})
}

fn login(key: &str) -> Value {
    json!({"one": {"type": "api", "key": key}})
}

#[test]
fn the_key_is_the_one_that_opencode_would_send() {
    let bare = || Scratch::new().cache(catalogue());
    let configured = |key: &str| bare().config(options(json!({"apiKey": key})));
    let own = |env: Value| bare().config(json!({"provider": {"one": {"env": env}}}));
    let table = [
        ("a variable", bare().set("ONE_KEY", SECRET), Ok(Some(SECRET))),
        ("a login", bare().logins(login(SECRET)), Ok(Some(SECRET))),
        ("a login before a variable", bare().logins(login(SECRET)).set("ONE_KEY", OTHER), Ok(Some(SECRET))),
        (
            "logins in a variable",
            bare().logins(login(OTHER)).set("OPENCODE_AUTH_CONTENT", login(SECRET).to_string()),
            Ok(Some(SECRET)),
        ),
        ("an empty login hides a variable", bare().logins(login("")).set("ONE_KEY", OTHER), Err(NoAccess::NoKey)),
        ("a written key", configured(SECRET), Ok(Some(SECRET))),
        ("a written key before both", configured(SECRET).logins(login(OTHER)).set("ONE_KEY", OTHER), Ok(Some(SECRET))),
        ("a named variable", configured("{env:MINE}").set("MINE", SECRET).set("ONE_KEY", OTHER), Ok(Some(SECRET))),
        ("a named file", configured("{file:~/key}").file("home/key", format!("\n{SECRET}\n")), Ok(Some(SECRET))),
        (
            "a file beside the configuration",
            configured("{file:key}").file("home/.config/opencode/key", SECRET),
            Ok(Some(SECRET)),
        ),
        (
            "a variable that is not set hides the others",
            configured("{env:MINE}").logins(login(OTHER)).set("ONE_KEY", OTHER),
            Err(NoAccess::NoKey),
        ),
        ("a file that is not there", configured("{file:~/key}").set("ONE_KEY", OTHER), Err(NoAccess::Unreadable)),
        ("a configured variable", own(json!(["MINE"])).set("MINE", SECRET).set("ONE_KEY", OTHER), Ok(Some(SECRET))),
        ("one of several variables", own(json!(["MINE", "ONE_KEY"])).set("ONE_KEY", OTHER), Err(NoAccess::NoKey)),
        (
            "several variables and a login",
            own(json!(["MINE", "ONE_KEY"])).set("ONE_KEY", OTHER).logins(login(SECRET)),
            Ok(Some(SECRET)),
        ),
        ("white space at its end", bare().set("ONE_KEY", format!("{SECRET}\n")), Ok(Some(SECRET))),
        ("a line break inside", bare().set("ONE_KEY", format!("{SECRET}\n{OTHER}")), Err(NoAccess::NoKey)),
        ("no variable, no login", bare(), Err(NoAccess::NoKey)),
        ("nothing, but configured", own(json!(["ONE_KEY"])), Err(NoAccess::NoKey)),
        ("no place for a key", own(json!([])), Ok(None)),
        (
            "a header instead",
            bare().config(options(json!({"headers": {"Authorization": format!("Bearer {SECRET}")}}))),
            Ok(None),
        ),
    ];
    for (name, scratch, wanted) in table {
        assert_eq!(key(&scratch, "one/m"), wanted.map(|key| key.map(str::to_owned)), "{name}");
    }
    // A server on this machine needs none, even where there is a place for one.
    let local = bare().config(json!({"provider": {"local": {}}}));
    assert_eq!(key(&local, "local/m"), Ok(None));
    assert_eq!(key(&local.set("LOCAL_KEY", SECRET), "local/m"), Ok(Some(SECRET.to_owned())));
}

#[test]
fn each_reason_is_told() {
    let oauth = json!({"one": {"type": "oauth", "refresh": SECRET, "access": SECRET, "expires": 1}});
    let organisation = json!({"https://example.invalid": {"type": "wellknown", "key": "K", "token": SECRET}});
    let option = |name: &str| Err(NoAccess::Options(name.to_owned()));
    let table = [
        ("nothing against it", known(), "one/m", Ok("ok")),
        ("a variant", known(), "one/m@high", Err(NoAccess::Variant)),
        ("another package", known().set("OTHER_KEY", SECRET), "other/m", Err(NoAccess::OtherProtocol)),
        ("a model of another package", known(), "one/elsewhere", Err(NoAccess::OtherProtocol)),
        (
            "another configured package",
            known().config(json!({"provider": {"one": {"npm": "@ai-sdk/openai", "models": {"m": {}}}}})),
            "one/m",
            Err(NoAccess::OtherProtocol),
        ),
        ("its own provider", known().set("OPENCODE_API_KEY", SECRET), "opencode/m", Err(NoAccess::OwnWays)),
        ("its other provider", known(), "opencode-go/m", Err(NoAccess::OwnWays)),
        ("headers of its own", known(), "nvidia/m", Err(NoAccess::OwnWays)),
        ("a login of its own", known(), "github-copilot-enterprise/m", Err(NoAccess::OwnWays)),
        ("an unknown provider", known(), "unknown/m", Err(NoAccess::NotOffered)),
        ("an unknown model", known(), "one/unknown", Err(NoAccess::NotOffered)),
        ("a model of the past", known(), "one/old", Err(NoAccess::NotOffered)),
        (
            "a disabled provider",
            known().config(json!({"disabled_providers": ["one"]})),
            "one/m",
            Err(NoAccess::NotOffered),
        ),
        ("no address", known().set("NO_KEY", SECRET), "nowhere/m", Err(NoAccess::NoBaseUrl)),
        ("a browser login", known().logins(oauth), "one/m", Err(NoAccess::Login)),
        ("an organisation", known().logins(organisation), "one/m", Err(NoAccess::Login)),
        ("a plugin", known().config(json!({"plugin": ["p"]})), "one/m", Err(NoAccess::Plugins)),
        ("no plugin", known().config(json!({"plugin": []})), "one/m", Ok("ok")),
        (
            "a plugin that another layer does not name",
            known().config(json!({"plugin": ["p"]})).file("home/.opencode/opencode.json", r#"{"plugin": []}"#),
            "one/m",
            Err(NoAccess::Plugins),
        ),
        ("a plugin file", known().file("home/.config/opencode/plugin/p.ts", ""), "one/m", Err(NoAccess::Plugins)),
        ("another plugin file", known().file("home/.opencode/plugins/p.js", ""), "one/m", Err(NoAccess::Plugins)),
        ("a file among plugins", known().file("home/.opencode/plugins/read.me", ""), "one/m", Ok("ok")),
        ("a directory's plugin", known().file("project/.opencode/plugin/p.ts", ""), "one/m", Err(NoAccess::Plugins)),
        (
            "plugins are switched off",
            known().config(json!({"plugin": ["p"]})).set("OPENCODE_PURE", "1"),
            "one/m",
            Ok("ok"),
        ),
        ("our agent", known().config(json!({"agent": {"shuntyard-text": {}}})), "one/m", option("agent")),
        ("a broken file", known().config(json!([])), "one/m", Err(NoAccess::Unreadable)),
        ("broken logins", known().logins(json!([])), "one/m", Err(NoAccess::Unreadable)),
        ("a broken catalogue", known().cache(json!({"one": 3})), "one/m", Err(NoAccess::Unreadable)),
        ("no catalogue", known().cache(Value::Null), "one/m", Err(NoAccess::NotOffered)),
        (
            "a nickname of a configured model",
            known().config(json!({"provider": {"one": {"models": {"m": {}, "nick": {"id": "m"}}}}})),
            "one/nick",
            option("id"),
        ),
    ];
    for (name, scratch, model, wanted) in table {
        assert_eq!(outcome(&scratch, model), wanted, "{name}");
    }
}

#[test]
fn without_a_catalogue_all_must_be_written_down() {
    let own = |change: Value| {
        let mut provider = json!({"npm": PACKAGE, "env": [], "options": {"baseURL": URL}, "models": {"m": {}}});
        for (key, value) in change.as_object().unwrap() {
            provider[key] = value.clone();
        }
        Scratch::new().config(json!({"provider": {"one": provider}}))
    };
    let table = [
        ("all is", own(json!({})), Ok("ok")),
        ("no package", own(json!({"npm": null})), Err(NoAccess::Catalogue)),
        ("no address", own(json!({"options": {}})), Err(NoAccess::Catalogue)),
        ("another way to name it", own(json!({"options": {}, "api": URL})), Ok("ok")),
        ("no word on a key", own(json!({"env": null})), Err(NoAccess::Catalogue)),
        ("a login", own(json!({"env": null})).logins(login(SECRET)), Ok("ok")),
        ("no such model", own(json!({"models": {"n": {}}})), Err(NoAccess::NotOffered)),
    ];
    for (name, scratch, wanted) in table {
        assert_eq!(outcome(&scratch, "one/m"), wanted, "{name}");
    }
}

#[test]
fn a_directory_never_has_a_say() {
    let mine = || known().config(options(json!({"baseURL": URL, "apiKey": SECRET})));
    let inside = |text: Value| mine().file("project/opencode.json", text.to_string());
    let evil = "https://evil.example/v1";
    let table = [
        ("its address", inside(options(json!({"baseURL": evil})))),
        ("its key", inside(options(json!({"apiKey": OTHER})))),
        ("a variable as its key", inside(options(json!({"apiKey": "{env:HOME}"})))),
        ("a file as its key", inside(options(json!({"apiKey": "{file:key}"}))).file("project/key", OTHER)),
        ("its headers", inside(options(json!({"headers": {"x": "y"}})))),
        ("its options", inside(options(json!({"timeout": 5})))),
        ("a model's address", inside(model(json!({"provider": {"api": evil}})))),
        ("a model's id", inside(model(json!({"id": "dear"})))),
        ("a model's limit", inside(model(json!({"limit": {"context": 1, "output": 1}})))),
        ("its variables", inside(json!({"provider": {"one": {"env": ["HOME"]}}}))),
        ("its package", inside(json!({"provider": {"one": {"npm": PACKAGE}}}))),
        ("its name", inside(json!({"provider": {"one": {"name": "Mine"}}}))),
        ("in a folder", mine().file("project/.opencode/opencode.jsonc", options(json!({"baseURL": evil})).to_string())),
        ("further inside", mine().file("project/inner/opencode.json", options(json!({"baseURL": evil})).to_string())),
        ("that it is offered", {
            let mut config = options(json!({"baseURL": URL, "apiKey": SECRET}));
            config["disabled_providers"] = json!(["one"]);
            known().config(config).file("project/opencode.json", r#"{"disabled_providers": []}"#)
        }),
        ("that it is not offered", inside(json!({"enabled_providers": []}))),
        ("a relative name", mine().set("OPENCODE_CONFIG", "mine.json")),
        ("a relative folder", mine().set("OPENCODE_CONFIG_DIR", "folder")),
        ("a relative catalogue", mine().set("OPENCODE_MODELS_PATH", "models.json")),
        ("relative logins", mine().set("XDG_DATA_HOME", "data")),
        (
            "a file for what a variable says",
            known()
                .set("OPENCODE_CONFIG_CONTENT", options(json!({"baseURL": "{file:url}"})).to_string())
                .file("project/inner/url", evil),
        ),
    ];
    for (name, scratch) in table {
        assert_eq!(outcome(&scratch, "one/m"), Err(NoAccess::Foreign), "{name}");
    }
    // A name that leads into the work tree, and no home at all.
    for name in ["OPENCODE_CONFIG", "OPENCODE_CONFIG_DIR", "OPENCODE_MODELS_PATH", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"]
    {
        let scratch = mine();
        let path = scratch.path("project/x");
        assert_eq!(outcome(&scratch.set(name, path), "one/m"), Err(NoAccess::Foreign), "{name}");
    }
    let mut places = mine().places();
    places.home = std::path::PathBuf::new();
    assert_eq!(access(&places, &"one/m".parse().unwrap()).map(|_| ()), Err(NoAccess::Foreign));

    // What it sets for others, and what is switched off, is no reason.
    let others = inside(json!({"model": "one/m", "provider": {"two": {"options": {"baseURL": evil}}}}));
    assert_eq!(outcome(&others, "one/m"), Ok("ok"));
    assert_eq!(outcome(&others, "two/m"), Err(NoAccess::Foreign));
    let off = inside(options(json!({"baseURL": evil}))).set("OPENCODE_DISABLE_PROJECT_CONFIG", "1");
    assert_eq!(ask(&off, "one/m").unwrap().base_url, URL);
}
