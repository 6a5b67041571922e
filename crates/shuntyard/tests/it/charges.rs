//! Charges: tasks and batches fill the limit of their tier, a limit leads to what is cheaper and to nothing else, and
//! what is used has a rate with and without a limit.

use crate::{
    NO_MEMORY,
    yard::{Key, Yard, attempts, events, in_store, model, plain, trace, with_models},
};
use serde_json::{Value, json};
use shuntyard_scripted::{Step, Tokens};
use shuntyard_store::{OutcomeFilter, OutcomeOrder, OutcomeRecord, Store as _};
use std::{
    process::Command,
    time::{SystemTime, UNIX_EPOCH},
};

const TIERS: &str = r#"
tier_order = ["low", "mid", "top"]
[tiers]
low = ["cheap/m"]
mid = ["plain/m"]
top = ["dear/m"]
lone = ["alone/m", "second/m"]
"#;

/// With days that begin half a day away from now, so that none begins during a test.
fn yard(name: &str) -> Yard {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).expect("a time after 1970").as_secs();
    let hour = (seconds / 3600 + 12) % 24;
    let toml = format!("{TIERS}\n[budget]\ntime_zone = \"UTC\"\nday_starts_at = \"{hour:02}:00\"\n{NO_MEMORY}");
    let priced = |id: &str, input: f64| {
        let cost = json!({"input": input, "output": input * 5.0, "cache_read": 0, "cache_write": 0});
        with_models(id, Key::Config, &[model("m", &json!({ "cost": cost }))])
    };
    let mut providers: Vec<_> = ["alone", "second"].map(|id| plain(id, Key::Config)).into();
    providers.extend([priced("cheap", 0.3), priced("plain", 3.0), priced("dear", 6.0), priced("lux", 60.0)]);
    providers.push(plain("barred", Key::Wrong));
    Yard::new(name, providers, &json!({"model": "plain/m"}), &toml)
}

#[track_caller]
fn budget(yard: &Yard, args: &[&str]) -> Value {
    yard.env.run(&[&["budget", "--json"], args].concat()).expect_code(0).json()
}

/// The attempts that are charged to a tier.
fn charged(yard: &Yard, tier: &str) -> u64 {
    let report = budget(yard, &["report", "--by", "tier"]);
    let mut rows = report["rows"].as_array().expect("rows").iter();
    rows.find(|row| row["name"] == tier).map_or(0, |row| row["attempts"].as_u64().expect("a count"))
}

/// What a result was asked, and the tier that it and the request are of.
fn tiers(report: &Value) -> (String, Value, Value) {
    let route = &report["route"];
    (attempts(report)[0].0.clone(), route["tier"].clone(), route["requested_tier"].clone())
}

fn git(yard: &Yard, args: &[&str]) {
    let identity = ["-c", "user.name=Ann", "-c", "user.email=ann@localhost"];
    let done = Command::new("git").args(identity).args(args).current_dir(yard.env.project()).output().expect("git");
    assert!(done.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&done.stderr));
}

/// Adds a task that writes a file, and returns its id with the key of its script.
fn task(yard: &Yard, provider: &str, args: &[&str]) -> (String, String) {
    let write = Step::tool("write", json!({"filePath": "done.txt", "content": "by the model\n"}));
    let key = yard.at(provider).script("task", vec![write.usage(Tokens::new(2000, 20)), Step::text("done")]);
    let added = yard.env.run(&[&["task", "add", "--json", &format!("write done.txt {key}")], args].concat());
    (added.expect_code(0).json()["id"].as_str().expect("an id").to_owned(), key)
}

fn outcome_of(yard: &Yard, task: &str) -> OutcomeRecord {
    let filter = OutcomeFilter { limit: 100, ..OutcomeFilter::default() };
    let all = in_store(&yard.env, async |store| store.outcomes(&filter, OutcomeOrder::Newest).await.expect("outcomes"));
    all.into_iter().find(|found| found.outcome.task.as_deref() == Some(task)).expect("an outcome")
}

