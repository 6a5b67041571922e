//! A text dispatch on a warm server beside the same prompt from a bare HTTP client, and its memory.

use crate::{
    bare::TARGET,
    figures::{Limits, millis, quantile},
};
use shuntyard_scripted::Step;
use shuntyard_testkit::{TestEnv, environment::finish};
use std::{
    process::{Command, Stdio},
    time::{Duration, Instant},
};

const RUNS: usize = 60;
/// OpenCode works on for a moment after an answer; the next run should not pay for the last.
const REST: Duration = Duration::from_millis(700);

pub fn measure(env: &TestEnv, limits: &mut Limits) {
    env.dispatch(&["-m", "scripted/alpha", "warm up"]).expect_ok();
    let server = &env.servers()[0];
    let text = |key: &str| server[key].as_str().expect("a text").to_owned();
    let password = std::fs::read_to_string(env.data_dir().join(format!("servers/{}.password", text("id"))));
    let target = [text("url"), password.expect("a password"), env.project().to_string_lossy().into_owned()];
    let bare = || {
        let mut command = Command::new(std::env::current_exe().expect("this program"));
        command.arg("bare").envs(TARGET.into_iter().zip(&target)).stdout(Stdio::piped()).stderr(Stdio::piped());
        finish(command.spawn().expect("it starts")).expect_code(0);
    };
    for _ in 0..5 {
        bare();
        env.dispatch(&["-m", "scripted/alpha", "warm up"]).expect_ok();
    }
    let (mut ours, mut plain) = (Vec::new(), Vec::new());
    for _ in 0..RUNS {
        std::thread::sleep(REST);
        let began = Instant::now();
        bare();
        plain.push(began.elapsed());
        std::thread::sleep(REST);
        let began = Instant::now();
        env.dispatch(&["-m", "scripted/alpha", "hello"]).expect_ok();
        ours.push(began.elapsed());
    }
    println!("text dispatch on a warm server, {RUNS} runs each, alternating with rests; the model answers at once");
    for (name, times) in [("bare HTTP client (whole process)", &plain), ("shuntyard dispatch (whole process)", &ours)] {
        let (p50, p95) = (quantile(times, 0.5), quantile(times, 0.95));
        println!("  {name:<40} p50 {:>8.2} ms   p95 {:>8.2} ms", millis(p50), millis(p95));
    }
    let (ours, plain) = (millis(quantile(&ours, 0.5)), millis(quantile(&plain, 0.5)));
    limits.hold("added (p50)", ours - plain, 15.0, "ms");
    limits.hold("added (p50), in percent", (ours / plain - 1.0) * 100.0, 10.0, "%");
    limits.hold("resident memory of a dispatch, highest", peak_memory(env), 30.0, "MB");
}

/// The highest resident size of a dispatch that waits a second for a long answer.
fn peak_memory(env: &TestEnv) -> f64 {
    let answer = "a long answer ".repeat(3000);
    let key = env.provider.script("memory", vec![Step::text(answer).delay(Duration::from_secs(1))]);
    let running = env.spawn(&["dispatch", "--json", "-m", "scripted/alpha", &key]);
    let status = format!("/proc/{}/status", running.id());
    let mut highest = 0.0_f64;
    while let Ok(text) = std::fs::read_to_string(&status) {
        let Some(line) = text.lines().find_map(|line| line.strip_prefix("VmHWM:")) else { break };
        let kilobytes: f64 = line.trim().trim_end_matches(" kB").trim().parse().unwrap_or(0.0);
        highest = highest.max(kilobytes / 1024.0);
        std::thread::sleep(Duration::from_millis(5));
    }
    finish(running).expect_ok();
    assert!(highest > 0.0, "the memory was never seen");
    highest
}
