//! Many models at once: twenty that take two seconds each, two hundred in flight, and what one direct call adds.

use crate::{
    bare::{Bare, direct},
    figures::{Limits, millis, quantile, show},
};
use serde_json::{Value, json};
use shuntyard_scripted::Step;
use shuntyard_testkit::{TestEnv, environment::finish};
use std::time::{Duration, Instant};

const TARGETS: usize = 20;
const EACH: Duration = Duration::from_secs(2);
const IN_FLIGHT: usize = 200;
const CALLS: usize = 200;
const ROUNDS: usize = 3;

pub fn measure(env: &TestEnv, limits: &mut Limits) {
    let mut config = env.opencode_config();
    let models = &mut config["provider"]["scripted"]["models"];
    let alpha = models["alpha"].clone();
    for number in 0..IN_FLIGHT {
        models[format!("m{number}")] = alpha.clone();
    }
    env.write_opencode_config(config);
    env.write_config("[batch]\nat_once = 200\nat_once_per_provider = 200\n");
    env.dispatch(&["-m", "scripted/alpha", "warm up"]).expect_ok();
    println!("{TARGETS} models that take {} s each, {ROUNDS} rounds (p50)", EACH.as_secs());
    let straight = rounds(|| batch(env, TARGETS, "auto").0);
    limits.hold("directly, whole process", straight, EACH.as_secs_f64() * 1000.0 * 1.15, "ms");
    let through = rounds(|| batch(env, TARGETS, "opencode").0);
    let bare = rounds(|| parallel(env));
    show("a bare parallel client through OpenCode", bare, "ms");
    show("through OpenCode, whole process", through, "ms");
    limits.hold("ratio", through / bare, 1.3, "x");
    let (_, memory) = batch(env, IN_FLIGHT, "direct");
    limits.hold(&format!("resident memory with {IN_FLIGHT} in flight, highest"), memory, 60.0, "MB");
    overhead(env, limits);
}

fn rounds(mut once: impl FnMut() -> f64) -> f64 {
    let times: Vec<Duration> = (0..ROUNDS).map(|_| Duration::from_secs_f64(once() / 1000.0)).collect();
    millis(quantile(&times, 0.5))
}

/// The wall time of a batch in milliseconds, and the highest memory of its process in megabytes.
fn batch(env: &TestEnv, targets: usize, via: &str) -> (f64, f64) {
    let key = env.provider.script("many", vec![Step::text("an answer").delay(EACH); targets]);
    let names: Vec<String> = (0..targets).map(|number| format!("scripted/m{number}")).collect();
    let list = json!(names).to_string();
    let began = Instant::now();
    let running = env.spawn(&["dispatch", "--json", "--via", via, "-m", &list, &key]);
    let status = format!("/proc/{}/status", running.id());
    // Runs beside the reading of its output: a process whose output is not read never ends.
    let watching = std::thread::spawn(move || {
        let mut highest = 0.0_f64;
        while let Ok(text) = std::fs::read_to_string(&status) {
            let Some(line) = text.lines().find_map(|line| line.strip_prefix("VmHWM:")) else { break };
            highest = highest.max(line.trim().trim_end_matches(" kB").trim().parse().unwrap_or(0.0) / 1024.0);
            std::thread::sleep(Duration::from_millis(5));
        }
        highest
    });
    let report: Value = finish(running).expect_code(0).json();
    let took = millis(began.elapsed());
    let highest = watching.join().expect("the memory was seen");
    assert_eq!(report["summary"]["ok"], json!(targets), "{report}");
    (took, highest)
}

/// The same prompts from a client that does nothing else.
fn parallel(env: &TestEnv) -> f64 {
    let key = env.provider.script("bare", vec![Step::text("an answer").delay(EACH); TARGETS]);
    let server = &env.servers()[0];
    let text = |key: &str| server[key].as_str().expect("a text").to_owned();
    let password = std::fs::read_to_string(env.data_dir().join(format!("servers/{}.password", text("id"))));
    let bare = Bare::new(&text("url"), &password.expect("a password"), &env.project().to_string_lossy());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let began = Instant::now();
    runtime.block_on(async {
        let models: Vec<String> = (0..TARGETS).map(|number| format!("m{number}")).collect();
        futures_util::future::join_all(models.iter().map(|model| bare.prompt_to(model, &key))).await
    });
    millis(began.elapsed())
}

/// One call after the other, both ways; the provider's own ledger records when each came.
fn overhead(env: &TestEnv, limits: &mut Limits) {
    env.write_config("[batch]\nat_once = 1\n");
    let ours = env.provider.script("ours", vec![Step::text("an answer"); CALLS]);
    let names: Vec<String> = (0..CALLS).map(|number| format!("scripted/m{number}")).collect();
    let list = json!(names).to_string();
    env.run(&["dispatch", "--json", "--via", "direct", "-m", &list, &ours]).expect_code(0);
    let bare = env.provider.script("plain", vec![Step::text("an answer"); CALLS]);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(direct(&env.provider.base_url(), &bare, CALLS));
    let between = |key: &str| {
        let ledger = env.provider.requests(key);
        let mut came: Vec<Duration> = ledger.entries.iter().map(|entry| entry.started_at).collect();
        came.sort_unstable();
        let gaps: Vec<Duration> = came.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert_eq!(gaps.len(), CALLS - 1, "{key}");
        millis(quantile(&gaps, 0.5))
    };
    let (ours, bare) = (between(&ours), between(&bare));
    println!("{CALLS} direct calls one after the other; the model answers at once (p50)");
    show("a bare HTTP client", bare, "ms");
    show("shuntyard, recorded and settled", ours, "ms");
    limits.hold("added", ours - bare, 2.0, "ms");
}
