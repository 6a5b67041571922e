//! Jobs through the tools, executed by OpenCode with the scripted provider.

use crate::mcp::{
    client::{Client, expect_refusal, text},
    env, own_env,
};
use serde_json::{Value, json};
use shuntyard_scripted::{Gate, Step};
use shuntyard_testkit::TestEnv;

/// Starts a dispatch as a job, and returns its id.
#[track_caller]
fn begin(client: &mut Client, prompt: &str) -> String {
    let started = client.call("task_start", &json!({"kind": "dispatch", "task": prompt, "model": "scripted/alpha"}));
    assert_eq!(started["isError"], false, "{started:#}");
    started["structuredContent"]["id"].as_str().expect("an id").to_owned()
}

#[test]
fn a_dispatch_answers_in_one_call() {
    let mut client = Client::start(env(), &[]);
    let gate = Gate::default();
    let key = env().provider.script("direct", vec![Step::text("forty-two").at(&gate)]);
    let id =
        client.ask_with_progress("dispatch", &json!({"prompt": key, "provider": "scripted", "model": "alpha"}), "p1");
    let counts = [client.next_progress("p1"), client.next_progress("p1")].map(|told| told["progress"].as_f64());
    assert!(counts[0].is_some() && counts[0] < counts[1], "progress grows: {counts:?}");
    gate.open();
    let result = client.result(id);
    assert_eq!(result["isError"], false, "{result:#}");
    let said = text(&result);
    assert!(said.starts_with("--- dispatch response from scripted/alpha ("), "{said}");
    assert!(said.contains(") ---\nforty-two"), "{said}");
    let data = &result["structuredContent"];
    assert_eq!(
        (&data["status"], &data["text"], &data["timedOut"]),
        (&json!("done"), &json!("forty-two"), &json!(false))
    );
}

#[test]
fn what_a_job_costs_is_charged_to_the_tier_that_led_to_its_model() {
    let env = own_env("mcp-tier");
    let table = "[tiers]\nhaiku = [\"scripted/beta\"]\n[task_types]\nsummary = \"haiku\"\n";
    env.write_config(table);
    let mut client = Client::start(&env, &[]);
    let key = env.provider.script("charged", vec![Step::text("short"), Step::text("shorter")]);
    for wanted in [json!({"taskType": "summary"}), json!({"model": "scripted/beta"})] {
        let mut asked = json!({ "prompt": key });
        asked.as_object_mut().expect("an object").extend(wanted.as_object().expect("an object").clone());
        let result = client.call("dispatch", &asked);
        assert_eq!(result["isError"], false, "{result:#}");
    }
    let report = env.run(&["budget", "--json", "report", "--by", "tier"]).expect_code(0).json();
    let rows = report["rows"].as_array().expect("rows").iter();
    let charged: Vec<(&Value, &Value)> = rows.map(|row| (&row["name"], &row["attempts"])).collect();
    assert_eq!(charged.len(), 2, "{report:#}");
    assert!(charged.contains(&(&json!("haiku"), &json!(1))), "{report:#}");
}

