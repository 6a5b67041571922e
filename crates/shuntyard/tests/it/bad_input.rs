//! Bad input: the documented exit code, a message with the next step, and nothing left behind.

use crate::{own_env, shared::env};
use shuntyard_testkit::{TestEnv, script};

#[test]
fn bad_requests_are_refused_before_any_server_starts() {
    let env = own_env("bad");
    let unreadable = env.root.join("not-there.txt").to_string_lossy().into_owned();
    let at_unreadable = format!("@{unreadable}");
    let text_file = env.root.join("note.txt");
    std::fs::write(&text_file, "no image").expect("written");
    let text_file = text_file.to_string_lossy().into_owned();
    let table: &[(&[&str], &str)] = &[
        (&[""], "the prompt is empty"),
        (&["  \n "], "the prompt is empty"),
        (&[], "no prompt was given"),
        (&["-m", "", "hi"], "is no name of a model"),
        (&["-m", "...", "hi"], "is no name of a model"),
        (&["-m", "node:quick", "hi"], "unknown tag `node:quick`"),
        (&["--tag", "fast", "hi"], "did you mean `auto:fast`?"),
        (&["--profile", "vison", "hi"], "did you mean `vision`?"),
        (&["-m", "scripted/", "hi"], "half a model name"),
        (&["--task-type", "code-reveiw", "hi"], "did you mean `code-review`?"),
        (&["--tier", "gold", "hi"], "unknown tier `gold`"),
        (&["--schema", "{", "hi"], "the schema is not JSON"),
        (&["--schema", "{\"type\":\"array\"}", "hi"], "must describe an object"),
        (&["--schema", &at_unreadable, "hi"], "cannot be read"),
        (&["--timeout", "soon", "hi"], "`soon` is not a duration"),
        (&["--timeout", "-5s", "hi"], ""),
        (&["--dir", "/no/such/dir", "hi"], "does not exist"),
        (&[&at_unreadable], "cannot be read"),
        (&["--image", &unreadable, "hi"], "cannot be read"),
        (&["--image", &text_file, "hi"], "is no PNG"),
        (&["--mode", "sing", "hi"], "invalid value"),
        (&["--steps", "0", "hi"], "0 is not in 1..=100"),
        (&["--steps", "101", "hi"], "101 is not in 1..=100"),
        (&["--mode", "command", "/"], "the command's name"),
        (&["--no-such-flag", "hi"], "--no-such-flag"),
        (&["-m", "a/b", "-m", "a/b", "hi"], "named twice"),
    ];
    for (args, message) in table {
        let outcome = env.dispatch(args);
        outcome.expect_code(2);
        let json = outcome.json();
        let said = json["error"]["message"].as_str().unwrap_or_default();
        assert!(said.contains(message), "{args:?}: {said}");
        assert_eq!(json["error"]["retryable"], false);
        let people = env.run(&[&["dispatch"], *args].concat());
        people.expect_code(2);
        assert_eq!(people.stdout, "", "{args:?}: a refusal is talk, not a result");
        assert!(people.stderr.contains("error:"), "{}", people.stderr);
    }
    assert!(!env.data_dir().exists(), "nothing was created");
}

#[test]
fn a_log_filter_that_is_none_is_reported_once() {
    let env = own_env("log-filter");
    let warned = |filter| {
        let outcome = env.run_with(&[("SHUNTYARD_LOG", filter)], &["tiers", "--json"]);
        outcome.expect_code(0).json();
        outcome.stderr.matches(&format!("SHUNTYARD_LOG={filter} is no filter")).count()
    };
    assert_eq!(["shuntyard_agents=loud", "shuntyard_agents=debug", "info"].map(warned), [1, 0, 0]);
}

#[test]
fn unknown_models_and_providers_are_told_apart() {
    let env = crate::env();
    let model = env.dispatch(&["-m", "scripted/alpah", "hi"]);
    model.expect_code(2).expect_class("model_not_found");
    assert!(model.stdout.contains("did you mean alpha?"), "{}", model.stdout);
    let provider = env.dispatch(&["-m", "nope/alpha", "hi"]);
    provider.expect_code(4).expect_class("provider_not_connected");
    assert!(provider.stdout.contains("connected: keyless, scripted"), "{}", provider.stdout);
}

#[test]
fn a_broken_configuration_names_its_place() {
    let env = own_env("broken-config");
    env.write_config("[dispatch]\ntext_timout = \"5s\"\n");
    let outcome = env.dispatch(&["hi"]);
    outcome.expect_code(2).expect_class("configuration");
    assert!(outcome.stdout.contains("config.toml:2: unknown setting `dispatch.text_timout`"), "{}", outcome.stdout);
    env.write_config("this is not toml");
    env.dispatch(&["hi"]).expect_code(2).expect_class("configuration");
    env.run(&["config", "check"]).expect_code(2);
    env.write_config("[dispatch]\ntext_timeout = \"5s\"\n");
    env.run(&["config", "check"]).expect_code(0);
    let shown = env.run(&["config", "show", "--origin"]);
    let line = shown.stdout.lines().find(|line| line.contains("dispatch.text_timeout")).expect("the setting");
    assert!(line.contains("5s") && line.contains("config.toml"), "{line}");
}

