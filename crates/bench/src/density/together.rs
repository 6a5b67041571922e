//! Ten tasks under the supervisor, with the server that it has for all of them.

use super::{AGENTS, Taken, at_once, script, watch::Watch};
use crate::process::Running;
use serde_json::{Value, json};
use shuntyard_testkit::TestEnv;
use std::{
    fmt::Write as _,
    time::{Duration, Instant},
};

const SETTINGS: &str = "
[supervise]
adaptive = false
concurrency = 10
most = 10
per_repository = 10
per_provider = 10
per_model = 10
disk_reserve_mib = 1
";
const PATIENCE: Duration = Duration::from_secs(180);
const BETWEEN_LOOKS: Duration = Duration::from_millis(250);
/// How long the idle server is measured.
const IDLE: Duration = Duration::from_secs(5);

pub fn run(env: &TestEnv) -> Taken {
    env.write_config(SETTINGS);
    env.dispatch(&["-m", "scripted/alpha", "warm up"]).expect_ok();
    let mut watch = Watch::new(env);
    let before_work = idle(&mut watch);
    let keys: Vec<String> = (0..AGENTS).map(|number| script(env, number)).collect();
    add(env, &keys);
    watch.look();
    let (before, began) = (watch.processor(), Instant::now());
    let mut supervisor = Running::start(&mut env.command(&["supervise", "--until-idle"]));
    while supervisor.ended().is_none() {
        assert!(began.elapsed() < PATIENCE, "the tasks took too long: {}", tasks(env));
        watch.look();
        std::thread::sleep(BETWEEN_LOOKS);
    }
    watch.look();
    let (after, took) = (watch.processor(), began.elapsed());
    // A server is still busy with itself for a while after its start; only its lowest use is not work.
    let idle = before_work.min(idle(&mut watch));
    let tasks = tasks(env);
    let done = tasks["tasks"].as_array().map_or(0, |tasks| tasks.iter().filter(|task| task["phase"] == "done").count());
    assert_eq!(done, AGENTS, "{tasks:#}");
    let busy = (after - before).as_secs_f64() - idle * took.as_secs_f64();
    Taken {
        resident: watch.resident,
        proportional: watch.proportional,
        processes: watch.processes,
        processor: busy / AGENTS as f64,
        at_once: at_once(env, &keys),
    }
}

/// The processor time of the server without any request. The first seconds after an answer are still a part of that.
fn idle(watch: &mut Watch) -> f64 {
    watch.look();
    std::thread::sleep(IDLE);
    watch.look();
    let (before, began) = (watch.processor(), Instant::now());
    std::thread::sleep(IDLE);
    watch.look();
    (watch.processor() - before).as_secs_f64() / began.elapsed().as_secs_f64()
}

fn add(env: &TestEnv, keys: &[String]) {
    let mut lines = String::new();
    for (number, key) in keys.iter().enumerate() {
        let task = json!({"description": format!("write file-{number}.txt {key}"), "model": "scripted/alpha"});
        writeln!(lines, "{task}").expect("a text");
    }
    env.run_with_input(&["task", "add", "--from", "-"], &lines).expect_code(0);
}

fn tasks(env: &TestEnv) -> Value {
    env.run(&["task", "list", "--json"]).expect_code(0).json()
}
