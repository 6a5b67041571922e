//! What install does not do without a flag: a second supervisor, and any change to files of others.

use crate::service::station::{Station, read, write};
use serde_json::json;

#[track_caller]
fn refused(station: &Station, args: &[&str], word: &str) {
    let refused = station.run(&[args, &["--json"]].concat());
    refused.expect_code(3).expect_class("refused");
    let message = refused.json()["error"]["message"].as_str().unwrap_or_default().to_owned();
    assert!(message.contains(word), "{message}");
    assert!(station.changes().is_empty());
}

#[test]
fn an_entry_by_hand_is_pointed_out() {
    let station = Station::new("by-hand");
    let table = "*/5 * * * * ACME_KEY=hunter2hunter2 /opt/shuntyard pulse --batch a\n";
    station.write_crontab(table);
    for system in ["cron", "systemd", "launchd"] {
        let line = "the crontab has `*/5 * * * * ACME_KEY=… /opt/shuntyard pulse --batch a`";
        refused(&station, &["install", "--with", system], line);
    }
    let status = station.json(&["status"]);
    assert_eq!(status["services"], json!([]));
    assert_eq!(status["by_hand"][0]["place"], "the crontab", "{status:#}");
    assert!(!status.to_string().contains("hunter2"), "{status:#}");

    let forced = station.json(&["install", "--with", "cron", "--force"]);
    assert!(forced["warnings"].to_string().contains("both will supervise"), "{forced:#}");
    assert!(station.crontab().expect("a crontab").starts_with(table));
    station.run(&["uninstall"]).expect_code(0);
    assert_eq!(station.crontab().as_deref(), Some(table));
}

#[test]
fn units_and_jobs_by_hand_are_pointed_out() {
    let station = Station::new("by-hand-files");
    let unit = station.unit("night.service");
    write(&unit, "[Service]\nExecStart=/opt/shuntyard supervise\n");
    refused(&station, &["install"], &format!("{} has `/opt/shuntyard supervise`", unit.display()));
    std::fs::remove_file(&unit).expect("a file");
    let list = station.home("Library/LaunchAgents/night.plist");
    write(&list, "<array><string>/opt/shuntyard</string><string>pulse</string></array>");
    refused(&station, &["install"], "night.plist has");
}

#[test]
fn the_same_is_not_installed_twice_with_two_systems() {
    let station = Station::new("twice");
    station.run(&["install", "--with", "cron"]).expect_code(0);
    station.changes();
    refused(&station, &["install"], "it is installed with cron");
    let forced = station.json(&["install", "--force"]);
    assert_eq!((&forced["manager"], &forced["outcome"]), (&json!("systemd"), &json!("installed")), "{forced:#}");
    station.changes();
    refused(&station, &["install", "--with", "launchd"], "it is installed with systemd");
    assert_eq!(station.json(&["uninstall"])["managers"], json!(["systemd", "cron"]));
    assert_eq!(station.crontab(), None);
}

#[test]
fn files_of_others_are_not_replaced_or_removed() {
    let station = Station::new("foreign");
    let unit = station.unit("shuntyard.service");
    let text = "[Service]\nExecStart=/bin/true\n";
    write(&unit, text);
    for arguments in [["install"].as_slice(), &["install", "--force"]] {
        refused(&station, arguments, "`shuntyard service install` did not make it");
    }
    assert_eq!(station.json(&["uninstall"])["outcome"], "absent");
    assert_eq!(read(&unit), text);
}

#[test]
fn broken_markers_are_left_to_their_owner() {
    let station = Station::new("broken");
    let table = "# shuntyard begin\n0 3 * * * backup\n";
    station.write_crontab(table);
    refused(&station, &["install", "--with", "cron"], "line 1 is a marker");
    refused(&station, &["uninstall"], "line 1 is a marker");
    let status = station.json(&["status"]);
    assert!(status["warnings"].to_string().contains("line 1 is a marker"), "{status:#}");
    assert_eq!(station.crontab().as_deref(), Some(table));
}

#[test]
fn what_systemd_refuses_is_shown_and_done_later() {
    let station = Station::new("masked");
    station.switch_on("no-bus");
    let lost = station.run(&["install", "--with", "systemd"]);
    lost.expect_code(4);
    let words = "`systemctl --user show --property=Version` failed with exit 1: Failed to connect to bus";
    assert!(lost.stderr.contains(words), "{}", lost.stderr);
    assert!(!station.unit("shuntyard.service").exists());
    station.switch_off("no-bus");

    station.switch_on("masked");
    let masked = station.run(&["install"]);
    masked.expect_code(4);
    let words = "`systemctl --user enable --now shuntyard.service` failed with exit 1: Failed to enable unit";
    assert!(masked.stderr.contains(words), "{}", masked.stderr);
    station.switch_off("masked");
    station.changes();
    assert_eq!(station.json(&["install"])["outcome"], "updated");
    assert_eq!(station.changes(), ["systemctl --user enable --now shuntyard.service"]);
}

#[test]
fn a_machine_without_any_of_them_says_so() {
    let station = Station::new("none").without_tool("systemctl").without_tool("crontab").without_tool("launchctl");
    station.run(&["install", "--json"]).expect_code(4).expect_class("host");
    assert!(!station.home("Library").exists() && !station.home(".config").exists());
    assert_eq!(station.json(&["status"])["services"], json!([]));
    assert_eq!(station.json(&["uninstall"])["outcome"], "absent");
}

#[test]
fn a_broken_configuration_keeps_nobody_from_removing() {
    let station = Station::new("configuration");
    station.run(&["install"]).expect_code(0);
    write(&station.home(".config/shuntyard/config.toml"), "nonsense = 1\n");
    station.run(&["install", "--json"]).expect_code(2).expect_class("configuration");
    station.run(&["status"]).expect_code(0);
    station.run(&["uninstall"]).expect_code(0);
    assert!(!station.unit("shuntyard.service").exists());
}
