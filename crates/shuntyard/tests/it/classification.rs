//! A model classifies the kind of task of a text: only where the user has named one, once for each text, within a
//! deadline; and without it the rules decide everything.

use crate::own_env;
use serde_json::{Value, json};
use shuntyard_scripted::Step;
use shuntyard_testkit::TestEnv;

const TIERS: &str = "[tiers]\nsonnet = [\"scripted/beta\"]\nopus = [\"scripted/odd\"]\n";
/// Words that the rules take for no kind of task.
const TEXT: &str = "the purple elephants keep dancing around the old lighthouse every evening";

fn place(name: &str, classifier: &str) -> TestEnv {
    let env = own_env(name);
    let types = "[task_types]\ncode-review = \"opus\"\n";
    env.write_config(&format!("{TIERS}{types}[classifier]\n{classifier}\n"));
    env
}

fn kind(kind: &str) -> Step {
    Step::structured(json!({"task_type": kind, "reason": "it says so"}))
}

fn dispatched(env: &TestEnv, text: &str) -> Value {
    env.dispatch(&["--route", text]).expect_ok()
}

fn requests(env: &TestEnv, key: &str) -> usize {
    env.provider.requests(key).entries.len()
}

#[test]
fn nobody_is_asked_unless_a_model_is_named() {
    let env = place("classified-off", "");
    let key = env.provider.script("off", vec![Step::text("ok")]);
    let report = dispatched(&env, &format!("{TEXT} {key}"));
    assert_eq!((&report["route"]["task_type"], requests(&env, &key)), (&Value::Null, 1), "{report:#}");
}

#[test]
fn a_model_says_the_kind_once_and_what_it_said_is_kept() {
    let env = place("classified", "model = \"scripted/alpha\"");
    let key = env.provider.script("kind", vec![kind("code-review"), Step::text("ok"), Step::text("ok")]);
    let text = format!("{TEXT} {key}");
    let shown = |text: &str| env.run(&["route", "--json", text]).expect_code(0).json();
    assert_eq!((&shown(&text)["task_type"], requests(&env, &key)), (&Value::Null, 0), "`route` asks nobody");
    let report = dispatched(&env, &text);
    let route = &report["route"];
    assert_eq!((&route["task_type"], &route["tier"]), (&json!("code-review"), &json!("opus")), "{report:#}");
    let trace = route["trace"].to_string();
    assert!(trace.contains("scripted/alpha takes it for code-review: it says so"), "{report:#}");
    assert_eq!((&report["model"]["model"], requests(&env, &key)), (&json!("odd"), 2), "{report:#}");
    let asked = &env.provider.requests(&key).entries[0].last_user_text;
    assert!(asked.contains("- code-review (tier opus)") && asked.contains("BEGIN "), "{asked}");

    assert_eq!(dispatched(&env, &text)["route"]["task_type"], "code-review");
    assert_eq!(requests(&env, &key), 3, "the kind was known");
    assert_eq!(shown(&text)["task_type"], "code-review", "and `route` shows it");
    let hinted = env.provider.script("hint", vec![Step::text("ok")]);
    let report = dispatched(&env, &format!("{TEXT} #code-review {hinted}"));
    assert_eq!((&report["route"]["task_type"], requests(&env, &hinted)), (&json!("code-review"), 1), "{report:#}");
}

#[test]
fn what_a_model_does_not_answer_the_rules_decide() {
    // Only a model that never answers meets its deadline, on a busy machine too.
    let failures: [(&str, &str, Vec<Step>); 3] = [
        ("refused", "10m", vec![Step::status(401)]),
        ("late", "3s", vec![Step::hang_before_first_byte()]),
        ("nonsense", "10m", vec![kind("juggling"), kind("juggling"), kind("juggling")]),
    ];
    for (name, deadline, steps) in failures {
        let env =
            place(&format!("classified-{name}"), &format!("model = \"scripted/alpha\"\ndeadline = \"{deadline}\""));
        let key = env.provider.script(name, [steps, vec![Step::text("ok")]].concat());
        let report = dispatched(&env, &format!("{TEXT} {key}"));
        assert_eq!(
            (&report["route"]["task_type"], &report["route"]["tier"]),
            (&Value::Null, &json!("sonnet")),
            "{name}"
        );
        let trace = report["route"]["trace"].to_string();
        assert!(trace.contains("by the rules: scripted/alpha was no help: "), "{name}: {report:#}");
    }
}

#[test]
fn a_repository_cannot_have_texts_sent_to_a_model() {
    let env = place("classified-foreign", "");
    let own = env.project().join(".shuntyard");
    std::fs::create_dir_all(&own).expect("a directory");
    std::fs::write(own.join("config.toml"), "[classifier]\nmodel = \"scripted/alpha\"\n").expect("a file");
    let refused = env.run(&["route", TEXT]);
    assert!(refused.expect_code(2).stderr.contains("classifier.model"), "{}", refused.stderr);
    env.write_config("[classifier]\nmodel = \"half/\"\n");
    std::fs::remove_dir_all(own).expect("removed");
    assert!(env.run(&["route", TEXT]).expect_code(2).stderr.contains("classifier.model"));
}
