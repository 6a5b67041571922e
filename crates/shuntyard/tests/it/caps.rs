//! The limit of one dispatch holds while it works, and the limits of tasks and batches hold for all that is charged to
//! them.

use crate::{
    NO_MEMORY,
    outcomes::only,
    yard::{Key, Yard, plain, record_of},
};
use serde_json::{Value, json};
use shuntyard_agents::opencode::{Client, Endpoint};
use shuntyard_core::{Nano, experience::FailureMode};
use shuntyard_scripted::{Ending, Entry, Gate, Ledger, Step, Tokens};
use shuntyard_store::RunStatus;
use shuntyard_testkit::{Outcome, eventually, outcome::assert_bill};
use std::{
    path::{Path, PathBuf},
    sync::OnceLock,
    time::Duration,
};

fn yard() -> &'static Yard {
    static YARD: OnceLock<Yard> = OnceLock::new();
    YARD.get_or_init(|| {
        let providers = ["spender", "parent", "fitting", "charged"].map(|id| plain(id, Key::Config)).into();
        let opencode = json!({"model": "charged/m", "command": {"delegate": {"template": "Delegate $ARGUMENTS"}}});
        Yard::new("caps", providers, &opencode, NO_MEMORY)
    })
}

/// So many steps would take longer than ending the run takes on any machine.
const STEPS: usize = 40;
/// The step that reaches the limit of ten cents.
const REACHING: usize = 4;
const THINKS: Duration = Duration::from_millis(500);
const EACH: Nano = Nano(31_500_000);
const MOST: Nano = Nano(100_000_000);

/// Costs `EACH`.
fn work(directory: &Path) -> Step {
    let command = format!("echo step >> {}", directory.join("steps").display());
    Step::tool("bash", json!({"command": command, "description": "count"}))
        .usage(Tokens::new(10_000, 100))
        .delay(THINKS)
}

fn workplace(name: &str) -> (PathBuf, String) {
    let directory = yard().env.repository(name);
    let text = directory.to_string_lossy().into_owned();
    (directory, text)
}

/// Sessions that the managed server is busy with.
fn busy(directory: &Path) -> Vec<String> {
    let env = &yard().env;
    let servers = env.servers();
    assert_eq!(servers.len(), 1, "{servers:#?}");
    let (id, url) = (servers[0]["id"].as_str().expect("an id"), servers[0]["url"].as_str().expect("an address"));
    let password = std::fs::read_to_string(env.data_dir().join(format!("servers/{id}.password"))).expect("a password");
    let client = Client::new(&Endpoint { url: url.to_owned(), password: Some(password.into()) }).expect("a client");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let running = runtime.block_on(client.in_directory(directory).running()).expect("the runs of the server");
    running.into_keys().collect()
}

/// Ended at its limit, on the server and in the store too.
#[track_caller]
fn assert_capped(outcome: &Outcome, provider: &str, key: &str, directory: &Path) -> Value {
    outcome.expect_code(3).expect_class("budget_refused");
    let report = outcome.json();
    let message = report["error"]["message"].as_str().unwrap_or_default();
    assert!(message.contains("no more than $0.1000 was allowed"), "{message}");
    assert_eq!(busy(directory), Vec::<String>::new(), "the server works on");
    let in_flight = |entry: &Entry| entry.ending == Ending::InFlight;
    eventually("the provider to see that nobody listens", Duration::from_secs(20), || {
        !yard().at(provider).requests(key).entries.iter().any(in_flight)
    });
    let record = record_of(&yard().env, &format!("{provider}/m"));
    assert!(record.status == RunStatus::Error && record.ended_at.is_some(), "{record:#?}");
    let cost = report["cost_usd"].as_f64().and_then(Nano::from_usd).expect("a cost");
    assert_eq!(record.attempts.iter().map(|made| made.cost).sum::<Nano>(), cost);
    let kept = only(&yard().env, &report);
    assert_eq!((kept.failure_mode, kept.counts(), kept.cost), (Some(FailureMode::Resource), false, cost));
    report
}

