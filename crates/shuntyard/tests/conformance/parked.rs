//! A permission that the real OpenCode asks for waits for a person, also when two are asked for at the same moment.

use crate::own_env;
use serde_json::{Value, json};
use shuntyard_scripted::Step;
use shuntyard_testkit::{environment::finish, eventually};
use std::{process::Command, time::Duration};

#[test]
fn a_task_waits_for_its_permissions_and_goes_on_with_the_answers() {
    let env = own_env("parked");
    let mut config = env.opencode_config();
    config["permission"] = json!({"bash": "ask"});
    env.write_opencode_config(config);
    env.write_config("[permissions]\nask = \"park\"\nwait = \"1h\"\n[supervise]\nadaptive = false\n");
    let git = |args: &[&str]| {
        let done = Command::new("git").args(args).current_dir(env.project()).output().expect("git");
        assert!(done.status.success(), "{args:?}: {}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8_lossy(&done.stdout).trim().to_owned()
    };
    git(&["config", "user.name", "Ann"]);
    git(&["config", "user.email", "ann@example.org"]);
    git(&["commit", "-qm", "first", "--allow-empty"]);
    let bash = |command: &str| Step::tool("bash", json!({"command": command, "description": "work"}));
    let both =
        bash("echo yes > made.txt").and_tool("bash", json!({"command": "echo yes > too.txt", "description": "work"}));
    let steps = vec![both, bash("echo no > more.txt"), Step::text("done")];
    let key = env.provider.script("parked", steps);
    let added = env.run(&["task", "add", &format!("work {key}"), "--model", "scripted/alpha", "--json"]);
    let id = added.expect_code(0).json()["id"].as_str().expect("an id").to_owned();
    let supervisor = env.spawn(&["supervise", "--until-idle"]);
    let mut answered: Vec<String> = Vec::new();
    while answered.len() < 3 {
        let mut task = Value::Null;
        eventually("another request", Duration::from_secs(240), || {
            task = env.run(&["task", "show", &id, "--json"]).json();
            task["request"]["id"].as_str().is_some_and(|request| answered.iter().all(|known| known != request))
        });
        assert_eq!((&task["phase"], &task["request"]["permission"]), (&json!("waiting"), &json!("bash")), "{task:#}");
        let denied = task["request"]["pattern"].as_str().is_some_and(|pattern| pattern.contains("more.txt"));
        let request = task["request"]["id"].as_str().expect("an id").to_owned();
        let answer = if denied { "deny" } else { "allow" };
        env.run(&["task", "answer", &id, answer, "--request", &request]).expect_code(0);
        answered.push(request);
    }
    finish(supervisor).expect_code(0);
    let task = env.run(&["task", "show", &id, "--json"]).json();
    assert_eq!(task["phase"], "done", "{task:#}");
    assert_eq!(git(&["ls-tree", "--name-only", &format!("shuntyard/{id}")]), "made.txt\ntoo.txt");
    let said = format!("{:?}", env.provider.requests(&key).entries[2].messages);
    assert!(said.contains("The user denied this"), "{said}");
}
