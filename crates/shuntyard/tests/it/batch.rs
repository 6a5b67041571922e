//! Several models at once: each with its own deadline, bill and failure, in the order in which they were named, and
//! nothing left behind when one of them is stopped.

use crate::{
    NO_MEMORY,
    yard::{Key, Yard, assert_settled, flags, in_store, model, plain, targets, wait_until_swept, with_models},
};
use serde_json::{Value, json};
use shuntyard_core::Nano;
use shuntyard_scripted::{Step, Tokens};
use shuntyard_store::{RunStatus, Store as _};
use shuntyard_testkit::{environment::finish, eventually};
use std::{process::Command, time::Duration};

const SOON: Duration = Duration::from_secs(20);

fn yard(name: &str, providers: &[&str], toml: &str) -> Yard {
    let providers = providers.iter().map(|id| plain(id, Key::Config)).collect();
    Yard::new(name, providers, &json!({"model": "first/m"}), &format!("{toml}\n{NO_MEMORY}"))
}

fn rows(expected: &[(&str, &str, &str)]) -> Vec<(String, String, String)> {
    expected.iter().map(|(model, status, class)| ((*model).into(), (*status).into(), (*class).into())).collect()
}

/// Sets a limit that is never reached, so that every attempt sets something aside.
fn limit(yard: &Yard) {
    yard.env.run(&["budget", "configure", "--overall", "--daily-budget", "1000"]).expect_code(0);
}

#[track_caller]
fn assert_costs(yard: &Yard, report: &Value) {
    let cost = report["summary"]["cost_usd"].as_f64().expect("a cost");
    assert_eq!(Nano::from_usd(cost), Some(yard.booked()), "{:#}", report["summary"]);
    // The sum itself is exact: no trace of how it was added up.
    assert_eq!(cost.to_string(), yard.booked().as_usd().to_string());
}

/// Seven models of which five fail, each in its own way.
fn seven(name: &str, way: &[&str], timeout: Duration, via: &str) -> Yard {
    let mut providers: Vec<_> =
        ["first", "hanging", "limited", "hollow", "broken", "second"].map(|id| plain(id, Key::Config)).into();
    providers.push(plain("refusing", Key::Wrong));
    let yard = Yard::new(name, providers, &json!({"model": "first/m"}), NO_MEMORY);
    limit(&yard);
    if via == "opencode" {
        // The first read of a directory takes seconds, which a short deadline would blame on a model.
        yard.dispatch(&["-m", "first/m", "warm up"]).expect_ok();
    }
    let before = yard.booked();
    let key = yard.at("first").script("seven", vec![Step::text("one").usage(Tokens::new(1003, 57).cached(211))]);
    yard.script("second", &key, vec![Step::text("two").usage(Tokens::new(507, 31))]);
    yard.script("hanging", &key, vec![Step::hang_before_headers()]);
    yard.script("limited", &key, vec![Step::status(429).retry_after(3600)]);
    yard.script("hollow", &key, vec![Step::empty().usage(Tokens::new(400, 4))]);
    let error = r#"{"error":{"message":"the backend of this model failed","type":"invalid_request_error","code":400}}"#;
    yard.script("broken", &key, vec![Step::status(200).body(format!("data: {error}\n\n"))]);

    let named = ["first/m", "hanging/m", "refusing/m", "limited/m", "hollow/m", "broken/m", "second/m"];
    let patience = format!("{}s", timeout.as_secs());
    let outcome = yard.ask(&named, &[way, &["--timeout", &patience, &key]].concat());
    let report = outcome.expect_code(1).json();
    let expected = [
        ("first/m", "ok", "-"),
        ("hanging/m", "timeout", "timeout"),
        ("refusing/m", "error", "auth_invalid"),
        ("limited/m", "error", "quota_exhausted"),
        ("hollow/m", "error", "empty_response"),
        ("broken/m", "error", "server_error"),
        ("second/m", "ok", "-"),
    ];
    assert_eq!(targets(&report), rows(&expected), "{report:#}");
    let texts = [&report["results"][0]["text"], &report["results"][6]["text"]];
    assert_eq!(texts, [&json!("one"), &json!("two")]);
    for result in report["results"].as_array().expect("results") {
        assert_eq!(result["via"], via, "{result:#}");
        assert_eq!(result["session_id"] == "", via == "direct", "{result:#}");
        assert_eq!(result["kept"], false);
    }
    let summary = &report["summary"];
    assert_eq!([&summary["ok"], &summary["errors"], &summary["timeouts"]], [&json!(2), &json!(4), &json!(1)]);
    let wall = Duration::from_millis(summary["wall_ms"].as_u64().expect("a wall time"));
    assert!(wall >= timeout, "the hanging one has its whole time: {wall:?}");
    assert_eq!(summary["cost_known"], false, "what the hanging one cost is not known");
    let cost = summary["cost_usd"].as_f64().and_then(Nano::from_usd).expect("a cost");
    assert!(cost > yard.booked().less(before), "the hanging one counts with an estimate: {summary:#}");
    let asked = named.map(|name| yard.asked_for(name.trim_end_matches("/m"), &key));
    assert_eq!(asked, [1, 1, 1, 1, 1, 1, 1], "nobody is asked twice");
    yard.wait_until_let_go();
    assert_settled(&yard.env);
    yard
}

