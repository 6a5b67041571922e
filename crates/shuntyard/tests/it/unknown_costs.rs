//! Whichever process is killed and whenever: the ledger holds at least what the provider counted, limits hold, and an
//! exact figure that can be read later corrects an estimate.

use crate::{
    NO_MEMORY,
    kills::{kill, one_server},
    yard::{Key, Yard, assert_settled, in_store, plain},
};
use serde_json::{Value, json};
use shuntyard_agents::opencode::{Client, Endpoint};
use shuntyard_core::Nano;
use shuntyard_scripted::{Gate, Step, Tokens};
use shuntyard_store::{SpendKey, SpendKind, Spent, Store as _};
use shuntyard_testkit::{TestEnv, eventually};
use std::{
    process::Child,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

pub const SOON: Duration = Duration::from_secs(30);
/// The usage of an answer at the provider: $0.0105, of which a killed process receives no report.
pub const TAKEN: Tokens = Tokens { prompt_tokens: 1000, completion_tokens: 500, cached_tokens: 0, reasoning_tokens: 0 };
pub const EACH: Nano = Nano(10_500_000);

pub fn yard(name: &str, providers: &[&str]) -> Yard {
    let providers: Vec<_> = providers.iter().map(|id| plain(id, Key::Config)).collect();
    // Days begin half a day away from now, so that none begins during a test.
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).expect("a time after 1970").as_secs();
    let toml = format!(
        "{NO_MEMORY}\n[budget]\ntime_zone = \"UTC\"\nday_starts_at = \"{:02}:00\"\n",
        (seconds / 3600 + 12) % 24
    );
    let opencode = json!({"command": {"repeat": {"template": "Repeat $ARGUMENTS"}}});
    Yard::new(name, providers, &opencode, &toml)
}

/// The settled and the reserved spending of a provider.
pub fn standing(env: &TestEnv, provider: &str) -> (Spent, Spent) {
    let key = (SpendKey::new(SpendKind::Provider, provider), i64::MIN, i64::MAX);
    in_store(env, async |store| store.standings(&[key]).await.expect("sums")[0])
}

pub fn kill_dispatch(mut running: Child) {
    running.kill().expect("killed");
    running.wait().expect("reaped");
}

/// Kills the keeper: its guard ends the server.
pub fn kill_server(env: &TestEnv) {
    let keeper = one_server(env)["keeper_pid"].as_u64().expect("a pid");
    kill("-9", u32::try_from(keeper).expect("a pid"));
}

/// The steps at which a process is killed: the request has arrived, and no answer, no token or a part of it has come.
fn hanging() -> Vec<Step> {
    let hangs =
        [Step::hang_before_headers(), Step::hang_before_first_byte(), Step::hang_mid_stream(), Step::hang_mid_stream()];
    hangs.map(|step| step.usage(TAKEN)).into()
}

/// Kills a dispatch four times. Four reservations fit below the stop of the limit, in dollars, and a fifth does not.
pub fn four_kills(name: &str, flags: &[&str], prompt: &str, limit: &str) {
    let yard = yard(&format!("four-{name}"), &["mortal"]);
    let env = &yard.env;
    env.run(&["budget", "configure", "mortal", "--daily-budget", limit]).expect_code(0);
    let key = yard.at("mortal").script(name, hanging());
    let prompt = format!("{prompt}{key}");
    let args = [&["dispatch", "--json", "-m", "mortal/m"], flags, &[prompt.as_str()]].concat();
    for kills in 1..=4 {
        let running = env.spawn(&args);
        yard.at("mortal").wait_for_requests(&key, kills);
        kill_dispatch(running);
    }
    let refused = env.run(&args);
    refused.expect_code(3).expect_class("budget_refused");
    assert_eq!(yard.asked("mortal"), 4, "what was refused was not sent");
    env.stop_servers();
    let (settled, reserved) = standing(env, "mortal");
    let counted = yard.at("mortal").ledger().total().cost;
    assert_eq!(counted, Nano(4 * EACH.0));
    assert!(settled.cost >= counted, "{settled:?} of {counted}");
    assert_eq!((settled.attempts, settled.unknown, reserved.attempts), (4, 4, 0), "{settled:?} {reserved:?}");
    let stop = limit.parse().ok().and_then(Nano::from_usd).expect("an amount").0 / 100 * 95;
    assert!(settled.cost <= Nano(stop), "{settled:?}");
    assert_settled(env);
    let said = env.run(&["budget", "report"]).expect_code(0).stderr.clone();
    assert!(said.contains("estimate"), "{said}");
    let error = refused.json()["error"].clone();
    let message = error["message"].as_str().expect("a message");
    for part in [
        "not sent",
        "the daily limit of provider mortal is",
        "stops at 95 %",
        "this request is estimated at",
        "prompt size, no history yet",
    ] {
        assert!(message.contains(part), "{part}: {error:#}");
    }
    assert!(error["hint"].to_string().contains("shuntyard budget configure mortal --daily-budget"), "{error:#}");
}

