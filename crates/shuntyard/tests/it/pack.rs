//! The workflow pack as people install it: files of the user stay unchanged.

#![expect(clippy::panic, reason = "a test stops at the first surprise")]

use crate::own_env;
use serde_json::{Value, json};
use shuntyard_testkit::TestEnv;
use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

pub fn target(env: &TestEnv) -> PathBuf {
    env.root.join("home/.config/opencode")
}

pub fn write(path: &Path, text: &str, mode: u32) {
    fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
    fs::write(path, text).expect("written");
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("a mode");
}

/// Every path below a directory, with its mode and content.
pub fn snapshot(root: &Path) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
    let mut found = BTreeMap::new();
    let mut open = vec![root.to_path_buf()];
    while let Some(next) = open.pop() {
        let metadata = next.symlink_metadata().expect("it is there");
        let content = if metadata.is_dir() {
            open.extend(fs::read_dir(&next).expect("readable").map(|entry| entry.expect("an entry").path()));
            Vec::new()
        } else {
            fs::read(&next).expect("readable")
        };
        found.insert(next, (metadata.permissions().mode(), content));
    }
    found
}

fn change<'r>(report: &'r Value, path: &str) -> &'r str {
    let files = report["files"].as_array().expect("files");
    let file = files.iter().find(|file| file["path"] == path).unwrap_or_else(|| panic!("{path} in {report:#}"));
    file["change"].as_str().expect("a change")
}

#[test]
fn an_uninstall_leaves_what_was_there() {
    let env = own_env("pack-round");
    let root = target(&env);
    write(&root.join("AGENTS.md"), "my rules\n", 0o640);
    write(&root.join("agents/mine.md"), "mine\n", 0o600);
    write(&root.join("agents/validator.md"), "my own validator\n", 0o600);
    write(&root.join("skills/s/SKILL.md"), "a skill\n", 0o644);
    let config = "{\n  // mine\n  \"model\": \"scripted/alpha\", /* and this */\n  \"unknown\": [1, 2,],\n}\n";
    write(&root.join("opencode.jsonc"), config, 0o600);
    let before = snapshot(&root);

    let dry = env.run(&["pack", "install", "--mcp", "--force", "--dry-run", "--json"]).expect_code(0).json();
    assert_eq!((change(&dry, "agents/validator.md"), change(&dry, "agents/init.md")), ("replace", "write"));
    assert_eq!(snapshot(&root), before, "a dry run changes nothing");

    let report = env.run(&["pack", "install", "--mcp", "--force", "--json"]).expect_code(0).json();
    assert_eq!((&report["outcome"], change(&report, "opencode.jsonc")), (&json!("changed"), "replace"));
    let edited = fs::read_to_string(root.join("opencode.jsonc")).expect("readable");
    for kept in ["// mine", "/* and this */", "\"unknown\": [1, 2,]", "\"shuntyard\": {"] {
        assert!(edited.contains(kept), "{kept} in {edited}");
    }
    let again = env.run(&["pack", "install", "--mcp", "--json"]).expect_code(0).json();
    assert_eq!((&again["outcome"], &again["backup"]), (&json!("unchanged"), &Value::Null));

    env.run(&["pack", "uninstall", "--json"]).expect_code(0);
    assert_eq!(snapshot(&root), before);
    assert_eq!(env.run(&["pack", "uninstall", "--json"]).expect_code(0).json()["outcome"], "not-installed");

    // A project has none of the directories.
    let project = env.repository("pack-project");
    let before = snapshot(&project);
    let there = project.to_string_lossy().into_owned();
    env.run(&["pack", "install", "--mcp", "--project", &there]).expect_code(0);
    assert!(
        project.join(".opencode/commands/route.md").is_file() && project.join(".opencode/opencode.jsonc").is_file()
    );
    env.run(&["pack", "uninstall", "--project", &there]).expect_code(0);
    assert_eq!(snapshot(&project), before);
}

