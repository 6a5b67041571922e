//! Money: what was spent is known to the nano-dollar, limits change the choice and then end it, and what runs at
//! once cannot pass a line together.

use crate::yard::{Key, Yard, attempts, events, model, plain, record_of, trace, with_models};
use serde_json::{Value, json};
use shuntyard_core::Nano;
use shuntyard_scripted::{Step, Tokens};
use shuntyard_store::RunStatus;
use shuntyard_testkit::{Outcome, TestEnv, environment::finish, eventually};
use std::{
    process::Stdio,
    sync::OnceLock,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

const SOON: Duration = Duration::from_secs(20);

const TIERS: &str = r#"
tier_order = ["below", "above"]
[tiers]
listed = ["thin/m", "thick/m"]
below = ["basement/m"]
above = ["attic/m"]
cellar = ["cellar/m"]
plan = ["metered/m", "prepaid/m"]
pair = ["hollow/m", "solid/m"]
"#;

/// With days that begin half a day away from now, so that none begins during a test.
fn toml() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).expect("a time after 1970").as_secs();
    let hour = (seconds / 3600 + 12) % 24;
    format!("{TIERS}\n[budget]\ntime_zone = \"UTC\"\nday_starts_at = \"{hour:02}:00\"\n")
}

/// Every test has providers of its own here, because a limit holds for all.
fn yard() -> &'static Yard {
    static YARD: OnceLock<Yard> = OnceLock::new();
    YARD.get_or_init(|| {
        let names = [
            "ruled", "thin", "thick", "basement", "attic", "cellar", "frugal", "crowd", "mortal", "metered", "prepaid",
            "burning", "faithful",
        ];
        let mut providers: Vec<_> = names.into_iter().map(|id| plain(id, Key::Config)).collect();
        let unpriced = model("m", &json!({"cost": {"input": 0, "output": 0}}));
        providers.push(with_models("unpriced", Key::Config, &[unpriced]));
        Yard::new("budget", providers, &json!({"model": "frugal/m"}), &toml())
    })
}

fn budget(env: &TestEnv, args: &[&str]) -> Outcome {
    env.run(&[&["budget", "--json"], args].concat())
}

/// Done, with its document.
#[track_caller]
fn done(env: &TestEnv, args: &[&str]) -> Value {
    budget(env, args).expect_code(0).json()
}

/// Enters an amount that was spent elsewhere.
#[track_caller]
fn record(env: &TestEnv, provider: &str, usd: &str) {
    done(env, &["record", provider, "--cost", usd]);
}

/// The one limit of a provider.
#[track_caller]
fn limit_of(env: &TestEnv, provider: &str) -> Value {
    let status = done(env, &["status", provider]);
    let lines = status["lines"].as_array().expect("lines");
    assert_eq!(lines.len(), 1, "{status:#}");
    lines[0].clone()
}

fn warnings(report: &Value) -> String {
    report["warnings"].to_string()
}

/// The names, costs, attempts and tokens of a report, without those that cost nothing.
fn rows(env: &TestEnv, by: &str) -> Vec<(String, Nano, u64, u64)> {
    let report = done(env, &["report", "--by", by]);
    assert_eq!(report["by"], by);
    let number = |value: &Value| value.as_u64().expect("a number");
    let rows = report["rows"].as_array().expect("rows").iter().map(|row| {
        let cost = Nano(row["cost_nano"].as_i64().expect("a cost"));
        assert_eq!(row["cost_usd"].as_f64().and_then(Nano::from_usd), Some(cost), "{row:#}");
        (row["name"].as_str().expect("a name").to_owned(), cost, number(&row["attempts"]), number(&row["tokens"]))
    });
    rows.collect()
}

