//! What happens when a model fails: which one is asked next, which is not, and what is remembered of it.

use crate::yard::{Key, Yard, attempts, events, plain, record_of, trace};
use serde_json::{Value, json};
use shuntyard_core::{ErrorClass, Nano};
use shuntyard_scripted::{Ending, Step, Tokens};
use shuntyard_store::RunStatus;
use shuntyard_testkit::{environment::finish, eventually, outcome::assert_bill};
use std::{process::Command, sync::OnceLock, time::Duration};

const SOON: Duration = Duration::from_secs(20);

/// Every test has providers of its own here, because a provider that fails is cooling down for all tests.
const TOML: &str = r#"
tier_order = ["low", "high"]
[tiers]
mine = ["refusing/m", "limited/m", "hanging/m", "nokey/m", "inlogin/m", "inconfig/m"]
worker = ["worker/m", "relief/m"]
labourer = ["labourer/m", "relief/m"]
early = ["early/m", "relief/m"]
low = ["down/m", "weak/m"]
high = ["strong/m"]
strict = ["strict/m", "inconfig/m"]
deep = ["deep-one/m", "deep-two/m", "inconfig/m"]
allowed = ["first/m", "second/m", "third/m"]
chained = ["chained/m", "inconfig/m"]
slow = ["quitter/m", "slow/m", "inconfig/m"]
dying = ["hollow/m", "dying/m", "inconfig/m"]
[fallback.tiers]
chained = ["nokey/m", "chained/m", "relief/m"]
"#;

fn yard() -> &'static Yard {
    static YARD: OnceLock<Yard> = OnceLock::new();
    YARD.get_or_init(|| {
        let wrong =
            ["refusing", "stubborn", "early", "down", "strict", "deep-one", "deep-two", "first", "chained", "quitter"];
        let right = [
            "limited", "hanging", "inconfig", "worker", "labourer", "relief", "weak", "strong", "second", "third",
            "slow", "hollow", "dying",
        ];
        let mut providers = vec![plain("inlogin", Key::Login), plain("nokey", Key::Nowhere)];
        providers.extend(wrong.map(|id| plain(id, Key::Wrong)));
        providers.extend(right.map(|id| plain(id, Key::Config)));
        let yard = Yard::new("fallback", providers, &json!({"model": "inconfig/m"}), TOML);
        // The first read of a directory takes seconds, which a short timer would blame on a model.
        yard.dispatch(&["-m", "inconfig/m", "warm up"]).expect_ok();
        yard
    })
}

fn warnings(report: &Value) -> String {
    report["warnings"].to_string()
}

fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected.iter().map(|(model, class)| ((*model).to_owned(), (*class).to_owned())).collect()
}