#[test]
fn what_the_user_wrote_is_kept_and_shown() {
    let env = own_env("pack-kept");
    let root = target(&env);
    write(&root.join("agents/shipper.md"), "my own shipper\n", 0o644);
    let refused = env.run(&["pack", "install"]);
    refused.expect_code(3);
    assert!(refused.stdout.contains("--- agents/shipper.md") && refused.stdout.contains("-my own shipper"));
    assert!(refused.stderr.contains("--force"), "{}", refused.stderr);
    assert!(root.join("agents/init.md").is_file(), "the rest is installed");

    let init = fs::read_to_string(root.join("agents/init.md")).expect("readable");
    write(&root.join("agents/init.md"), &format!("{init}And mine.\n"), 0o644);
    let report = env.run(&["pack", "install", "--json"]);
    report.expect_code(3).expect_class("refused");
    let report = report.json();
    assert_eq!(
        (change(&report, "agents/init.md"), change(&report, "agents/shipper.md")),
        ("kept-edited", "kept-foreign")
    );
    let shown = env.run(&["pack", "diff"]);
    assert!(shown.expect_code(0).stdout.contains("-And mine."), "{}", shown.stdout);

    let gone = env.run(&["pack", "uninstall", "--json"]).expect_code(0).json();
    assert_eq!((change(&gone, "agents/init.md"), &gone["outcome"]), ("kept-edited", &json!("partly")));
    let left: Vec<String> = fs::read_dir(root.join("agents"))
        .expect("readable")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    assert_eq!(left.len(), 2, "{left:?}");
    assert_eq!(fs::read_to_string(root.join("agents/shipper.md")).expect("readable"), "my own shipper\n");

    env.run(&["pack", "install", "--force"]).expect_code(0);
    let list = env.run(&["pack", "restore", "--list", "--json"]).expect_code(0).json();
    let newest = list["backups"][0]["name"].as_str().expect("a name").to_owned();
    env.run(&["pack", "restore", &newest]).expect_code(0);
    assert!(fs::read_to_string(root.join("agents/init.md")).expect("readable").ends_with("And mine.\n"));
    assert!(!root.join("agents/executor.md").exists(), "as it was before that install");
    env.run(&["pack", "restore", "1999"]).expect_code(2);
}

#[test]
fn parts_and_forms_are_chosen() {
    let env = own_env("pack-parts");
    let root = target(&env);
    env.run(&["pack", "install", "--only", "commands"]).expect_code(0);
    assert!(root.join("commands/route.md").is_file() && !root.join("agents").exists());
    let warned = env.run(&["pack", "install", "--format", "v2"]);
    assert!(warned.expect_code(0).stderr.contains("OpenCode 1 does not read"), "{}", warned.stderr);
    let text = fs::read_to_string(root.join("agents/research.md")).expect("readable");
    assert!(text.contains("\npermissions:\n  - { action: \"*\", resource: \"*\", effect: deny }\n"), "{text}");
    env.run(&["pack", "check"]).expect_code(0);
    env.run(&["pack", "install", "--only", "everything"]).expect_code(2);
    env.run(&["pack", "install", "--project", "no-such-directory"]).expect_code(2);
}

#[test]
fn the_pack_is_clean_and_a_bad_one_is_not() {
    let env = own_env("pack-check");
    let alone = env.run(&["pack", "check", "--json"]).expect_code(0).json();
    assert_eq!((&alone["files"], &alone["findings"], &alone["ok"]), (&json!(11), &json!([]), &json!(true)));
    env.run(&["pack", "install"]).expect_code(0);
    let both = env.run(&["pack", "check", "--json"]).expect_code(0).json();
    assert_eq!((&both["files"], &both["findings"]), (&json!(22), &json!([])));
    let all = target(&env).join("agents").to_string_lossy().into_owned();
    assert_eq!(env.run(&["pack", "check", &all, "--json"]).expect_code(0).json()["findings"], json!([]));

    let bad = env.root.join("bad/agents/looker.md");
    let text = "---\ndescription: looks\nmode: subagent\npermission:\n  \"*\": deny\n  bash:\n    \"*\": deny\n    \"git diff *\": allow\n---\n";
    write(&bad, text, 0o644);
    let found = env.run(&["pack", "check", &env.root.join("bad").to_string_lossy()]);
    found.expect_code(1);
    assert!(found.stdout.contains(&format!("{}:8: error: ", bad.display())), "{}", found.stdout);
    env.run(&["pack", "check", &env.root.join("tmp").to_string_lossy()]).expect_code(2);
}