/// Steps that are too many for the limit. What follows the one that reaches it is never answered: OpenCode may ask for
/// the next before the abort arrives, but none can follow that one, however slow the machine is.
fn spending(directory: &Path) -> Vec<Step> {
    let gate = Gate::default();
    let gated = |at| if at < REACHING { work(directory) } else { work(directory).at(&gate) };
    (0..STEPS).map(gated).collect()
}

/// The limit was reached by what is reported, and the run was ended for it.
#[track_caller]
fn assert_ended_at_the_limit(report: &Value, ledger: &Ledger) {
    let cost = report["cost_usd"].as_f64().and_then(Nano::from_usd).expect("a cost");
    assert!(cost >= MOST && cost.0 % EACH.0 == 0, "whole steps, at least to the limit: {report:#}");
    let asked = ledger.entries.len();
    assert!((REACHING..=REACHING + 1).contains(&asked), "{asked} steps: {report:#}");
    // The last answer can be whole at the provider and cut off at OpenCode: then the cost is an estimate, and marked as
    // one.
    let total = ledger.total_reported().cost;
    if report["cost_known"] == true {
        assert_bill(report, ledger);
    } else {
        assert!(cost >= total, "{report:#}\n{ledger:#?}");
        assert!(report["warnings"].to_string().contains("an estimate"), "{report:#}");
    }
}

#[test]
fn an_agent_is_ended_when_it_has_cost_what_it_may_cost() {
    let (directory, dir) = workplace("capped");
    let key = yard().at("spender").script("spends", spending(&directory));
    let args = ["--mode", "agent", "--max-cost", "0.1", "-m", "spender/m", "--dir", &dir, &key];
    let outcome = yard().dispatch(&args);
    let report = assert_capped(&outcome, "spender", &key, &directory);
    let ledger = yard().at("spender").requests(&key);
    assert_ended_at_the_limit(&report, &ledger);
    let done = std::fs::read_to_string(directory.join("steps")).expect("the work").lines().count();
    assert!((3..=ledger.entries.len()).contains(&done), "{done} of {}", ledger.entries.len());
}

#[test]
fn what_the_children_of_a_run_spend_counts_as_its_own() {
    let (directory, dir) = workplace("family");
    let key = yard().at("parent").fresh_key("family");
    let task = json!({"description": "look", "prompt": format!("look {key}"), "subagent_type": "general"});
    let mut steps = vec![Step::tool("task", task).usage(Tokens::new(10_000, 100))];
    steps.extend(spending(&directory));
    yard().script("parent", &key, steps);
    let prompt = format!("/delegate {key}");
    let outcome =
        yard().dispatch(&["--mode", "command", "--max-cost", "0.1", "-m", "parent/m", "--dir", &dir, &prompt]);
    let report = assert_capped(&outcome, "parent", &key, &directory);
    let ledger = yard().at("parent").requests(&key);
    let (first, rest) = ledger.entries.split_first().expect("requests");
    assert!(rest.iter().all(|entry| entry.session.is_some() && entry.session != first.session), "a child did it");
    // OpenCode books a step when its tools are done. That of the parent was cut off while its child was at work, so its
    // cost is unknown, and the report marks it so.
    assert_eq!(report["cost_known"], false, "{report:#}");
    assert_ended_at_the_limit(&report, &Ledger { entries: rest.to_vec() });
}