#[test]
fn what_tasks_and_batches_spend_fills_the_limit_of_their_tier() {
    let yard = yard("charges-tiers");
    let env = &yard.env;
    git(&yard, &["symbolic-ref", "HEAD", "refs/heads/main"]);
    git(&yard, &["commit", "-q", "--allow-empty", "-m", "first"]);
    let hello = yard.at("alone").script("many", vec![]);
    let many = yard.dispatch(&["--tier", "lone", "--count", "2", &hello]).expect_code(0).json();
    for (result, asked) in many["results"].as_array().expect("results").iter().zip(["alone/m", "second/m"]) {
        assert_eq!(tiers(result), (asked.into(), json!("lone"), Value::Null), "{result:#}");
        assert_eq!((&result["route"]["rule"], attempts(result).len()), (&json!("tier"), 1), "{result:#}");
        let reason = result["route"]["reason"].as_str().unwrap_or_default();
        assert!(reason.contains("tier lone") && !reason.contains("failed"), "{reason}");
    }
    assert_eq!((charged(&yard, "lone"), charged(&yard, "")), (2, 0));
    let named = yard.dispatch(&["-m", "tier:lone", "-m", "cheap/m", &hello]).expect_code(0).json();
    let found: Vec<_> = named["results"].as_array().expect("results").iter().map(tiers).collect();
    assert_eq!(
        found,
        [("alone/m".into(), json!("lone"), Value::Null), ("cheap/m".into(), Value::Null, Value::Null)],
        "{named:#}"
    );
    assert_eq!((charged(&yard, "lone"), charged(&yard, "")), (3, 1));

    let (id, _) = task(&yard, "cheap", &["--tier", "low"]);
    env.run(&["supervise", "--until-idle"]).expect_code(0);
    let shown = env.run(&["task", "show", &id, "--json"]).json();
    assert_eq!((&shown["phase"], &shown["attempts"][0]["tier"]), (&json!("done"), &json!("low")), "{shown:#}");
    assert_eq!((charged(&yard, "low"), charged(&yard, "")), (1, 1), "the task is charged to its tier");
    let kept = outcome_of(&yard, &id).outcome;
    assert_eq!((kept.asked_tier.as_deref(), kept.tier.as_deref()), (Some("low"), Some("low")));
    assert_eq!(kept.requested, json!({"tier": "low"}));

    // What it spent is more than the limit, and nothing is cheaper: the next task is not begun.
    budget(&yard, &["configure", "--tier", "low", "--daily-budget", "0.0001"]);
    let asked = yard.asked("cheap");
    let (stopped, _) = task(&yard, "cheap", &["--tier", "low"]);
    env.run(&["pulse"]).expect_code(0);
    let shown = env.run(&["task", "show", &stopped, "--json"]).json();
    assert_eq!((&shown["phase"], &shown["attempts"]), (&json!("waiting"), &json!([])), "{shown:#}");
    assert!(shown["reason"].as_str().expect("a reason").contains("tier low has used"), "{shown:#}");
    env.run(&["task", "cancel", &stopped]).expect_code(0);
    assert_eq!(yard.asked("cheap"), asked, "nobody was asked");

    // Critical tasks keep their tier where others are downgraded.
    budget(&yard, &["configure", "--tier", "top", "--daily-budget", "10"]);
    budget(&yard, &["record", "dear", "--tier", "top", "--cost", "8.5"]);
    let (spared, _) = task(&yard, "plain", &["--tier", "top"]);
    let (critical, _) = task(&yard, "dear", &["--tier", "top", "--critical"]);
    env.run(&["supervise", "--until-idle"]).expect_code(0);
    for (id, model, tier, is_critical) in [(&spared, "plain/m", "mid", false), (&critical, "dear/m", "top", true)] {
        let shown = env.run(&["task", "show", id, "--json"]).json();
        let first = &shown["attempts"][0];
        assert_eq!((&first["model"], &first["tier"]), (&json!(model), &json!(tier)), "{shown:#}");
        assert_eq!(shown["critical"], is_critical);
        let kept = outcome_of(&yard, id).outcome;
        assert_eq!((kept.asked_tier.as_deref(), kept.tier.as_deref()), (Some("top"), Some(tier)));
    }
    assert_eq!(charged(&yard, "mid"), 1);
}

#[test]
fn a_limit_leads_to_what_is_cheaper_and_to_nothing_else() {
    let yard = yard("charges-cheaper");
    let hello = yard.at("dear").script("hello", vec![]);
    // A batch that has used 85 % degrades like any other limit.
    budget(&yard, &["configure", "--batch", "bb", "--daily-budget", "10"]);
    budget(&yard, &["record", "elsewhere", "--cost", "8.5", "--batch", "bb"]);
    let report = yard.dispatch(&["--tier", "top", "--batch", "bb", &hello]).expect_ok();
    assert_eq!(tiers(&report), ("cheap/m".into(), json!("low"), json!("top")), "{report:#}");
    let told = "tier top is downgraded to mid: batch bb has used 85 % of $10.0000";
    assert!(trace(&report["route"], "budget").contains(&format!(": {told}")), "{report:#}");
    assert!(report["warnings"].to_string().contains(told), "{report:#}");
    assert!(
        report["warnings"].to_string().contains("batch bb has used 85 % of $10.0000; cheaper models"),
        "{report:#}"
    );
    let both = yard.dispatch(&["-m", "tier:top", "-m", "alone/m", "--batch", "bb", &hello]).expect_code(0).json();
    assert_eq!(tiers(&both["results"][0]).0, "cheap/m", "{both:#}");
    assert!(both["warnings"].to_string().contains(told), "{both:#}");
    let kept = yard.dispatch(&["--tier", "top", "--batch", "bb", "--critical", &hello]).expect_ok();
    assert_eq!(tiers(&kept), ("dear/m".into(), json!("top"), Value::Null));

    // The provider of the top tier is used up: the next cheaper tier works, and not the most expensive of all.
    for provider in ["dear", "plain", "cheap"] {
        budget(&yard, &["configure", provider, "--daily-budget", "10"]);
    }
    budget(&yard, &["record", "dear", "--cost", "9.6"]);
    let report = yard.dispatch(&["--tier", "top", &hello]).expect_ok();
    assert_eq!(tiers(&report), ("plain/m".into(), json!("mid"), json!("top")), "{report:#}");
    let why = "tier top is downgraded to mid: provider dear has used 96 % of $10.0000";
    assert!(report["warnings"].to_string().contains(why), "{report:#}");
    budget(&yard, &["record", "plain", "--cost", "9.6"]);
    budget(&yard, &["record", "cheap", "--cost", "9.6"]);
    // A model that no tier lists and that costs no less than the tier is no substitute for it.
    let refused = yard.dispatch(&["--tier", "mid", &hello]);
    refused.expect_code(3).expect_class("budget_refused");
    assert!(refused.stdout.contains("provider plain has used 96 % of $10.0000"), "{}", refused.stdout);
    let report = yard.dispatch(&["--tier", "top", &hello]).expect_ok();
    assert_eq!(tiers(&report), ("alone/m".into(), json!("lone"), json!("top")), "{report:#}");
    assert_eq!(yard.asked("lux"), 0);
}

