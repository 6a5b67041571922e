//! A pack that another version of the program has installed: a message names it and the next command, and an install
//! brings it up to date.

use crate::{
    own_env,
    pack::{target, write},
};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use shuntyard_testkit::TestEnv;
use std::fs;

const MANIFEST: &str = ".shuntyard-pack.json";

fn change_manifest(env: &TestEnv, change: impl FnOnce(&mut Value)) {
    let path = target(env).join(MANIFEST);
    let mut manifest: Value = serde_json::from_str(&fs::read_to_string(&path).expect("readable")).expect("JSON");
    change(&mut manifest);
    fs::write(path, manifest.to_string()).expect("written");
}

/// As a version would have left it that had another text for an agent, a command that is gone, and not yet another one.
fn make_older(env: &TestEnv) {
    let root = target(env);
    let older = "---\ndescription: looks things up\nmode: subagent\npermission:\n  \"*\": deny\n---\nLook it up.\n";
    write(&root.join("agents/research.md"), older, 0o644);
    write(&root.join("commands/scout.md"), older, 0o644);
    fs::remove_file(root.join("commands/route.md")).expect("removed");
    let sha256: String = Sha256::digest(older).iter().map(|byte| format!("{byte:02x}")).collect();
    change_manifest(env, |manifest| {
        manifest["version"] = json!("0.0.1");
        let entry = json!({"sha256": sha256, "before": {"was": "absent"}});
        manifest["files"]["agents/research.md"] = entry.clone();
        manifest["files"]["commands/scout.md"] = entry;
        manifest["files"].as_object_mut().expect("files").remove("commands/route.md");
    });
}

#[test]
fn an_older_pack_is_told_and_brought_up_to_date() {
    let env = own_env("pack-older");
    assert_eq!(env.run(&["pack", "check", "--json"]).expect_code(0).json()["installed"], Value::Null);
    env.run(&["pack", "install"]).expect_code(0);
    let current = env.run(&["pack", "check", "--json"]).expect_code(0).json();
    assert_eq!((&current["installed"]["age"], &current["installed"]["hint"]), (&json!("current"), &Value::Null));
    make_older(&env);
    let root = target(&env);
    let told = format!(
        "the pack in {} is of version 0.0.1, older than {} of this program",
        root.display(),
        env!("CARGO_PKG_VERSION")
    );
    for verb in ["check", "diff"] {
        let shown = env.run(&["pack", verb]);
        shown.expect_code(0);
        assert!(shown.stderr.contains(&told), "{verb}: {}", shown.stderr);
        assert!(shown.stderr.contains("`shuntyard pack install` brings the new one"), "{verb}: {}", shown.stderr);
        let installed = &env.run(&["pack", verb, "--json"]).expect_code(0).json()["installed"];
        assert_eq!((&installed["age"], &installed["version"]), (&json!("older"), &json!("0.0.1")), "{verb}");
        assert_eq!(installed["message"], told, "{verb}");
    }
    let diff = env.run(&["pack", "diff"]);
    for line in ["agents/research.md: replace", "-Look it up.", "commands/scout.md: remove", "commands/route.md: write"]
    {
        assert!(diff.stdout.contains(line), "{line}: {}", diff.stdout);
    }
    // A user's change in the older pack stays, and is reported.
    write(&root.join("commands/scout.md"), "my own scout\n", 0o644);
    env.run(&["pack", "install"]).expect_code(3);
    assert_eq!(fs::read_to_string(root.join("commands/scout.md")).expect("readable"), "my own scout\n");
    let after = env.run(&["pack", "check"]);
    assert!(!after.expect_code(0).stderr.contains("this program"), "{}", after.stderr);
    env.run(&["pack", "uninstall"]).expect_code(0);
    assert!(root.join("commands/scout.md").is_file(), "it is the user's own from then on");
}

#[test]
fn newer_ones_other_forms_and_interruptions_are_told_apart() {
    let env = own_env("pack-other-ages");
    let said = |args: &[&str]| env.run(&[&["pack"], args].concat()).expect_code(0).stderr.clone();
    env.run(&["pack", "install", "--format", "v2"]).expect_code(0);
    let told = said(&["diff"]);
    assert!(told.contains("has the form v2, and is compared with v1") && told.contains("--format v2"), "{told}");
    assert_eq!(said(&["diff", "--format", "v2"]), "");
    make_older(&env);
    assert!(said(&["check"]).contains("`shuntyard pack install --format v2` brings the new one"));
    change_manifest(&env, |manifest| manifest["version"] = json!("99.0.0"));
    let told = said(&["check"]);
    assert!(told.contains("is of version 99.0.0, newer than") && told.contains("use the newer program"), "{told}");
    change_manifest(&env, |manifest| manifest["version"] = json!(env!("CARGO_PKG_VERSION")));
    assert!(said(&["check"]).contains("too, but not the one of this program"));
    change_manifest(&env, |manifest| manifest["state"] = json!("installing"));
    let told = said(&["check"]);
    assert!(told.contains("was interrupted") && told.contains("`shuntyard pack uninstall` undoes it"), "{told}");
}
