//! Property lists of launchd.

use crate::service::station::{Station, read};
use serde_json::json;
use shuntyard_host::service::launchd::domain;

#[test]
fn a_job_is_loaded_once_exchanged_and_removed() {
    let station = Station::new("launchd");
    let with = ["install", "--with", "launchd"];
    let list = station.home("Library/LaunchAgents/shuntyard.supervisor.plist");
    let (target, path) = (format!("{}/shuntyard.supervisor", domain()), list.display().to_string());
    let bootstrap = format!("launchctl bootstrap {} {path}", domain());
    let enable = format!("launchctl enable {target}");
    assert_eq!(station.json(&with)["outcome"], "installed");
    assert_eq!(station.changes(), [enable.clone(), bootstrap.clone()]);
    assert!(read(&list).contains("<key>KeepAlive</key>"));
    assert_eq!(station.json(&with)["outcome"], "unchanged");
    assert!(station.changes().is_empty());

    // The old job is still going when the new one comes.
    assert_eq!(station.json(&[&with, ["--timer"].as_slice()].concat())["outcome"], "updated");
    let bootout = format!("launchctl bootout {target}");
    assert_eq!(station.changes(), [bootout.clone(), enable, bootstrap.clone(), bootstrap]);
    assert!(read(&list).contains("<integer>120</integer>"));
    assert_eq!(read(&station.state("loaded")), read(&list));

    let status = station.json(&["status"])["services"].clone();
    let expected = json!([{
        "manager": "launchd", "work": "pulse", "name": "shuntyard.supervisor", "path": path, "current": true,
        "running": true, "state": "loaded, running", "pid": 512, "last_run": null, "last_result": "exit 1",
        "next_run": null,
    }]);
    assert_eq!(status, expected, "{status:#}");

    assert_eq!(station.json(&["uninstall"])["managers"], json!(["launchd"]));
    assert_eq!(station.changes(), [bootout]);
    assert!(!list.exists() && !station.state("loaded").exists());
}

#[test]
fn a_system_that_is_not_there_changes_nothing() {
    let station = Station::new("launchd-missing").without_tool("launchctl");
    let refused = station.run(&["install", "--with", "launchd", "--json"]);
    refused.expect_code(4).expect_class("host");
    let message = refused.json()["error"]["message"].to_string();
    assert!(message.contains("`launchctl print ") && message.contains("no such program in PATH"), "{message}");
    assert!(!station.home("Library").exists());
}
