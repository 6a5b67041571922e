//! A million recorded outcomes, and as many attempts that were paid for: what it costs to add one more, and to read the
//! experience and what is left of a limit, beside a thousand.

mod fill;

use crate::{
    figures::{Limits, millis, quantile, show},
    startup::time,
};
use fill::{DAY, fill, outcome};
use shuntyard_core::{DispatchId, Nano, Usage};
use shuntyard_host::clock::now_micros;
use shuntyard_store::{
    AttemptEnd, Begun, Ceiling, Measure, NewAttempt, NewDispatch, Owner, Reserve, RunStatus, SpendKey, SpendKind,
    Store as _, bucket, sqlite::SqliteStore,
};
use std::{
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

const FEW: usize = 1_000;
const MANY: usize = 1_000_000;
/// What is timed one by one.
const SINGLE: usize = 500;
const RUNS: usize = 40;
/// How much more one may cost at a million.
const MOST_RATIO: f64 = 1.5;
/// A day that is none of UTC, so that a limit has two ends of quarters of an hour.
const SETTINGS: &str = "[budget]\ntime_zone = \"America/New_York\"\n";

pub fn measure(program: &str, scratch: &str, limits: &mut Limits) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let root = Path::new(scratch).join("million");
    drop(std::fs::remove_dir_all(&root));
    let homes = [("few", FEW), ("many", MANY)].map(|(name, count)| {
        let home = root.join(name);
        std::fs::create_dir_all(home.join("data")).expect("a directory");
        std::fs::create_dir_all(home.join(".config/shuntyard")).expect("a directory");
        std::fs::write(home.join(".config/shuntyard/config.toml"), SETTINGS).expect("settings");
        runtime.block_on(fill(&home.join("data/shuntyard.db"), count));
        configure(program, &home);
        home
    });
    println!("{FEW} and {MANY} outcomes and paid attempts in 180 days; {SINGLE} more one by one, alternating");
    let [few, many] = &homes;
    let written = runtime.block_on(write(few, many));
    for (what, [few, many]) in ["recording an outcome", "reserving", "settling"].into_iter().zip(&written) {
        let (few, many) = (millis(quantile(few, 0.5)), millis(quantile(many, 0.5)));
        show(&format!("{what} at a thousand (p50)"), few, "ms");
        show(&format!("{what} at a million (p50)"), many, "ms");
        limits.hold(&format!("{what}: ratio"), many / few, MOST_RATIO, "x");
    }
    let empty = quantile(&(0..RUNS).map(|_| time(Command::new(program).arg("--version"))).collect::<Vec<_>>(), 0.5);
    show("shuntyard --version (p50)", millis(empty), "ms");
    for (what, arguments) in [
        ("patterns recommend", ["patterns", "recommend", "code-review"].as_slice()),
        ("budget status", ["budget", "status"].as_slice()),
    ] {
        let times: Vec<Duration> = (0..RUNS).map(|_| time(&mut command(program, many, arguments))).collect();
        limits.hold(&format!("{what} at a million (whole process, p50)"), millis(quantile(&times, 0.5)), 20.0, "ms");
    }
    drop(std::fs::remove_dir_all(&root));
}

fn command(program: &str, home: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(program);
    command
        .args(arguments)
        .env_clear()
        .env("HOME", home)
        .env("SHUNTYARD_DATA_DIR", home.join("data"))
        .current_dir(home);
    command
}