#[test]
fn one_call_asks_on_until_a_model_answers_and_the_next_call_goes_straight_there() {
    let yard = yard();
    let key = yard.at("inlogin").script("story", vec![Step::text("at last"), Step::text("at once")]);
    yard.script("limited", &key, vec![Step::status(429).retry_after(3600)]);
    yard.script("hanging", &key, vec![Step::hang_before_headers()]);
    let patience = [("SHUNTYARD_DISPATCH_FIRST_TOKEN_TIMEOUT", "5s")];
    let outcome = yard.env.run_with(&patience, &["dispatch", "--json", "--tier", "mine", &key]);
    let report = outcome.expect_ok();
    assert_eq!(report["text"], "at last");
    let story = [
        ("refusing/m", "auth_invalid"),
        ("limited/m", "quota_exhausted"),
        ("hanging/m", "timeout"),
        ("inlogin/m", "ok"),
    ];
    assert_eq!(attempts(&report), pairs(&story));
    let asked = ["refusing", "limited", "hanging", "nokey", "inlogin"].map(|provider| yard.asked_for(provider, &key));
    assert_eq!(asked, [1, 1, 1, 0, 1], "nobody is asked twice");
    assert_bill(&report, &yard.ledger(&key));
    assert_eq!(report["cost_known"], false, "what the hanging one cost is not known");
    eventually("the hanging provider is let go", SOON, || {
        yard.at("hanging").requests(&key).entries.iter().all(|entry| entry.ending == Ending::ClientClosed)
    });

    let moves = [
        ("refusing/m", "limited/m", "auth_error"),
        ("limited/m", "hanging/m", "quota"),
        ("hanging/m", "inlogin/m", "timeout"),
    ];
    let told = moves.map(|(from, to, trigger)| format!("{to}: {from} failed ({trigger}), so {to} is asked"));
    assert_eq!(trace(&report["route"], "fallback"), told);
    let passed = trace(&report["route"], "tier");
    assert!(passed.contains(&"nokey/m: its provider is not connected".to_owned()), "{passed:?}");
    assert_eq!((&report["route"]["rule"], &report["route"]["tier"]), (&json!("tier"), &json!("mine")));
    for (from, to, trigger) in moves {
        assert!(warnings(&report).contains(&format!("{from} failed ({trigger}), so {to} is asked")), "{report:#}");
    }

    let id = report["id"].as_str().expect("an id");
    let record = record_of(&yard.env, "hanging/m");
    assert_eq!((record.id.to_string().as_str(), record.status), (id, RunStatus::Ok));
    let kept: Vec<_> =
        record.attempts.iter().map(|made| (made.ordinal, made.model.as_str(), made.status, made.error_class)).collect();
    assert_eq!(
        kept,
        [
            (1, "refusing/m", RunStatus::Error, Some(ErrorClass::AuthInvalid)),
            (2, "limited/m", RunStatus::Error, Some(ErrorClass::QuotaExhausted)),
            (3, "hanging/m", RunStatus::Timeout, Some(ErrorClass::Timeout)),
            (4, "inlogin/m", RunStatus::Ok, None),
        ]
    );
    let kept: Nano = record.attempts.iter().map(|made| made.cost).sum();
    assert_eq!(report["cost_usd"].as_f64().and_then(Nano::from_usd), Some(kept), "{record:#?}");
    assert!(kept >= yard.ledger(&key).total().cost, "the hanging one counts with an estimate: {record:#?}");
    assert_eq!(trace(&record.route, "fallback"), told, "the whole story is kept");
    let logged = events(&yard.env, "fallback", id);
    let logged: Vec<_> = logged.iter().map(|data| [&data["from"], &data["to"], &data["trigger"]]).collect();
    assert_eq!(
        logged,
        moves.map(|(from, to, trigger)| [json!(from), json!(to), json!(trigger)]).each_ref().map(|row| row.each_ref())
    );

    // Another process knows the failure that this one met.
    let report = yard.dispatch(&["--tier", "mine", &key]).expect_ok();
    assert_eq!(report["text"], "at once");
    assert_eq!(attempts(&report), pairs(&[("inlogin/m", "ok")]));
    let shown = yard.env.run(&["fallback", "mine", "--json"]).expect_code(0).json();
    let cooling = |target: &str, trigger: &str| {
        let rows = shown["cooldowns"].as_array().into_iter().flatten();
        let mut found = rows.filter(|row| row["target"] == target && row["trigger"] == trigger);
        found.next().and_then(|row| row["seconds_left"].as_u64()).unwrap_or_default()
    };
    assert!(cooling("refusing", "auth_error") > 3000, "{shown:#}");
    assert!(cooling("limited", "quota") > 3000, "{shown:#}");
    assert!(cooling("hanging/m", "timeout") > 60, "{shown:#}");
    assert_eq!(shown["tiers"][0]["asked"][0]["model"], "inlogin/m");
    assert_eq!(shown["tiers"][0]["asked"][1]["model"], "inconfig/m");
    let decided = yard.env.run(&["route", "--json", "--tier", "mine", "hello"]).expect_code(0).json();
    assert_eq!(decided["ref"], "inlogin/m");
    let waiting = trace(&decided, "availability");
    for model in ["refusing/m", "limited/m", "hanging/m"] {
        let says = |line: &String| line.starts_with(&format!("{model}: in cooldown for another "));
        assert!(waiting.iter().any(says), "{model}: {waiting:?}");
    }
}