#[test]
fn seven_at_once_directly_each_with_its_own_end() {
    let yard = seven("seven-direct", &[], Duration::from_secs(4), "direct");
    assert_eq!(yard.env.servers(), Vec::<Value>::new(), "no server was needed");
}

#[test]
fn seven_at_once_through_opencode_each_with_its_own_end() {
    let yard = seven("seven-opencode", &["--via", "opencode"], Duration::from_secs(12), "opencode");
    wait_until_swept(&yard.env);
    yard.env.stop_servers();
}

#[test]
fn people_see_a_section_for_each_and_a_footer() {
    let yard = yard("sections", &["first", "second"], "");
    let key = yard.at("first").script("people", vec![Step::text("the first answer").usage(Tokens::new(1000, 10))]);
    yard.script("second", &key, vec![Step::status(403)]);
    let outcome = yard.env.run(&["dispatch", "-m", "first/m", "-m", "second/m", "-m", "nobody/m", &key]);
    outcome.expect_code(1);
    let headings: Vec<&str> = outcome.stdout.lines().filter(|line| line.starts_with("--- ")).collect();
    assert_eq!(headings.len(), 4, "{}", outcome.stdout);
    assert!(
        headings[0].starts_with("--- dispatch response from first/m [OK] (")
            && headings[0].ends_with(", $0.0032, direct) ---"),
        "{headings:?}"
    );
    assert!(headings[1].starts_with("--- dispatch response from second/m [ERROR: auth_invalid] ("), "{headings:?}");
    assert!(headings[2].starts_with("--- dispatch response from nobody/m [ERROR: "), "{headings:?}");
    assert!(headings[3].starts_with("--- 1 ok, 2 errors, 0 timeouts; "), "{headings:?}");
    assert!(headings[3].ends_with(" 1010 tokens, $0.0032 ---"), "{headings:?}");
    assert!(outcome.stdout.contains("the first answer"), "{}", outcome.stdout);
}