#[test]
fn rates_alerts_and_estimates_go_by_what_was_really_used() {
    let yard = yard("charges-rates");
    let env = &yard.env;
    let rate = |whose: &str| {
        let rates = budget(&yard, &["burn-rate"])["rates"].clone();
        rates.as_array().expect("rates").iter().find(|rate| rate["key"]["name"] == whose).cloned()
    };
    assert_eq!(budget(&yard, &["burn-rate"])["rates"], json!([]));
    // Without a limit there is a rate, and no end.
    budget(&yard, &["record", "free", "--cost", "6"]);
    let free = rate("free").expect("a rate");
    let per_hour = free["per_hour"].as_i64().expect("a rate");
    assert!((428_000_000..=500_000_000).contains(&per_hour), "{free:#}");
    assert_eq!((&free["left"], &free["exhausted_at_ms"]), (&Value::Null, &Value::Null));
    assert!(env.run(&["budget", "burn-rate"]).stdout.contains("no limit"));
    assert_eq!(budget(&yard, &["burn-rate", "nobody"])["rates"], json!([]));
    // A batch began when it was first paid for, less than a minute ago.
    budget(&yard, &["configure", "--batch", "night", "--daily-budget", "1000"]);
    budget(&yard, &["record", "free", "--cost", "0.7", "--batch", "night"]);
    let night = rate("night").expect("a rate");
    let per_hour = night["per_hour"].as_i64().expect("a rate");
    assert!((2_000_000_000..=42_000_000_000).contains(&per_hour), "{night:#}");
    assert_eq!(night["daily_mean_7d"], 0);
    assert!(night["from_ms"].as_i64() > Some(1_700_000_000_000), "{night:#}");
    // Few requests in a long time are less than one an hour, and not none.
    let since = ["--start", "2020-01-01", "--unit", "requests"];
    budget(&yard, &[&["period", "seldom", "--allowance", "100"][..], &since].concat());
    budget(&yard, &["record", "seldom", "--requests", "86"]);
    let seldom = rate("seldom").expect("a rate");
    assert!(seldom["per_hour"].as_f64().is_some_and(|rate| rate > 0.0 && rate < 0.01), "{seldom:#}");

    // Each window of a provider has alerts of its own.
    let windows = |provider: &str| -> Vec<(Value, Value)> {
        let told = events(env, "budget.alert", &format!("provider:{provider}"));
        told.iter().map(|told| (told["limit"].clone(), told["level"].clone())).collect()
    };
    let hello = yard.at("plain").script("hello", vec![]);
    budget(&yard, &[&["period", "twice", "--allowance", "100"][..], &since].concat());
    budget(&yard, &[&["period", "twice", "--allowance", "20", "--rolling", "5h"][..], &since].concat());
    budget(&yard, &["record", "twice", "--requests", "18"]);
    yard.dispatch(&["-m", "plain/m", &hello]).expect_ok();
    assert_eq!(windows("twice"), [(json!(20), json!("degraded"))]);
    budget(&yard, &["record", "twice", "--requests", "68"]);
    for _ in 0..2 {
        yard.dispatch(&["-m", "plain/m", &hello]).expect_ok();
    }
    let mut told = windows("twice");
    told.sort_by_key(|(limit, _)| limit.as_i64());
    let expected = [(20, "degraded"), (20, "exhausted"), (100, "degraded")];
    assert_eq!(told, expected.map(|(limit, level)| (json!(limit), json!(level))));

    // A refused request has used nothing, and is no evidence of what an answer costs.
    for _ in 0..6 {
        yard.dispatch(&["-m", "barred/m", &hello]).expect_code(1).expect_class("auth_invalid");
    }
    let asked = yard.asked("barred");
    let refused = yard.dispatch(&["--max-cost", "0.0000001", "-m", "barred/m", &hello]);
    refused.expect_code(3).expect_class("budget_refused");
    assert_eq!(yard.asked("barred"), asked);

    let wrong = env.run(&["budget", "check", "plain", "--tier", "nosuch", "--json"]);
    wrong.expect_code(2).expect_class("usage");
    env.run(&["budget", "report", "--csv", "--json"]).expect_code(2).expect_class("usage");
}