#[test]
fn a_named_model_is_exchanged_only_when_that_was_asked_for() {
    let yard = yard();
    let key = yard.at("inconfig").script("named", vec![Step::text("from another")]);
    let held = yard.dispatch(&["-m", "stubborn/m", &key]);
    held.expect_code(1).expect_class("auth_invalid");
    assert_eq!(attempts(&held.json()), pairs(&[("stubborn/m", "auth_invalid")]));
    assert_eq!(yard.asked_for("inconfig", &key), 0);
    let moved = yard.dispatch(&["-m", "stubborn/m", "--fallback", &key]).expect_ok();
    assert_eq!(moved["text"], "from another");
    assert_eq!(attempts(&moved), pairs(&[("stubborn/m", "auth_invalid"), ("inconfig/m", "ok")]));
    assert!(warnings(&moved).contains("stubborn/m failed (auth_error), so inconfig/m is asked"), "{moved:#}");
    assert!(warnings(&moved).contains("it is asked because it was named"), "it should be left alone: {moved:#}");
    let people = yard.env.run(&["dispatch", "-m", "stubborn/m", "--fallback", &key]);
    people.expect_code(0);
    assert!(people.stdout.starts_with("--- dispatch response from inconfig/m [fallback] ("), "{}", people.stdout);
    assert!(people.stderr.contains("stubborn/m failed (auth_error), so inconfig/m is asked"), "{}", people.stderr);
}

#[test]
fn an_agent_that_has_begun_to_work_is_not_replaced_and_one_that_has_not_is() {
    let yard = yard();
    let directory = yard.env.repository("agent");
    let file = directory.join("begun.txt");
    let write = |text: &str| Step::tool("write", json!({"filePath": file, "content": text}));
    let agent = |tier: &str, key: &str| {
        yard.dispatch(&["--mode", "agent", "--tier", tier, "--dir", &directory.to_string_lossy(), key])
    };
    // Refused at once, and given up after retries: both leave half of the work behind.
    let refused = (vec![Step::status(401)], "auth_invalid");
    let failing = (vec![Step::status(500), Step::status(500), Step::status(500)], "server_error");
    for (worker, (failure, class)) in [("worker", refused), ("labourer", failing)] {
        let key = yard.at("relief").script("begun", vec![Step::text("never said")]);
        yard.script(worker, &key, [vec![write(worker)], failure].concat());
        let begun = agent(worker, &key);
        begun.expect_code(1).expect_class(class);
        let report = begun.json();
        assert_eq!(attempts(&report), pairs(&[(&format!("{worker}/m"), class)]));
        assert_eq!(std::fs::read_to_string(&file).expect("the work"), worker);
        assert_eq!(yard.asked_for("relief", &key), 0);
        assert!(warnings(&report).contains("no other model was asked: the failed one had begun to work"), "{report:#}");
        assert_bill(&report, &yard.ledger(&key));
    }

    let key = yard.at("relief").script("unbegun", vec![write("whole"), Step::text("done")]);
    let report = agent("early", &key).expect_ok();
    assert_eq!(attempts(&report), pairs(&[("early/m", "auth_invalid"), ("relief/m", "ok")]));
    assert_eq!(std::fs::read_to_string(&file).expect("the work"), "whole");
    assert_bill(&report, &yard.ledger(&key));
}

