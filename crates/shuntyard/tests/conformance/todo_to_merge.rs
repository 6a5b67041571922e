//! A line of TODO.md whose work a model does in the real OpenCode, through a review to the merge and the tick.

use crate::own_env;
use serde_json::{Value, json};
use shuntyard_scripted::Step;
use shuntyard_testkit::{TestEnv, eventually, script};
use std::{
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

const HANGS: Duration = Duration::from_secs(240);

fn git(directory: &Path, args: &[&str]) -> String {
    let done = Command::new("git").args(args).current_dir(directory).output().expect("git");
    assert!(done.status.success(), "{args:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8_lossy(&done.stdout).trim().to_owned()
}

/// The project with a remote on this disk that has this TODO.md, and a `gh` that knows that remote.
fn hub(env: &mut TestEnv, plan: &str) -> PathBuf {
    let (hub, project) = (env.root.join("hub"), env.project());
    std::fs::create_dir_all(&hub).expect("a directory");
    script(&hub.join("gh"), &include_str!("../it/supervise/gh.sh").replace("HUB", &hub.display().to_string()));
    let path = std::env::var("PATH").unwrap_or_default();
    env.set("PATH", format!("{}:{path}", hub.display()));
    let remote = hub.join("remote").display().to_string();
    git(&project, &["symbolic-ref", "HEAD", "refs/heads/main"]);
    git(&project, &["config", "user.name", "Ann"]);
    git(&project, &["config", "user.email", "ann@example.org"]);
    std::fs::write(project.join("TODO.md"), plan).expect("a file");
    git(&project, &["add", "TODO.md"]);
    git(&project, &["commit", "-qm", "plan"]);
    git(&project, &["init", "-q", "--bare", "-b", "main", &remote]);
    git(&project, &["remote", "add", "origin", &remote]);
    git(&project, &["push", "-qu", "origin", "main"]);
    git(&project, &["remote", "set-head", "origin", "main"]);
    env.write_config(&format!(
        r#"
[supervise]
adaptive = false
look_every = "50ms"
todo_every = "50ms"
ci_wait = "1ms"
[tiers]
haiku = ["scripted/alpha"]
[repository.{:?}]
todo = true
deliver = "pr"
tier = "haiku"
verify = "grep -q 42 answer.txt"
"#,
        project.canonicalize().expect("a path").display().to_string()
    ));
    hub
}

/// Writes the reviews and the checks of pull request 1, as `gh pr view --json` prints them.
fn say(hub: &Path, reviews: &Value, decision: &str) {
    let check = json!({"__typename": "CheckRun", "name": "build", "status": "COMPLETED", "conclusion": "SUCCESS",
        "workflowName": "CI", "detailsUrl": "https://github.com/ann/app/actions/runs/123/job/456"});
    let report = json!({"isDraft": false, "mergeStateStatus": "CLEAN", "reviewDecision": decision,
        "reviews": reviews, "statusCheckRollup": [check]})
    .to_string();
    // Renamed, so that no `gh` reads a part of it.
    let draft = hub.join("draft");
    std::fs::write(&draft, report.trim_matches(['{', '}'])).expect("a file");
    std::fs::rename(draft, hub.join("said")).expect("renamed");
}

fn review(id: &str, state: &str, body: &str) -> Value {
    json!({"id": id, "author": {"login": "bo"}, "authorAssociation": "MEMBER", "body": body, "state": state,
        "submittedAt": "2026-05-01T11:00:00Z", "commit": {"oid": "HEAD"}})
}

#[test]
fn a_line_is_worked_on_reviewed_merged_and_ticked() {
    let mut env = own_env("todo-to-merge");
    let key = env.provider.fresh_key("answer");
    let plan = format!("- [ ] t012 write the answer {key} #auto-dispatch ~30m\n- [ ] t013 for people\n");
    let hub = hub(&mut env, &plan);
    let write = |text: &str| {
        let command = format!("printf '{text}\\n' > answer.txt");
        Step::tool("bash", json!({"command": command, "description": "write the answer"}))
    };
    let steps = vec![write("42"), Step::text("done"), write("42, because"), Step::text("explained")];
    env.provider.script_key(&key, steps);
    say(&hub, &json!([]), "");
    let task = || env.run(&["task", "show", "t012", "--json"]).json();
    let until = |what: &str, reached: &dyn Fn(&Value) -> bool| {
        eventually(what, HANGS, || {
            env.run(&["pulse"]).expect_code(0);
            reached(&task())
        });
    };
    until("the pull request", &|task| task["pull_request"]["state"] == "ready");
    let claimed = git(&hub.join("remote"), &["show", "main:TODO.md"]);
    assert!(claimed.starts_with("- [ ] t012 ") && claimed.contains(" assignee:"), "{claimed}");
    let first = task()["pull_request"]["head"].clone();
    let objection = review("PRR_1", "CHANGES_REQUESTED", "Say why.");
    say(&hub, &json!([objection]), "CHANGES_REQUESTED");
    until("the second head", &|task| task["pull_request"]["head"].is_string() && task["pull_request"]["head"] != first);
    let asked = format!("{:?}", env.provider.requests(&key).entries[2].messages);
    assert!(asked.contains("Say why."), "the model reads the review: {asked}");
    say(&hub, &json!([objection, review("PRR_2", "APPROVED", "Good.")]), "APPROVED");
    until("the tick", &|_| git(&hub.join("remote"), &["show", "main:TODO.md"]).starts_with("- [x] t012 "));
    let done = task();
    assert_eq!((&done["phase"], &done["receipt"]["verify"][0]["clean"]), (&json!("done"), &json!(true)), "{done:#}");
    assert_eq!(done["pull_request"]["state"], "merged", "{done:#}");
    assert_eq!(git(&hub.join("remote"), &["show", "main:answer.txt"]), "42, because");
    let ticked = git(&hub.join("remote"), &["show", "main:TODO.md"]);
    for field in [" completed:20", " pr:#1"] {
        assert_eq!(ticked.matches(field).count(), 1, "{field} in {ticked}");
    }
    assert!(ticked.ends_with("- [ ] t013 for people"), "{ticked}");
}
