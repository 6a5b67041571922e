//! What the pack refuses or keeps, as people and scripts see it.

use crate::{
    own_env,
    pack::{target, write},
};
use serde_json::{Value, json};
use std::fs;

#[test]
fn an_edit_is_restored_over_only_by_force() {
    let env = own_env("pack-restore-edit");
    env.run(&["pack", "install"]).expect_code(0);
    let file = target(&env).join("agents/init.md");
    write(&file, "mine\n", 0o644);
    let kept = env.run(&["pack", "restore", "--json"]);
    kept.expect_code(3).expect_class("refused");
    assert_eq!(fs::read_to_string(&file).expect("readable"), "mine\n");
    assert!(!target(&env).join("agents/executor.md").exists(), "the rest is put back");
    let oldest = env.run(&["pack", "restore", "--list", "--json"]).json()["backups"][1]["name"].clone();
    env.run(&["pack", "restore", oldest.as_str().expect("a name"), "--force"]).expect_code(0);
    assert!(!file.exists());
}

#[test]
fn a_lost_backup_stops_nothing_but_its_file() {
    let env = own_env("pack-lost");
    let file = target(&env).join("agents/init.md");
    write(&file, "mine\n", 0o644);
    env.run(&["pack", "install", "--force"]).expect_code(0);
    fs::remove_dir_all(env.data_dir().join("pack")).expect("removed");
    let left = env.run(&["pack", "uninstall"]);
    left.expect_code(3);
    assert!(left.stderr.contains("agents/init.md before the pack is in no backup any more"), "{}", left.stderr);
    assert!(file.is_file() && !target(&env).join("agents/executor.md").exists());
    assert_eq!(env.run(&["pack", "uninstall", "--json"]).expect_code(0).json()["outcome"], "not-installed");
}

#[test]
fn an_agent_that_opencode_mixes_with_ours_is_named() {
    let env = own_env("pack-mixed");
    write(&target(&env).join("agent/research.md"), "my own\n", 0o644);
    let installed = env.run(&["pack", "install"]);
    installed.expect_code(3);
    assert!(
        installed.stderr.contains("agent/research.md: OpenCode mixes it with agents/research.md"),
        "{}",
        installed.stderr
    );
    let checked = env.run(&["pack", "check", "--json"]).expect_code(3).json();
    assert_eq!((&checked["ok"], &checked["mixed"][0]["path"]), (&json!(true), &json!("agent/research.md")));
    let shown = env.run(&["pack", "diff"]);
    assert!(shown.expect_code(0).stdout.contains("agent/research.md: keep"), "{}", shown.stdout);
    fs::remove_file(target(&env).join("agent/research.md")).expect("removed");
    env.run(&["pack", "install"]).expect_code(0);
    env.run(&["pack", "check"]).expect_code(0);
}

#[test]
fn a_manifest_that_leads_elsewhere_is_refused_and_shows_no_escapes() {
    let env = own_env("pack-hostile");
    let project = env.repository("project");
    let there = project.display().to_string();
    env.run(&["pack", "install", "--project", &there]).expect_code(0);
    let victim = env.root.join("home/victim.md");
    write(&victim, "precious\n", 0o644);
    let path = project.join(".opencode/.shuntyard-pack.json");
    let mut manifest: Value = serde_json::from_str(&fs::read_to_string(&path).expect("readable")).expect("JSON");
    let entry = manifest["files"]["agents/init.md"].clone();
    manifest["files"]["agents/\u{1b}[2J/../../../home/victim.md"] = entry;
    write(&path, &manifest.to_string(), 0o644);
    for verb in ["install", "uninstall", "restore", "check", "diff"] {
        let refused = env.run(&["pack", verb, "--project", &there]);
        refused.expect_code(3);
        assert!(refused.stderr.contains("is not to be trusted"), "{verb}: {}", refused.stderr);
        assert!(!refused.stderr.contains('\u{1b}'), "{verb}: {:?}", refused.stderr);
    }
    assert_eq!(fs::read_to_string(&victim).expect("readable"), "precious\n");
}
