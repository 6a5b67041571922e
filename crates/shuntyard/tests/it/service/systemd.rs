//! Units of systemd.

use crate::service::station::{Station, read, write};
use serde_json::json;

const UNIT: &str = "shuntyard.service";

#[test]
fn a_supervisor_is_installed_once_updated_and_removed() {
    let mut station = Station::new("systemd");
    let made = station.json(&["install"]);
    assert_eq!((&made["manager"], &made["work"]), (&json!("systemd"), &json!("supervise")), "{made:#}");
    assert_eq!((&made["outcome"], &made["instance"]), (&json!("installed"), &json!(null)), "{made:#}");
    let enable = "systemctl --user enable --now shuntyard.service";
    assert_eq!(station.changes(), ["systemctl --user daemon-reload", enable]);
    let text = read(&station.unit(UNIT));
    assert!(text.contains(&format!("ExecStart=\"{}\" supervise\n", station.program.display())), "{text}");
    assert!(text.contains(&format!("Environment=\"PATH={}\"\n", station.root.join("bin").display())), "{text}");

    let again = station.json(&["install"]);
    assert_eq!((&again["outcome"], &again["steps"]), (&json!("unchanged"), &json!([])), "{again:#}");
    assert!(station.changes().is_empty());
    let said = station.run(&["install"]);
    assert_eq!(said.stdout, "`shuntyard supervise` with systemd is installed already, and is left as it is\n");

    // The service was stopped: the file is right, and it is started again.
    station.switch_off("active-shuntyard.service");
    assert_eq!(station.json(&["install"])["outcome"], "updated");
    assert_eq!(station.changes(), [enable]);

    station.set("XDG_STATE_HOME", "/somewhere else");
    assert_eq!(station.json(&["install"])["outcome"], "updated");
    let restart = "systemctl --user restart shuntyard.service";
    let expected = ["systemctl --user daemon-reload", "systemctl --user enable shuntyard.service", restart];
    assert_eq!(station.changes(), expected);
    assert!(read(&station.unit(UNIT)).contains("Environment=\"XDG_STATE_HOME=/somewhere else\"\n"));

    let removed = station.json(&["uninstall"]);
    assert_eq!((&removed["outcome"], &removed["managers"]), (&json!("removed"), &json!(["systemd"])), "{removed:#}");
    let disable = "systemctl --user disable --now shuntyard.service";
    assert_eq!(station.changes(), [disable, "systemctl --user daemon-reload"]);
    assert!(!station.unit(UNIT).exists());
    assert_eq!(station.json(&["uninstall"])["outcome"], "absent");
    assert!(station.changes().is_empty());
}

#[test]
fn a_timer_takes_the_place_of_a_supervisor() {
    let station = Station::new("timer");
    station.run(&["install"]).expect_code(0);
    station.changes();
    let made = station.json(&["install", "--timer"]);
    assert_eq!((&made["work"], &made["outcome"]), (&json!("pulse"), &json!("updated")), "{made:#}");
    let changes = station.changes();
    assert_eq!(changes[0], "systemctl --user disable --now shuntyard.service");
    assert!(!station.unit(UNIT).exists());
    assert!(read(&station.unit("shuntyard-pulse.timer")).contains("OnCalendar=*:0/2\n"));
    assert!(read(&station.unit("shuntyard-pulse.service")).contains(" pulse\n"));
    assert!(station.state("active-shuntyard-pulse.timer").exists());
    assert_eq!(station.json(&["install", "--timer"])["outcome"], "unchanged");
    station.run(&["uninstall"]).expect_code(0);
    assert_eq!(std::fs::read_dir(station.unit("")).expect("the directory").count(), 0);
}

#[test]
fn a_dry_run_shows_everything_and_does_nothing() {
    let station = Station::new("dry");
    let shown = station.run(&["install", "--dry-run"]);
    shown.expect_code(0);
    let path = station.unit(UNIT).display().to_string();
    assert!(shown.stdout.starts_with(&format!("would write {path}\n    # made by `shuntyard")), "{}", shown.stdout);
    let end = "would run systemctl --user daemon-reload\n\
               would run systemctl --user enable --now shuntyard.service\n\
               would install `shuntyard supervise` with systemd\n";
    assert!(shown.stdout.ends_with(end), "{}", shown.stdout);
    let steps = station.json(&["install", "--dry-run"])["steps"].clone();
    assert_eq!((&steps[0]["do"], &steps[0]["path"]), (&json!("write"), &json!(path)), "{steps:#}");
    assert_eq!(steps[1], json!({"do": "run", "command": ["systemctl", "--user", "daemon-reload"]}));
    assert!(station.changes().is_empty());
    assert!(!station.home(".config").exists());

    station.run(&["install"]).expect_code(0);
    station.changes();
    let shown = station.run(&["uninstall", "--dry-run"]);
    assert!(shown.stdout.contains(&format!("would remove {path}\n")), "{}", shown.stdout);
    assert!(station.changes().is_empty() && station.unit(UNIT).exists());
}