#[test]
fn an_answer_that_reaches_the_limit_is_given_and_no_more_is_asked_of_the_model() {
    let (directory, dir) = workplace("last");
    let steps = vec![work(&directory), Step::text("done").usage(Tokens::new(10_000, 100))];
    let key = yard().at("fitting").script("last", steps);
    let args = ["--mode", "agent", "--max-cost", "0.063", "-m", "fitting/m", "--dir", &dir, &key];
    let report = yard().dispatch(&args).expect_ok();
    assert_eq!(report["text"], "done");
    assert_bill(&report, &yard().at("fitting").requests(&key));

    // Another try would be another answer to pay for.
    let schema = r#"{"type":"object","properties":{"score":{"type":"number"}},"required":["score"]}"#;
    let wrong = || Step::structured(json!({"score": "four"})).usage(Tokens::new(10_000, 100));
    let key = yard().at("fitting").script("unfit", vec![wrong(), wrong(), wrong()]);
    let outcome = yard().dispatch(&["--max-cost", "0.05", "-m", "fitting/m", "--schema", schema, &key]);
    outcome.expect_code(3).expect_class("budget_refused");
    assert_eq!(yard().asked_for("fitting", &key), 2, "{}", outcome.stdout);
    assert_bill(&outcome.json(), &yard().at("fitting").requests(&key));
    let message = outcome.json()["error"]["message"].as_str().unwrap_or_default().to_owned();
    assert!(message.contains("no more than $0.0500 was allowed"), "{message}");
    let key = yard().at("fitting").script("mended", vec![wrong(), Step::structured(json!({"score": 4}))]);
    let report = yard().dispatch(&["--max-cost", "0.08", "-m", "fitting/m", "--schema", schema, &key]).expect_ok();
    assert_eq!(report["structured"], json!({"score": 4}));
}

#[test]
fn limits_of_a_task_and_of_a_batch_hold_for_all_that_is_charged_to_them() {
    let env = &yard().env;
    let done = |args: &[&str]| env.run(&[&["budget", "--json"], args].concat()).expect_code(0).json();
    let dispatch = |labels: &[&str]| {
        let answer = Step::text("done").usage(Tokens::new(10_000, 100));
        let key = yard().at("charged").script("charged", vec![answer]);
        (yard().dispatch(&[&["-m", "charged/m"], labels, &[key.as_str()]].concat()), key)
    };
    let both = ["--task", "T1", "--batch", "B1"];
    for (kind, name) in [("task", "T1"), ("batch", "B1")] {
        let flag = format!("--{kind}");
        let set = done(&["configure", &flag, name, "--daily-budget", "0.03"]);
        assert_eq!(set["daily_budget_usd"], json!(0.03));
    }
    let (first, _) = dispatch(&both);
    first.expect_ok();
    for (labels, whose) in [(&both[..2], "task T1"), (&both[2..], "batch B1"), (&both, "T1")] {
        let (refused, key) = dispatch(labels);
        refused.expect_code(3).expect_class("budget_refused");
        assert!(refused.stdout.contains(whose), "{}", refused.stdout);
        assert_eq!(yard().asked_for("charged", &key), 0, "nobody was asked");
    }
    // Another task, another batch and unlabelled dispatches go on.
    for labels in [&["--task", "T2", "--batch", "B2"][..], &["--task", "T3", "--batch", "B2"], &[]] {
        dispatch(labels).0.expect_ok();
    }
    let each = Nano(31_500_000);
    let rows = |by: &str| -> Vec<Value> {
        let report = done(&["report", "--by", by]);
        let rows = report["rows"].as_array().expect("rows").iter();
        let named = rows.filter(|row| row["name"] != "");
        named.map(|row| json!([row["name"], row["cost_nano"], row["attempts"], row["tokens"]])).collect()
    };
    let row = |name: &str, runs: i64| json!([name, each.0 * runs, runs, 10_100 * runs]);
    assert_eq!(rows("task"), [row("T1", 1), row("T2", 1), row("T3", 1)]);
    assert_eq!(rows("batch"), [row("B1", 1), row("B2", 2)]);
    assert_eq!(yard().at("charged").ledger().total_reported().cost, Nano(each.0 * 4));
    // The limit is raised, and so it goes on.
    done(&["configure", "--task", "T1", "--daily-budget", "1"]);
    dispatch(&both[..2]).0.expect_ok();
    assert_eq!(rows("task")[0], row("T1", 2));
}