#[test]
fn a_dispatch_says_what_was_special_about_it() {
    let mut client = Client::start(env(), &[]);
    let key = env().provider.script("special", vec![Step::structured(json!({"ok": true}))]);
    let schema = json!({"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]});
    let result = client.call(
        "dispatch",
        &json!({"prompt": key, "model": "scripted/alpha", "systemPrompt": "be short", "jsonSchema": schema.to_string(),
            "timeout": "40s", "cleanup": false}),
    );
    let said = text(&result);
    let header = "--- dispatch response from scripted/alpha [custom-system, structured-json, timeout-40s] (";
    assert!(said.starts_with(header), "{said}");
    assert_eq!(result["structuredContent"]["structured"], json!({"ok": true}), "{result:#}");
    let session = result["structuredContent"]["sessionId"].as_str().expect("a session").to_owned();
    assert!(said.contains(&format!("(session {session} is kept: go on with sessionId)")), "{said}");
    let again = env().provider.script("again", vec![Step::text("still here")]);
    let more = json!({"prompt": again, "model": "scripted/alpha", "sessionId": session});
    let result = client.call("dispatch", &more);
    assert_eq!(
        (&result["structuredContent"]["text"], &result["structuredContent"]["sessionId"]),
        (&json!("still here"), &json!(session))
    );
}

#[test]
fn a_failed_dispatch_is_an_error_with_its_class() {
    let mut client = Client::start(env(), &[]);
    let key = env().provider.script("broken", vec![Step::status(401)]);
    let result = client.call("dispatch", &json!({"prompt": key, "model": "scripted/alpha"}));
    assert_eq!(result["isError"], true, "{result:#}");
    assert_eq!(result["structuredContent"]["error"]["class"], "auth_invalid", "{result:#}");
    assert!(text(&result).contains("failed [auth_invalid]") && text(&result).contains("\nnext: "), "{result:#}");
}

#[test]
fn several_models_answer_side_by_side() {
    let mut client = Client::start(env(), &[]);
    let key = env().provider.script("side", vec![Step::text("one"), Step::text("two")]);
    let models = json!([{"provider": "scripted", "model": "alpha"}, "scripted/beta"]);
    let result = client.call("batch_dispatch", &json!({"prompt": key, "models": models}));
    assert_eq!(result["isError"], false, "{result:#}");
    let said = text(&result);
    assert!(said.starts_with("--- responses of 2 models ("), "{said}");
    for part in [
        "--- dispatch response from scripted/alpha [OK] ---",
        "--- dispatch response from scripted/beta [OK] ---",
        "--- 2 ok, 0 errors, 0 timeouts ---",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert_eq!(result["structuredContent"]["answers"].as_array().map(Vec::len), Some(2));
}

#[test]
fn a_job_is_started_awaited_and_peeked_at() {
    let mut client = Client::start(env(), &[]);
    let key = env().provider.script("job", vec![Step::text("it is done")]);
    let id = begin(&mut client, &key);
    let result = client.call("task_await", &json!({"taskId": id}));
    assert_eq!(result["isError"], false, "{result:#}");
    assert!(text(&result).starts_with(&format!("{id} done on scripted/alpha (")), "{}", text(&result));
    assert!(text(&result).ends_with("\nit is done"), "{}", text(&result));
    let peeked = client.call("task_peek", &json!({"taskId": id}));
    assert_eq!(
        (&peeked["structuredContent"]["status"], &peeked["structuredContent"]["over"]),
        (&json!("done"), &json!(true))
    );
    let over = client.call("task_cancel", &json!({"taskId": id}));
    assert!(text(&over).starts_with(&format!("{id} was over before: {id} done")), "{}", text(&over));
    assert_eq!((&over["isError"], &over["structuredContent"]["status"]), (&json!(false), &json!("done")));
    let listed = client.call("task_list", &json!({"query": id}));
    assert!(text(&listed).contains(&format!("| {id} | dispatch | done |")), "{}", text(&listed));
    let output = client.call("task_list", &json!({"view": "output", "taskId": id}));
    assert!(text(&output).contains("it is done"), "{}", text(&output));
}

#[test]
fn a_wait_that_ends_first_is_no_error_and_can_be_taken_up() {
    let mut client = Client::start(env(), &[]);
    let key = env().provider.script("slow", vec![Step::hang_before_first_byte()]);
    let id = begin(&mut client, &key);
    let call = client.ask_with_progress("task_await", &json!({"taskId": id, "timeout": 3}), "p2");
    let result = client.result(call);
    let data = result["structuredContent"].clone();
    assert_eq!((&result["isError"], &data["timedOut"], &data["over"]), (&json!(false), &json!(true), &json!(false)));
    assert_eq!(data["status"], "running", "{result:#}");
    let cursor = data["cursor"].as_str().expect("a cursor").to_owned();
    assert!(text(&result).contains("the work goes on by itself. Wait again with task_await"), "{}", text(&result));
    assert!(text(&result).contains(&cursor), "{}", text(&result));
    let messages: Vec<Value> = client.progress("p2").iter().map(|told| told["message"].clone()).collect();
    let running = |message: &Value| message.as_str().is_some_and(|text| text.starts_with(&format!("{id} running")));
    assert!(messages.iter().any(running), "at the latest after a second: {messages:?}");
    let look = client.call("task_await", &json!({"taskId": id, "timeout": 0, "cursor": cursor}));
    assert_eq!(look["structuredContent"]["timedOut"], true);
    let cancelled = client.call("task_cancel", &json!({"taskId": id}));
    assert!(text(&cancelled).starts_with(&format!("{id} cancelled")), "{cancelled:#}");
    let after = client.call("task_await", &json!({"taskId": id}));
    assert_eq!((&after["structuredContent"]["status"], &after["isError"]), (&json!("cancelled"), &json!(false)));
    expect_refusal(&client.call("task_cancel", &json!({"taskId": "j999999"})), "there is no job or task");
}

#[test]
fn several_jobs_are_awaited_together() {
    let mut client = Client::start(env(), &[]);
    let quick = env().provider.script("quick", vec![Step::text("quick one")]);
    let hangs = env().provider.script("hangs", vec![Step::hang_before_first_byte()]);
    let ids = [begin(&mut client, &quick), begin(&mut client, &hangs)];
    let any = client.call("task_await", &json!({"taskIds": ids, "any": true}));
    let data = &any["structuredContent"];
    assert_eq!(
        (&data["timedOut"], &data["over"], &data["open"]),
        (&json!(false), &json!([ids[0]]), &json!([ids[1]])),
        "{any:#}"
    );
    assert!(text(&any).starts_with("1 of 2 over") && text(&any).contains("quick one"), "{}", text(&any));
    let both = client.call("task_await", &json!({"taskIds": ids, "timeout": 1}));
    assert_eq!(
        (&both["structuredContent"]["timedOut"], &both["structuredContent"]["status"]),
        (&json!(true), &json!("running"))
    );
    client.call("task_cancel", &json!({"taskId": ids[1]}));
    let all = client.call("task_await", &json!({"taskIds": ids}));
    assert_eq!((&all["structuredContent"]["open"], &all["structuredContent"]["status"]), (&json!([]), &json!("over")));
}

#[test]
fn a_killed_server_loses_nothing() {
    let env = own_env("mcp-killed");
    let gate = Gate::default();
    let key = env.provider.script("kept", vec![Step::text("not lost").at(&gate)]);
    let mut client = Client::start(&env, &[]);
    client.ask_with_progress("dispatch", &json!({"prompt": key, "model": "scripted/alpha"}), "p3");
    let told = client.find("progress", |message| message["method"] == "notifications/progress");
    let id = told["params"]["message"].as_str().and_then(|text| text.split(' ').next()).expect("an id").to_owned();
    drop(client);
    let mut again = Client::start(&env, &[]);
    gate.open();
    let result = again.call("task_await", &json!({"taskId": id}));
    assert_eq!(result["structuredContent"]["text"], "not lost", "{result:#}");
}

#[test]
fn a_call_that_is_withdrawn_ends_its_job() {
    let env = own_env("mcp-withdrawn");
    let hangs = |name: &str| env.provider.script(name, vec![Step::hang_before_first_byte()]);
    let mut client = Client::start(&env, &[]);
    let (id, job) = open_dispatch(&mut client, &hangs("withdrawn"), "p4");
    client.notify("notifications/cancelled", &json!({"requestId": id, "reason": "the user pressed escape"}));
    let result = client.call("task_await", &json!({"taskId": job}));
    assert_eq!(result["structuredContent"]["status"], "cancelled", "{result:#}");
    let (id, job) = open_dispatch(&mut client, &hangs("impatient"), "p5");
    client.notify(
        "notifications/cancelled",
        &json!({"requestId": id, "reason": "McpError: MCP error -32001: Request timed out"}),
    );
    let result = client.call("task_await", &json!({"taskId": job, "timeout": 3}));
    assert_eq!(result["structuredContent"]["status"], "running", "an impatient client can still find it: {result:#}");
    client.call("task_cancel", &json!({"taskId": job}));
}

/// A dispatch whose answer is not waited for: the request and the job.
fn open_dispatch(client: &mut Client, prompt: &str, token: &str) -> (i64, String) {
    let id = client.ask_with_progress("dispatch", &json!({"prompt": prompt, "model": "scripted/alpha"}), token);
    let told = client.find("the job at work", |message| {
        let text = message["params"]["message"].as_str().unwrap_or_default();
        message["params"]["progressToken"] == token && text.contains(" running")
    });
    let job = told["params"]["message"].as_str().and_then(|text| text.split(' ').next()).expect("an id");
    (id, job.to_owned())
}

#[test]
fn workers_are_listed_changed_and_stopped() {
    let env = workers_env("mcp-workers");
    let mut client = Client::start(&env, &["--tools", "tasks"]);
    let key = env.provider.script("worker", vec![Step::text("hello from a worker")]);
    let started = client
        .call("task_start", &json!({"kind": "worker", "workerId": "coder", "task": key, "model": "scripted/alpha"}));
    assert_eq!(started["isError"], false, "{started:#}");
    let data = &started["structuredContent"];
    assert_eq!((&data["kind"], &data["model"]), (&json!("worker"), &json!("scripted/alpha")), "{started:#}");
    let worker = data["worker"].as_str().expect("a worker").to_owned();
    let result = client.call("task_await", &json!({"taskId": data["id"]}));
    assert_eq!(result["structuredContent"]["text"], "hello from a worker", "{result:#}");
    let set = json!({"kind": "op", "op": "worker.model.set", "workerId": worker, "model": "scripted/beta"});
    let changed = client.call("task_start", &set);
    assert_eq!(
        (&changed["structuredContent"]["model"], &changed["structuredContent"]["policy"]),
        (&json!("scripted/beta"), &json!("sticky")),
        "{changed:#}"
    );
    assert!(text(&changed).starts_with(&format!("worker {worker} ")), "{}", text(&changed));
    let listed = client.call("task_list", &json!({"view": "workers"}));
    assert!(text(&listed).contains("scripted/beta") && text(&listed).contains("sticky"), "{}", text(&listed));
    let stopped = client.call("task_start", &json!({"kind": "op", "op": "worker.stop", "workerId": worker}));
    assert_eq!(stopped["structuredContent"]["state"], "stopped", "{stopped:#}");
}

/// Profiles with models that are there.
fn workers_env(name: &str) -> TestEnv {
    let env = own_env(name);
    env.write_config("[profiles]\ncoder = \"scripted/alpha\"\n");
    env
}
