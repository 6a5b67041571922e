//! Jobs that come through MCP beside tasks from the command line.

use crate::{
    mcp::client::Client,
    queue::{
        Place,
        place::{PATIENCE, any_alive},
    },
};
use serde_json::{Value, json};
use shuntyard_host::{ProcessIdentity, Signal, tree::descendants};
use shuntyard_scripted::Step;
use shuntyard_testkit::eventually;

fn begin(client: &mut Client, prompt: &str) -> Value {
    let order = json!({"kind": "dispatch", "task": prompt, "model": "scripted/alpha"});
    let started = client.call("task_start", &order);
    assert_eq!(started["isError"], false, "{started:#}");
    started["structuredContent"]["id"].clone()
}

#[test]
fn jobs_and_tasks_are_done_once_beside_each_other() {
    let place = Place::new("jobs-beside");
    let _supervisor = place.supervise();
    let mut client = Client::start(&place.env, &[]);
    let mut jobs = Vec::new();
    let mut tasks = Vec::new();
    for number in 0..3 {
        let answer = format!("answer {number}");
        // A request too many would get no answer.
        let key = place.env.provider.script(&format!("job-{number}"), vec![Step::text(answer.as_str())]);
        jobs.push((begin(&mut client, &key), key, answer));
        tasks.push(place.add(&place.records(), &[]));
    }
    for (id, key, answer) in &jobs {
        let done = client.call("task_await", &json!({"taskId": id}));
        assert_eq!(done["structuredContent"]["text"], answer.as_str(), "{done:#}");
        assert_eq!(place.env.provider.requests(key).entries.len(), 1, "{id} was asked once");
    }
    let both = client.call("task_await", &json!({"taskIds": tasks}));
    assert_eq!(both["structuredContent"]["open"], json!([]), "{both:#}");
    place.expect_each_ran_once();
}

#[test]
fn a_job_whose_processes_are_all_killed_is_done_by_others() {
    let place = Place::new("jobs-killed");
    let mut client = Client::start(&place.env, &[]);
    let key = place.env.provider.script("twice", vec![Step::hang_mid_stream(), Step::text("at last")]);
    let behind = place.env.provider.script("behind", vec![Step::text("behind it")]);
    let first = begin(&mut client, &key);
    place.env.provider.wait_for_requests(&key, 1);
    let second = begin(&mut client, &behind);
    let below: Vec<ProcessIdentity> = descendants(client.process());
    below.iter().for_each(|process| {
        process.signal(Signal::KILL);
    });
    eventually("all of them to be gone", PATIENCE, || !any_alive(&below));
    let done = client.call("task_await", &json!({"taskIds": [first, second]}));
    let views = done["structuredContent"]["tasks"].as_array().cloned().unwrap_or_default();
    let texts: Vec<&Value> = views.iter().map(|view| &view["text"]).collect();
    assert_eq!(texts, ["at last", "behind it"], "{done:#}");
    assert_eq!(place.env.provider.requests(&behind).entries.len(), 1);
}