#[test]
fn what_is_reported_as_spent_is_what_the_providers_have_on_their_books() {
    let names = ["teller", "hollow", "solid", "faller"];
    let mut providers: Vec<_> = names.map(|id| plain(id, Key::Config)).into();
    providers.push(plain("barred", Key::Wrong));
    let yard = Yard::new("budget-spent", providers, &json!({"model": "teller/m"}), &toml());
    let env = &yard.env;
    let at = |name: &str| yard.at(name);
    let plain_text = at("teller").script("text", vec![Step::text("x").usage(Tokens::new(1003, 57).cached(211))]);
    yard.dispatch(&["-m", "teller/m", &plain_text]).expect_ok();
    let retried = at("teller").script("retried", vec![Step::status(500), Step::text("second time lucky")]);
    yard.dispatch(&["-m", "teller/m", &retried]).expect_ok();
    let schema = r#"{"type":"object","properties":{"score":{"type":"number"}},"required":["score"]}"#;
    let corrected = vec![Step::structured(json!({"score": "four"})), Step::structured(json!({"score": 4}))];
    let corrected = at("teller").script("corrected", corrected);
    yard.dispatch(&["-m", "teller/m", "--schema", schema, &corrected]).expect_ok();
    assert_eq!(yard.asked_for("teller", &corrected), 2);
    let work = vec![
        Step::tool("bash", json!({"command": "true", "description": "nothing"})).usage(Tokens::new(2000, 20)),
        Step::tool("bash", json!({"command": "true", "description": "nothing"})).usage(Tokens::new(2500, 25)),
        Step::text("done").usage(Tokens::new(3000, 30).cached(1000)),
    ];
    let work = at("teller").script("work", work);
    let directory = env.repository("spent");
    yard.dispatch(&["--mode", "agent", "-m", "teller/m", "--dir", &directory.to_string_lossy(), &work]).expect_ok();
    assert_eq!(yard.asked_for("teller", &work), 3);
    let moved = at("solid").script("moved", vec![Step::text("in its place").usage(Tokens::new(700, 70))]);
    yard.script("hollow", &moved, vec![Step::empty().usage(Tokens::new(1000, 20))]);
    let report = yard.dispatch(&["--tier", "pair", &moved]).expect_ok();
    assert_eq!(attempts(&report).len(), 2, "{report:#}");
    let failed = at("faller").script("failed", vec![Step::empty().usage(Tokens::new(400, 4))]);
    yard.dispatch(&["-m", "faller/m", &failed]).expect_code(1).expect_class("empty_response");
    yard.dispatch(&["-m", "barred/m", "hello"]).expect_code(1).expect_class("auth_invalid");

    let book = |name: &str| yard.at(name).ledger().total_reported();
    let expected = |tries: &[(&str, u64)], called: fn(&str) -> String| -> Vec<(String, Nano, u64, u64)> {
        let row = |(name, tries): &(&str, u64)| (called(name), book(name).cost, *tries, book(name).usage.total());
        tries.iter().map(row).collect()
    };
    let tries = [("barred", 1), ("faller", 1), ("hollow", 1), ("solid", 1), ("teller", 4)];
    assert!(["teller", "hollow", "solid", "faller"].iter().all(|name| book(name).cost > Nano::ZERO));
    assert_eq!(book("barred").cost, Nano::ZERO);
    assert_eq!(rows(env, "provider"), expected(&tries, |name| name.to_owned()));
    assert_eq!(rows(env, "model"), expected(&tries, |name| format!("{name}/m")));
    let sum = |names: &[&str]| names.iter().map(|name| book(name).cost).sum::<Nano>();
    let tokens = |names: &[&str]| names.iter().map(|name| book(name).usage.total()).sum::<u64>();
    let (alone, pair) = (["barred", "faller", "teller"], ["hollow", "solid"]);
    let by_tier = [(String::new(), sum(&alone), 6, tokens(&alone)), ("pair".to_owned(), sum(&pair), 2, tokens(&pair))];
    assert_eq!(rows(env, "tier"), by_tier);
    let all = [alone.as_slice(), &pair].concat();
    let days = rows(env, "day");
    assert_eq!(days.len(), 1, "{days:?}");
    assert_eq!((days[0].1, days[0].2, days[0].3), (sum(&all), 8, tokens(&all)));
    let total = done(env, &["report"])["total"]["cost_nano"].clone();
    assert_eq!(total, json!(sum(&all)));
    for (by, rows) in [("provider", rows(env, "provider")), ("tier", rows(env, "tier")), ("day", days)] {
        let csv = env.run(&["budget", "report", "--by", by, "--csv"]);
        let mut lines = csv.expect_code(0).stdout.lines();
        assert_eq!(lines.next(), Some("name,cost_usd,attempts,tokens,unknown_costs"));
        let shown: Vec<&str> = lines.map(|line| line.rsplit_once(',').map_or(line, |(start, _)| start)).collect();
        let usd = |cost: Nano| format!("{}.{:09}", cost.0 / 1_000_000_000, cost.0 % 1_000_000_000);
        let written: Vec<String> =
            rows.iter().map(|(name, cost, tries, tokens)| format!("{name},{},{tries},{tokens}", usd(*cost))).collect();
        assert_eq!(shown, written, "by {by}");
    }
    // A recorded amount is listed beside them, under the name of its batch as well.
    done(env, &["record", "teller", "--cost", "0.000000001", "--requests", "3", "--batch", "night, \"one\""]);
    assert_eq!(rows(env, "batch"), [("night, \"one\"".to_owned(), Nano(1), 3, 0)]);
    let csv = env.run(&["budget", "report", "--by", "batch", "--csv"]);
    assert_eq!(csv.stdout.lines().last(), Some("\"night, \"\"one\"\"\",0.000000001,3,0,0"));
}