#[test]
fn secrets_stay_outside() {
    let mut station = Station::new("secrets");
    station.set("ACME_API_KEY", "hunter2hunter2");
    station.set("SHUNTYARD_OPENCODE_PASSWORD", "hunter3hunter3");
    station.set("SHUNTYARD_DISPATCH_AGENT_STEPS", "7");
    for system in ["systemd", "cron", "launchd"] {
        let made = station.run(&["install", "--json", "--force", "--with", system]);
        made.expect_code(0);
        let warnings = made.json()["warnings"].to_string();
        assert!(warnings.contains("ACME_API_KEY, SHUNTYARD_OPENCODE_PASSWORD, because secrets"), "{warnings}");
        assert!(warnings.contains("does not get SHUNTYARD_DISPATCH_AGENT_STEPS;"), "{warnings}");
        assert!(!made.stdout.contains("hunter") && !made.stdout.contains("ACME_API_KEY="), "{}", made.stdout);
    }
    let list = station.home("Library/LaunchAgents/shuntyard.supervisor.plist");
    let texts = [read(&station.unit(UNIT)), station.crontab().expect("a crontab"), read(&list)];
    for text in texts {
        assert!(!text.contains("hunter") && !text.contains("ACME") && !text.contains("AGENT_STEPS"), "{text}");
    }
}

#[test]
fn status_tells_what_systemd_tells() {
    let station = Station::new("status");
    let nothing = station.run(&["status"]);
    assert_eq!(nothing.stdout, "nothing is installed; `shuntyard service install` does it\n");
    station.run(&["install", "--timer"]).expect_code(0);
    let timer = "ActiveState=active\nSubState=waiting\nUnitFileState=enabled\n\
                 NextElapseUSecRealtime=Sun 2026-02-01 14:32:00 UTC\n";
    let service = "MainPID=0\nResult=exit-code\nExecMainStatus=4\n\
                   ExecMainStartTimestamp=Sun 2026-02-01 14:30:00 UTC\n";
    write(&station.state("show-shuntyard-pulse.timer"), timer);
    write(&station.state("show-shuntyard-pulse.service"), service);
    let status = station.json(&["status"]);
    let expected = json!([{
        "manager": "systemd", "work": "pulse", "name": "shuntyard-pulse.timer", "current": true, "running": true,
        "path": station.unit("shuntyard-pulse.service"), "state": "active (waiting), enabled", "pid": null,
        "last_run": "2026-02-01T14:30:00Z", "last_result": "exit-code (4)", "next_run": "2026-02-01T14:32:00Z",
    }]);
    assert_eq!(status["services"], expected, "{status:#}");

    let old = read(&station.unit("shuntyard-pulse.timer"));
    write(&station.unit("shuntyard-pulse.timer"), &old.replace("5s", "9s"));
    station.switch_on("no-bus");
    let status = station.json(&["status"])["services"][0].clone();
    assert_eq!((&status["current"], &status["running"]), (&json!(false), &json!(null)), "{status:#}");
    assert!(status["state"].as_str().is_some_and(|state| state.contains("No medium found")), "{status:#}");
}

#[test]
fn instances_do_not_meet() {
    let mut station = Station::new("instances");
    station.run(&["install"]).expect_code(0);
    let usual = read(&station.unit(UNIT));
    let data = station.root.join("Second Yard");
    station.set("SHUNTYARD_DATA_DIR", data.display().to_string());
    let made = station.json(&["install"]);
    let suffix = made["instance"].as_str().expect("a suffix").to_owned();
    assert!(suffix.starts_with("second-yard-"), "{suffix}");
    let second = station.unit(&format!("shuntyard-{suffix}.service"));
    assert!(read(&second).contains(&format!("Environment=\"SHUNTYARD_DATA_DIR={}\"\n", data.display())));
    assert_eq!(station.json(&["status"])["services"].as_array().map(Vec::len), Some(1));
    station.run(&["uninstall"]).expect_code(0);
    assert!(!second.exists());
    assert_eq!(read(&station.unit(UNIT)), usual);
}
