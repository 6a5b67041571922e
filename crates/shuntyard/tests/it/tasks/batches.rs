//! Batches: created, paused, run on their own, cancelled.

use super::{SOON, add, phase, supervise, yard};
use serde_json::json;
use shuntyard_testkit::eventually;

#[test]
fn a_batch_is_limited_paused_and_cancelled_together() {
    let env = yard("batch-life");
    let loose = add(&env, &["--command", "true", "--in-place"]);
    let early = add(&env, &["--command", "true", "--in-place"]);
    let dry = env.run(&["batch", "create", "spring", "--tasks", &early, "--dry-run", "--json"]);
    assert_eq!(dry.expect_code(0).json()["would_create"]["name"], "spring");
    assert_eq!(env.run(&["batch", "list", "--json"]).json(), json!({"batches": []}));
    let created = env.run(&["batch", "create", "spring", "--concurrency", "1", "--tasks", &early, "--json"]);
    assert_eq!(created.expect_code(0).json(), json!({"name": "spring", "concurrency": 1, "tasks": [early]}));
    env.run(&["batch", "create", "spring"]).expect_code(2);
    let late = add(&env, &["--command", "true", "--in-place", "--batch", "spring"]);
    env.run(&["batch", "pause", "spring", "--dry-run"]).expect_code(0);
    assert_eq!(env.run(&["batch", "list", "--json"]).json()["batches"][0]["paused"], false);
    assert_eq!(env.run(&["batch", "pause", "spring", "--json"]).json(), json!({"name": "spring", "paused": true}));
    supervise(&env);
    assert_eq!((phase(&env, &loose), phase(&env, &early)), ("done".to_owned(), "queued".to_owned()));
    let status = env.run(&["batch", "status", "spring", "--json"]).json();
    assert_eq!((&status["counts"]["queued"], &status["counts"]["done"]), (&json!(2), &json!(0)));
    assert_eq!(status["held"][0]["why"], "its batch spring is paused");
    assert_eq!((&status["batches"][0]["paused"], status["batches"].as_array().map(Vec::len)), (&json!(true), Some(1)));
    assert_eq!(env.run(&["status", "spring", "--json"]).json()["counts"], status["counts"]);
    assert_eq!(env.run(&["status", "--json"]).json()["counts"]["done"], 1);
    assert!(env.run(&["status"]).stdout.contains("its batch spring is paused"));
    env.run(&["batch", "resume", "spring"]).expect_code(0);
    env.run(&["supervise", "--until-idle", "--batch", "spring"]).expect_code(0);
    assert_eq!((phase(&env, &early), phase(&env, &late)), ("done".to_owned(), "done".to_owned()));
    // Done stays done; what waits is cancelled, and what runs is stopped.
    let running = add(&env, &["--command", "sleep 2718282", "--in-place", "--batch", "spring", "--priority", "1"]);
    let waiting = add(&env, &["--command", "true", "--in-place", "--batch", "spring"]);
    env.run(&["pulse", "--batch", "spring"]).expect_code(0);
    eventually("one is at work", SOON, || phase(&env, &running) == "running");
    assert_eq!(phase(&env, &waiting), "queued", "the batch has room for one");
    let dry = env.run(&["batch", "cancel", "spring", "--dry-run", "--json"]);
    assert_eq!(dry.json(), json!({"name": "spring", "would_cancel": 2}));
    let cancelled = env.run(&["batch", "cancel", "spring", "--json"]);
    assert_eq!(cancelled.expect_code(0).json(), json!({"name": "spring", "cancelled": 1, "stopping": 1}));
    eventually("both are cancelled", SOON, || phase(&env, &running) == "cancelled");
    assert_eq!((phase(&env, &waiting), phase(&env, &early)), ("cancelled".to_owned(), "done".to_owned()));
    let listed = env.run(&["task", "list", "--json", "--batch", "spring", "--phase", "cancelled"]).json();
    assert_eq!(listed["tasks"].as_array().map(Vec::len), Some(2));
}
