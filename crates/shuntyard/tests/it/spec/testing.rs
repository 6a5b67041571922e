//! `spec test`: the project's tests run by the commands that its context or the user's configuration names.

use super::{RUN, SETTINGS, TASK, carried_out, ground, plan_one, put, write};
use serde_json::json;

#[test]
fn the_commands_come_from_the_context_and_the_configuration_comes_first() {
    let env = ground("spec-test");
    let nothing = env.run(&["spec", "test", "--json"]);
    assert!(nothing.expect_code(2).stdout.contains("nothing says how the tests"), "{}", nothing.stdout);

    put(
        &env,
        ".ai/context.md",
        "# App\n\n## Test Setup\n\n- All tests: `sh run-tests`\n- One test: `sh run-tests NAME`\n",
    );
    put(&env, "run-tests", "echo \"tested in $(pwd) with $#\"; exit ${WANTED:-0}\n");
    let dry = env.run(&["spec", "test", "--dry-run", "--json"]).expect_code(0).json();
    let expected = json!({"ok": true, "source": ".ai/context.md", "commands": ["sh run-tests"], "results": []});
    assert_eq!(dry, expected);
    let green = env.run(&["spec", "test", "--json"]).expect_code(0).json();
    let result = &green["results"][0];
    let project = env.project().canonicalize().expect("there");
    assert_eq!(result["tail"], format!("tested in {} with 0\n", project.display()), "{green:#}");
    assert_eq!((&green["ok"], &result["exit"], &result["timed_out"]), (&json!(true), &json!(0), &json!(false)));
    let red = env.run_with(&[("WANTED", "3")], &["spec", "test"]);
    assert!(red.expect_code(1).stdout.contains("sh run-tests (from .ai/context.md)"), "{}", red.stdout);
    assert!(red.stdout.ends_with("exit 3\n"), "{}", red.stdout);

    let own = format!("[repository.\"{}\"]\nverify = [\"false\", \"true\"]\n", project.display());
    env.write_config(&format!("{SETTINGS}\n{own}"));
    let set = env.run(&["spec", "test", "--json"]).expect_code(1).json();
    assert_eq!((&set["source"], &set["commands"]), (&json!("configuration"), &json!(["false", "true"])));
    assert_eq!(set["results"].as_array().map(Vec::len), Some(1), "it ends with the first that is red: {set:#}");
}

#[test]
fn what_is_set_for_the_repository_is_verified_unless_something_else_is_named() {
    let env = ground("spec-verify-set");
    plan_one(&env, carried_out(TASK, write("a.txt", "a\n")));
    let project = env.project().canonicalize().expect("there");
    env.write_config(&format!("{SETTINGS}\n[repository.\"{}\"]\nverify = \"make check\"\n", project.display()));
    let verified = |more: &[&str]| {
        let planned = env.run(&[&RUN[..], &["--dry-run", "--json"], more].concat()).expect_code(0).json();
        planned["would_run"][0]["verify"].to_string()
    };
    assert!(verified(&[]).contains("make check"), "{}", verified(&[]));
    let named = verified(&["--verify", "make other"]);
    assert!(named.contains("make other") && !named.contains("make check"), "{named}");
}