#[test]
fn levels_begin_exactly_at_their_lines_and_only_what_is_given_changes() {
    let env = &yard().env;
    let set = done(env, &["configure", "ruled", "--daily-budget", "10"]);
    assert_eq!((&set["daily_budget_usd"], &set["billing_type"]), (&json!(10.0), &json!("token")));
    let steps = [
        ("0", 0, "fine", 0),
        ("7.999999999", 0, "fine", 79),
        ("0.000000001", 1, "degraded", 80),
        ("1.499999999", 1, "degraded", 94),
        ("0.000000001", 2, "exhausted", 95),
        ("10.5", 2, "exhausted", 200),
    ];
    for (more, code, level, percent) in steps {
        record(env, "ruled", more);
        let check = budget(env, &["check", "ruled"]);
        assert_eq!(check.expect_code(code).json()["level"], level, "after {more}");
        let line = limit_of(env, "ruled");
        assert_eq!((&line["level"], &line["percent"]), (&json!(level), &json!(percent)), "after {more}");
    }
    assert_eq!(limit_of(env, "ruled")["left_usd"], json!(-10.5));
    let people = env.run(&["budget", "check", "ruled"]);
    people.expect_code(2);
    assert_eq!(people.stdout.trim(), "ruled: exhausted (provider ruled has used 200 % of $10.0000)");
    assert_eq!(budget(env, &["check", "nobody"]).expect_code(0).json()["lines"], json!([]));

    let changed = done(env, &["configure", "ruled", "--degrade-percent", "50"]);
    assert_eq!((&changed["daily_budget_usd"], &changed["degrade_percent"]), (&json!(10.0), &json!(50)));
    let changed = done(env, &["configure", "ruled", "--daily-budget", "100"]);
    assert_eq!((&changed["daily_budget_usd"], &changed["degrade_percent"]), (&json!(100.0), &json!(50)));
    let changed = done(env, &["configure", "ruled", "--stop-percent", "60"]);
    assert_eq!((&changed["degrade_percent"], &changed["stop_percent"]), (&json!(50), &json!(60)));
    budget(env, &["check", "ruled"]).expect_code(0);
    record(env, "ruled", "30");
    budget(env, &["check", "ruled"]).expect_code(1);
    record(env, "ruled", "10");
    budget(env, &["check", "ruled"]).expect_code(2);
    done(env, &["configure", "ruled", "--remove"]);
    assert_eq!(done(env, &["status", "ruled"])["lines"], json!([]));
    budget(env, &["check", "ruled"]).expect_code(0);
    done(env, &["configure", "ruled", "--daily-budget", "5"]);
    assert_eq!(limit_of(env, "ruled")["degrade_percent"], 80, "a limit that was removed leaves nothing behind");
}

