//! Task artifacts on the command line: made by many at once, checked, and listed. OpenCode is not used.

use crate::own_env;
use serde_json::{Value, json};
use shuntyard_testkit::{Outcome, TestEnv, environment::finish};
use std::{collections::BTreeSet, path::Path};

const SPEC: &str = ".ai/tasks/001-add-export/task-spec.md";

/// Everything that a person has to fill in.
const FILLED: &str = "\
# Export

## Source Artifacts

None

## Scope

`export` writes CSV.

## Execution

- implementer

## Non-Goals

None

## Testable Acceptance Criteria

- A comma is quoted.

## Inspectable Acceptance Criteria

None

## Relevant Files

- src/export.rs

## Validation Plan

cargo test

## Open Questions

None
";

fn write(env: &TestEnv, path: &str, text: &str) {
    let path = env.project().join(path);
    std::fs::create_dir_all(path.parent().expect("a directory")).expect("made");
    std::fs::write(path, text).expect("written");
}

fn spec(env: &TestEnv, args: &[&str]) -> Outcome {
    env.run(&[&["spec"], args].concat())
}

fn json_of(env: &TestEnv, code: i32, args: &[&str]) -> Value {
    let outcome = spec(env, &[args, &["--json"]].concat());
    outcome.expect_code(code).json()
}

#[test]
fn a_task_is_made_filled_in_and_seen_through() {
    let env = own_env("spec-story");
    let made = spec(&env, &["new", "add-export", "--title", "Export as CSV"]);
    assert_eq!(made.expect_code(0).stdout, ".ai/tasks/001-add-export\n");
    assert!(made.stderr.contains("shuntyard spec check 001-add-export"), "{}", made.stderr);

    let faults = spec(&env, &["check"]);
    let told: Vec<&str> = faults.expect_code(1).stdout.lines().filter(|line| !line.starts_with(' ')).collect();
    assert_eq!(told.len(), 9, "{}", faults.stdout);
    assert_eq!(told[1], format!("{SPEC}:7: Scope says nothing yet"));
    assert_eq!(told[2], format!("{SPEC}:11: Execution names nobody, so nothing would run"));
    assert!(faults.stderr.contains("9 faults in 1 place; 1 file checked"), "{}", faults.stderr);

    write(&env, SPEC, FILLED);
    assert_eq!(spec(&env, &["check", "1"]).expect_code(0).stdout, "1 file, no faults\n");
    let planned = spec(&env, &["status"]);
    assert!(planned.expect_code(0).stdout.contains("planned"), "{}", planned.stdout);
    assert!(planned.stdout.contains("implementer"), "{}", planned.stdout);
    write(&env, ".ai/tasks/001-add-export/implementation-report.md", "## Outcome\n\ndone\n");
    write(&env, ".ai/tasks/001-add-export/validation-report.md", "Verdict: pass\n");
    let task = &json_of(&env, 0, &["status", "add-export"])["tasks"][0];
    assert_eq!((&task["state"], &task["next"]), (&json!("validated-pass"), &json!(null)));
    assert!(!env.data_dir().exists(), "neither a store nor a server was needed");
}

#[test]
fn the_documents_for_scripts_have_their_form() {
    let env = own_env("spec-json");
    let dry = json_of(&env, 0, &["new", "rework", "--unit", "parser", "--unit", "writer", "--dry-run"]);
    assert!(!env.project().join(".ai").exists());
    let made = json_of(&env, 0, &["new", "rework", "--unit", "parser", "--unit", "writer"]);
    assert_eq!(
        made,
        json!({
            "id": "001-rework", "number": 1, "path": ".ai/tasks/001-rework", "dry_run": false,
            "files": [".ai/tasks/001-rework/task-spec.md", ".ai/tasks/001-rework/01-parser/task-spec.md",
                ".ai/tasks/001-rework/02-writer/task-spec.md"],
        })
    );
    assert_eq!((&dry["files"], &dry["dry_run"]), (&made["files"], &json!(true)));
    write(&env, ".ai/tasks/001-rework/01-parser/task-spec.md", &FILLED.replace("- implementer", "- validator"));
    let checked = json_of(&env, 1, &["check", "rework/parser"]);
    assert_eq!(
        checked,
        json!({
            "ok": false, "files": [".ai/tasks/001-rework/01-parser/task-spec.md"],
            "faults": [{
                "path": ".ai/tasks/001-rework/01-parser/task-spec.md", "line": 13, "rule": "execution-validator",
                "message": "the validator is not named: it always runs, as the last", "hint": "take this line out",
            }],
        })
    );
    let status = json_of(&env, 0, &["status", "1"]);
    let units: Vec<&Value> =
        status["tasks"][0]["units"].as_array().expect("a list").iter().map(|unit| &unit["id"]).collect();
    assert_eq!(units, ["01-parser", "02-writer"]);
    assert_eq!(status["tasks"][0]["waves"], json!([["parser"], ["writer"]]));
    assert_eq!((&status["context"], &status["decisions"]), (&json!(false), &json!(0)));
}

