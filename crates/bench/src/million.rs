//! A million recorded outcomes: what it costs to add one more, and to ask what was learned, beside a thousand.

use crate::{
    figures::{Limits, millis, quantile, show},
    startup::time,
};
use std::{
    path::Path,
    process::Command,
    time::{Duration, Instant},
};
use switchyard_core::{
    Nano,
    pattern::{Evidence, FailureMode, Verdict},
};
use switchyard_host::clock::now_micros;
use switchyard_store::{NewOutcome, NewSpend, Spent, Store as _, sqlite::SqliteStore};

const FEW: usize = 1_000;
const MANY: usize = 1_000_000;
/// What is timed one by one.
const SINGLE: usize = 500;
const RUNS: usize = 40;
const DAY: i64 = 86_400_000_000;
const WORDS: [&str; 16] = [
    "parser", "timeout", "retry", "schema", "cache", "index", "worker", "lease", "ledger", "budget", "router",
    "prompt", "session", "stream", "token", "ranking",
];

pub fn measure(program: &str, scratch: &str, limits: &mut Limits) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let root = Path::new(scratch).join("million");
    drop(std::fs::remove_dir_all(&root));
    let homes = [("few", FEW), ("many", MANY)].map(|(name, count)| {
        let home = root.join(name);
        std::fs::create_dir_all(home.join("data")).expect("a directory");
        runtime.block_on(fill(&home, count));
        (home, count)
    });
    println!("outcomes, {FEW} and {MANY} recorded before; {SINGLE} more one by one, alternating");
    let [few, many] = runtime.block_on(record(&homes[0].0, &homes[1].0));
    let (few, many) = (millis(quantile(&few, 0.5)), millis(quantile(&many, 0.5)));
    show("recording one at a thousand (p50)", few, "ms");
    show("recording one at a million (p50)", many, "ms");
    limits.hold("ratio", many / few, 1.5, "x");
    let empty = quantile(&(0..RUNS).map(|_| time(Command::new(program).arg("--version"))).collect::<Vec<_>>(), 0.5);
    show("switchyard --version (p50)", millis(empty), "ms");
    for (what, arguments) in [
        ("patterns recommend", ["patterns", "recommend", "code-review"].as_slice()),
        ("budget status", ["budget", "status"].as_slice()),
    ] {
        let times: Vec<Duration> = (0..RUNS).map(|_| time(&mut command(program, &homes[1].0, arguments))).collect();
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
        .env("SWITCHYARD_DATA_DIR", home.join("data"))
        .current_dir(home);
    command
}

/// Half a year of work in twenty repositories with thirty models, and the money that it cost.
async fn fill(home: &Path, count: usize) {
    let store = SqliteStore::open(&home.join("data/switchyard.db")).await.expect("a store");
    let mut next = 0;
    while next < count {
        let batch: Vec<NewOutcome> = (next..(next + 1000).min(count)).map(|index| outcome(index, count)).collect();
        store.record_outcomes(&batch).await.expect("recorded");
        next += batch.len();
    }
    let now = now_micros();
    for index in 0..count / 100 {
        let place = i64::try_from(index).expect("small");
        let spend = NewSpend {
            at: now - (place * 7919 % 180) * DAY - place % 86_400 * 1_000_000,
            provider: format!("provider{}", index % 6),
            model: format!("provider{}/model{}", index % 6, index % 30),
            tier: Some(["haiku", "sonnet", "opus"][index % 3].to_owned()),
            task: None,
            batch: None,
            spent: Spent { cost: Nano(3_000_000), attempts: 100, unknown: 0, tokens: 100_000 },
        };
        store.record_spend(&spend).await.expect("recorded");
    }
    store.close().await;
    for provider in 0..6 {
        let name = format!("provider{provider}");
        let arguments = ["budget", "configure", &name, "--billing-type", "token", "--daily-budget", "100"];
        let program = std::env::args().nth(1).expect("the binary");
        time(&mut command(&program, home, &arguments));
    }
}

/// One more at a time, turn by turn in both.
async fn record(few: &Path, many: &Path) -> [Vec<Duration>; 2] {
    let mut times = [Vec::new(), Vec::new()];
    let mut stores = Vec::new();
    for home in [few, many] {
        stores.push(SqliteStore::open_existing(&home.join("data/switchyard.db")).await.expect("a store"));
    }
    for index in 0..SINGLE {
        for (store, times) in stores.iter().zip(&mut times) {
            let new = [outcome(index, SINGLE)];
            let began = Instant::now();
            store.record_outcomes(&new).await.expect("recorded");
            times.push(began.elapsed());
        }
    }
    for store in stores {
        store.close().await;
    }
    times
}

/// The same outcome for the same number, spread over half a year.
fn outcome(index: usize, count: usize) -> NewOutcome {
    let kinds = ["code-review", "simple-fix", "docs-generation", "complex-fix", "research", "quick-check"];
    let place = i64::try_from(index).expect("small");
    let age = 180 * DAY / i64::try_from(count).expect("small") * place;
    let model = index * 31 % 30;
    let failed = index.is_multiple_of(11);
    let word = |step: usize| WORDS[(index / step + index % (step + 3)) % WORDS.len()];
    NewOutcome {
        at: now_micros() - age,
        attempt: None,
        task: None,
        batch: None,
        task_type: kinds[index % kinds.len()].to_owned(),
        requested: serde_json::json!({ "task_type": kinds[index % kinds.len()] }),
        asked_tier: Some("sonnet".to_owned()),
        tier: Some(["haiku", "sonnet", "opus"][model % 3].to_owned()),
        model: format!("provider{}/model{model}", model % 6),
        strategy: "text".to_owned(),
        verdict: if failed { Verdict::Failure } else { Verdict::Success },
        failure_mode: failed.then_some(FailureMode::Logic),
        error_class: None,
        evidence: if index.is_multiple_of(3) { Evidence::Verified } else { Evidence::Answered },
        quality: None,
        tokens: 1200,
        cost: Nano(3_000_000),
        cost_known: true,
        duration_ms: 4000,
        retries: 0,
        repository: format!("/srv/repository{}", index % 20),
        propensity: None,
        text: format!("{} the {} of the {} when the {} fails", word(2), word(3), word(5), word(7)),
    }
}