#[test]
fn bad_input_is_refused_and_changes_nothing() {
    let env = &yard().env;
    let (dates, later) = (["--start", "2020-02-01", "--end", "2020-03-01"], ["--start", "2020-02-28"]);
    done(env, &["configure", "sound", "--daily-budget", "10", "--degrade-percent", "60", "--stop-percent", "70"]);
    done(env, &[&["period", "sound", "--allowance", "5"], dates.as_slice()].concat());
    let before = (limit_of(env, "sound"), done(env, &["report"])["rows"].clone());
    let wrong: [&[&str]; 29] = [
        &["configure", "sound", "--daily-budget", "-1"],
        &["configure", "sound", "--daily-budget=-1"],
        &["configure", "sound", "--daily-budget", "ten"],
        &["configure", "sound", "--daily-budget", "nan"],
        &["configure", "sound", "--daily-budget", "inf"],
        &["configure", "sound", "--daily-budget", "20", "--billing-type", "prepaid"],
        &["configure", "sound", "--daily-budget", "20", "--degrade-percent", "101"],
        &["configure", "sound", "--daily-budget", "20", "--degrade-percent", "71"],
        &["configure", "sound", "--daily-budget", "20", "--stop-percent", "59"],
        &["configure", "sound", "--daily-budget", "20", "--remove"],
        &["configure", "sound", "--daily-budget", "20", "--overall"],
        &["configure", "--daily-budget", "20"],
        &["configure", "", "--daily-budget", "20"],
        &["configure", "--tier", "nowhere", "--daily-budget", "20"],
        &["period", "sound", "--start", "2026-02-30", "--allowance", "5"],
        &["period", "sound", "--start", "tomorrow", "--allowance", "5"],
        &["period", "sound", "--start", "2027-02-01", "--end", "2027-01-31", "--allowance", "5"],
        &["period", "sound", "--start", "2027-02-01", "--end", "2027-02-01", "--allowance", "5"],
        &["period", "sound", "--start", "2027-02-01", "--allowance=-1"],
        &["period", "sound", "--start", "2027-02-01", "--allowance", "nan"],
        &["period", "sound", "--start", "2027-02-01", "--allowance", "5", "--unit", "apples"],
        &["period", "sound", "--start", "2027-02-01", "--allowance", "5", "--rolling", "often"],
        &["period", "sound", "--start", "2027-02-01", "--allowance", "5", "--rolling", "0s"],
        &["period", "sound", "--allowance", "5"],
        &["period", "", "--start", "2027-02-01", "--allowance", "5"],
        &["record", "sound", "--cost=-1"],
        &["record", "sound", "--cost", "much"],
        &["record", "sound", "--cost", "1", "--tokens=-1"],
        &["record", "", "--cost", "1"],
    ];
    for args in wrong {
        let refused = budget(env, args);
        assert_eq!(refused.code, Some(2), "{args:?}\nstdout: {}\nstderr: {}", refused.stdout, refused.stderr);
    }
    let overlapping = [&["period", "sound", "--allowance", "7"], later.as_slice()].concat();
    let refused = budget(env, &overlapping);
    refused.expect_code(2).expect_class("usage");
    assert!(refused.stdout.contains("another of sound overlaps with it"), "{}", refused.stdout);
    let after = (limit_of(env, "sound"), done(env, &["report"])["rows"].clone());
    assert_eq!(before.0, after.0);
    let named = |rows: &Value| rows.as_array().into_iter().flatten().filter(|row| row["name"] == "sound").count();
    assert_eq!((named(&before.1), named(&after.1)), (0, 0), "nothing was recorded");
    // One that would overlap with any of those periods can be entered: none was kept.
    for more in [&[][..], &["--unit", "requests"], &["--rolling", "5h"]] {
        let period = ["period", "sound", "--start", "2020-03-01", "--allowance", "1"];
        let entered = done(env, &[&period, more].concat());
        let removed = done(env, &["period", "sound", "--remove", &entered["id"].to_string()]);
        assert_eq!(removed["removed"], true);
    }
}

