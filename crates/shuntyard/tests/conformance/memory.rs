//! What managed servers use, and which had to be ended for it.

use crate::own_env;
use serde_json::json;
use shuntyard_testkit::eventually;
use std::time::Duration;

#[test]
fn a_server_that_has_grown_too_large_is_replaced_and_remembered() {
    let mut env = own_env("memory");
    assert_eq!(env.run(&["respawn-history", "--json"]).json(), json!({"respawns": []}));
    assert_eq!(env.run(&["memory", "--json"]).json()["servers"], json!([]));
    env.dispatch(&["-m", "scripted/alpha", "--via", "opencode", "hi"]).expect_ok();
    let used = env.run(&["memory", "--json"]).json();
    let server = used["servers"][0].clone();
    assert_eq!((&server["use"], &server["over_limit"]), (&json!("idle"), &json!(false)), "{used:#}");
    assert!(server["pid"].as_u64().is_some_and(|pid| pid > 1), "{used:#}");
    assert!(server["resident_bytes"].as_u64().is_some_and(|bytes| bytes > 10 << 20), "{used:#}");
    assert_eq!(server["limit_bytes"], 8192_u64 << 20);
    assert!(env.run(&["memory"]).stdout.contains("8.0 GiB"));
    env.stop_servers();
    assert_eq!(env.run(&["respawn-history", "--json"]).json(), json!({"respawns": []}), "it was only told to end");
    env.set("SHUNTYARD_SERVER_MEMORY_LIMIT_MIB", "1");
    env.set("SHUNTYARD_SERVER_HEALTH_INTERVAL", "1s");
    env.dispatch(&["-m", "scripted/alpha", "--via", "opencode", "hi"]).expect_ok();
    let history = || env.run(&["respawn-history", "--json"]).json()["respawns"].clone();
    eventually("it is ended for its size", Duration::from_secs(40), || history() != json!([]));
    let ended = &history()[0];
    assert_eq!(ended["why"], "it has grown too large");
    assert!(ended["resident_bytes"].as_u64().is_some_and(|bytes| bytes > 1 << 20), "{ended:#}");
    assert!(env.run(&["respawn-history"]).stdout.contains("it has grown too large"));
    env.stop_servers();
}