#[test]
fn nobody_is_paid_twice_for_one_name() {
    let models = [model("swift-one", &json!({})), model("calm-two", &json!({}))];
    let providers = vec![with_models("acme", Key::Config, &models)];
    let toml = "[tiers]\nbest = [\"acme/swift-one\"]\n[batch.lists]\nboth = [\"acme/calm-two\", \"calm-two\"]\n";
    let yard = Yard::new("twice", providers, &json!({"model": "acme/swift-one"}), toml);
    let swift = "acme/swift-one";
    let refused: [&[&str]; 5] = [
        &["-m", swift, "-m", swift, "hello"],
        &["-m", r#"["acme/swift-one", "acme/swift-one"]"#, "hello"],
        &["-m", swift, "-m", "swift-one", "hello"],
        &["-m", swift, "-m", "tier:best", "hello"],
        &["--models", "both", "hello"],
    ];
    for args in refused {
        let outcome = yard.dispatch(args);
        outcome.expect_code(2).expect_class("usage");
        assert!(outcome.json()["error"]["hint"].to_string().contains("once"), "{args:?}: {}", outcome.stdout);
    }
    assert_eq!(yard.asked("acme"), 0);
    // What only resembles a list is refused.
    yard.dispatch(&["-m", "[acme/swift-one]", "hello"]).expect_code(2).expect_class("usage");
    yard.dispatch(&["--models", "nothing", "hello"]).expect_code(2).expect_class("usage");
    assert_eq!(yard.asked("acme"), 0);
}

#[test]
fn a_name_that_leads_nowhere_leaves_the_others_alone() {
    let yard = yard("unknown", &["first", "second"], "[batch.lists]\nmine = [\"second/m\", \"first/m\"]\n");
    let outcome = yard.ask(&[r#"["first/m", "nobody/m"]"#, "first/nothing", "second/m"], &["hello"]);
    let report = outcome.expect_code(1).json();
    let expected = [
        ("first/m", "ok", "-"),
        ("nobody/m", "error", "provider_not_connected"),
        ("first/nothing", "error", "model_not_found"),
        ("second/m", "ok", "-"),
    ];
    assert_eq!(targets(&report), rows(&expected), "{report:#}");
    assert_eq!([&report["summary"]["ok"], &report["summary"]["errors"]], [&json!(2), &json!(2)]);
    assert_costs(&yard, &report);
    let listed = yard.dispatch(&["--models", "mine", "hello"]).expect_code(0).json();
    assert_eq!(targets(&listed), rows(&[("second/m", "ok", "-"), ("first/m", "ok", "-")]));
    // When all fail in one way, the exit code is that way's.
    yard.ask(&["first/nothing", "second/nothing"], &["hello"]).expect_code(2);
}

#[test]
fn so_many_of_a_tier_are_asked_as_there_are() {
    let yard = yard("counted", &["first", "second"], "[tiers]\nmine = [\"first/m\", \"second/m\"]\n");
    let outcome = yard.dispatch(&["--tier", "mine", "--count", "2", "hello"]);
    assert_eq!(targets(&outcome.expect_code(0).json()), rows(&[("first/m", "ok", "-"), ("second/m", "ok", "-")]));
    assert_eq!(outcome.stderr, "");
    let outcome = yard.dispatch(&["--tier", "mine", "--count", "5", "hello"]);
    assert_eq!(targets(&outcome.expect_code(0).json()).len(), 2);
    assert!(outcome.stderr.contains("only 2 of 5 models can be asked"), "{}", outcome.stderr);
    yard.dispatch(&["--count", "2", "hello"]).expect_code(2).expect_class("usage");
}

#[test]
fn one_limit_holds_for_all_together() {
    let yard = yard("max-cost", &["first", "second"], "");
    let named = ["first/m", "second/m"];
    // An answer is estimated at $0.015, so that one of the two alone would fit.
    let refused = yard.ask(&named, &["--max-cost", "0.02", "hello"]);
    let report = refused.expect_code(3).json();
    let expected = named.map(|name| (name, "error", "budget_refused"));
    assert_eq!(targets(&report), rows(&expected), "{report:#}");
    assert_eq!(yard.booked(), Nano::ZERO);
    assert_eq!((yard.asked("first"), yard.asked("second")), (0, 0));
    yard.ask(&named, &["--max-cost", "0.04", "hello"]).expect_code(0);
}

#[test]
fn a_provider_is_never_asked_more_at_once_than_it_may() {
    let models = ["a", "b", "c", "d"].map(|id| model(id, &json!({})));
    let providers = vec![with_models("narrow", Key::Config, &models), plain("first", Key::Config)];
    let toml = "[batch]\nat_once_per_provider = 1\n";
    for via in ["auto", "opencode"] {
        let yard = Yard::new(&format!("narrow-{via}"), providers.clone(), &json!({"model": "first/m"}), toml);
        for id in ["a", "b", "c", "d"] {
            yard.at("narrow").act(id, |_| Step::text("slowly").delay(Duration::from_millis(300)));
        }
        let named = ["narrow/a", "narrow/b", "first/m", "narrow/c", "narrow/d"];
        let report = yard.ask(&named, &["--via", via, "hello"]).expect_code(0).json();
        assert_eq!(report["summary"]["ok"], 5, "{report:#}");
        let mut spans: Vec<_> = yard.at("narrow").ledger().entries;
        spans.sort_by_key(|entry| entry.started_at);
        assert_eq!(spans.len(), 4);
        for pair in spans.windows(2) {
            assert!(pair[0].finished_at.expect("it ended") <= pair[1].started_at, "{via}: two at once: {spans:#?}");
        }
        yard.env.stop_servers();
    }
}

#[test]
fn an_interrupted_batch_ends_everywhere() {
    for (via, signal) in [("auto", "-INT"), ("opencode", "-TERM")] {
        let models = [model("m", &json!({})), model("n", &json!({}))];
        let warm = plain("warm", Key::Config);
        let providers = vec![plain("first", Key::Config), with_models("hanging", Key::Config, &models), warm];
        let toml = "[batch]\nat_once_per_provider = 1\n";
        let yard = Yard::new(&format!("interrupted-{via}"), providers, &json!({"model": "first/m"}), toml);
        limit(&yard);
        if via == "opencode" {
            yard.dispatch(&["-m", "warm/m", "warm up"]).expect_ok();
        }
        let key = yard.at("first").script("interrupted", vec![Step::text("in time")]);
        yard.script("hanging", &key, vec![Step::hang_mid_stream(), Step::hang_mid_stream()]);
        let named = flags(&["first/m", "hanging/m", "hanging/n"]);
        let running = yard.env.spawn(&[&["dispatch", "--json", "--via", via][..], &named, &[&key]].concat());
        yard.at("hanging").wait_for_requests(&key, 1);
        eventually("the first has answered", SOON, || {
            yard.at("first").requests(&key).entries.iter().any(|entry| entry.finished_at.is_some())
        });
        let settled = || in_store(&yard.env, async |store| store.recent_dispatches(9).await.expect("dispatches"));
        eventually("the first is settled", SOON, || {
            settled().iter().any(|record| record.status == RunStatus::Ok && record.attempts[0].model == "first/m")
        });
        assert!(Command::new("kill").args([signal, &running.id().to_string()]).status().expect("kill").success());
        let outcome = finish(running);
        let report = outcome.expect_code(1).json();
        let expected =
            [("first/m", "ok", "-"), ("hanging/m", "error", "cancelled"), ("hanging/n", "error", "cancelled")];
        assert_eq!(targets(&report), rows(&expected), "{report:#}");
        assert_eq!(yard.asked("hanging"), 1, "who waited for its turn was never asked");
        yard.wait_until_let_go();
        assert_settled(&yard.env);
        wait_until_swept(&yard.env);
        yard.env.stop_servers();
    }
}

#[test]
fn all_cancelled_is_what_one_cancelled_is() {
    let yard = yard("all-cancelled", &["first", "second"], "");
    let key = yard.at("first").script("all-cancelled", vec![Step::hang_before_headers()]);
    yard.script("second", &key, vec![Step::hang_before_headers()]);
    let running =
        yard.env.spawn(&["dispatch", "--json", "-m", "first/m", "-m", "second/m", "--judge", "first/m", &key]);
    yard.at("first").wait_for_requests(&key, 1);
    yard.at("second").wait_for_requests(&key, 1);
    assert!(Command::new("kill").args(["-INT", &running.id().to_string()]).status().expect("kill").success());
    let report = finish(running).expect_code(1).json();
    assert_eq!(report["verdict"]["decision"], "no_verdict", "{report:#}");
    assert_eq!((yard.asked("first"), yard.asked("second")), (1, 1), "nobody is asked to judge nothing");
}

/// The states of the attempts on these models, from the store.
fn states(yard: &Yard, models: &[&str]) -> Vec<RunStatus> {
    let records = in_store(&yard.env, async |store| store.recent_dispatches(50).await.expect("dispatches"));
    let attempts = records.iter().flat_map(|record| &record.attempts);
    attempts.filter(|attempt| models.contains(&attempt.model.as_str())).map(|attempt| attempt.status).collect()
}

#[test]
fn what_a_killed_batch_left_on_a_killed_server_is_swept_by_the_next_start() {
    let yard = yard("killed-batch", &["first", "second", "third"], "");
    limit(&yard);
    yard.dispatch(&["-m", "first/m", "warm up"]).expect_ok();
    let key = yard.at("first").script("killed", vec![Step::hang_mid_stream()]);
    yard.script("second", &key, vec![Step::hang_mid_stream()]);
    let named = flags(&["first/m", "second/m"]);
    let mut running = yard.env.spawn(&[&["dispatch", "--json", "--via", "opencode"][..], &named, &[&key]].concat());
    yard.at("first").wait_for_requests(&key, 1);
    yard.at("second").wait_for_requests(&key, 1);
    let keeper = yard.env.servers()[0]["keeper_pid"].to_string();
    running.kill().expect("killed");
    assert!(Command::new("kill").args(["-9", &keeper]).status().expect("kill").success());
    running.wait().expect("reaped");
    yard.wait_until_let_go();
    assert_eq!(states(&yard, &["second/m"]), [RunStatus::Running], "nobody has swept yet");
    yard.dispatch(&["-m", "third/m", "the next start"]).expect_ok();
    eventually("both are settled", Duration::from_secs(40), || {
        states(&yard, &["second/m"]) == [RunStatus::Abandoned]
            && states(&yard, &["first/m"]) == [RunStatus::Abandoned, RunStatus::Ok]
    });
    wait_until_swept(&yard.env);
    assert_settled(&yard.env);
    yard.env.stop_servers();
}

#[test]
fn what_a_killed_direct_batch_set_aside_is_given_back_by_the_next_one() {
    let yard = yard("killed-direct", &["first", "second", "third"], "");
    limit(&yard);
    let key = yard.at("first").script("killed", vec![Step::hang_mid_stream()]);
    yard.script("second", &key, vec![Step::hang_before_headers()]);
    let named = flags(&["first/m", "second/m"]);
    let mut running = yard.env.spawn(&[&["dispatch", "--json"][..], &named, &[&key]].concat());
    yard.at("first").wait_for_requests(&key, 1);
    yard.at("second").wait_for_requests(&key, 1);
    running.kill().expect("killed");
    running.wait().expect("reaped");
    yard.wait_until_let_go();
    assert_eq!(states(&yard, &["first/m", "second/m"]), [RunStatus::Running; 2]);
    yard.ask(&["second/m", "third/m"], &["hello"]).expect_code(0);
    assert_eq!(states(&yard, &["first/m"]), [RunStatus::Abandoned]);
    assert_eq!(states(&yard, &["second/m"]), [RunStatus::Ok, RunStatus::Abandoned]);
    assert_settled(&yard.env);
    assert_eq!(yard.env.servers(), Vec::<Value>::new(), "and all without a server");
}
