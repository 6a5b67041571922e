//! Every way in which a provider can fail, through the real OpenCode: the right class, with the session
//! gone and the money right.

use crate::env;
use serde_json::Value;
use shuntyard_scripted::{Ending, Step};
use shuntyard_testkit::{Outcome, outcome::assert_bill};
use std::time::Duration;

/// Dispatches one scripted failure and checks what holds after every failure.
fn fail(name: &str, steps: Vec<Step>, args: &[&str]) -> (Outcome, Value, String) {
    let key = env().provider.script(name, steps);
    let outcome = env().dispatch(&[&["-m", "scripted/alpha"], args, &[key.as_str()]].concat());
    let report = outcome.json();
    assert_ne!(report["status"], "ok", "{name}: {report:#}");
    assert_eq!(report["kept"], false, "{name}: the session is removed");
    assert_bill(&report, &env().provider.requests(&key));
    (outcome, report, key)
}

#[test]
fn refusals_of_the_provider_have_their_classes_and_are_not_retried() {
    let overflow = "This model's maximum context length is 8192 tokens";
    let table = [
        (Step::status(400), "server_error", 1),
        (Step::status(401), "auth_invalid", 1),
        (Step::status(402), "quota_exhausted", 1),
        (Step::status(403), "auth_invalid", 1),
        (Step::status(404), "model_not_found", 2),
        (Step::text("so far so g").finish("length"), "truncated", 1),
        (Step::text("I ca").finish("content_filter"), "content_filtered", 1),
        (Step::empty(), "empty_response", 1),
    ];
    for (step, class, code) in table {
        let name = format!("refused-{class}");
        let (outcome, report, key) = fail(&name, vec![step], &[]);
        outcome.expect_code(code).expect_class(class);
        assert_eq!(env().provider.requests(&key).entries.len(), 1, "{class}: {report:#}");
    }
    // OpenCode tries to compact a conversation that is too long; nothing is left to compact here.
    let refuse = || Step::status(400).message(overflow);
    let key = env().provider.script("overflow", vec![refuse(), refuse(), refuse(), refuse()]);
    let outcome = env().dispatch(&["-m", "scripted/alpha", &key]);
    outcome.expect_code(1).expect_class("context_overflow");
}

#[test]
fn a_provider_that_keeps_failing_is_given_up_after_one_retry() {
    let table = [
        ("rate", Step::status(429), "rate_limited"),
        ("server", Step::status(500), "server_error"),
        ("overload", Step::status(503), "overloaded"),
    ];
    std::thread::scope(|scope| {
        for (name, step, class) in table {
            scope.spawn(move || {
                let steps = vec![step.clone(), step.clone(), step.clone(), step];
                let (outcome, report, key) = fail(name, steps, &[]);
                outcome.expect_code(1).expect_class(class);
                assert_eq!(report["error"]["retryable"], true);
                assert_eq!(env().provider.requests(&key).entries.len(), 2, "{name}: one retry");
            });
        }
    });
}

#[test]
fn broken_streams_end_in_a_class_and_never_in_success() {
    let table = [
        ("dropped", Step::drop_connection(), ["network", "server_error"]),
        ("malformed", Step::malformed(), ["server_error", "network"]),
        ("endless", Step::truncated(), ["server_error", "empty_response"]),
        ("odd-finish", Step::text("done?").finish("banana"), ["server_error", "empty_response"]),
    ];
    std::thread::scope(|scope| {
        for (name, step, classes) in table {
            scope.spawn(move || {
                // OpenCode asks again after some of these, each time in the same way.
                let key = env().provider.script(name, std::iter::repeat_n(step, 30).collect());
                let outcome = env().dispatch(&["-m", "scripted/alpha", "--timeout", "45s", &key]);
                let report = outcome.json();
                let class = report["error"]["class"].as_str().unwrap_or("none");
                assert!(classes.contains(&class), "{name}: {report:#}");
                assert_eq!(report["kept"], false);
            });
        }
    });
}

