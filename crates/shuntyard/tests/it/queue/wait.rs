//! Reading items and waiting for them.

use crate::{
    mcp::client::Client,
    queue::{Place, place::text},
};
use serde_json::{Value, json};

/// A command that ends when the file is there.
fn waits_for(place: &Place, name: &str) -> String {
    format!("while [ ! -e {} ]; do sleep 0.05; done; {}", place.file(name).display(), place.records())
}

#[test]
fn a_wait_ends_with_the_item_and_goes_on_from_its_cursor() {
    let place = Place::new("wait-cursor");
    let _supervisor = place.supervise();
    let ids = ["first", "second"].map(|name| place.add(&waits_for(&place, name), &[]));
    let mut client = Client::start(&place.env, &[]);
    let early =
        client.call("task_await", &json!({"taskIds": ids, "any": true, "timeout": 1}))["structuredContent"].clone();
    assert_eq!((&early["timedOut"], &early["over"]), (&json!(true), &json!([])), "{early:#}");
    std::fs::write(place.file("first"), "").expect("written");
    let cursor = text(&early["cursor"]);
    let any = client.call("task_await", &json!({"taskIds": ids, "any": true, "cursor": cursor}));
    let any = &any["structuredContent"];
    assert_eq!((&any["over"], &any["open"]), (&json!([ids[0]]), &json!([ids[1]])), "{any:#}");
    std::fs::write(place.file("second"), "").expect("written");
    let all = client.call("task_await", &json!({"taskIds": ids, "cursor": any["cursor"]}));
    assert_eq!(all["structuredContent"]["open"], json!([]), "{all:#}");
    place.expect_each_ran_once();
}

#[test]
fn a_look_shows_an_item_as_it_is_and_does_not_wait() {
    let place = Place::new("wait-peek");
    let id = place.add(&waits_for(&place, "go"), &[]);
    let mut client = Client::start(&place.env, &[]);
    let mut look = || client.call("task_peek", &json!({"taskId": id}))["structuredContent"].clone();
    let queued = look();
    assert_eq!((&queued["status"], &queued["over"]), (&json!("queued"), &json!(false)), "{queued:#}");
    let _supervisor = place.supervise();
    place.wait_for_phase(&id, "running");
    let running = look();
    assert_eq!((&running["status"], &running["over"]), (&json!("running"), &json!(false)), "{running:#}");
    std::fs::write(place.file("go"), "").expect("written");
    place.wait_for_phase(&id, "done");
    let done = look();
    assert_eq!((&done["status"], &done["over"]), (&json!("done"), &json!(true)), "{done:#}");
}

#[test]
fn events_can_be_read_from_any_position_and_miss_nothing() {
    let place = Place::new("wait-events");
    let ids = [0, 1, 2].map(|_| place.add("true", &[]));
    place.settle();
    let after = |position: i64| -> Vec<Value> {
        let read = place.env.run(&["events", "--json", "--after", &position.to_string()]);
        let lines = read.expect_code(0).stdout.lines().map(|line| serde_json::from_str(line).expect("an event"));
        lines.collect()
    };
    let all = after(0);
    for id in &ids {
        let kinds: Vec<String> =
            all.iter().filter(|event| event["subject"] == id.as_str()).map(|event| text(&event["kind"])).collect();
        assert_eq!(kinds, ["task.queued", "task.starting", "task.running", "task.evaluating", "task.done"]);
    }
    let positions: Vec<i64> = all.iter().map(|event| event["id"].as_i64().expect("a position")).collect();
    assert!(positions.is_sorted_by(|before, next| before < next), "{positions:?}");
    for (index, position) in positions.iter().enumerate() {
        assert_eq!(after(*position), all[index + 1..], "after {position}");
    }
}
