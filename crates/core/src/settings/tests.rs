use super::*;
use crate::values::duration::Limit;

fn file(text: &str) -> Layer {
    Layer { origin: Origin::File("config.toml".into()), text: text.into() }
}

#[test]
fn the_built_in_settings_are_whole() -> Result<(), ConfigError> {
    let layered = Layered::merge(&[])?;
    assert_eq!(layered.config.dispatch.text_timeout, Limit::seconds(120));
    assert_eq!(layered.config.task_types.len(), 17);
    assert!(layered.origins.values().all(|origin| *origin == Origin::BuiltIn));
    // All of it: a merge only looks at what was changed.
    assert_eq!(layered.config.check(), Ok(()));
    Ok(())
}

#[test]
fn later_layers_win_and_are_named() -> Result<(), ConfigError> {
    let variables = overrides_from_variables(|name| match name {
        "SHUNTYARD_DISPATCH_AGENT_STEPS" => Some("7".into()),
        "SHUNTYARD_OPENCODE_URL" => Some("http://127.0.0.1:4096".into()),
        _ => None,
    });
    let mut layers = vec![file("[dispatch]\nagent_steps = 3\ntext_timeout = \"none\"\n[tiers]\nmine = [\"a/b\"]\n")];
    layers.extend(variables);
    let layered = Layered::merge(&layers)?;
    assert_eq!(layered.config.dispatch.agent_steps, 7);
    assert_eq!(layered.config.dispatch.text_timeout, Limit(None));
    assert_eq!(layered.config.server.url, "http://127.0.0.1:4096");
    assert_eq!(layered.config.tiers["mine"], ["a/b"]);
    assert!(layered.config.tiers.contains_key("opus"), "a user's tier is added to the built-in ones");
    assert_eq!(layered.origins["dispatch.agent_steps"], Origin::Variable("SHUNTYARD_DISPATCH_AGENT_STEPS".into()));
    assert_eq!(layered.origins["dispatch.text_timeout"], Origin::File("config.toml".into()));
    Ok(())
}

#[test]
fn the_built_in_settings_are_those_of_the_file() {
    let layered = Layered::merge(&[]).unwrap();
    assert_eq!(layered.values(), super::DEFAULTS.parse().unwrap());
    assert!(layered.origins.is_empty(), "nothing is set anywhere else");
}

#[test]
fn faults_name_their_place_and_what_was_meant() {
    let table = [
        ("x = [", "config.toml is not valid TOML"),
        (
            "\n[dispatch]\ntext_timout = \"5s\"\n",
            "config.toml:3: unknown setting `dispatch.text_timout`; did you mean `dispatch.text_timeout`?",
        ),
        ("[dispatch]\ntext_timeout = \"soon\"\n", "config.toml: `dispatch.text_timeout` `soon` is not a duration"),
        ("[dispatch]\nagent_steps = 0\n", "config.toml: `dispatch.agent_steps` 0 is not between 1 and 100"),
        ("[dispatch]\nagent_steps = \"x\"\n", "config.toml: `dispatch.agent_steps` invalid type"),
        ("[dispatch]\npermission_answer = \"ask\"\n", "config.toml: `dispatch.permission_answer` unknown variant"),
        ("default_model = \"gpt\"\n", "config.toml: `default_model` `gpt` is half a model name"),
        ("[task_types]\nfoo = \"nowhere\"\n", "config.toml: `task_types.foo` `nowhere` is no tier"),
        ("[tiers]\nopus = [\"half\"]\n", "config.toml: `tiers.opus` `half` is half a model name"),
        ("[tiers]\nopus = [1]\n", "config.toml: `tiers.opus` invalid type"),
        ("[supervise]\neffect_lease = \"none\"\n", "config.toml: `supervise.effect_lease` nothing may wait for ever"),
        ("[server]\ncall_timeout = \"0\"\n", "config.toml: `server.call_timeout` nothing may wait for ever"),
        ("[jobs]\nprogress_every = \"none\"\n", "config.toml: `jobs.progress_every` a job whose process has died"),
    ];
    for (text, expected) in table {
        let message = Layered::merge(&[file(text)]).map(|_| String::new()).unwrap_or_else(|error| error.to_string());
        assert!(message.starts_with(expected), "{text:?}\n  gave {message}");
    }
}

#[test]
fn a_repository_cannot_choose_the_program_or_the_server() {
    let layer = |text: &str| Layer { origin: Origin::Repository(".shuntyard/config.toml".into()), text: text.into() };
    for (text, key) in [
        ("[server]\nbinary = \"./evil\"\n", "server.binary"),
        ("server.url = \"http://evil\"\n", "server.url"),
        ("[store]\nurl = \"sqlite:/elsewhere\"\n", "store"),
        ("policy.deny_providers = [\"a\"]\n", "policy"),
        ("[fallback.cooldowns]\ntimeout = \"365d\"\n", "fallback.cooldowns"),
        ("[dispatch]\nfirst_token_timeout = \"1ms\"\n", "dispatch.first_token_timeout"),
    ] {
        let error = Layered::merge(&[layer(text)]).map(|_| ()).unwrap_err();
        assert!(error.to_string().contains(&format!("may not set `{key}`")), "{error}");
    }
    let allowed = Layered::merge(&[layer("[dispatch]\nagent_steps = 9\n")]).unwrap();
    assert_eq!(allowed.config.dispatch.agent_steps, 9);
}

#[test]
fn the_escalation_rule_is_data() {
    use crate::values::{Outcome, Rule};
    assert_eq!(
        Layered::merge(&[]).unwrap().config.consensus,
        Rule::default(),
        "the built-in text says what the code does"
    );
    let text = "[consensus]\nthresholds = [{ at_least = { count = 1 }, then = \"fix\" }]\n".to_owned();
    let layer = Layer { origin: Origin::File("mine".into()), text };
    let rule = Layered::merge(&[layer]).unwrap().config.consensus;
    assert_eq!([rule.outcome(0, 5), rule.outcome(1, 5)], [Outcome::Pass, Outcome::Fix]);
}