#[test]
fn what_cannot_be_done_says_what_would_help() {
    let env = own_env("spec-refusals");
    let hint = |code: i32, class: &str, args: &[&str]| {
        let outcome = spec(&env, &[args, &["--json"]].concat());
        outcome.expect_code(code).expect_class(class);
        outcome.json()["error"]["hint"].as_str().unwrap_or_default().to_owned()
    };
    assert!(hint(2, "usage", &["check"]).contains("spec new ID"));
    assert!(hint(2, "usage", &["status"]).contains("spec new ID"));
    assert!(hint(2, "usage", &["new", "007-Add Export"]).contains("`add-export`"));
    assert!(hint(2, "usage", &["new", "a", "--unit", "../b"]).contains("for example `b`"));
    assert!(hint(2, "usage", &["new", "a", "--unit", "b", "--unit", "b"]).contains("once"));
    assert!(hint(2, "usage", &["new", "a", "--dir", "nowhere"]).contains("--dir"));
    assert!(!env.project().join(".ai").exists(), "nothing was made");
    spec(&env, &["new", "add-export"]).expect_code(0);
    assert!(hint(2, "usage", &["check", "add-exprot"]).contains("001-add-export"));
    assert!(hint(2, "usage", &["status", "9"]).contains("spec status"));
    assert!(hint(3, "refused", &["check", "../models.json"]).contains("--dir"));
    spec(&env, &["new", "add-export"]).expect_code(0);
    assert!(hint(2, "usage", &["check", "add-export"]).contains("number"));
    std::fs::rename(env.project().join(".ai"), env.root.join("shared")).expect("moved");
    std::os::unix::fs::symlink(env.root.join("shared"), env.project().join(".ai")).expect("linked");
    for args in [["check"].as_slice(), &["status"], &["new", "b"], &["new", "b", "--dry-run"]] {
        assert!(hint(3, "refused", args).contains("directory in the repository"), "{args:?}");
    }
    assert_eq!(entries(&env.root.join("shared/tasks")).len(), 2);
}

#[test]
fn a_broken_configuration_does_not_matter() {
    let env = own_env("spec-config");
    env.write_config("this is no TOML");
    spec(&env, &["new", "a"]).expect_code(0);
    spec(&env, &["check"]).expect_code(1);
}

#[test]
fn a_directory_below_and_one_elsewhere_are_the_same_task() {
    let env = own_env("spec-elsewhere");
    let other = env.repository("other");
    std::fs::create_dir_all(other.join("src/deep")).expect("made");
    let deep = other.join("src/deep").display().to_string();
    spec(&env, &["new", "a", "--dir", &deep]).expect_code(0);
    assert!(other.join(".ai/tasks/001-a/task-spec.md").exists());
    assert_eq!(json_of(&env, 0, &["status", "--dir", &deep])["tasks"][0]["id"], "001-a");
}

fn entries(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).expect("a directory");
    entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect()
}

#[test]
fn processes_that_make_tasks_at_the_same_moment_never_share_a_number() {
    const AT_ONCE: usize = 16;
    const ROUNDS: usize = 4;
    let env = own_env("spec-race");
    for round in 1..=ROUNDS {
        let started: Vec<_> = (0..AT_ONCE)
            .map(|process| {
                // Some ids are the same and some differ; neither may matter.
                let id = format!("task-{}", process % 5);
                env.spawn(&["spec", "new", &id, "--unit", "one", "--unit", "two", "--json"])
            })
            .collect();
        let told: BTreeSet<String> = started
            .into_iter()
            .map(|child| {
                let outcome = finish(child);
                outcome.expect_code(0).json()["id"].as_str().expect("an id").to_owned()
            })
            .collect();
        assert_eq!(told.len(), AT_ONCE, "each process was told a directory of its own: {told:?}");
        let names = entries(&env.project().join(".ai/tasks"));
        assert!(told.iter().all(|name| names.contains(name)));
        assert!(names.iter().all(|name| !name.starts_with('.')), "no draft is left: {names:?}");
        let numbers: BTreeSet<&str> = names.iter().filter_map(|name| name.split('-').next()).collect();
        assert_eq!((names.len(), numbers.len()), (AT_ONCE * round, AT_ONCE * round), "{names:?}");
    }
    let checked = json_of(&env, 1, &["check"]);
    let faults = checked["faults"].as_array().expect("a list");
    assert!(faults.iter().all(|fault| fault["rule"] != "number-twice"), "{checked:#}");
    assert_eq!(checked["files"].as_array().expect("a list").len(), AT_ONCE * ROUNDS * 3);
}
