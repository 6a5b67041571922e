//! The crontab.

use crate::service::station::{Station, read};
use serde_json::json;
use shuntyard_testkit::environment::finish;
use std::process::{Command, Stdio};

/// A machine without a systemd for this user.
fn station(name: &str) -> Station {
    let station = Station::new(&format!("cron-{name}"));
    station.switch_on("no-bus");
    station
}

#[test]
fn the_rest_of_the_crontab_stays_as_it_is() {
    let station = station("rest");
    let rest = "MAILTO=ann\n\n#  nightly \n0 3 * * *  backup \\%x\t\n";
    station.write_crontab(rest);
    let made = station.json(&["install", "--with", "cron"]);
    assert_eq!((&made["manager"], &made["work"]), (&json!("cron"), &json!("pulse")), "{made:#}");
    assert_eq!(made["outcome"], "installed");
    let installed = station.crontab().expect("a crontab");
    let block = installed.strip_prefix(rest).expect("the rest comes first");
    assert!(block.starts_with("# shuntyard begin\n") && block.ends_with("\n# shuntyard end\n"), "{block}");
    assert_eq!(block.lines().filter(|line| line.starts_with("*/2 * * * * /usr/bin/env ")).count(), 1, "{block}");
    // The report does not contain the other entries.
    assert!(!made.to_string().contains("backup"), "{made:#}");
    assert_eq!(station.changes(), ["crontab FILE"]);

    assert_eq!(station.json(&["install", "--with", "cron"])["outcome"], "unchanged");
    assert!(station.changes().is_empty());
    station.write_crontab(&installed.replace("*/2", "*/9"));
    assert_eq!(station.json(&["install", "--with", "cron"])["outcome"], "updated");
    assert_eq!(station.crontab().as_deref(), Some(installed.as_str()));

    assert_eq!(station.json(&["uninstall", "--dry-run"])["outcome"], "removed");
    assert_eq!(station.crontab().as_deref(), Some(installed.as_str()));
    assert_eq!(station.json(&["uninstall"])["managers"], json!(["cron"]));
    assert_eq!(station.crontab().as_deref(), Some(rest));
}

#[test]
fn a_crontab_with_nothing_else_goes_with_it() {
    let station = station("alone");
    station.run(&["install", "--with", "cron"]).expect_code(0);
    station.changes();
    station.run(&["uninstall"]).expect_code(0);
    assert_eq!((station.changes(), station.crontab()), (vec!["crontab -r".to_owned()], None));
}

#[test]
fn a_crontab_that_cannot_be_read_is_never_written() {
    let station = station("denied");
    station.write_crontab("0 3 * * * backup\n");
    station.switch_on("denied");
    for command in ["install", "uninstall"] {
        let refused = station.run(&[command, "--with", "cron", "--json"]);
        refused.expect_code(4).expect_class("host");
        let message = refused.json()["error"]["message"].to_string();
        assert!(message.contains("`crontab -l` failed with exit 1: You (ann) are not allowed"), "{message}");
    }
    assert!(station.changes().is_empty());
    assert_eq!(station.crontab().as_deref(), Some("0 3 * * * backup\n"));
}

#[test]
fn a_crontab_that_changes_meanwhile_is_left_alone() {
    let station = station("edited");
    station.write_crontab("0 3 * * * backup\n");
    station.run(&["install", "--with", "cron"]).expect_code(0);
    let installed = station.crontab().expect("a crontab");
    station.changes();
    station.switch_on("edited");
    let refused = station.run(&["uninstall", "--with", "cron"]);
    refused.expect_code(4);
    assert!(refused.stderr.contains("changed by somebody else at the same time"), "{}", refused.stderr);
    assert!(station.changes().is_empty());
    assert_eq!(station.crontab(), Some(format!("{installed}0 0 * * * new\n")));
    station.run(&["uninstall", "--with", "cron"]).expect_code(0);
    assert_eq!(station.crontab().as_deref(), Some("0 3 * * * backup\n0 0 * * * new\n"));
}

#[test]
fn what_crontab_refuses_is_shown() {
    let station = station("picky");
    station.write_crontab("0 3 * * * backup\n");
    station.switch_on("picky");
    let refused = station.run(&["install", "--with", "cron"]);
    refused.expect_code(4);
    assert!(refused.stderr.contains("`crontab "), "{}", refused.stderr);
    assert!(refused.stderr.contains("failed with exit 1: \"-\":3: command too long"), "{}", refused.stderr);
    assert_eq!(station.crontab().as_deref(), Some("0 3 * * * backup\n"));
}

#[test]
fn without_systemd_the_system_decides() {
    let station = station("choice");
    let made = station.json(&["install", "--dry-run"]);
    assert_eq!(made["manager"], if cfg!(target_os = "macos") { "launchd" } else { "cron" }, "{made:#}");
}

#[test]
fn the_entry_runs_through_cron_and_a_shell() {
    let mut station = station("odd");
    let directory = station.root.join("it's 100% odd");
    std::fs::create_dir_all(&directory).expect("a directory");
    station.program = directory.join("shuntyard");
    // By a program of its own: a file that this process has open for writing cannot be executed.
    let copied = Command::new("cp").arg(env!("CARGO_BIN_EXE_shuntyard")).arg(&station.program).status();
    assert!(copied.expect("cp runs").success(), "the program has a second place");
    station.set("SHUNTYARD_DATA_DIR", directory.join("data").display().to_string());
    station.run(&["install", "--with", "cron"]).expect_code(0);
    assert_eq!(station.json(&["status"])["services"][0]["last_run"], json!(null));

    let table = station.crontab().expect("a crontab");
    let line = table.lines().find_map(|line| line.strip_prefix("*/2 * * * * ")).expect("an entry");
    // What cron does to percent signs, and what it gives to a shell.
    let command = line.replace("\\%", "%");
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", &command]).env_clear().env("PATH", "/nowhere").current_dir(&station.root);
    let ran =
        finish(shell.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("a shell"));
    ran.expect_code(0);
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("", ""));
    assert_eq!(read(&directory.join("data/service.log")), "there was nothing to do\n");
    let status = station.json(&["status"])["services"][0].clone();
    assert!(status["last_run"].as_str().is_some_and(|at| at.starts_with("20")), "{status:#}");
    assert_eq!((&status["running"], &status["current"]), (&json!(null), &json!(true)), "{status:#}");
}
