//! What the program left under its former name, Switchyard: data, configuration, refs, packs and services.

use crate::{
    own_env, pack,
    service::station::{Station, read, write},
    supervise::{Yard, yard::git_in},
};
use std::{
    fs,
    path::{Path, PathBuf},
};

/// Renames refs and files in a git directory to what they were called.
fn make_former(git_dir: &Path) {
    let git = |args: &[&str]| git_in(git_dir, args);
    for line in git(&["for-each-ref", "--format=%(objectname) %(refname)", "refs/shuntyard/"]).lines() {
        let (at, name) = line.split_once(' ').expect("two words");
        git(&["update-ref", &name.replace("refs/shuntyard/", "refs/switchyard/"), at]);
        git(&["update-ref", "-d", name]);
    }
    rename_all(git_dir);
}

fn rename_all(directory: &Path) {
    for entry in fs::read_dir(directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name").to_str().expect("text");
        if name.contains("shuntyard") {
            fs::rename(&path, path.with_file_name(name.replace("shuntyard", "switchyard"))).expect("renamed");
        }
    }
}

fn entries(directory: &Path) -> Vec<PathBuf> {
    fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}

/// The whole of an installation as the former program left it, with paths in its store that have the former name.
#[test]
fn a_task_begun_under_the_former_name_is_finished() {
    let mut yard = Yard::with("former", "reinforcements = 0\nrises = 0\n").untraced();
    let shares = yard.env.root.join("home/.local/share");
    yard.env.set("SHUNTYARD_DATA_DIR", shares.join("switchyard").display().to_string());
    let go = yard.env.root.join("go");
    let verify = format!("test -e {}", go.display());
    let id = yard.add(&["--command", "date > made", "--verify", &verify, "--deliver", "merge", "work"]);
    yard.env.run(&["supervise", "--until-idle"]).expect_code(0);
    let before = yard.task(&id);
    assert_eq!(before["phase"], "blocked", "{before:#}");
    let first = git_in(Path::new(before["worktree"].as_str().expect("a workspace")), &["rev-parse", "HEAD"]);

    let former = shares.join("switchyard");
    rename_all(&former);
    make_former(&yard.repository().join(".git"));
    for place in entries(&former.join("worktrees")).iter().flat_map(|below| entries(below)) {
        for git_dir in [place.join(".git"), place.join("archive")].iter().filter(|git_dir| git_dir.is_dir()) {
            make_former(git_dir);
        }
    }
    let configured = yard.env.root.join("home/.config");
    fs::rename(configured.join("shuntyard"), configured.join("switchyard")).expect("renamed");

    // The usual places, as a user has them.
    yard.env.set("SHUNTYARD_DATA_DIR", "");
    let listed: Vec<_> = std::thread::scope(|scope| {
        let list = || yard.env.run(&["task", "list", "--json"]);
        let at_once: Vec<_> = (0..4).map(|_| scope.spawn(list)).collect();
        at_once.into_iter().map(|listing| listing.join().expect("a listing")).collect()
    });
    for listing in &listed {
        assert_eq!(listing.expect_code(0).json()["tasks"][0]["id"], id.as_str());
    }
    let told: String = listed.iter().map(|listing| listing.stderr.as_str()).collect();
    assert!(told.contains("named Shuntyard now") && !told.contains("warning"), "{told}");
    assert_eq!(yard.env.run(&["task", "list"]).expect_code(0).stderr, "", "it is said once");
    assert_eq!(yard.git(&["for-each-ref", "refs/switchyard/"]), "");

    fs::write(&go, "").expect("written");
    yard.env.run(&["task", "retry", &id]).expect_code(0);
    yard.env.run(&["supervise", "--until-idle"]).expect_code(0);
    let task = yard.task(&id);
    assert_eq!(task["phase"], "done", "{task:#}");
    assert_ne!(yard.git(&["for-each-ref", "--contains", &first]), "", "the earlier work is kept");
    assert_eq!(yard.git(&["ls-tree", "--name-only", "main"]), "README\nmade");
}

