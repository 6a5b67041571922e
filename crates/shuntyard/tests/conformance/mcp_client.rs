//! The real OpenCode as the client: a scripted model calls every tool through OpenCode's own connection.

use crate::{PROGRAM, own_env};
use serde_json::{Value, json};
use shuntyard_scripted::Step;
use shuntyard_testkit::{TestEnv, eventually};
use std::{
    io::Write,
    process::{Command, Stdio},
    time::Duration,
};

/// OpenCode gives a tool so long, unless it gets progress, which is sent every second.
const TOOL_TIMEOUT: Duration = Duration::from_secs(10);

/// Our tools are registered as they are by hand; fast work goes to another model than the conversation.
fn yard() -> TestEnv {
    let env = own_env("mcp-opencode");
    let mut config = env.opencode_config();
    config["small_model"] = json!("scripted/beta");
    let patience = u64::try_from(TOOL_TIMEOUT.as_millis()).expect("milliseconds");
    config["mcp"] = json!({"shuntyard": {"type": "local", "command": [PROGRAM, "mcp"], "timeout": patience}});
    env.write_opencode_config(config);
    env.write_config("jobs.progress_every = \"1s\"\n");
    env
}

/// Runs a prompt in OpenCode itself, and returns what its tools answered, in order.
fn run(env: &TestEnv, prompt: &str) -> Vec<(String, Value)> {
    let binary = env.variables().find(|(name, _)| *name == "SHUNTYARD_OPENCODE_BIN").expect("a binary").1;
    let mut command = Command::new(binary);
    command
        .args(["run", "-m", "scripted/alpha", "--format", "json", "--title", "a conversation"])
        .env_clear()
        .envs(env.variables());
    command.env("OPENCODE_CLIENT", "test").current_dir(env.project());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("OpenCode starts");
    child.stdin.take().expect("a pipe").write_all(prompt.as_bytes()).expect("the prompt is taken");
    let output = child.wait_with_output().expect("OpenCode ends");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let lines: Vec<Value> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    assert!(!lines.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    let tools = lines.into_iter().filter(|line| line["type"] == "tool_use");
    tools
        .map(|line| (line["part"]["tool"].as_str().unwrap_or_default().to_owned(), line["part"]["state"].clone()))
        .collect()
}

#[test]
fn a_model_in_opencode_hands_work_to_others_and_changes_their_models() {
    let env = yard();
    let slow = TOOL_TIMEOUT + Duration::from_secs(3);
    let first = env.provider.script("inner", vec![Step::text("found it").delay(slow)]);
    let second = env.provider.script("again", vec![Step::text("found more")]);
    let hangs = env.provider.script("hangs", vec![Step::hang_mid_stream()]);
    let one = env.provider.script("one", vec![Step::text("direct answer")]);
    let many = env.provider.script("many", vec![Step::text("a"), Step::text("b")]);
    let call = |tool: &str, arguments: Value| Step::tool(format!("shuntyard_{tool}"), arguments);
    let worker = |task: &str| json!({"kind": "worker", "workerId": "explorer", "task": task});
    let mut fast = worker(&first);
    fast["model"] = json!("node:fast");
    let outer = env.provider.script(
        "outer",
        vec![
            call("task_start", fast),
            call("task_await", json!({"taskId": "j1", "timeout": 120})),
            call(
                "task_start",
                json!({"kind": "op", "op": "worker.model.set", "workerId": "explorer", "model": "scripted/odd"}),
            ),
            call("task_start", worker(&second)),
            call("task_await", json!({"taskId": "j2"})),
            call("task_start", worker(&hangs)),
            call("task_peek", json!({"taskId": "j3"})),
            call("task_cancel", json!({"taskId": "j3"})),
            call("task_list", json!({"view": "workers"})),
            call("dispatch", json!({"prompt": one, "model": "scripted/beta"})),
            call("batch_dispatch", json!({"prompt": many, "models": ["scripted/alpha", "scripted/beta"]})),
            call("task_await", json!({"taskId": "j77"})),
            Step::text("all done"),
        ],
    );
    let answers = run(&env, &outer);
    let tools: Vec<&str> = answers.iter().map(|(tool, _)| tool.trim_start_matches("shuntyard_")).collect();
    let expected = [
        "task_start",
        "task_await",
        "task_start",
        "task_start",
        "task_await",
        "task_start",
        "task_peek",
        "task_cancel",
        "task_list",
        "dispatch",
        "batch_dispatch",
        "task_await",
    ];
    assert_eq!(tools, expected, "{answers:#?}");
    let said = |index: usize| {
        let state = &answers[index].1;
        state["output"].as_str().or_else(|| state["error"].as_str()).unwrap_or_default().to_owned()
    };
    assert!(said(0).contains("scripted/beta"), "the model at once: {}", said(0));
    // The model thought for longer than OpenCode's own time limit.
    assert!(said(1).contains("found it"), "past the timeout: {}", said(1));
    assert!(said(4).contains("found more"), "{}", said(4));
    assert!(said(7).contains("cancelled"), "{}", said(7));
    assert!(said(8).contains("scripted/odd") && said(8).contains("sticky"), "{}", said(8));
    assert!(said(9).contains("direct answer"), "{}", said(9));
    assert!(said(10).contains("2 ok"), "{}", said(10));
    assert!(said(11).contains("there is no job or task `j77`"), "{}", said(11));
    let models =
        |key: &str| env.provider.requests(key).entries.iter().map(|entry| entry.model.clone()).collect::<Vec<_>>();
    assert_eq!((models(&first), models(&second)), (vec!["beta".to_owned()], vec!["odd".to_owned()]));
    let let_go = || env.provider.requests(&hangs).entries.iter().all(shuntyard_scripted::Entry::client_closed);
    eventually("the hung model to be let go", Duration::from_secs(20), let_go);
}
