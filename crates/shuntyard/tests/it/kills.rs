//! Servers and dispatches that are killed, interrupted or given another configuration: nothing is left behind, and the
//! next command works.

use crate::own_env;
use serde_json::Value;
use shuntyard_core::Nano;
use shuntyard_scripted::{Ending, Step};
use shuntyard_store::{AttemptRecord, RunStatus, Store as _, sqlite::SqliteStore};
use shuntyard_testkit::{TestEnv, environment::finish, eventually};
use std::{
    process::Command,
    sync::{Mutex, MutexGuard, OnceLock, PoisonError},
    time::Duration,
};

pub const SOON: Duration = Duration::from_secs(20);

pub fn pids(env: &TestEnv) -> Vec<u32> {
    // Every process of a server inherits the environment's own home directory.
    let home = format!("HOME={}", env.root.join("home").display());
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").expect("/proc").flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else { continue };
        let environment = std::fs::read(entry.path().join("environ")).unwrap_or_default();
        let zombie = std::fs::read_to_string(entry.path().join("stat")).is_ok_and(|stat| stat.contains(") Z "));
        if !zombie && environment.split(|byte| *byte == 0).any(|variable| variable == home.as_bytes()) {
            found.push(pid);
        }
    }
    found
}

pub fn commands(env: &TestEnv, word: &str) -> Vec<u32> {
    let has = |pid: &u32| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        line.split(|byte| *byte == 0).any(|argument| argument == word.as_bytes())
    };
    pids(env).into_iter().filter(has).collect()
}

pub fn kill(signal: &str, pid: u32) {
    assert!(Command::new("kill").args([signal, &pid.to_string()]).status().expect("kill").success());
}

/// What recovery has closed, as the store has it.
pub fn abandoned_attempts(env: &TestEnv) -> Vec<AttemptRecord> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let store = SqliteStore::open_existing(&env.data_dir().join("shuntyard.db")).await.expect("the store");
        let dispatches = store.recent_dispatches(50).await.expect("dispatches");
        let attempts = dispatches.into_iter().flat_map(|dispatch| dispatch.attempts);
        attempts.filter(|attempt| attempt.status == RunStatus::Abandoned).collect()
    })
}

pub fn one_server(env: &TestEnv) -> Value {
    let servers = env.servers();
    assert_eq!(servers.len(), 1, "{servers:#?}");
    servers[0].clone()
}

/// The environment of the tests that leave their server as it was, for one of them at a time: a start of OpenCode costs
/// more than all that they do with it.
fn shared_server() -> (&'static TestEnv, MutexGuard<'static, ()>) {
    static ENV: OnceLock<TestEnv> = OnceLock::new();
    static ONE: Mutex<()> = Mutex::new(());
    let one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    (ENV.get_or_init(|| own_env("left-running")), one)
}

#[test]
fn a_projects_configuration_is_read_again_when_it_changes() {
    let env = own_env("project-config");
    let file = env.project().join("opencode.json");
    let with = |model: &str| {
        let config = env.opencode_config();
        let alpha = config["provider"]["scripted"]["models"]["alpha"].clone();
        serde_json::json!({"provider": {"scripted": {"models": {model: alpha}}}}).to_string()
    };
    std::fs::write(&file, with("first")).expect("written");
    env.dispatch(&["-m", "scripted/first", "hi"]).expect_ok();
    std::fs::write(&file, with("second")).expect("written");
    env.dispatch(&["-m", "scripted/second", "hi"]).expect_ok();
    one_server(&env);
    env.stop_servers();
}

#[test]
fn a_project_configuration_that_cannot_be_read_is_named_never_quoted_and_read_again_when_mended() {
    let env = own_env("broken-config");
    let file = env.project().join(".opencode/opencode.jsonc");
    std::fs::create_dir_all(file.parent().expect("a directory")).expect("a directory");
    let secret = "plain-words-that-are-a-key";
    let broken = format!("{{\"provider\": {{\"scripted\": {{\"options\": {{\"apiKey\": \"{secret}\"");
    let fine = "{\"model\": \"scripted/alpha\"}";
    // Broken at the first read of the directory, after it was fine, and in another way.
    for (text, fault) in [(broken.as_str(), "at line 1"), (fine, ""), ("{\"model\": 5}", "model: Expected string")] {
        std::fs::write(&file, text).expect("written");
        let outcome = env.dispatch(&["-m", "scripted/alpha", "hi"]);
        if fault.is_empty() {
            outcome.expect_ok();
            continue;
        }
        let error = outcome.expect_code(2).expect_class("configuration").json()["error"].clone();
        let message = error["message"].as_str().expect("a message");
        assert!(message.contains(&format!("{}: ", file.display())) && message.contains(fault), "{error:#}");
        assert!(!outcome.stdout.contains(secret) && !outcome.stderr.contains(secret), "{error:#}");
        std::fs::write(&file, fine).expect("written");
        env.dispatch(&["-m", "scripted/alpha", "hi"]).expect_ok();
    }
    env.stop_servers();
}

