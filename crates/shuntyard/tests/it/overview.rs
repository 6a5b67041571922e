//! `shuntyard` without a command: the state and the next step, exit 0, and nothing is changed.

use crate::{
    own_env,
    tasks::{add, yard},
};

#[test]
fn a_new_user_is_shown_where_to_begin() {
    let mut env = own_env("overview-new");
    let json = env.run(&["--json"]).expect_code(0).json();
    assert_eq!(json["configuration"]["ok"], true);
    assert_eq!(json["next"]["command"], "shuntyard demo");
    let people = env.run(&[]);
    people.expect_code(0);
    assert!(people.stdout.contains("no tasks") && people.stdout.contains("next: shuntyard demo"), "{}", people.stdout);
    env.set("SHUNTYARD_OPENCODE_BIN", "/no/such/opencode");
    assert_eq!(env.run(&["--json"]).expect_code(0).json()["next"]["command"], "shuntyard opencode install");
    env.write_config("broken = 1\n");
    let broken = env.run(&["--json"]).expect_code(0).json();
    assert_eq!(broken["next"]["command"], "shuntyard config check");
    assert!(broken["configuration"]["problem"].to_string().contains("unknown setting `broken`"), "{broken}");
    assert!(!env.data_dir().exists(), "a look creates nothing");
}

#[test]
fn tasks_that_wait_lead_to_the_supervisor() {
    let env = yard("overview-tasks");
    add(&env, &["Rename foo"]);
    let json = env.run(&["--json"]).expect_code(0).json();
    assert_eq!((&json["counts"]["queued"], &json["next"]["command"]), (&1.into(), &"shuntyard supervise".into()));
    let people = env.run(&[]);
    people.expect_code(0);
    assert!(
        people.stdout.contains("1 queued") && people.stdout.contains("1 task is in the queue"),
        "{}",
        people.stdout
    );
}

#[test]
fn a_store_that_cannot_be_used_is_said_and_left_as_it_is() {
    let env = own_env("overview-store");
    std::fs::create_dir_all(env.data_dir()).expect("a directory");
    let file = env.data_dir().join("shuntyard.db");
    let garbage = b"no database at all".repeat(100);
    std::fs::write(&file, &garbage).expect("written");
    let json = env.run(&["--json"]).expect_code(0).json();
    assert_eq!((&json["store"]["ok"], &json["next"]["command"]), (&false.into(), &"shuntyard doctor".into()));
    assert_eq!(std::fs::read(&file).expect("still there"), garbage);
}