#[test]
fn a_provider_that_is_running_low_is_spared_and_one_that_is_used_up_is_refused() {
    let yard = yard();
    let env = &yard.env;
    // Another of the tier has money.
    done(env, &["configure", "thin", "--daily-budget", "10"]);
    let hello = yard.at("thin").script("first", vec![]);
    assert_eq!(attempts(&yard.dispatch(&["--tier", "listed", &hello]).expect_ok())[0].0, "thin/m");
    record(env, "thin", "8");
    let report = yard.dispatch(&["--tier", "listed", &hello]).expect_ok();
    assert_eq!(attempts(&report)[0].0, "thick/m");
    assert_eq!((&report["route"]["tier"], &report["route"]["requested_tier"]), (&json!("listed"), &Value::Null));
    let passed = trace(&report["route"], "tier");
    assert!(passed.contains(&"thin/m: provider thin has used 80 % of $10.0000".to_owned()), "{passed:?}");

    // No other of the tier has budget left: the next cheaper one is used, and the report contains that.
    done(env, &["configure", "attic", "--daily-budget", "10"]);
    record(env, "attic", "8");
    let spared = yard.at("attic").script("spared", vec![]);
    let report = yard.dispatch(&["--tier", "above", &spared]).expect_ok();
    let change = "tier above is downgraded to below: provider attic has used 80 % of $10.0000";
    assert_eq!(attempts(&report)[0].0, "basement/m", "{report:#}");
    assert_eq!((&report["route"]["tier"], &report["route"]["requested_tier"]), (&json!("below"), &json!("above")));
    assert!(warnings(&report).contains(change), "{report:#}");
    assert!(trace(&report["route"], "budget").contains(&format!(": {change}")), "{report:#}");
    let route = env.run(&["route", "--json", "--tier", "above", "hello"]).expect_code(0).json();
    assert_eq!(route["ref"], "basement/m");
    assert!(trace(&route, "budget").contains(&format!(": {change}")), "{route:#}");
    let told = done(env, &["recommend", "--tier", "above"]);
    assert_eq!((&told["tiers"][0]["use"], &told["tiers"][0]["model"]), (&json!("below"), &json!("basement/m")));
    // Critical work keeps its tier, and a named model is still asked.
    let report = yard.dispatch(&["--critical", "--tier", "above", &spared]).expect_ok();
    assert_eq!((attempts(&report)[0].0.as_str(), &report["route"]["tier"]), ("attic/m", &json!("above")));
    assert_eq!(attempts(&yard.dispatch(&["-m", "attic/m", &spared]).expect_ok())[0].0, "attic/m");

    // Used up: no model is asked, whatever the flags, except with `--over-budget`.
    record(env, "attic", "1.5");
    let before = yard.asked("attic");
    for flags in [&["-m", "attic/m"][..], &["--critical", "-m", "attic/m"], &["-m", "attic/m", "--fallback"]] {
        let refused = yard.dispatch(&[flags, &[&spared]].concat());
        refused.expect_code(3).expect_class("budget_refused");
        assert!(refused.stdout.contains("provider attic has used 95 % of $10.0000"), "{}", refused.stdout);
    }
    env.run(&["route", "--json", "-m", "attic/m", "hello"]).expect_code(3).expect_class("budget_refused");
    assert_eq!(yard.asked("attic"), before, "no request reached it");
    let report = yard.dispatch(&["--over-budget", "-m", "attic/m", &spared]).expect_ok();
    assert_eq!(yard.asked("attic"), before + 1);
    let said = trace(&report["route"], "budget").join("; ");
    assert!(said.contains("provider attic has used 95 % of $10.0000; passed on request"), "{said}");
    assert_eq!(limit_of(env, "attic")["reserved"], 0);
}

#[test]
fn a_tier_whose_only_provider_is_used_up_says_that_it_is_the_budget() {
    let yard = yard();
    let only = [("SHUNTYARD_POLICY_ALLOW_PROVIDERS", "cellar")];
    done(&yard.env, &["configure", "cellar", "--daily-budget", "1"]);
    record(&yard.env, "cellar", "1");
    let refused = yard.env.run_with(&only, &["dispatch", "--json", "--tier", "cellar", "hello"]);
    refused.expect_code(3).expect_class("budget_refused");
    assert_eq!(yard.asked("cellar"), 0);
}