#[test]
fn four_killed_agents_are_counted_and_the_limit_holds() {
    // OpenCode puts its own instructions and tools before the prompt of an agent, so that more is reserved.
    four_kills("agent", &["--mode", "agent"], "", "0.12");
}

/// An answer that came while the dispatch was asleep, so that only its session knows of it.
pub fn answered_asleep(yard: &Yard, provider: &str, more: &[&str]) -> Child {
    let gate = Gate::default();
    let before = yard.at(provider).ledger().total_reported().requests;
    let key = yard.at(provider).script("asleep", vec![Step::text("whole").usage(TAKEN).at(&gate)]);
    let model = format!("{provider}/m");
    let running = yard.env.spawn(&[&["dispatch", "--json", "-m", &model, &key], more].concat());
    yard.at(provider).wait_for_requests(&key, 1);
    kill("-STOP", running.id());
    gate.open();
    eventually("the answer is whole", SOON, || yard.at(provider).ledger().total_reported().requests == before + 1);
    wait_until_idle(&yard.env);
    running
}

#[test]
fn what_the_session_shows_is_charged_exactly() {
    let yard = yard("exact", &["shown"]);
    let running = answered_asleep(&yard, "shown", &[]);
    kill_dispatch(running);
    eventually("it is settled", SOON, || standing(&yard.env, "shown").0.attempts == 1);
    let (settled, reserved) = standing(&yard.env, "shown");
    assert_eq!((settled.cost, settled.unknown, reserved.attempts), (EACH, 0, 0), "{settled:?}");
    yard.env.stop_servers();
}

#[test]
fn a_figure_that_can_be_read_later_corrects_the_estimate() {
    let yard = yard("corrected", &["late", "other"]);
    let env = &yard.env;
    let running = answered_asleep(&yard, "late", &[]);
    kill_server(env);
    kill_dispatch(running);
    eventually("the server is gone", SOON, || env.servers().is_empty());
    env.stop_servers();
    let (estimated, reserved) = standing(env, "late");
    assert_eq!((estimated.attempts, estimated.unknown, reserved.attempts), (1, 1, 0), "{estimated:?}");
    assert!(estimated.cost > EACH, "no limit is set, and an estimate is recorded all the same: {estimated:?}");
    // The next server opens the same database, and its keeper reads the session before it deletes it.
    let hello = yard.at("other").script("hello", vec![Step::text("hello")]);
    yard.dispatch(&["-m", "other/m", &hello]).expect_ok();
    eventually("the estimate is corrected", SOON, || standing(env, "late").0.unknown == 0);
    let (settled, _) = standing(env, "late");
    assert_eq!((settled.cost, settled.attempts), (EACH, 1), "{settled:?}");
    env.stop_servers();
    assert_eq!(standing(env, "late").0, settled, "once");
    let days: Value = env.run(&["budget", "report", "--by", "day", "--json"]).json();
    let both = standing(env, "other").0.cost + EACH;
    assert_eq!(days["total"]["cost_nano"], json!(both), "{days:#}");
}

/// Nothing runs on the one server: what was answered is stored.
fn wait_until_idle(env: &TestEnv) {
    let server = one_server(env);
    let id = server["id"].as_str().expect("an id");
    let password = std::fs::read_to_string(env.data_dir().join(format!("servers/{id}.password"))).expect("a password");
    let url = server["url"].as_str().expect("an address").to_owned();
    let endpoint = Endpoint { url, password: Some(password.into()) };
    let client = Client::new(&endpoint).expect("a client").in_directory(&env.project());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    eventually("the server is idle", SOON, || {
        runtime.block_on(async { client.running().await.is_ok_and(|running| running.is_empty()) })
    });
}