#[test]
fn whoever_is_killed_nothing_is_left_and_the_next_dispatch_works() {
    let env = own_env("killed");
    // The keeper, the guard and OpenCode itself, in turn, with a command of the agent running.
    for victim in ["keeper", "guard", "opencode"] {
        let step = Step::tool("bash", serde_json::json!({"command": "sleep 2718281", "description": "sleep"}));
        let key = env.provider.script(victim, vec![step]);
        let running = env.spawn(&["dispatch", "--json", "--mode", "agent", "-m", "scripted/alpha", &key]);
        eventually("the agent's command runs", Duration::from_secs(60), || !commands(&env, "2718281").is_empty());
        let server = one_server(&env);
        let guards = commands(&env, "guard");
        let pid = match victim {
            "keeper" => u32::try_from(server["keeper_pid"].as_u64().expect("a pid")).expect("a pid"),
            "guard" => guards[0],
            _ => *commands(&env, "serve").iter().find(|pid| !guards.contains(pid)).expect("the server"),
        };
        kill("-9", pid);
        let outcome = finish(running);
        outcome.expect_code(4).expect_class("opencode_unhealthy");
        eventually(&format!("nothing is left after the {victim} was killed"), SOON, || pids(&env).is_empty());
        let key = env.provider.script("after", vec![Step::text("alive")]);
        let report = env.dispatch(&["-m", "scripted/alpha", &key]).expect_ok();
        assert_eq!(report["text"], "alive");
    }
    env.stop_servers();
    assert_eq!(pids(&env), Vec::<u32>::new());
}

#[test]
fn a_killed_dispatch_is_aborted_settled_and_cleaned_by_the_keeper() {
    let (env, _one) = shared_server();
    env.dispatch(&["-m", "scripted/alpha", "warm up"]).expect_ok();
    let key = env.provider.script("orphan", vec![Step::hang_mid_stream()]);
    let mut running = env.spawn(&["dispatch", "--json", "-m", "scripted/alpha", &key]);
    env.provider.wait_for_requests(&key, 1);
    running.kill().expect("killed");
    running.wait().expect("reaped");
    eventually("the run is ended at the provider", SOON, || {
        env.provider.requests(&key).entries.iter().all(|entry| entry.ending == Ending::ClientClosed)
    });
    eventually("the lease is gone", SOON, || one_server(env)["leases"] == 0);
}

#[test]
fn an_interrupted_dispatch_aborts_its_run_and_says_so() {
    let (env, _one) = shared_server();
    env.dispatch(&["-m", "scripted/alpha", "warm up"]).expect_ok();
    for signal in ["-INT", "-TERM"] {
        let key = env.provider.script("interrupt", vec![Step::hang_mid_stream()]);
        let running = env.spawn(&["dispatch", "--json", "-m", "scripted/alpha", &key]);
        env.provider.wait_for_requests(&key, 1);
        kill(signal, running.id());
        let outcome = finish(running);
        outcome.expect_code(1).expect_class("cancelled");
        assert_eq!(outcome.json()["kept"], false);
        eventually("the provider is let go", SOON, || {
            env.provider.requests(&key).entries.iter().all(|entry| entry.ending == Ending::ClientClosed)
        });
    }
}

#[test]
fn a_users_own_server_is_used_and_left_alone() {
    let env = own_env("named");
    env.dispatch(&["-m", "scripted/alpha", "hi"]).expect_ok();
    // Our own managed server replaces the user's: another home knows only its address and password.
    let server = one_server(&env);
    let id = server["id"].as_str().expect("an id");
    let password =
        std::fs::read_to_string(env.data_dir().join(format!("servers/{id}.password"))).expect("the password");
    let mut other = own_env("named-client");
    other.set("SHUNTYARD_OPENCODE_BIN", "/no/such/opencode");
    let url = server["url"].as_str().expect("an address");
    let wrong = other.dispatch(&["--server", url, "-m", "scripted/alpha", "hi"]);
    wrong.expect_code(4).expect_class("opencode_unhealthy");
    assert!(wrong.stdout.contains("wants another password"), "{}", wrong.stdout);
    other.set("SHUNTYARD_OPENCODE_PASSWORD", password);
    let key = env.provider.script("named", vec![Step::text("from your own server")]);
    let report = other.dispatch(&["--server", url, "-m", "scripted/alpha", &key]).expect_ok();
    assert_eq!(report["text"], "from your own server");
    assert_eq!(other.servers().len(), 0, "no server of ours was started");
    assert_eq!(one_server(&env)["id"], server["id"]);
    env.stop_servers();
}

#[test]
fn a_killed_dispatch_of_a_continued_session_keeps_it_and_pays_only_its_own_part() {
    let (env, _one) = shared_server();
    let key = env.provider.script("continued", vec![Step::text("first"), Step::hang_mid_stream(), Step::text("third")]);
    let first = env.dispatch(&["-m", "scripted/alpha", "--keep", &key]).expect_ok();
    let session = first["session_id"].as_str().expect("an id");
    let mut running = env.spawn(&["dispatch", "--json", "-m", "scripted/alpha", "--session", session, &key]);
    env.provider.wait_for_requests(&key, 2);
    running.kill().expect("killed");
    running.wait().expect("reaped");
    eventually("the lease is gone", SOON, || one_server(env)["leases"] == 0);
    let mut abandoned = abandoned_attempts(env);
    abandoned.retain(|attempt| attempt.session.as_deref() == Some(session));
    assert_eq!(abandoned.len(), 1, "{abandoned:#?}");
    // The cut-off answer reported nothing, so an estimate is charged; what the session had cost before is not charged
    // again.
    let reported = first["cost_usd"].as_f64().and_then(Nano::from_usd).expect("a cost");
    assert!(!abandoned[0].cost_known && abandoned[0].cost > Nano::ZERO, "{abandoned:#?}");
    assert!(abandoned[0].cost + reported >= env.provider.requests(&key).total().cost, "{abandoned:#?}");
    let third = env.dispatch(&["-m", "scripted/alpha", "--session", session, &key]).expect_ok();
    assert_eq!(third["text"], "third");
}
