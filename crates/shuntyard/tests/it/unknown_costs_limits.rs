//! The rules for unknown costs, which are the same for every server: limits hold whichever process is killed, and
//! estimates use the history.

use crate::{
    kills::{commands, kill},
    unknown_costs::{SOON, TAKEN, answered_asleep, four_kills, kill_dispatch, kill_server, standing, yard},
};
use shuntyard_core::Nano;
use shuntyard_scripted::{Step, Tokens};
use shuntyard_testkit::{environment::finish, eventually};

#[test]
fn four_killed_texts_are_counted_and_the_limit_holds() {
    four_kills("text", &[], "", "0.065");
}

#[test]
fn four_killed_direct_calls_are_counted_and_the_limit_holds() {
    four_kills("direct", &["--via", "direct"], "", "0.065");
}

#[test]
fn four_killed_commands_are_counted_and_the_limit_holds() {
    four_kills("command", &["--mode", "command"], "/repeat ", "0.12");
}

#[test]
fn the_server_is_killed_under_a_dispatch_and_its_estimate_is_what_the_ledger_has() {
    let yard = yard("servers-killed", &["host"]);
    let env = &yard.env;
    let mut reported = Nano::ZERO;
    for victim in ["keeper", "guard", "opencode"] {
        let key = yard.at("host").script(victim, vec![Step::hang_mid_stream().usage(TAKEN)]);
        let running = env.spawn(&["dispatch", "--json", "-m", "host/m", &key]);
        yard.at("host").wait_for_requests(&key, 1);
        let guards = commands(env, "guard");
        match victim {
            "keeper" => kill_server(env),
            "guard" => kill("-9", guards[0]),
            _ => kill("-9", *commands(env, "serve").iter().find(|pid| !guards.contains(pid)).expect("the server")),
        }
        // A server that is asked to end may still report that the answer was aborted.
        let report = finish(running).json();
        assert_eq!(report["status"], "error", "{report:#}");
        assert_eq!(report["cost_known"], false, "{report:#}");
        assert!(report["warnings"].to_string().contains("estimate"), "{report:#}");
        reported = reported + report["cost_usd"].as_f64().and_then(Nano::from_usd).expect("a cost");
        eventually("the server is gone", SOON, || env.servers().is_empty());
    }
    let (settled, reserved) = standing(env, "host");
    assert_eq!((settled.cost, settled.unknown, reserved.attempts), (reported, 3, 0));
    assert!(settled.cost >= yard.at("host").ledger().total().cost, "{settled:?}");
    env.stop_servers();
}

#[test]
fn estimates_follow_history_from_the_first_request_on() {
    let yard = yard("history", &["steady"]);
    yard.env.run(&["budget", "configure", "steady", "--daily-budget", "0.02"]).expect_code(0);
    // Each costs $0.0031, and a guess by the prompt is $0.0150: by guesses alone the third would be refused.
    let answer = || Step::text("short").usage(Tokens::new(533, 100));
    let key = yard.at("steady").script("steady", (0..6).map(|_| answer()).collect());
    for _ in 0..5 {
        yard.dispatch(&["-m", "steady/m", &key]).expect_ok();
    }
    let refused = yard.dispatch(&["-m", "steady/m", &key]);
    refused.expect_code(3).expect_class("budget_refused");
    let message = refused.json()["error"]["message"].to_string();
    assert!(message.contains("$0.0155 is spent, $0 is reserved by running requests"), "{message}");
    assert!(message.contains("(5 earlier requests to this model averaged $0.0031)"), "{message}");
    yard.env.stop_servers();
}

#[test]
fn several_estimates_in_one_session_are_corrected_to_its_exact_sum() {
    let yard = yard("corrected-together", &["late", "other"]);
    let env = &yard.env;
    let key = yard.at("late").script("first", vec![Step::text("first").usage(TAKEN)]);
    let first = yard.dispatch(&["-m", "late/m", "--keep", &key]).expect_ok();
    let session = ["--session", first["session_id"].as_str().expect("an id")];
    // The second begins as soon as its server is there. A keeper that is faster than that corrects the first alone, and
    // the sum is the same.
    for _ in 0..2 {
        let running = answered_asleep(&yard, "late", &session);
        kill_server(env);
        kill_dispatch(running);
        eventually("the server is gone", SOON, || env.servers().is_empty());
        env.stop_servers();
    }
    let (estimated, _) = standing(env, "late");
    assert_eq!(estimated.attempts, 3, "{estimated:?}");
    assert!(estimated.unknown >= 1, "{estimated:?}");
    let hello = yard.at("other").script("hello", vec![Step::text("hello")]);
    yard.dispatch(&["-m", "other/m", &hello]).expect_ok();
    eventually("the estimates are corrected", SOON, || standing(env, "late").0.unknown == 0);
    let (settled, _) = standing(env, "late");
    let (told, each) = (yard.at("late").ledger().total_reported(), TAKEN.prompt_tokens + TAKEN.completion_tokens);
    assert_eq!((settled.cost, settled.tokens, settled.attempts), (told.cost, 3 * each, 3), "{settled:?}");
    env.stop_servers();
    assert_eq!(standing(env, "late").0, settled, "once");
}