#[test]
fn a_dispatch_has_a_limit_of_its_own_and_what_has_no_price_cannot_be_held_to_one() {
    let yard = yard();
    let key = yard.at("frugal").script("frugal", vec![Step::text("cheap").usage(Tokens::new(100, 10))]);
    let refused = yard.dispatch(&["--max-cost", "0.0000001", "-m", "frugal/m", &key]);
    refused.expect_code(3).expect_class("budget_refused");
    assert!(refused.stdout.contains("--max-cost"), "{}", refused.stdout);
    assert_eq!(yard.asked_for("frugal", &key), 0);
    for wrong in ["-1", "free", "nan"] {
        yard.dispatch(&[&format!("--max-cost={wrong}"), "-m", "frugal/m", &key]).expect_code(2);
    }
    assert_eq!(yard.dispatch(&["--max-cost", "1", "-m", "frugal/m", &key]).expect_ok()["text"], "cheap");

    let run = |variables: &[(&str, &str)], flags: &[&str]| {
        yard.env.run_with(variables, &[&["dispatch", "--json", "-m", "unpriced/m"], flags, &[&key]].concat())
    };
    run(&[], &[]).expect_ok();
    let asked = yard.asked("unpriced");
    run(&[], &["--max-cost", "1"]).expect_code(3).expect_class("budget_refused");
    done(&yard.env, &["configure", "unpriced", "--daily-budget", "1"]);
    let refused = run(&[], &[]);
    refused.expect_code(3).expect_class("budget_refused");
    assert!(refused.stdout.contains("unpriced/m has no price"), "{}", refused.stdout);
    assert_eq!(yard.asked("unpriced"), asked);
    run(&[("SHUNTYARD_BUDGET_UNKNOWN_ALLOWED", "true")], &[]).expect_ok();
    run(&[("SHUNTYARD_BUDGET_UNKNOWN_ALLOWED", "true")], &["--max-cost", "1"]).expect_ok();
    run(&[], &["--over-budget"]).expect_ok();
    let line = limit_of(&yard.env, "unpriced");
    assert_eq!((&line["settled"], &line["unknown_costs"], &line["reserved"]), (&json!(0), &json!(4), &json!(0)));
}

#[test]
fn a_session_is_refused_rather_than_given_to_another_model() {
    let yard = yard();
    let key = yard.at("faithful").script("faithful", vec![Step::text("one"), Step::text("two")]);
    let first = yard.dispatch(&["-m", "faithful/m", "--keep", &key]).expect_ok();
    let session = first["session_id"].as_str().unwrap_or_default().to_owned();
    // The limit is not reached, but the rest is less than the probable cost of an attempt.
    done(&yard.env, &["configure", "faithful", "--daily-budget", "0.005"]);
    let refused = yard.dispatch(&["--session", &session, &key]);
    refused.expect_code(3).expect_class("budget_refused");
    assert_eq!(yard.ledger(&key).entries.len(), 1, "nobody else was asked");
    done(&yard.env, &["configure", "faithful", "--remove"]);
    assert_eq!(yard.dispatch(&["--session", &session, &key]).expect_ok()["text"], "two");
}

#[test]
fn ten_at_once_stay_below_the_line_together() {
    let yard = yard();
    let env = &yard.env;
    // At worst one comes to 128 000 tokens that are kept and 8 192 of output, which is $0.60288. The line of $1.90 has
    // budget for three; what three really cost leaves none for a fourth.
    done(env, &["configure", "crowd", "--daily-budget", "2"]);
    let answer = || Step::text("one of them").usage(Tokens::new(110_000, 8000));
    let key = yard.at("crowd").script("crowd", (0..10).map(|_| answer()).collect());
    let strict = [("SHUNTYARD_BUDGET_STRICT", "true"), ("SHUNTYARD_DISPATCH_PROVIDER_RETRIES", "0")];
    let start = |_| {
        let mut command = env.command(&["dispatch", "--json", "-m", "crowd/m", &key]);
        command.envs(strict).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary starts")
    };
    let running: Vec<_> = (0..10).map(start).collect();
    let outcomes: Vec<Outcome> = running.into_iter().map(finish).collect();
    let (answered, refused): (Vec<_>, Vec<_>) = outcomes.iter().partition(|outcome| outcome.code == Some(0));
    for outcome in &refused {
        outcome.expect_code(3).expect_class("budget_refused");
    }
    assert_eq!(answered.len(), 3, "{refused:#?}");
    assert_eq!(yard.asked("crowd"), 3, "who was refused asked nobody");
    let line = limit_of(env, "crowd");
    let booked = yard.at("crowd").ledger().total_reported().cost;
    assert_eq!((&line["settled"], &line["reserved"]), (&json!(booked), &json!(0)), "{line:#}");
    assert!(booked <= Nano(1_900_000_000), "{booked}");
    // A refusal is no open dispatch.
    let record = record_of(env, "crowd/m");
    assert!(record.status == RunStatus::Ok && record.ended_at.is_some(), "{record:#?}");
}

