//! Specs on the command line: their files, and their work, which OpenCode does with scripted models.

mod artifacts;
mod branches;
mod conflict;
mod interrupted;
mod pack;
mod request;
mod spending;
mod testing;
mod together;

use crate::own_env;
use serde_json::{Value, json};
use shuntyard_scripted::Step;
use shuntyard_testkit::TestEnv;
use std::{path::Path, process::Command};

const TASK: &str = ".ai/tasks/001-export";
const RUN: [&str; 5] = ["spec", "run", "1", "--model", "scripted/alpha"];

/// Short enough for a test, long enough for a busy machine.
const SETTINGS: &str = r#"
[supervise]
adaptive = false
start_timeout = "20s"
trouble_rests = ["1s"]
rests = ["500ms"]
breaker_failures = 1000
look_every = "1s"
disk_reserve_mib = 1
"#;

/// An environment whose project has a first commit on `main`.
fn ground(name: &str) -> TestEnv {
    let env = own_env(name);
    env.write_config(SETTINGS);
    let project = env.project();
    git(&project, &["symbolic-ref", "HEAD", "refs/heads/main"]);
    put(&env, "shared.txt", "base\n");
    commit(&env);
    env
}

fn git(directory: &Path, args: &[&str]) -> String {
    // Git has no configured identity: what is merged needs a name all the same.
    let who = ["-c", "user.name=Ann", "-c", "user.email=ann@example.org"];
    let output = Command::new("git").args(who).arg("-C").arg(directory).args(args).output().expect("git runs");
    assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

fn put(env: &TestEnv, path: &str, text: &str) {
    let path = env.project().join(path);
    std::fs::create_dir_all(path.parent().expect("a directory")).expect("made");
    std::fs::write(path, text).expect("written");
}

fn commit(env: &TestEnv) {
    git(&env.project(), &["add", "-A"]);
    git(&env.project(), &["commit", "-qm", "plan"]);
}

fn write(path: &str, content: &str) -> Step {
    Step::tool("write", json!({"filePath": path, "content": content}))
}

fn bash(command: &str) -> Step {
    Step::tool("bash", json!({"command": command, "description": "work"}))
}

/// An implementer that does something and reports that it is done.
fn implements(directory: &str, work: Step) -> Vec<Step> {
    let report = write(&format!("{directory}/implementation-report.md"), "# Work\n\n## Outcome\n\ndone\n");
    vec![work, report, Step::text("I am done.")]
}

fn validates(directory: &str, verdict: &str) -> Vec<Step> {
    let report = format!("# Validation\n\nVerdict: {verdict}\n\n## Findings\n\n- the {verdict} of it\n");
    vec![write(&format!("{directory}/validation-report.md"), &report), Step::text("I have judged.")]
}

/// An implementer and a validator that agrees.
fn carried_out(directory: &str, work: Step) -> Vec<Step> {
    [implements(directory, work), validates(directory, "pass")].concat()
}

fn spec_text(key: &str, execution: &[&str], test: &str) -> String {
    let execution: String = execution.iter().map(|agent| format!("- {agent}\n")).collect();
    format!(
        "# Export {key}\n\n## Source Artifacts\n\nNone\n\n## Scope\n\nA file.\n\n## Execution\n\n{execution}\n\
         ## Non-Goals\n\nNone\n\n## Testable Acceptance Criteria\n\n- It is there.\n\n### Test File Paths\n\n\
         - `{test}`\n\n## Inspectable Acceptance Criteria\n\nNone\n\n## Relevant Files\n\nNone\n\n\
         ## Validation Plan\n\nLook.\n\n## Open Questions\n\nNone\n"
    )
}

/// One spec whose implementer and validator take these steps; returns its key.
fn plan_one(env: &TestEnv, steps: Vec<Step>) -> String {
    let key = env.provider.script("spec", steps);
    put(env, &format!("{TASK}/task-spec.md"), &spec_text(&key, &["implementer"], "tests/export.sh"));
    commit(env);
    key
}

/// The table of two units that are marked to run at the same time, and their directories.
fn plan_two(env: &TestEnv) -> [String; 2] {
    put(
        env,
        &format!("{TASK}/task-spec.md"),
        "# Export\n\n## Source Artifacts\n\nNone\n\n## Scope\n\nTwo.\n\n## Non-Goals\n\nNone\n\n## Open Questions\n\n\
         None\n\n## Units\n\n| Unit | Files | Depends On | Parallel |\n| --- | --- | --- | --- |\n\
         | one | one.txt | None | yes |\n| two | two.txt | None | yes |\n",
    );
    [format!("{TASK}/01-one"), format!("{TASK}/02-two")]
}

/// Two units whose implementers do these; returns their keys.
fn plan_units(env: &TestEnv, works: [Step; 2]) -> [String; 2] {
    let directories = plan_two(env);
    let mut keys = Vec::new();
    for (directory, work) in directories.iter().zip(works) {
        let key = env.provider.script("unit", carried_out(directory, work));
        put(env, &format!("{directory}/task-spec.md"), &spec_text(&key, &["implementer"], "tests/export.sh"));
        keys.push(key);
    }
    commit(env);
    [keys[0].clone(), keys[1].clone()]
}

fn run(env: &TestEnv, code: i32, more: &[&str]) -> Value {
    env.run(&[&RUN[..], &["--json"], more].concat()).expect_code(code).json()
}

fn task(env: &TestEnv, id: &str) -> Value {
    env.run(&["task", "show", id, "--json"]).expect_code(0).json()
}

fn text<'v>(value: &'v Value, field: &str) -> &'v str {
    value[field].as_str().unwrap_or_default()
}

/// Each step as its task and its outcome.
fn outcomes(report: &Value) -> Vec<String> {
    let units = report["units"].as_array().expect("units").iter();
    let roles = units.flat_map(|unit| unit["roles"].as_array().expect("roles"));
    roles.map(|role| format!("{} {}", text(role, "task"), text(role, "outcome"))).collect()
}

/// The branches of tasks that are there.
fn branches(env: &TestEnv) -> Vec<String> {
    let listed = git(&env.project(), &["for-each-ref", "--format=%(refname:short)", "refs/heads/shuntyard"]);
    listed.lines().map(str::to_owned).collect()
}
