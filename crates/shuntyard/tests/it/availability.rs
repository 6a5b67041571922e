//! Whether a provider answers: asked with a tiny prompt or known from work, remembered for all, and forgotten.

use crate::yard::{Key, Yard, attempts, plain};
use serde_json::{Value, json};
use shuntyard_core::Nano;
use shuntyard_scripted::Step;
use std::{sync::OnceLock, time::Duration};

/// The prompt of a check.
const PROBE: &str = "Answer with the one word OK.";

const TOML: &str = r#"
[availability]
probe_timeout = "8s"
health_ttl = "30m"
limit_ttl = "30m"
[tiers]
renewed = ["renewed/m", "good/m"]
patient = ["patient/m", "good/m"]
brief = ["brief/m", "good/m"]
failing = ["failing/m", "good/m"]
forgotten = ["forgotten/m", "good/m"]
expired = ["expired/m", "good/m"]
late = ["late/m", "good/m"]
"#;

fn yard() -> &'static Yard {
    static YARD: OnceLock<Yard> = OnceLock::new();
    YARD.get_or_init(|| {
        let right = ["good", "fresh", "hanging", "limited", "patient"].map(|id| plain(id, Key::Config));
        let wrong = ["refusing", "renewed", "brief"].map(|id| plain(id, Key::Wrong));
        let none = [plain("keyless", Key::Missing), plain("nokey", Key::Nowhere)];
        let providers = right.into_iter().chain(wrong).chain(none).collect();
        let yard = Yard::new("availability", providers, &json!({"model": "good/m"}), TOML);
        // The first read of a directory takes seconds, which a short timer would blame on a provider.
        yard.dispatch(&["-m", "good/m", "warm up"]).expect_ok();
        yard.script("hanging", PROBE, vec![Step::hang_before_headers()]);
        yard.script("limited", PROBE, vec![Step::status(429).retry_after(3600)]);
        yard
    })
}

/// The row of a provider in `providers --json`.
fn known(yard: &Yard, provider: &str) -> Value {
    let listed = yard.env.run(&["providers", "--json"]).expect_code(0).json();
    let rows = listed["providers"].as_array().into_iter().flatten();
    rows.into_iter().find(|row| row["provider"] == provider).cloned().expect("the provider is listed")
}

fn routed(yard: &Yard, tier: &str) -> Value {
    yard.env.run(&["route", "--json", "--tier", tier, "hello"]).expect_code(0).json()["ref"].clone()
}

fn check(yard: &Yard, code: i32, args: &[&str]) -> Value {
    yard.env.run(&[&["providers", "check", "--json"], args].concat()).expect_code(code).json()
}

#[test]
fn a_check_asks_once_tells_by_its_exit_code_and_is_remembered() {
    let yard = yard();
    let table = [
        ("fresh", 0, "available", 1),
        ("hanging", 1, "unavailable", 1),
        ("limited", 2, "rate_limited", 1),
        ("refusing", 3, "key_invalid", 1),
        ("keyless", 3, "key_missing", 1),
        ("nokey", 3, "key_missing", 0),
    ];
    let asked = |provider: &str| yard.asked_for(provider, PROBE);
    for (provider, code, status, requests) in table {
        let first = check(yard, code, &[provider]);
        assert_eq!((&first["status"], &first["cached"]), (&json!(status), &json!(false)), "{provider}: {first:#}");
        assert_eq!((&first["exit"], &first["source"]), (&json!(code), &json!("probe")), "{provider}");
        assert_eq!(asked(provider), requests, "{provider}");
        let second = check(yard, code, &[provider]);
        // A missing key is found without a request, and a login may follow at once.
        let kept = provider != "nokey";
        assert_eq!((&second["status"], &second["cached"]), (&json!(status), &json!(kept)), "{provider}: {second:#}");
        assert_eq!(second["cost_usd"], 0.0, "{provider}");
        assert_eq!(asked(provider), requests, "{provider}: what is known is not asked again");
    }
    let unknown = check(yard, 1, &["limitd"]);
    assert!(unknown["message"].as_str().is_some_and(|text| text.contains("did you mean limited")), "{unknown:#}");

    let cost = |checked: &Value| checked["cost_usd"].as_f64().and_then(Nano::from_usd);
    for (flags, requests) in [(&["--force"][..], 2), (&["--ttl", "1ms"], 3), (&["--ttl", "1h"], 3)] {
        let again = check(yard, 0, &[&["fresh"], flags].concat());
        assert_eq!(asked("fresh"), requests, "{flags:?}");
        assert_eq!(again["cached"], flags == ["--ttl", "1h"], "{flags:?}");
        let newest = yard.at("fresh").ledger().entries.into_iter().rfind(|entry| entry.last_user_text.contains(PROBE));
        let paid = if again["cached"] == true { Some(Nano::ZERO) } else { newest.map(|entry| entry.cost()) };
        assert_eq!(cost(&again), paid, "{flags:?}: a check is paid like any other work");
    }
}

#[test]
fn a_refused_key_is_known_at_once_and_a_check_that_succeeds_ends_it() {
    let yard = yard();
    let key = yard.at("good").script("renewed", vec![Step::text("from another")]);
    let report = yard.dispatch(&["--tier", "renewed", &key]).expect_ok();
    assert_eq!(attempts(&report)[0], ("renewed/m".to_owned(), "auth_invalid".to_owned()));
    let requests = yard.asked("renewed");
    let found = check(yard, 3, &["renewed"]);
    assert_eq!((&found["source"], &found["cached"]), (&json!("dispatch"), &json!(true)), "{found:#}");
    assert_eq!(known(yard, "renewed")["cooldowns"][0]["trigger"], "auth_error");
    assert_eq!(routed(yard, "renewed"), "good/m");
    assert_eq!(yard.asked("renewed"), requests, "it is known without a request");

    yard.accept_wrong_key("renewed");
    check(yard, 3, &["renewed"]);
    let found = check(yard, 0, &["renewed", "--force"]);
    assert_eq!((&found["status"], &found["model"]), (&json!("available"), &json!("renewed/m")), "{found:#}");
    assert_eq!(known(yard, "renewed")["cooldowns"], json!([]));
    let report = yard.dispatch(&["--tier", "renewed", "hello"]).expect_ok();
    assert_eq!(attempts(&report), [("renewed/m".to_owned(), "ok".to_owned())]);
}