#[test]
fn what_a_killed_process_had_reserved_counts_as_spent() {
    let yard = yard();
    let env = &yard.env;
    done(env, &["configure", "mortal", "--daily-budget", "10"]);
    let step = Step::tool("bash", json!({"command": "true", "description": "nothing"}));
    let key = yard.at("mortal").script("dies", vec![step.usage(Tokens::new(2000, 30)), Step::hang_mid_stream()]);
    let directory = env.repository("mortal");
    let directory = directory.to_string_lossy();
    let mut running =
        env.spawn(&["dispatch", "--json", "--mode", "agent", "-m", "mortal/m", "--dir", &directory, &key]);
    yard.at("mortal").wait_for_requests(&key, 2);
    let before = limit_of(env, "mortal");
    assert!(before["reserved"].as_i64() > Some(0) && before["settled"] == 0, "{before:#}");
    running.kill().expect("killed");
    running.wait().expect("reaped");
    eventually("the reservation has ended", SOON, || limit_of(env, "mortal")["reserved"] == 0);
    let counted = yard.at("mortal").requests(&key).total().cost;
    let line = limit_of(env, "mortal");
    assert_eq!((&line["settled"], &line["unknown_costs"]), (&before["reserved"], &json!(1)), "{line:#}");
    assert!(line["settled"].as_i64() >= Some(counted.0) && counted > Nano::ZERO, "{line:#}");
    // The money comes first, and the rest a moment later.
    eventually("it is closed", SOON, || record_of(env, "mortal/m").status == RunStatus::Abandoned);
}

#[test]
fn what_is_paid_for_is_used_first_and_left_when_it_is_used_up() {
    let yard = yard();
    let env = &yard.env;
    let from = ["--start", "2020-01-01", "--end", "2099-01-01"];
    let allowance = ["--allowance", "3", "--unit", "requests"];
    done(env, &[&["period", "prepaid"][..], &from, &allowance].concat());
    let rolling =
        ["period", "somebody", "--start", "2020-01-01", "--allowance", "1000", "--unit", "tokens", "--rolling", "5h"];
    done(env, &rolling);
    assert_eq!(limit_of(env, "somebody")["unit"], "tokens");
    let key = yard.at("prepaid").script("paid", vec![]);
    for request in 1..=3 {
        let report = yard.dispatch(&["--tier", "plan", &key]);
        assert_eq!(attempts(&report.expect_ok())[0].0, "prepaid/m", "request {request}");
        let said = trace(&report.json()["route"], "budget").join("; ");
        assert!(said.contains("prepaid is paid for already and comes first"), "{said}");
    }
    let line = limit_of(env, "prepaid");
    assert_eq!(
        (&line["settled"], &line["level"], &line["billing_type"]),
        (&json!(3), &json!("exhausted"), &json!("subscription"))
    );
    let report = yard.dispatch(&["--tier", "plan", &key]).expect_ok();
    assert_eq!(attempts(&report)[0].0, "metered/m");
    assert_eq!((yard.asked_for("prepaid", &key), yard.asked_for("metered", &key)), (3, 1));
    yard.dispatch(&["-m", "prepaid/m", &key]).expect_code(3).expect_class("budget_refused");
    budget(env, &["check", "prepaid"]).expect_code(2);
}

