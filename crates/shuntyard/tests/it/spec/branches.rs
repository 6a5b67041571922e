//! The branches of roles after a run, and the content of the store about their tasks.

use super::{RUN, TASK, branches, git, ground, implements, outcomes, plan_one, run, text, validates, write};
use serde_json::json;

#[test]
fn what_was_merged_is_removed_and_what_was_not_is_told() {
    let env = ground("spec-branches");
    let steps = [
        implements(TASK, write("a.txt", "wrong\n")),
        validates(TASK, "fail"),
        implements(TASK, write("a.txt", "right\n")),
        validates(TASK, "pass"),
    ];
    let key = plan_one(&env, steps.concat());
    let planned = env.run(&["spec", "status", "1", "--json"]).expect_code(0).json();
    assert_eq!(planned["tasks"][0]["stored"], json!([]), "nothing has begun");
    assert!(!env.data_dir().exists(), "and no store was made to say so");
    let people = env.run(&[&RUN[..], &["--deliver", "merge"]].concat());
    let said = &people.expect_code(0).stderr;
    assert!(said.contains("removed 3 branches of roles, which were merged"), "{said}");
    assert!(said.contains("kept shuntyard/s001-validator: main has not all of it"), "{said}");
    assert_eq!(branches(&env), ["shuntyard/s001-validator"], "the verdict that was not the last is nowhere else");
    assert_eq!(git(&env.project(), &["show", "main:a.txt"]), "right");

    // Without the branches the result of every step is still known.
    let report = run(&env, 0, &["--deliver", "merge"]);
    let all = [
        "s001-implementer done",
        "s001-validator fail",
        "s001-implementer-2 done",
        "s001-validator-2 pass",
        "s001-deliver done",
    ];
    assert_eq!(outcomes(&report), all);
    assert_eq!(report["removed"], json!([]));
    assert_eq!(report["kept"][0]["branch"], "shuntyard/s001-validator");
    assert_eq!(report["units"][0]["roles"][0]["branch"], json!(null), "{report:#}");
    assert_eq!(report["units"][0]["roles"][1]["branch"], "shuntyard/s001-validator");
    assert_eq!(env.provider.requests(&key).entries.len(), 10, "nobody was asked again");
    let status = env.run(&["spec", "status", "1", "--json"]).expect_code(0).json();
    let known = |n: usize| &status["tasks"][0]["stored"][n];
    assert_eq!(status["tasks"][0]["state"], "validated-pass");
    assert_eq!(
        (text(known(1), "task"), text(known(1), "role"), text(known(1), "state"), &known(1)["attempt"]),
        ("s001-validator", "validator", "done", &json!(1)),
        "{status:#}"
    );
    assert!(text(known(4), "reason").contains("merged into main"), "{status:#}");
}

#[test]
fn what_stands_in_the_store_is_shown_beside_what_the_files_say() {
    let env = ground("spec-stored");
    plan_one(&env, vec![write("tests/export.sh", "true\n"), write(&format!("{TASK}/implementation-report.md"), "no")]);
    run(&env, 1, &[]);
    let people = env.run(&["spec", "status", "1"]);
    let said = &people.expect_code(0).stdout;
    let files = said.lines().find(|line| line.contains(" 001-export ")).unwrap_or_default();
    assert!(files.contains("planned") && files.contains("implementer"), "{said}");
    let stored = said.lines().find(|line| line.contains(" s001-implementer ")).unwrap_or_default();
    assert!(stored.contains("done") && stored.contains("ready on shuntyard/s001-implementer"), "{said}");
    // A store that cannot be read removes nothing from the content of the files.
    env.write_config("this is no TOML");
    let broken = env.run(&["spec", "status", "1", "--json"]).expect_code(0).json();
    assert_eq!((&broken["tasks"][0]["state"], &broken["tasks"][0]["stored"]), (&json!("planned"), &json!([])));
    assert!(broken["troubles"].to_string().contains("what stands in the store is not known"), "{broken:#}");
}
