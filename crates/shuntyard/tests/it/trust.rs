//! Changes that a directory, another shell or another answer may not make to the choice of a model.

use crate::yard::{Key, Yard, attempts, model, plain, with_models};
use serde_json::json;
use shuntyard_scripted::Step;
use std::sync::OnceLock;

const SETTINGS: &str = "\
tier_order = [\"worker\", \"haiku\", \"flash\", \"sonnet\", \"pro\", \"opus\"]
[tiers]
twins = [\"twin/first\", \"twin/second\", \"spare/m\"]
seeing = [\"eyes/m\", \"spare/m\"]
refused = [\"refusing/m\", \"spare/m\"]
worker = [\"worker/m\"]
haiku = [\"relief/m\"]
";

fn yard() -> &'static Yard {
    static YARD: OnceLock<Yard> = OnceLock::new();
    YARD.get_or_init(|| {
        let seeing = json!({"attachment": true, "modalities": {"input": ["text", "image"], "output": ["text"]}});
        let providers = vec![
            with_models("twin", Key::Config, &[model("first", &json!({})), model("second", &json!({}))]),
            with_models("spare", Key::Config, &[model("m", &seeing)]),
            with_models("eyes", Key::Config, &[model("m", &seeing)]),
            plain("refusing", Key::Wrong),
            plain("denying", Key::Wrong),
            plain("worker", Key::Config),
            plain("relief", Key::Config),
        ];
        Yard::new("trust", providers, &json!({"model": "spare/m"}), SETTINGS)
    })
}

#[test]
fn to_look_into_a_repository_does_not_run_it() {
    let yard = yard();
    let directory = yard.env.repository("foreign");
    let plugins = directory.join(".opencode/plugin");
    std::fs::create_dir_all(&plugins).expect("a directory");
    let trace = directory.join("it-ran");
    let code = format!(
        "import {{ writeFileSync }} from 'fs'\nwriteFileSync({:?}, 'x')\nexport const P = async () => ({{}})\n",
        trace.to_string_lossy()
    );
    std::fs::write(plugins.join("bad.js"), code).expect("a plugin");
    // A server runs already, so that asking it would be easy.
    let warm = yard.at("spare").script("warm", vec![Step::text("x")]);
    yard.dispatch(&["-m", "spare/m", &warm]).expect_ok();
    let place = directory.to_string_lossy().into_owned();
    let routed = yard.env.run(&["route", "--json", "--tier", "seeing", "--dir", &place, "look at it"]);
    routed.expect_code(0);
    assert_eq!(routed.json()["catalogue"]["from"], "files");
    yard.env.run(&["route", "--json", "-m", "spare/nothing", "--dir", &place, "look at it"]).expect_code(2);
    assert!(!trace.exists(), "a look has run what was there");
}

#[test]
fn a_link_to_an_endless_file_holds_nobody() {
    let yard = yard();
    let directory = yard.env.repository("endless");
    std::fs::create_dir_all(directory.join(".opencode")).expect("a directory");
    std::os::unix::fs::symlink("/dev/zero", directory.join(".opencode/opencode.json")).expect("a link");
    let place = directory.to_string_lossy().into_owned();
    let routed = yard.env.run(&["route", "--json", "--tier", "seeing", "--dir", &place, "look"]);
    routed.expect_code(0);
}

#[test]
fn settings_that_changed_are_not_taken_from_an_older_list() {
    let yard = yard();
    let directory = yard.env.repository("changing");
    let place = directory.to_string_lossy().into_owned();
    let image = directory.join("dot.png");
    std::fs::write(&image, shuntyard_testkit::DOT).expect("an image");
    let key = yard.at("eyes").script("seen", vec![Step::text("seen"), Step::text("seen")]);
    yard.script("spare", &key, vec![Step::text("seen by the spare one")]);
    let see = || yard.dispatch(&["--tier", "seeing", "--dir", &place, "--image", &image.to_string_lossy(), &key]);
    assert_eq!(see().expect_ok()["model"]["provider"], "eyes");
    // The directory's settings remove image input; `models` reads them before the next prompt.
    let blind = json!({"provider": {"eyes": {"models": {"m": {"attachment": false,
        "modalities": {"input": ["text"], "output": ["text"]}}}}}});
    std::fs::write(directory.join("opencode.json"), blind.to_string()).expect("settings");
    yard.env.command(&["models"]).current_dir(&directory).output().expect("the list");
    assert_eq!(see().expect_ok()["model"]["provider"], "spare", "an image never goes to a model that cannot see");
}

#[test]
fn a_limit_on_one_model_leaves_its_sibling_alone() {
    let yard = yard();
    let key = yard.at("twin").script("limited", vec![Step::status(429), Step::status(429), Step::text("sibling")]);
    let report = yard.dispatch(&["--tier", "twins", &key]).expect_ok();
    let asked: Vec<String> = attempts(&report).into_iter().map(|(model, _)| model).collect();
    assert_eq!(asked, ["twin/first", "twin/second"], "{report:#}");
    assert_eq!(report["text"], "sibling");
    let next = yard.env.run(&["route", "--json", "--tier", "twins", "again"]).json();
    assert_eq!(next["ref"], "twin/second");
}

#[test]
fn another_shell_does_not_forget_a_refused_key() {
    let yard = yard();
    let key = yard.at("spare").script("refused", vec![Step::text("x")]);
    let report = yard.dispatch(&["--tier", "refused", &key]).expect_ok();
    assert_eq!(attempts(&report)[0], ("refusing/m".to_owned(), "auth_invalid".to_owned()));
    let path = format!("{}:/somewhere/else", std::env::var("PATH").unwrap_or_default());
    let elsewhere =
        yard.env.run_with(&[("PATH", &path), ("OTHER_TOKEN", "x")], &["route", "--json", "--tier", "refused", "x"]);
    assert_eq!(elsewhere.json()["ref"], "spare/m", "{}", elsewhere.stdout);
    let here = yard.env.run(&["route", "--json", "--tier", "refused", "x"]);
    assert_eq!(here.json()["ref"], "spare/m", "{}", here.stdout);
}

#[test]
fn tools_of_an_earlier_prompt_count_as_work_begun() {
    let yard = yard();
    let directory = yard.env.repository("twice");
    let file = directory.join("work.txt");
    let schema = r#"{"type":"object","properties":{"score":{"type":"number"}},"required":["score"]}"#;
    let wrong = || Step::structured(json!({"score": "four"}));
    let write = Step::tool("write", json!({"filePath": file, "content": "once"}));
    let key = yard.at("relief").script("twice", vec![Step::structured(json!({"score": 4}))]);
    yard.script("worker", &key, vec![write, wrong(), wrong(), wrong()]);
    let place = directory.to_string_lossy().into_owned();
    let outcome = yard.dispatch(&["--mode", "agent", "--tier", "worker", "--dir", &place, "--schema", schema, &key]);
    outcome.expect_code(1).expect_class("structured_output_failed");
    assert_eq!(attempts(&outcome.json()).len(), 1, "{}", outcome.stdout);
    assert_eq!(yard.asked_for("relief", &key), 0);
}

#[test]
fn a_session_goes_on_with_its_own_model_and_a_failed_one_is_not_kept() {
    let yard = yard();
    let key = yard.at("twin").script("session", vec![Step::text("one"), Step::text("two")]);
    let first = yard.dispatch(&["-m", "twin/second", "--keep", &key]).expect_ok();
    let session = first["session_id"].as_str().unwrap_or_default().to_owned();
    let second = yard.dispatch(&["--session", &session, &key]).expect_ok();
    assert_eq!((&second["text"], &second["model"]["model"]), (&json!("two"), &json!("second")));
    let failed = yard.dispatch(&["-m", "denying/m", "--keep", "hello"]);
    failed.expect_code(1);
    assert_eq!(failed.json()["kept"], false);
}
