//! Text dispatches that succeed.

use crate::env;
use serde_json::json;
use shuntyard_scripted::Step;
use shuntyard_testkit::outcome::assert_bill;

#[test]
fn an_explicit_model_answers_and_is_read_back() {
    let key = env().provider.script("explicit", vec![Step::text("forty-two")]);
    let report = env().dispatch(&["-m", "scripted/alpha", &format!("What is it? {key}")]).expect_ok();
    assert_eq!(report["text"], "forty-two");
    assert_eq!(report["model"], json!({"provider": "scripted", "model": "alpha", "variant": null}));
    assert_eq!(report["requested"], json!({"model": "scripted/alpha"}));
    assert_eq!(report["route"]["rule"], "explicit");
    assert_eq!(report["attempts"].as_array().map(Vec::len), Some(1));
    assert_eq!(report["kept"], false);
    assert_eq!(report["cost_known"], true);
    assert_bill(&report, &env().provider.requests(&key));
}

#[test]
fn people_see_the_header_and_the_text() {
    let key = env().provider.script("people", vec![Step::text("a plain answer")]);
    let outcome = env().run(&["dispatch", "-m", "scripted/alpha", "--system", "Be brief", &key]);
    outcome.expect_code(0);
    let (header, text) = outcome.stdout.split_once('\n').expect("two lines");
    assert!(header.starts_with("--- dispatch response from scripted/alpha [custom-system] ("), "{header}");
    assert!(header.ends_with(") ---") && header.contains('$'), "{header}");
    assert_eq!(text, "a plain answer\n");
    assert_eq!(outcome.stderr, "");
}

#[test]
fn a_task_type_goes_through_the_table_and_says_so() {
    let key = env().provider.script("routed", vec![Step::text("looks fine")]);
    let report = env().dispatch(&["--task-type", "code-review", &key]).expect_ok();
    assert_eq!(report["route"]["rule"], "task_type");
    assert_eq!(report["route"]["tier"], "sonnet");
    assert_eq!(report["requested"], json!({"task_type": "code-review"}));
    // None of the tier's models is connected here: the substitute is named, never silent.
    let reason = report["route"]["reason"].as_str().unwrap_or_default();
    assert!(reason.contains("scripted/beta stands in, the best of "), "{reason}");
    assert_eq!(report["warnings"].as_array().map(Vec::len), Some(1));
    let people = env().run(&["dispatch", "--task-type", "code-review", "hello"]);
    assert!(people.stdout.contains("[routed: code-review]"), "{}", people.stdout);
}

#[test]
fn an_explicit_model_beats_a_task_type() {
    let key = env().provider.script("beats", vec![Step::text("x")]);
    let report = env().dispatch(&["--task-type", "code-review", "-m", "scripted/beta", &key]).expect_ok();
    assert_eq!(report["route"]["rule"], "explicit");
    assert_eq!(report["model"]["model"], "beta");
    assert_eq!(env().provider.requests(&key).entries[0].model, "beta");
}

#[test]
fn no_model_means_opencodes_own_default() {
    let report = env().dispatch(&["which model?"]).expect_ok();
    assert_eq!(report["route"]["rule"], "default");
    assert_eq!(report["model"]["model"], "alpha");
}

#[test]
fn a_text_dispatch_sends_no_tools_and_only_a_short_system_prompt() {
    let key = env().provider.script("bare", vec![Step::text("x")]);
    env().dispatch(&["-m", "scripted/alpha", "--system", "You are terse.", &key]).expect_ok();
    let entries = env().provider.requests(&key).entries;
    assert_eq!(entries.len(), 1, "one request: no title call, no retry");
    assert_eq!(entries[0].tools, Vec::<String>::new());
    assert!(entries[0].system_length < 2000, "{}", entries[0].system_length);
    assert!(entries[0].authorization_present);
}

#[test]
fn a_prompt_comes_from_standard_input_or_a_file() {
    let key = env().provider.script("stdin", vec![Step::text("one"), Step::text("two")]);
    let piped =
        env().run_with_input(&["dispatch", "--json", "-m", "scripted/alpha", "-"], &format!("from a pipe {key}"));
    assert_eq!(piped.expect_ok()["text"], "one");
    let file = env().root.join("prompt.md");
    std::fs::write(&file, format!("from a file {key}")).expect("written");
    let from_file = env().dispatch(&["-m", "scripted/alpha", &format!("@{}", file.display())]);
    assert_eq!(from_file.expect_ok()["text"], "two");
    assert_eq!(env().provider.requests(&key).entries[1].last_user_text, format!("from a file {key}"));
}

#[test]
fn a_variant_is_checked_and_reaches_the_provider() {
    let key = env().provider.script("variant", vec![Step::text("x")]);
    let report = env().dispatch(&["-m", "scripted/beta@low", &key]).expect_ok();
    assert_eq!(report["model"]["variant"], "low");
    let unknown = env().dispatch(&["-m", "scripted/beta@turbo", "hello"]);
    unknown.expect_code(2).expect_class("model_not_found");
    assert!(unknown.json()["error"]["message"].as_str().is_some_and(|m| m.contains("low")), "{}", unknown.stdout);
}

#[test]
fn an_image_reaches_a_model_that_can_see_and_is_refused_for_one_that_cannot() {
    const DOT: &[u8] = &[
        0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52, 0, 0, 0, 1, 0, 0, 0, 1, 8,
        6, 0, 0, 0, 0x1f, 0x15, 0xc4, 0x89, 0, 0, 0, 13, 0x49, 0x44, 0x41, 0x54, 0x78, 0x9c, 0x63, 0xf8, 0xcf, 0xc0,
        0xf0, 0x1f, 0, 5, 0, 1, 0xff, 0x89, 0x99, 0x3d, 0x1d, 0, 0, 0, 0, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60,
        0x82,
    ];
    let file = env().root.join("dot.png");
    std::fs::write(&file, DOT).expect("written");
    let path = file.to_string_lossy();
    let key = env().provider.script("image", vec![Step::text("a dot")]);
    env().dispatch(&["-m", "scripted/eyes", "--image", &path, &key]).expect_ok();
    assert_eq!(env().provider.requests(&key).entries[0].images, ["image/png"]);

    let key = env().provider.script("blind", vec![Step::text("never")]);
    let blind = env().dispatch(&["-m", "scripted/alpha", "--image", &path, &key]);
    blind.expect_code(3).expect_class("capability_missing");
    assert!(blind.stdout.contains("scripted/eyes"), "the message names models that can: {}", blind.stdout);
    assert_eq!(env().provider.requests(&key).entries.len(), 0);
}

#[test]
fn a_long_answer_is_cut_and_kept_whole_in_a_file() {
    let long = "word ".repeat(12_000);
    let key = env().provider.script("long", vec![Step::text(long.clone())]);
    let report = env().dispatch(&["-m", "scripted/alpha", &key]).expect_ok();
    assert_eq!(report["truncated"], true);
    assert_eq!(report["text"].as_str().map(|text| text.chars().count()), Some(50_000));
    let path = report["full_text_path"].as_str().expect("a path");
    assert_eq!(std::fs::read_to_string(path).expect("the whole answer"), long);
    use std::os::unix::fs::PermissionsExt;
    assert_eq!(std::fs::metadata(path).expect("metadata").permissions().mode() & 0o777, 0o600);
    assert!(report["warnings"][0].as_str().is_some_and(|warning| warning.contains("60000")), "{}", report["warnings"]);
}