fn with_database(name: &str, content: &[u8]) -> TestEnv {
    let env = own_env(name);
    std::fs::create_dir_all(env.data_dir()).expect("a directory");
    std::fs::write(env.data_dir().join("shuntyard.db"), content).expect("written");
    env
}

#[test]
fn a_database_that_is_not_ours_is_refused_and_left_as_it_is() {
    let garbage = b"this is no database, but it may be somebody's work".repeat(100);
    let env = with_database("garbage-db", &garbage);
    let outcome = env.dispatch(&["-m", "scripted/alpha", "hi"]);
    outcome.expect_code(4).expect_class("store_unusable");
    assert_eq!(std::fs::read(env.data_dir().join("shuntyard.db")).expect("still there"), garbage);
}

#[test]
fn a_newer_database_is_refused_and_left_as_it_is() {
    let env = own_env("newer-db");
    env.run(&["opencode", "status"]).expect_code(0);
    let file = env.data_dir().join("shuntyard.db");
    // The version of the format is a big-endian number at byte 60 of the header.
    let mut bytes = std::fs::read(&file).expect("the database");
    bytes[60..64].copy_from_slice(&9999_u32.to_be_bytes());
    for sibling in ["shuntyard.db-wal", "shuntyard.db-shm"] {
        drop(std::fs::remove_file(env.data_dir().join(sibling)));
    }
    std::fs::write(&file, &bytes).expect("written");
    let outcome = env.dispatch(&["-m", "scripted/alpha", "hi"]);
    outcome.expect_code(4).expect_class("store_unusable");
    assert!(outcome.stdout.contains("newer"), "{}", outcome.stdout);
    assert_eq!(std::fs::read(&file).expect("still there"), bytes);
}

#[test]
fn a_data_directory_that_cannot_be_made_is_said() {
    let mut env = own_env("no-data");
    let file = env.root.join("a-file");
    std::fs::write(&file, "").expect("written");
    env.set("SHUNTYARD_DATA_DIR", file.join("below").to_string_lossy());
    env.dispatch(&["-m", "scripted/alpha", "hi"]).expect_code(4).expect_class("store_unavailable");
}

#[test]
fn a_bare_name_that_is_no_one_model_leads_to_the_tiers() {
    for name in ["nonsense", "alpha", "sonnet"] {
        let refused = env().dispatch(&["-m", name, "hi"]);
        let hint = refused.expect_code(2).expect_class("model_not_found").json()["error"]["hint"].clone();
        assert!(hint.as_str().is_some_and(|hint| hint.contains("`--tier NAME`")), "{name}: {hint}");
    }
}

#[test]
fn a_missing_opencode_and_an_unreachable_server_are_said() {
    let mut env = own_env("no-opencode");
    env.set("SHUNTYARD_OPENCODE_BIN", "/no/such/opencode");
    let outcome = env.dispatch(&["-m", "scripted/alpha", "hi"]);
    outcome.expect_code(4).expect_class("opencode_missing");
    for fix in ["shuntyard opencode install", "SHUNTYARD_OPENCODE_BIN"] {
        assert!(outcome.stdout.contains(fix), "{fix}: {}", outcome.stdout);
    }
    let unreachable = env.dispatch(&["--server", "http://127.0.0.1:9", "-m", "scripted/alpha", "hi"]);
    unreachable.expect_code(4).expect_class("opencode_unhealthy");
    assert!(unreachable.stdout.contains("no OpenCode server answers at http://127.0.0.1:9"), "{}", unreachable.stdout);
    env.dispatch(&["--server", "not a url", "-m", "scripted/alpha", "hi"]).expect_code(4);
}

#[test]
fn an_opencode_that_does_not_start_is_said_with_its_own_words() {
    let mut env = own_env("bad-opencode");
    let fake = env.root.join("opencode");
    script(&fake, "#!/bin/sh\necho 'cannot start: the moon is full' >&2\nexit 3\n");
    env.set("SHUNTYARD_OPENCODE_BIN", fake.to_string_lossy());
    let outcome = env.dispatch(&["-m", "scripted/alpha", "hi"]);
    outcome.expect_code(4).expect_class("opencode_unhealthy");
    assert!(outcome.stdout.contains("the moon is full"), "{}", outcome.stdout);
    assert_eq!(env.servers(), Vec::<serde_json::Value>::new(), "nothing is left in the registry");
}