#[test]
fn a_retry_after_of_an_hour_is_not_waited_for() {
    let (outcome, report, key) = fail("hour", vec![Step::status(429).retry_after(3600)], &[]);
    outcome.expect_code(1).expect_class("quota_exhausted");
    assert_eq!(env().provider.requests(&key).entries.len(), 1);
    assert_eq!(report["cost_known"], true);
}

#[test]
fn a_short_retry_after_is_waited_for() {
    let key = env().provider.script("short", vec![Step::status(429).retry_after(1), Step::text("after a second")]);
    let report = env().dispatch(&["-m", "scripted/alpha", &key]).expect_ok();
    assert_eq!(report["text"], "after a second");
    assert_bill(&report, &env().provider.requests(&key));
}

#[test]
fn hangs_end_at_the_deadline_on_the_server_too() {
    let table = [
        ("headers", Step::hang_before_headers()),
        ("first-byte", Step::hang_before_first_byte()),
        ("mid-stream", Step::hang_mid_stream()),
    ];
    std::thread::scope(|scope| {
        for (name, step) in table {
            scope.spawn(move || {
                let (outcome, report, key) = fail(name, vec![step], &["--timeout", "3s"]);
                outcome.expect_code(5).expect_class("timeout");
                assert_eq!(report["status"], "timeout");
                assert_eq!(report["cost_known"], false, "what was cut off may have cost something");
                shuntyard_testkit::eventually("the provider is let go", Duration::from_secs(10), || {
                    env().provider.requests(&key).entries.iter().all(|entry| entry.ending == Ending::ClientClosed)
                });
            });
        }
    });
}

#[test]
fn the_silence_timers_work_without_a_deadline() {
    let table = [
        (
            "first",
            Step::hang_before_headers(),
            "SHUNTYARD_DISPATCH_FIRST_TOKEN_TIMEOUT",
            "no sign of an answer within 2s",
        ),
        ("later", Step::hang_mid_stream(), "SHUNTYARD_DISPATCH_INACTIVITY_TIMEOUT", "the answer stalled for 2s"),
    ];
    for (name, step, variable, message) in table {
        let key = env().provider.script(name, vec![step]);
        let mut command = env().command(&["dispatch", "--json", "-m", "scripted/alpha", "--timeout", "none", &key]);
        command.env(variable, "2s").stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
        let outcome = shuntyard_testkit::environment::finish(command.spawn().expect("starts"));
        outcome.expect_code(5).expect_class("timeout");
        assert_eq!(outcome.json()["error"]["message"], message);
    }
}

#[test]
fn a_slow_stream_is_not_a_hang() {
    let words: Vec<String> = (0..12).map(|number| format!("{number} ")).collect();
    let key = env().provider.script("slow", vec![Step::chunks(words).chunk_delay(Duration::from_millis(400))]);
    let mut command = env().command(&["dispatch", "--json", "-m", "scripted/alpha", &key]);
    // Shorter than the whole answer, and ten times as long as a pause in it: a busy machine lengthens those.
    command.env("SHUNTYARD_DISPATCH_INACTIVITY_TIMEOUT", "4s");
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let report = shuntyard_testkit::environment::finish(command.spawn().expect("starts")).expect_ok();
    assert_eq!(report["text"], "0 1 2 3 4 5 6 7 8 9 10 11 ");
}

#[test]
fn a_provider_without_a_key_is_told_from_a_wrong_key() {
    let key = env().provider.script("keyless", vec![Step::status(401)]);
    let outcome = env().dispatch(&["-m", "keyless/alpha", &key]);
    outcome.expect_code(1).expect_class("auth_missing");
    assert!(!env().provider.requests(&key).entries[0].authorization_present);
}

#[test]
fn an_error_message_of_the_provider_is_shown_without_its_secrets() {
    let step = Step::status(401).message("Incorrect API key provided: sk-live-1234567890abcdef");
    let (outcome, _, _) = fail("leak", vec![step], &[]);
    assert!(outcome.stdout.contains("Incorrect API key provided"), "{}", outcome.stdout);
    assert!(!outcome.stdout.contains("sk-live"), "{}", outcome.stdout);
}