#[test]
fn a_model_that_is_too_weak_leads_up_and_one_that_is_away_leads_aside() {
    let yard = yard();
    let schema = r#"{"type":"object","properties":{"score":{"type":"number"}},"required":["score"]}"#;
    // The first of the tier is away: another of the same tier is asked, although a stronger one is there.
    let key = yard.at("weak").script("aside", vec![Step::text("aside")]);
    let report = yard.dispatch(&["--tier", "low", &key]).expect_ok();
    assert_eq!(attempts(&report), pairs(&[("down/m", "auth_invalid"), ("weak/m", "ok")]));
    assert_eq!(report["route"]["tier"], "low");
    assert_eq!(yard.asked_for("strong", &key), 0);
    // The second cannot do it: no other model of the same strength is tried.
    let wrong = || Step::structured(json!({"score": "four"}));
    let key = yard.at("strong").script("up", vec![Step::structured(json!({"score": 4}))]);
    yard.script("weak", &key, vec![wrong(), wrong(), wrong()]);
    let report = yard.dispatch(&["--tier", "low", "--schema", schema, &key]).expect_ok();
    assert_eq!(report["structured"], json!({"score": 4}));
    assert_eq!(attempts(&report), pairs(&[("weak/m", "structured_output_failed"), ("strong/m", "ok")]));
    assert_eq!((&report["route"]["tier"], &report["route"]["requested_tier"]), (&json!("high"), &json!("low")));
    let told = trace(&report["route"], "fallback");
    assert_eq!(told, ["strong/m: weak/m failed (capability), so strong/m is asked"]);
    assert_bill(&report, &yard.ledger(&key));
    // It depends on the prompt, so the weak one is asked again.
    let report = yard.dispatch(&["--tier", "low", "hello"]).expect_ok();
    assert_eq!(attempts(&report), pairs(&[("weak/m", "ok")]));
}

#[test]
fn triggers_depth_and_chains_are_those_of_the_configuration() {
    let yard = yard();
    let run = |variable: &[(&str, &str)], tier: &str, key: &str| {
        yard.env.run_with(variable, &["dispatch", "--json", "--tier", tier, key])
    };
    let key = yard.at("inconfig").script("settings", vec![]);
    let held = run(&[("SHUNTYARD_FALLBACK_TRIGGERS", "quota,timeout")], "strict", &key);
    held.expect_code(1).expect_class("auth_invalid");
    assert_eq!(attempts(&held.json()), pairs(&[("strict/m", "auth_invalid")]));
    assert!(warnings(&held.json()).contains("`fallback.triggers` does not have auth_error"), "{}", held.stdout);
    let deep = run(&[("SHUNTYARD_FALLBACK_DEPTH", "2")], "deep", &key);
    deep.expect_code(1).expect_class("auth_invalid");
    assert_eq!(attempts(&deep.json()), pairs(&[("deep-one/m", "auth_invalid"), ("deep-two/m", "auth_invalid")]));
    assert!(warnings(&deep.json()).contains("2 were asked, which is `fallback.depth`"), "{}", deep.stdout);
    assert_eq!(yard.asked_for("inconfig", &key), 0);
    let report = run(&[], "chained", &key).expect_ok();
    assert_eq!(attempts(&report), pairs(&[("chained/m", "auth_invalid"), ("relief/m", "ok")]));
    let passed = trace(&report["route"], "availability");
    assert!(passed.contains(&"nokey/m: its provider is not connected".to_owned()), "{passed:?}");
}

#[test]
fn providers_that_are_not_allowed_are_asked_neither_at_a_hop_nor_by_name() {
    let yard = yard();
    let allowed = [("SHUNTYARD_POLICY_ALLOW_PROVIDERS", "first,third")];
    let key = yard.at("third").script("allowed", vec![Step::text("allowed")]);
    let report = yard.env.run_with(&allowed, &["dispatch", "--json", "--tier", "allowed", &key]).expect_ok();
    assert_eq!(attempts(&report), pairs(&[("first/m", "auth_invalid"), ("third/m", "ok")]));
    let passed = trace(&report["route"], "tier");
    assert!(passed.contains(&"second/m: its provider is not allowed".to_owned()), "{passed:?}");
    for flags in [&["-m", "second/m"][..], &["-m", "second/m", "--fallback"]] {
        let named = yard.env.run_with(&allowed, &[&["dispatch", "--json"], flags, &[&key]].concat());
        named.expect_code(3).expect_class("policy");
    }
    // No model of an unlisted provider substitutes for the allowed ones when they are away.
    let only = [("SHUNTYARD_POLICY_ALLOW_PROVIDERS", "first")];
    let away = yard.env.run_with(&only, &["dispatch", "--json", "--tier", "allowed", &key]);
    away.expect_code(1).expect_class("auth_invalid");
    assert_eq!(attempts(&away.json()), pairs(&[("first/m", "auth_invalid")]));
    assert_eq!(yard.asked_for("second", &key), 0);
}

