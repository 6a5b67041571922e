//! `config set` and `config schema`: one setting changes and nothing else does, and what is refused is not written.

use crate::own_env;
use serde_json::{Value, json};
use shuntyard_testkit::TestEnv;
use std::{os::unix::fs::PermissionsExt, path::PathBuf};

fn file(env: &TestEnv) -> PathBuf {
    let shown = env.run(&["config", "set", "budget.strict", "true", "--dry-run", "--json"]);
    PathBuf::from(shown.expect_code(0).json()["file"].as_str().expect("a path"))
}

#[test]
fn a_setting_is_changed_and_comments_stay() {
    let env = own_env("config-set");
    env.write_config("# mine\n[dispatch]\ntext_timeout = \"3m\" # long\n");
    let file = file(&env);
    let set = env.run(&["config", "set", "dispatch.text_timeout", "90s", "--json"]).expect_code(0).json();
    let expected = json!({"key": "dispatch.text_timeout", "value": "\"90s\"", "before": "\"3m\"", "file": file,
        "changed": true, "written": true, "overridden_by": null, "diff": set["diff"]});
    assert_eq!(set, expected);
    assert!(set["diff"].as_str().is_some_and(|diff| diff.contains("+text_timeout = \"90s\" # long")), "{set}");
    env.run(&["config", "set", "tiers.house", "acme/swift,acme/careful"]).expect_code(0);
    let text = std::fs::read_to_string(&file).expect("the file");
    let expected =
        "# mine\n[dispatch]\ntext_timeout = \"90s\" # long\n\n[tiers]\nhouse = [\"acme/swift\", \"acme/careful\"]\n";
    assert_eq!(text, expected);
    let again = env.run(&["config", "set", "dispatch.text_timeout", "90s"]);
    again.expect_code(0);
    assert!(again.stderr.contains("says so already") && again.stdout.is_empty(), "{}", again.stderr);
    let shown = env.run(&["config", "show"]).stdout;
    assert!(shown.contains("dispatch.text_timeout = \"90s\"\n"), "{shown}");
}

#[test]
fn a_new_file_is_for_its_owner_only_and_a_dry_run_makes_none() {
    let env = own_env("config-set-new");
    let file = file(&env);
    drop(std::fs::remove_file(&file));
    let dry = env.run(&["config", "set", "default_model", "acme/careful", "--dry-run"]);
    dry.expect_code(0);
    assert!(dry.stdout.contains("+default_model = \"acme/careful\"") && !file.exists(), "{}", dry.stdout);
    env.run(&["config", "set", "default_model", "acme/careful"]).expect_code(0);
    assert_eq!(std::fs::read_to_string(&file).expect("the file"), "default_model = \"acme/careful\"\n");
    assert_eq!(file.metadata().expect("the file").permissions().mode() & 0o777, 0o600);
}

#[test]
fn what_is_refused_is_not_written() {
    let env = own_env("config-set-refused");
    let text = "[dispatch]\nagent_steps = 7 # enough\n";
    env.write_config(text);
    let file = file(&env);
    let table = [
        ("dispatch.agent_stps", "9", "configuration", "did you mean `dispatch.agent_steps`?"),
        ("agent_steps", "9", "configuration", "did you mean `dispatch.agent_steps`?"),
        ("dispatch.agent_steps", "many", "configuration", "`dispatch.agent_steps` invalid type"),
        ("dispatch.agent_steps", "-1", "configuration", "`dispatch.agent_steps` invalid value"),
        ("dispatch.agent_steps", "101", "configuration", "101 is not between 1 and 100"),
        ("dispatch.text_timeout", "soon", "configuration", "`soon` is not a duration"),
        ("task_types.mine", "gold", "configuration", "`gold` is no tier"),
        ("dispatch", "9", "configuration", "`dispatch` invalid type"),
        ("dispatch..x", "9", "usage", "is not the path of a setting"),
    ];
    for (key, value, class, message) in table {
        let refused = env.run(&["config", "set", key, value, "--json"]);
        refused.expect_code(2).expect_class(class);
        assert!(refused.json()["error"]["message"].to_string().contains(message), "{key}: {}", refused.stdout);
        assert_eq!(std::fs::read_to_string(&file).expect("the file"), text, "{key}");
    }
    // Fine by itself, and not with a variable that is set here.
    let variables = [("SHUNTYARD_SUPERVISE_MOST", "2")];
    let refused = env.run_with(&variables, &["config", "set", "supervise.concurrency", "3"]);
    refused.expect_code(2);
    assert!(refused.stderr.contains("3 is not between 1 and 2"), "{}", refused.stderr);
    assert_eq!(std::fs::read_to_string(&file).expect("the file"), text);
}

#[test]
fn a_setting_that_something_stronger_sets_is_written_with_a_warning() {
    let env = own_env("config-set-stronger");
    let variables = [("SHUNTYARD_DISPATCH_AGENT_STEPS", "9")];
    let set = env.run_with(&variables, &["config", "set", "dispatch.agent_steps", "8", "--json"]);
    assert_eq!(set.expect_code(0).json()["overridden_by"], "$SHUNTYARD_DISPATCH_AGENT_STEPS");
    assert!(set.stderr.contains("has no effect here"), "{}", set.stderr);
}

#[test]
fn a_broken_file_is_fixed_by_the_setting_that_breaks_it() {
    let env = own_env("config-set-fixes");
    env.write_config("[dispatch]\nagent_steps = 1000\n");
    env.run(&["config", "check"]).expect_code(2);
    env.run(&["config", "set", "dispatch.agent_steps", "100"]).expect_code(0);
    env.run(&["config", "check"]).expect_code(0);
}

/// Its messages about values are tested beside its code.
#[test]
fn the_schema_is_printed_whatever_the_configuration_is() {
    let env = own_env("config-schema");
    env.write_config("broken = [\n");
    let schema: Value = env.run(&["config", "schema"]).expect_code(0).json();
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    assert_eq!(schema["properties"]["dispatch"]["properties"]["text_timeout"]["default"], "120s");
    assert_eq!(schema["additionalProperties"], false);
    assert!(!env.data_dir().exists(), "nothing was created");
}

#[test]
fn a_size_is_written_with_its_unit_or_in_mebibytes() {
    let mut env = own_env("config-sizes");
    let shown = |env: &TestEnv| env.run(&["config", "show"]).expect_code(0).stdout.clone();
    env.run(&["config", "set", "server.memory_limit_mib", "6GiB"]).expect_code(0);
    assert!(shown(&env).contains("server.memory_limit_mib = \"6GiB\"\n"), "{}", shown(&env));
    let limit = env.run(&["memory", "--json"]).expect_code(0).json()["limit_bytes"].clone();
    assert_eq!(limit, 6_u64 << 30);
    env.run(&["config", "set", "server.memory_limit_mib", "700"]).expect_code(0);
    assert!(shown(&env).contains("server.memory_limit_mib = 700\n"), "{}", shown(&env));
    let refused = env.run(&["config", "set", "server.memory_limit_mib", "8 gigs"]);
    assert!(refused.expect_code(2).stderr.contains("is not a size: write it like 8GiB"), "{}", refused.stderr);
    env.set("SHUNTYARD_SUPERVISE_DISK_RESERVE_MIB", "512MB");
    env.run(&["config", "check"]).expect_code(0);
    let schema = env.run(&["config", "schema"]).expect_code(0).json();
    let limit = &schema["properties"]["server"]["properties"]["memory_limit_mib"];
    assert!(limit["oneOf"].as_array().is_some_and(|kinds| kinds.len() == 2), "{limit:#}");
}