#[test]
fn variables_and_the_repositorys_settings_of_the_former_name_count_and_are_named() {
    let env = own_env("former-settings");
    fs::create_dir_all(env.project().join(".switchyard")).expect("a directory");
    fs::write(env.project().join(".switchyard/config.toml"), "[dispatch]\nagent_steps = 33\n").expect("written");
    let shown = env.run_with(&[("SWITCHYARD_SUPERVISE_MOST", "7")], &["config", "show", "--json"]);
    shown.expect_code(0);
    assert!(shown.stderr.contains("SWITCHYARD_SUPERVISE_MOST is the former name of SHUNTYARD_SUPERVISE_MOST"));
    assert!(shown.stderr.contains("rename it to .shuntyard"), "{}", shown.stderr);
    let settings = shown.json()["settings"].as_array().expect("settings").clone();
    for (key, value) in [("dispatch.agent_steps", 33), ("supervise.most", 7)] {
        let setting = settings.iter().find(|setting| setting["key"] == key).expect("the setting");
        assert_eq!(setting["value"], value, "{key}");
    }
}

#[test]
fn a_pack_of_the_former_name_is_replaced_and_can_be_taken_away() {
    let mut env = own_env("former-pack");
    let shares = env.root.join("home/.local/share");
    env.set("SHUNTYARD_DATA_DIR", shares.join("switchyard").display().to_string());
    let target = pack::target(&env);
    fs::create_dir_all(target.join("agents")).expect("a directory");
    let config = "{\n  // mine\n  \"model\": \"p/m\"\n}\n";
    fs::write(target.join("opencode.jsonc"), config).expect("written");
    fs::write(target.join("agents/research.md"), "my own\n").expect("written");
    env.run(&["pack", "install", "--mcp", "--force"]).expect_code(0);
    rename_all(&target);
    rename_all(&shares.join("switchyard"));
    let path = target.join("opencode.jsonc");
    let former = fs::read_to_string(&path).expect("readable").replace("\"shuntyard\": {", "\"switchyard\": {");
    assert!(former.contains("switchyard"), "{former}");
    fs::write(&path, &former).expect("written");

    env.set("SHUNTYARD_DATA_DIR", "");
    env.run(&["pack", "install", "--mcp", "--force"]).expect_code(0);
    let text = fs::read_to_string(&path).expect("readable");
    assert!(text.contains("\"shuntyard\": {") && !text.contains("\"switchyard\": {"), "{text}");
    assert!(target.join(".shuntyard-pack.json").exists() && !target.join(".switchyard-pack.json").exists());
    env.run(&["pack", "uninstall"]).expect_code(0);
    assert_eq!(fs::read_to_string(&path).expect("readable"), config);
    assert_eq!(fs::read_to_string(target.join("agents/research.md")).expect("readable"), "my own\n");
}

#[test]
fn a_service_of_the_former_name_is_replaced() {
    let station = Station::new("former-systemd");
    station.run(&["install"]).expect_code(0);
    let former = station.unit("switchyard.service");
    let text = read(&station.unit("shuntyard.service")).replace("shuntyard", "switchyard");
    fs::remove_file(station.unit("shuntyard.service")).expect("removed");
    write(&former, &text);
    ["enabled", "active"].iter().for_each(|state| station.switch_on(&format!("{state}-switchyard.service")));
    station.changes();
    station.run(&["install"]).expect_code(0);
    assert!(!former.exists() && station.unit("shuntyard.service").exists());
    let changes = station.changes();
    assert!(changes.contains(&"systemctl --user disable --now switchyard.service".to_owned()), "{changes:?}");

    let station = Station::new("former-cron");
    station.switch_on("no-bus");
    station.write_crontab("0 3 * * *  backup\n");
    station.run(&["install", "--with", "cron"]).expect_code(0);
    let former = station.crontab().expect("a crontab").replace("shuntyard", "switchyard");
    station.write_crontab(&former);
    station.run(&["install", "--with", "cron"]).expect_code(0);
    let now = station.crontab().expect("a crontab");
    assert!(now.starts_with("0 3 * * *  backup\n# shuntyard begin\n") && !now.contains("switchyard"), "{now}");
}
