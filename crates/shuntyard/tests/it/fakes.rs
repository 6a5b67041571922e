//! What the real OpenCode cannot be made to do, with the fake one as the user's own server.

use crate::own_env;
use shuntyard_testkit::{
    Outcome, TestEnv,
    fake_opencode::{Behaviour, Events, FakeOpencode, PermissionReply, Run, Serving},
};
use std::sync::OnceLock;

fn env() -> &'static TestEnv {
    static ENV: OnceLock<TestEnv> = OnceLock::new();
    ENV.get_or_init(|| own_env("fakes"))
}

fn against(behaviour: Behaviour, args: &[&str]) -> (Outcome, FakeOpencode) {
    against_with(&[], behaviour, args)
}

fn against_with(variables: &[(&str, &str)], behaviour: Behaviour, args: &[&str]) -> (Outcome, FakeOpencode) {
    let fake = FakeOpencode::start(behaviour).expect("a fake");
    let url = fake.url();
    let named = ["dispatch", "--json", "--server", &url, "-m", "scripted/alpha"];
    let outcome = env().run_with(variables, &[&named, args, &["hello"]].concat());
    (outcome, fake)
}

#[test]
fn an_honest_fake_is_a_success() {
    let (outcome, fake) = against(Behaviour::default(), &[]);
    outcome.expect_ok();
    let deleted = fake.requests().iter().any(|request| request.method == "DELETE");
    assert!(deleted, "the session is removed");
}

#[test]
fn servers_that_lie_or_die_are_told_from_success() {
    let table: Vec<(&str, Serving, &str, i32)> = vec![
        ("empty objects", Serving::EmptyObjectsAfterCreate, "opencode_unhealthy", 4),
        ("web pages", Serving::Html, "opencode_unhealthy", 4),
        ("wedged", Serving::Wedged, "opencode_unhealthy", 4),
        ("unauthorized", Serving::Unauthorized, "opencode_unhealthy", 4),
        ("wedges later", Serving::WedgesAfterPrompt, "opencode_unhealthy", 4),
        ("dies", Serving::DiesAfterPrompt, "opencode_unhealthy", 4),
    ];
    std::thread::scope(|scope| {
        for (name, serving, class, code) in table {
            scope.spawn(move || {
                // No answer before the end: one that arrives whole would be a success, whatever follows.
                let behaviour = Behaviour { serving, run: Run::NeverFinishes, ..Behaviour::default() };
                // None of them answers as it should, however long it is given.
                let hurry = [("SHUNTYARD_SERVER_CALL_TIMEOUT", "2s")];
                let (outcome, _fake) = against_with(&hurry, behaviour, &["--timeout", "60s"]);
                assert_eq!(outcome.code, Some(code), "{name}: {}{}", outcome.stdout, outcome.stderr);
                outcome.expect_class(class);
            });
        }
    });
}

#[test]
fn another_model_than_the_one_asked_for_is_surfaced() {
    let run = Run::IgnoresModel { provider: "scripted".into(), model: "cheap".into() };
    let (outcome, _fake) = against(Behaviour { run, ..Behaviour::default() }, &[]);
    let report = outcome.expect_ok();
    assert_eq!(report["model"]["model"], "cheap");
    assert_eq!(report["requested"]["model"], "scripted/alpha");
    let warnings = report["warnings"].to_string();
    assert!(warnings.contains("scripted/alpha was asked, but scripted/cheap answered"), "{warnings}");
    let id = report["id"].as_str().expect("an id");
    let logged = crate::yard::events(env(), "model.mismatch", id);
    assert_eq!(logged, [serde_json::json!({"asked": "scripted/alpha", "answered": "scripted/cheap"})]);
}

#[test]
fn broken_event_streams_do_not_lose_the_answer() {
    for events in [Events::DropEvery(2), Events::SilentAfter(1), Events::WithoutFinalIdle] {
        let name = format!("{events:?}");
        let (outcome, _fake) = against(Behaviour { events, ..Behaviour::default() }, &["--timeout", "50s"]);
        assert_eq!(outcome.json()["status"], "ok", "{name}: {}", outcome.stdout);
    }
}

#[test]
fn an_answer_that_comes_after_the_abort_is_too_late() {
    let (outcome, fake) =
        against(Behaviour { run: Run::FinishesAfterAbort, ..Behaviour::default() }, &["--timeout", "2s"]);
    outcome.expect_code(5).expect_class("timeout");
    let requests = fake.requests();
    let at = |method: &str, tail: &str| requests.iter().position(|r| r.method == method && r.path.ends_with(tail));
    let abort = at("POST", "/abort").expect("an abort");
    let delete = requests.iter().position(|r| r.method == "DELETE").expect("a delete");
    assert!(abort < delete, "abort comes before delete");
}

#[test]
fn an_error_without_idle_ends_the_run() {
    let (outcome, _fake) =
        against(Behaviour { run: Run::ErrorWithoutIdle, ..Behaviour::default() }, &["--timeout", "40s"]);
    let report = outcome.json();
    assert_eq!(report["status"], "error", "it was seen, not timed out: {report:#}");
}

#[test]
fn a_permission_that_cannot_be_answered_is_reported() {
    let behaviour =
        Behaviour { run: Run::AsksInChild, permission_reply: PermissionReply::Fails, ..Behaviour::default() };
    let (outcome, _fake) = against(behaviour, &["--timeout", "60s"]);
    outcome.expect_code(3).expect_class("permission_waiting");
    let (outcome, _fake) = against(Behaviour { run: Run::AsksInChild, ..Behaviour::default() }, &[]);
    outcome.expect_ok();
}

#[test]
fn an_unknown_major_version_is_a_warning() {
    let (outcome, _fake) = against(Behaviour { version: "2.0.0".into(), ..Behaviour::default() }, &[]);
    let report = outcome.expect_ok();
    assert!(report["warnings"].to_string().contains("another major version"), "{report:#}");
}