#[test]
fn a_deadline_of_the_requester_moves_nothing_and_blames_nobody() {
    let yard = yard();
    let key = yard.at("patient").script("patient", vec![Step::hang_before_headers()]);
    let late = yard.dispatch(&["--tier", "patient", "--timeout", "4s", &key]);
    late.expect_code(5).expect_class("timeout");
    assert_eq!(attempts(&late.json()), [("patient/m".to_owned(), "timeout".to_owned())]);
    assert_eq!(yard.asked_for("good", &key), 0);
    let row = known(yard, "patient");
    assert_eq!((&row["health"], &row["cooldowns"]), (&Value::Null, &json!([])), "{row:#}");
    assert_eq!(routed(yard, "patient"), "patient/m");
}

#[test]
fn what_is_held_against_a_provider_ends_by_itself() {
    let yard = yard();
    let short = [("SHUNTYARD_AVAILABILITY_HEALTH_TTL", "8s"), ("SHUNTYARD_FALLBACK_COOLDOWNS_AUTH_ERROR", "8s")];
    let outcome = yard.env.run_with(&short, &["dispatch", "--json", "--tier", "brief", "hello"]);
    assert_eq!(attempts(&outcome.expect_ok())[0], ("brief/m".to_owned(), "auth_invalid".to_owned()));
    assert_eq!(routed(yard, "brief"), "good/m");
    shuntyard_testkit::eventually("it is chosen again", Duration::from_secs(30), || routed(yard, "brief") == "brief/m");
    assert_eq!(known(yard, "brief")["cooldowns"], json!([]));
}

#[test]
fn a_login_that_is_new_or_renewed_is_believed_at_once() {
    let providers = vec![plain("good", Key::Config), plain("late", Key::Nowhere), plain("expired", Key::Nowhere)];
    let yard = Yard::new("logins", providers, &json!({"model": "good/m"}), TOML);
    yard.env.write_logins(&json!({"expired": {"type": "api", "key": "the old key"}}));
    let report = yard.dispatch(&["--tier", "expired", "hello"]).expect_ok();
    assert_eq!(attempts(&report)[0], ("expired/m".to_owned(), "auth_invalid".to_owned()));
    check(&yard, 3, &["expired"]);
    check(&yard, 3, &["late"]);
    assert_eq!(["expired", "late"].map(|tier| routed(&yard, tier)), ["good/m", "good/m"]);
    yard.log_in(&["expired", "late"]);
    assert_eq!(["expired", "late"].map(|tier| routed(&yard, tier)), ["expired/m", "late/m"]);
    for provider in ["expired", "late"] {
        let found = check(&yard, 0, &[provider]);
        assert_eq!((&found["status"], &found["cached"]), (&json!("available"), &json!(false)), "{found:#}");
    }
    yard.env.stop_servers();
}

#[test]
fn what_is_forgotten_keeps_nobody_away() {
    // Without names of providers, a check and a forgetting are about all of them: no place for other tests.
    let providers = vec![plain("good", Key::Config), plain("failing", Key::Config), plain("forgotten", Key::Wrong)];
    let yard = Yard::new("forgetting", providers, &json!({"model": "good/m"}), TOML);
    yard.dispatch(&["-m", "good/m", "warm up"]).expect_ok();
    let fail = || {
        yard.script("failing", PROBE, vec![Step::status(500), Step::status(500)]);
        let all = check(&yard, 3, &["--force"]);
        let rows: Vec<&Value> = all["checks"].as_array().into_iter().flatten().collect();
        let found: Vec<_> = rows.iter().map(|row| [&row["provider"], &row["status"]]).collect();
        let expected = [["failing", "unavailable"], ["forgotten", "key_invalid"], ["good", "available"]];
        assert_eq!(found, expected, "the worst of them is the exit code");
        assert_eq!([routed(&yard, "failing"), routed(&yard, "forgotten")], ["good/m", "good/m"]);
    };
    let left = |provider: &str| {
        let row = known(&yard, provider);
        (row["health"].clone(), row["cooldowns"].clone(), routed(&yard, provider))
    };
    let nothing = |provider: &str| (Value::Null, json!([]), json!(format!("{provider}/m")));
    let mut found = Vec::new();
    fail();
    yard.env.run(&["providers", "forget", "forgotten"]).expect_code(0);
    found.push(("one", left("forgotten")));
    assert_eq!(routed(&yard, "failing"), "good/m", "only one was forgotten");
    // The record of such a failure is about the model; it is forgotten with its provider.
    yard.env.run(&["providers", "forget", "failing"]).expect_code(0);
    found.push(("with its models", left("failing")));
    fail();
    yard.env.run(&["providers", "forget"]).expect_code(0);
    found.extend([("all, a key", left("forgotten")), ("all, a failure", left("failing"))]);
    let expected = [
        ("one", nothing("forgotten")),
        ("with its models", nothing("failing")),
        ("all, a key", nothing("forgotten")),
        ("all, a failure", nothing("failing")),
    ];
    assert_eq!(found, expected);
    yard.env.stop_servers();
}