/// A daily limit on everything, on each provider and on a tier, and allowances for a month, for half a year and for
/// any five hours.
fn configure(program: &str, home: &Path) {
    let set = |arguments: &[&str]| time(&mut command(program, home, arguments));
    set(&["budget", "configure", "--overall", "--daily-budget", "1000"]);
    set(&["budget", "configure", "--tier", "opus", "--daily-budget", "500"]);
    for provider in 0..fill::PROVIDERS {
        let name = format!("provider{provider}");
        set(&["budget", "configure", &name, "--billing-type", "token", "--daily-budget", "100"]);
    }
    let date = |days: i64| {
        let moment = jiff::Timestamp::from_microsecond(now_micros() + days * DAY).expect("a moment");
        moment.to_zoned(jiff::tz::TimeZone::UTC).date().to_string()
    };
    for (provider, from, until) in [("provider0", -29, 2), ("provider1", -178, 5)] {
        let (from, until) = (date(from), date(until));
        let allowance = ["--allowance", "90000000", "--unit", "requests"];
        set(&[&["budget", "period", provider, "--start", &from, "--end", &until], allowance.as_slice()].concat());
    }
    let rolling = ["--allowance", "90000000", "--unit", "tokens", "--rolling", "5h"];
    set(&[&["budget", "period", "provider2", "--start", &date(-170)], rolling.as_slice()].concat());
}

/// One more at a time, turn by turn in both: an outcome, the beginning of an attempt under its limits, and its end.
async fn write(few: &PathBuf, many: &PathBuf) -> [[Vec<Duration>; 2]; 3] {
    let mut times: [[Vec<Duration>; 2]; 3] = Default::default();
    let mut stores = Vec::new();
    for home in [few, many] {
        stores.push(SqliteStore::open_existing(&home.join("data/shuntyard.db")).await.expect("a store"));
    }
    for index in 0..SINGLE {
        for (place, store) in stores.iter().enumerate() {
            let began = Instant::now();
            store.record_outcomes(&[outcome(index, SINGLE)]).await.expect("recorded");
            times[0][place].push(began.elapsed());
            let attempt = attempt(index);
            store.begin_dispatch(&dispatch(attempt.dispatch)).await.expect("begun");
            let began = Instant::now();
            let begun = store.begin_attempt(&attempt).await.expect("begun");
            times[1][place].push(began.elapsed());
            assert_eq!(begun, Begun::Started, "there is room");
            let began = Instant::now();
            store.finish_attempt(attempt.dispatch, 1, &end()).await.expect("settled");
            times[2][place].push(began.elapsed());
        }
    }
    for store in stores {
        store.close().await;
    }
    times
}

fn dispatch(id: DispatchId) -> NewDispatch {
    NewDispatch {
        id,
        at: now_micros(),
        owner: Owner { host: "bench".into(), pid: 1, start: 1 },
        mode: "text".into(),
        requested: serde_json::json!({}),
        route: serde_json::json!({}),
        directory: "/".into(),
        prompt_chars: 1,
    }
}

/// Under a limit on everything, one on its provider, and an allowance of half a year.
fn attempt(index: usize) -> NewAttempt {
    let now = now_micros();
    let ceiling = |key, measure, days| Ceiling {
        key,
        measure,
        from: bucket(now - days * DAY),
        until: bucket(now + DAY / 2),
        limit: i64::MAX,
    };
    let provider = SpendKey::new(SpendKind::Provider, "provider1");
    let ceilings = vec![
        ceiling(SpendKey::overall(), Measure::Cost, 1),
        ceiling(provider.clone(), Measure::Cost, 1),
        ceiling(provider, Measure::Attempts, 178),
    ];
    NewAttempt {
        dispatch: format!("0190f000-0000-7000-8000-{index:012x}").parse().expect("an id"),
        ordinal: 1,
        at: now,
        model: "provider1/model1".into(),
        server: None,
        tier: Some("sonnet".into()),
        task: None,
        batch: None,
        reserve: Some(Reserve { cost: Nano(3_000_000), tokens: 1000, ceilings }),
    }
}

fn end() -> AttemptEnd {
    AttemptEnd {
        at: now_micros(),
        status: RunStatus::Ok,
        error_class: None,
        message: None,
        answered_by: None,
        usage: Usage { input: 900, output: 300, ..Usage::default() },
        usage_known: true,
        cost: Nano(3_000_000),
        cost_known: true,
    }
}