#[test]
fn a_line_is_announced_once_and_all_of_it_together_can_be_closed() {
    let providers = ["notifier", "quiet"].map(|id| plain(id, Key::Config)).into();
    let yard = Yard::new("budget-alone", providers, &json!({"model": "quiet/m"}), &toml());
    let env = &yard.env;
    let said = |report: &Value| warnings(report).matches("budget: ").count();
    let announced = || {
        let events = events(env, "budget.alert", "provider:notifier");
        events.iter().map(|data| data["level"].as_str().unwrap_or_default().to_owned()).collect::<Vec<_>>()
    };
    // Its own cost takes it past the line.
    done(env, &["configure", "notifier", "--daily-budget", "0.02"]);
    let usage = Tokens::new(500, 1000);
    let key = yard.at("notifier").script("notifier", vec![Step::text("over").usage(usage)]);
    let report = yard.dispatch(&["-m", "notifier/m", &key]).expect_ok();
    let told = "budget: provider notifier has used 82 % of $0.0200; cheaper models are used from now on";
    assert!(warnings(&report).contains(told) && said(&report) == 1, "{report:#}");
    assert_eq!(announced(), ["degraded"]);
    let report = yard.dispatch(&["-m", "quiet/m", "hello"]).expect_ok();
    assert_eq!(said(&report), 0, "{report:#}");
    record(env, "notifier", "0.0025");
    let report = yard.dispatch(&["-m", "quiet/m", "hello"]).expect_ok();
    assert!(
        warnings(&report).contains("provider notifier has used 95 % of $0.0200; nothing more is spent"),
        "{report:#}"
    );
    assert_eq!(said(&yard.dispatch(&["-m", "quiet/m", "hello"]).expect_ok()), 0);
    assert_eq!(announced(), ["degraded", "exhausted"]);

    done(env, &["configure", "--overall", "--daily-budget", "100"]);
    yard.dispatch(&["-m", "quiet/m", "hello"]).expect_ok();
    record(env, "elsewhere", "96");
    let before = yard.asked("quiet");
    for flags in [&[][..], &["-m", "quiet/m"], &["--critical", "--tag", "auto:fast"]] {
        let refused = yard.dispatch(&[flags, &["hello"]].concat());
        refused.expect_code(3).expect_class("budget_refused");
        assert!(refused.stdout.contains("nothing may be spent: overall has used 96 % of $100.0000"));
    }
    assert_eq!(yard.asked("quiet"), before);
    // A refused dispatch announces the line too, and the log has it once.
    assert_eq!(events(env, "budget.alert", "overall").len(), 1, "a refusal announces the line as well");
    budget(env, &["check", "quiet"]).expect_code(2);
    yard.dispatch(&["--over-budget", "-m", "quiet/m", "hello"]).expect_ok();
    assert_eq!(events(env, "budget.alert", "overall").len(), 1);
    done(env, &["configure", "--overall", "--remove"]);
    yard.dispatch(&["-m", "quiet/m", "hello"]).expect_ok();
}

#[test]
fn the_rate_of_spending_has_a_forecast_and_days_have_a_place() {
    let env = &yard().env;
    done(env, &["configure", "burning", "--daily-budget", "10"]);
    let rate = |env: &TestEnv| done(env, &["burn-rate", "burning"])["rates"][0].clone();
    let idle = rate(env);
    assert_eq!((&idle["per_hour"], &idle["exhausted_at_ms"]), (&json!(0), &Value::Null), "{idle:#}");
    record(env, "burning", "6");
    let busy = rate(env);
    // The day began between twelve and fourteen hours ago.
    let per_hour = busy["per_hour"].as_i64().expect("a rate");
    assert!((428_000_000..=500_000_000).contains(&per_hour), "{busy:#}");
    assert_eq!((&busy["left"], &busy["time_zone"]), (&json!(3_500_000_000_i64), &json!("UTC")));
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("a time after 1970").as_millis();
    let hours = u64::try_from(now).ok().and_then(|now| busy["exhausted_at_ms"].as_u64()?.checked_sub(now));
    assert!(hours.is_some_and(|left| (7 * 3_600_000 - 60_000..=8 * 3_600_000 + 600_000).contains(&left)), "{busy:#}");
    assert_eq!(busy["before_the_end"], true);
    let people = env.run(&["budget", "burn-rate", "burning"]);
    people.expect_code(0);
    assert!(people.stdout.contains("provider burning") && people.stdout.contains("$3.5000"), "{}", people.stdout);
    record(env, "burning", "4");
    assert!(env.run(&["budget", "burn-rate", "burning"]).stdout.contains("now"));

    for (variable, value) in [("SHUNTYARD_BUDGET_TIME_ZONE", "Nowhere/Land"), ("SHUNTYARD_BUDGET_DAY_STARTS_AT", "9")] {
        for args in [&["burn-rate"][..], &["status"], &["check", "burning"], &["report"]] {
            let refused = env.run_with(&[(variable, value)], &[&["budget", "--json"], args].concat());
            refused.expect_code(2).expect_class("configuration");
        }
        let refused = env.run_with(&[(variable, value)], &["dispatch", "--json", "-m", "frugal/m", "hello"]);
        refused.expect_code(2).expect_class("configuration");
    }
}