fn kill(signal: &str, pid: u32) {
    assert!(Command::new("kill").args([signal, &pid.to_string()]).status().expect("kill").success());
}

#[test]
fn an_interrupt_during_the_second_attempt_ends_both_and_asks_nobody_else() {
    let yard = yard();
    let key = yard.at("slow").script("interrupt", vec![Step::hang_mid_stream()]);
    let running = yard.env.spawn(&["dispatch", "--json", "--tier", "slow", &key]);
    yard.at("slow").wait_for_requests(&key, 1);
    kill("-INT", running.id());
    let outcome = finish(running);
    outcome.expect_code(1).expect_class("cancelled");
    assert_eq!(attempts(&outcome.json()), pairs(&[("quitter/m", "auth_invalid"), ("slow/m", "cancelled")]));
    assert_eq!(yard.asked_for("inconfig", &key), 0);
    eventually("the provider is let go", SOON, || {
        yard.at("slow").requests(&key).entries.iter().all(|entry| entry.ending == Ending::ClientClosed)
    });
    let record = record_of(&yard.env, "slow/m");
    assert_eq!((record.status, record.error_class), (RunStatus::Error, Some(ErrorClass::Cancelled)));
    assert!(record.ended_at.is_some() && record.attempts.len() == 2, "{record:#?}");
    assert!(record.attempts.iter().all(|made| made.ended_at.is_some()), "{record:#?}");
    // An interrupted model is not to blame: it is asked again.
    let report = yard.dispatch(&["--tier", "slow", "hello"]).expect_ok();
    assert_eq!(attempts(&report), pairs(&[("slow/m", "ok")]));
}

#[test]
fn a_process_that_dies_during_the_second_attempt_is_settled_by_others() {
    let yard = yard();
    let directory = yard.env.repository("dying");
    let step = Step::tool("bash", json!({"command": "true", "description": "nothing"}));
    let key = yard.at("dying").script("dies", vec![step.usage(Tokens::new(2000, 30)), Step::hang_mid_stream()]);
    yard.script("hollow", &key, vec![Step::empty().usage(Tokens::new(1000, 20))]);
    let directory = directory.to_string_lossy();
    let mut running =
        yard.env.spawn(&["dispatch", "--json", "--mode", "agent", "--tier", "dying", "--dir", &directory, &key]);
    yard.at("dying").wait_for_requests(&key, 2);
    running.kill().expect("killed");
    running.wait().expect("reaped");
    eventually("the second attempt is settled", SOON, || record_of(&yard.env, "dying/m").ended_at.is_some());
    let record = record_of(&yard.env, "dying/m");
    let kept: Vec<_> =
        record.attempts.iter().map(|made| (made.model.as_str(), made.status, made.error_class)).collect();
    assert_eq!(
        kept,
        [("hollow/m", RunStatus::Error, Some(ErrorClass::EmptyResponse)), ("dying/m", RunStatus::Abandoned, None)]
    );
    assert_eq!(record.status, RunStatus::Abandoned);
    let told = yard.ledger(&key).total_reported();
    assert!(told.cost > Nano::ZERO && record.attempts.iter().all(|made| made.cost > Nano::ZERO), "{record:#?}");
    let counted = yard.ledger(&key).total().cost;
    assert!(record.attempts.iter().map(|made| made.cost).sum::<Nano>() >= counted, "{counted}: {record:#?}");
    eventually("the provider is let go", SOON, || {
        yard.at("dying").requests(&key).entries.iter().all(|entry| entry.ending != Ending::InFlight)
    });
}
