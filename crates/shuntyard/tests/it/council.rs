//! A council: rounds without the members' names, an end when all agree, a synthesis that keeps the dissent, and no call
//! that exceeds the limits.

use crate::yard::{Key, Yard, assert_settled, flags, model, with_models};
use serde_json::{Value, json};
use shuntyard_core::Nano;
use shuntyard_scripted::{Said, Step, Tokens};
use shuntyard_testkit::{Outcome, environment::finish};
use std::{os::unix::fs::PermissionsExt as _, path::Path, process::Command};

/// Names that occur in no prompt by accident.
const MEMBERS: [&str; 2] = ["quillon/vexil-9", "brasto/tormund-3"];

const TIERS: &str = "[tiers]\nseats = [\"quillon/vexil-9\"]\n";

fn yard(name: &str) -> Yard {
    let one = |name: &str| {
        let (provider, id) = name.split_once('/').expect("a name");
        with_models(provider, Key::Config, &[model(id, &json!({}))])
    };
    let mut providers: Vec<_> = MEMBERS.iter().map(|name| one(name)).collect();
    let others = ["chair", "mute", "costly", "lavish"].map(|id| model(id, &json!({})));
    providers.push(with_models("hall", Key::Config, &others));
    let yard = Yard::new(name, providers, &json!({}), TIERS);
    yard.at("quillon").act("vexil-9", |said| member(said, "events", "I am Vexil-9 of Quillon: events decouple."));
    yard.at("brasto").act("tormund-3", |said| member(said, "calls", "Tormund-3 says: calls are simple."));
    yard.at("hall").act("chair", |said| member(said, "neither", "the chair only puts together"));
    yard.at("hall").act("mute", |_| Step::status(403));
    for id in ["costly", "lavish"] {
        yard.at("hall").act(id, move |said| member(said, id, "a long answer").usage(Tokens::new(20_000, 2000)));
    }
    yard
}

/// Keeps its position, unless the question asks that all shall agree: then the second round does.
fn member(said: &[Said], position: &str, answer: &str) -> Step {
    let prompt = &said.last().expect("a prompt").text;
    if prompt.starts_with("A council has answered") {
        let labels = between(prompt, "Each of ", " is in exactly one");
        let mut labels: Vec<&str> = labels.split(", ").collect();
        let agreed = prompt.contains("By their own word A, B share");
        let dissent = if agreed { None } else { labels.pop() };
        let dissent: Vec<Value> =
            dissent.map(|label| json!({"label": label, "position": "it still objects"})).into_iter().collect();
        return Step::structured(json!({"answer": "the whole of it", "supported_by": labels, "dissent": dissent}));
    }
    let second = prompt.contains("this is round 2");
    if second && prompt.contains("hang in the second round") {
        return Step::hang_mid_stream();
    }
    let agrees = second && prompt.contains("please agree") && prompt.contains("You have heard A");
    let agree_with = if agrees { json!(["A"]) } else { json!([]) };
    Step::structured(json!({"position": format!("{position} is right"), "answer": answer, "agree_with": agree_with,
        "changed": agrees, "confidence": 0.7}))
}

fn between<'a>(text: &'a str, before: &str, after: &str) -> &'a str {
    let (_, rest) = text.split_once(before).expect("the beginning");
    rest.split_once(after).expect("the end").0
}

fn council(yard: &Yard, members: &[&str], args: &[&str]) -> Outcome {
    yard.env.run(&[&["council", "--json"][..], &flags(members), args].concat())
}

fn usd(value: &Value) -> Nano {
    value.as_f64().and_then(Nano::from_usd).expect("a cost")
}

#[test]
fn two_rounds_without_names_and_a_synthesis_that_keeps_the_dissent() {
    let yard = yard("council-dissent");
    let key = yard.at("hall").fresh_key("disputed");
    let report = council(&yard, &MEMBERS, &["--rounds", "2", "--synthesis", "hall/chair", &key]).expect_code(0).json();
    assert_eq!([&report["status"], &report["ended_because"], &report["answer"]], ["ok", "rounds", "the whole of it"]);
    assert_eq!([&report["calls"], &report["estimate"]["calls"]], [5, 5], "{report:#}");
    assert_eq!(report["synthesis_by"], "hall/chair");
    let members = report["members"].as_object().expect("members");
    let mut seated: Vec<&str> = members.values().filter_map(Value::as_str).collect();
    seated.sort_unstable();
    assert!(members.keys().eq(["A", "B"]) && seated == [MEMBERS[1], MEMBERS[0]], "{members:#?}");
    let transcript = &report["transcript"];
    let rounds = transcript["rounds"].as_array().expect("rounds");
    assert_eq!(rounds.len(), 2);
    for (number, round) in rounds.iter().enumerate() {
        assert_eq!(round["number"], number + 1);
        for (label, name) in members {
            let expected = if name == MEMBERS[0] { "events is right" } else { "calls is right" };
            assert_eq!(round["answers"][label]["position"], expected);
        }
    }
    assert_eq!(transcript["synthesis"]["dissent"], json!([{"label": "B", "position": "it still objects"}]));
    assert_eq!(transcript["synthesis"]["supported_by"], json!(["A"]));

    let mine = yard.ledger(&key);
    assert_eq!(mine.entries.len(), 5);
    for entry in &mine.entries {
        let whole: String = entry.messages.iter().map(|said| said.text.to_lowercase()).collect();
        for name in ["quillon", "vexil", "brasto", "tormund"] {
            assert!(!whole.contains(name), "{name} is in a prompt: {whole}");
        }
        let (events, calls) = (whole.contains("events decouple"), whole.contains("calls are simple"));
        let first = whole.contains("this is round 1");
        assert_eq!((events, calls), (!first, !first), "all is heard from the second round on: {whole}");
    }
    assert_eq!(usd(&report["cost_usd"]), mine.total_reported().cost);
    assert_eq!(report["usage"], json!(mine.total_reported().usage));

    let path = Path::new(report["transcript_path"].as_str().expect("a path"));
    let mode = |path: &Path| std::fs::metadata(path).expect("it is there").permissions().mode() & 0o777;
    assert_eq!((mode(path), mode(path.parent().expect("a directory"))), (0o600, 0o700));
    let kept: Value = serde_json::from_slice(&std::fs::read(path).expect("read")).expect("JSON");
    assert_eq!((&kept["transcript"], &kept["members"]), (transcript, &report["members"]));
    assert_settled(&yard.env);

    let people = yard.env.run(&[
        "council",
        "-m",
        MEMBERS[0],
        "-m",
        MEMBERS[1],
        "--rounds",
        "1",
        "--synthesis",
        "hall/chair",
        &key,
    ]);
    people.expect_code(0);
    for part in ["--- round 1 ---", "events is right", "(ended: rounds; 3 calls, $", "the whole of it", "dissent of "] {
        assert!(people.stdout.contains(part), "{part}: {}", people.stdout);
    }
    assert!(people.stderr.contains("the transcript is in "), "{}", people.stderr);
}

#[test]
fn agreement_ends_it_early() {
    let yard = yard("council-agreed");
    let key = yard.at("hall").fresh_key("agreed");
    let question = format!("{key} please agree");
    let report =
        council(&yard, &MEMBERS, &["--rounds", "5", "--synthesis", "hall/chair", &question]).expect_code(0).json();
    assert_eq!([&report["ended_because"], &report["answer"]], ["agreement", "the whole of it"], "{report:#}");
    assert_eq!([&report["calls"], &report["estimate"]["calls"]], [5, 11]);
    assert_eq!(report["transcript"]["rounds"][1]["changed"], json!(["B"]));
    assert_eq!(report["transcript"]["synthesis"]["dissent"], json!([]));
    assert_eq!(usd(&report["cost_usd"]), yard.ledger(&key).total_reported().cost);
}

#[test]
fn who_is_silent_is_named_and_the_others_go_on() {
    let yard = yard("council-silent");
    let key = yard.at("hall").fresh_key("silent");
    let named = [MEMBERS[0], MEMBERS[1], "hall/mute", "nobody/m"];
    let report = council(&yard, &named, &["--rounds", "1", &key]).expect_code(0).json();
    assert!(report["warnings"].to_string().contains("nobody/m does not take part"), "{report:#}");
    let label = report["members"].as_object().expect("members").iter().find(|(_, name)| *name == "hall/mute");
    let silent = &report["transcript"]["rounds"][0]["answers"][label.expect("it has a seat").0];
    assert_eq!(silent["outcome"], "silent", "{silent:#}");
    let alone = council(&yard, &["hall/mute", MEMBERS[0]], &["--rounds", "3", "--synthesis", "hall/chair", &key]);
    let report = alone.expect_code(0).json();
    assert_eq!(report["ended_because"], "too_few_answered", "{report:#}");
    council(&yard, &[MEMBERS[0], "nobody/m"], &[&key]).expect_code(2).expect_class("usage");
    // When all fail in the same way, that is the way in which the council fails.
    council(&yard, &["nobody/m", "noone/m"], &[&key]).expect_code(4).expect_class("provider_not_connected");
    council(&yard, &["nobody/m", "hall/missing"], &[&key]).expect_code(2).expect_class("usage");
    council(&yard, &[MEMBERS[0]], &[&key]).expect_code(2).expect_class("usage");
    council(&yard, &[MEMBERS[0], MEMBERS[0]], &[&key]).expect_code(2).expect_class("usage");
}

#[test]
fn what_the_limits_have_no_room_for_is_refused_before_the_first_call() {
    let yard = yard("council-refused");
    let poor = ["hall/chair", "hall/costly"];
    let refused = council(&yard, &poor, &["--max-cost", "0.05", "hello"]);
    refused.expect_code(3).expect_class("budget_refused");
    assert!(refused.stdout.contains("in 7 calls, and --max-cost is $0.05"), "{}", refused.stdout);
    yard.env.run(&["budget", "configure", "hall", "--daily-budget", "0.05"]).expect_code(0);
    let refused = council(&yard, &poor, &["hello"]);
    refused.expect_code(3).expect_class("budget_refused");
    assert!(refused.stdout.contains("hall") && refused.stdout.contains("left"), "{}", refused.stdout);
    assert_eq!(yard.asked("hall"), 0);
    yard.env.run(&["budget", "configure", "hall", "--daily-budget", "5"]).expect_code(0);
    council(&yard, &poor, &["--rounds", "1", "hello"]).expect_code(0);
    assert!(yard.asked("hall") >= 2);
    // A used-up limit refuses every council, except one with `--over-budget`.
    yard.env.run(&["budget", "configure", "hall", "--daily-budget", "0.001"]).expect_code(0);
    for flags in [&["--rounds", "1"][..], &["--rounds", "1", "--critical"]] {
        council(&yard, &poor, &[flags, &["hello"]].concat()).expect_code(3).expect_class("budget_refused");
    }
    council(&yard, &poor, &["--rounds", "1", "--over-budget", "hello"]).expect_code(0);
}

#[test]
fn a_council_that_nobody_answers_in_time_says_so_by_its_code() {
    let yard = yard("council-late");
    for id in ["mute", "costly"] {
        yard.at("hall").act(id, |_| Step::hang_before_headers());
    }
    let late = council(&yard, &["hall/mute", "hall/costly"], &["--timeout", "1s", "hello"]);
    let report = late.expect_code(5).json();
    assert_eq!((&report["answer"], &report["problem"]), (&Value::Null, &json!("nobody has answered")), "{report:#}");
}

#[test]
fn members_of_one_provider_wait_for_each_other() {
    let models = ["a", "b", "c"].map(|id| model(id, &json!({})));
    let providers = vec![with_models("hall", Key::Config, &models)];
    let yard = Yard::new("council-narrow", providers, &json!({}), "[batch]\nat_once_per_provider = 1\n");
    for id in ["a", "b", "c"] {
        yard.at("hall").act(id, move |said| member(said, id, "slowly").delay(std::time::Duration::from_millis(150)));
    }
    council(&yard, &["hall/a", "hall/b", "hall/c"], &["--rounds", "1", "hello"]).expect_code(0);
    let mut spans = yard.at("hall").ledger().entries;
    spans.sort_by_key(|entry| entry.started_at);
    assert_eq!(spans.len(), 4);
    for pair in spans.windows(2) {
        assert!(pair[0].finished_at.expect("it ended") <= pair[1].started_at, "two at once: {spans:#?}");
    }
}

#[test]
fn the_next_round_is_not_begun_without_the_money_for_it() {
    let yard = yard("council-dear");
    let key = yard.at("hall").fresh_key("dear");
    // Each answer costs $0.09, four times what was expected: after one round another one would pass the line.
    let members = ["hall/costly", "hall/lavish"];
    let report = council(&yard, &members, &["--rounds", "4", "--max-cost", "0.30", &key]).expect_code(0).json();
    assert_eq!([&report["ended_because"], &report["answer"]], ["budget", "the whole of it"], "{report:#}");
    assert_eq!(report["calls"], 3);
    assert_eq!(usd(&report["cost_usd"]), yard.ledger(&key).total_reported().cost);
    assert!(usd(&report["cost_usd"]) <= Nano(300_000_000));
}

#[test]
fn an_interrupted_council_says_what_it_has_and_what_it_cost() {
    let yard = yard("council-interrupted");
    let key = yard.at("hall").fresh_key("interrupted");
    let question = format!("{key} hang in the second round");
    let running = yard.env.spawn(&[&["council", "--json"][..], &flags(&MEMBERS), &[&question]].concat());
    let asked = || yard.asked_for("quillon", &key) == 2 && yard.asked_for("brasto", &key) == 2;
    shuntyard_testkit::eventually("the second round", std::time::Duration::from_secs(40), asked);
    assert!(Command::new("kill").args(["-INT", &running.id().to_string()]).status().expect("kill").success());
    let report = finish(running).expect_code(1).json();
    assert_eq!([&report["status"], &report["answer"]], [&json!("error"), &Value::Null], "{report:#}");
    assert!(report["problem"].as_str().is_some_and(|problem| problem.contains("cancelled")), "{report:#}");
    assert_eq!(report["transcript"]["rounds"][0]["answers"]["A"]["outcome"], "answered");
    // The answers that had begun were never counted: they are booked as what they probably took.
    assert!(usd(&report["cost_usd"]) > yard.ledger(&key).total_reported().cost, "{report:#}");
    assert_eq!(report["cost_known"], false);
    assert_eq!(yard.ledger(&key).entries.len(), 4, "nobody is asked to put it together");
    assert!(Path::new(report["transcript_path"].as_str().expect("a path")).exists());
    yard.wait_until_let_go();
    assert_settled(&yard.env);
}

/// A member that was named by a tier belongs to it like any other work for that tier; a member that was named itself
/// does not.
#[test]
fn a_tier_pays_for_its_members_and_its_limit_holds_for_them() {
    let yard = yard("council-tier");
    let key = yard.at("hall").fresh_key("charged");
    let members = ["tier:seats", MEMBERS[1]];
    yard.env.run(&["budget", "configure", "--tier", "seats", "--daily-budget", "0.001"]).expect_code(0);
    let refused = council(&yard, &members, &["--rounds", "1", &key]);
    refused.expect_code(3).expect_class("budget_refused");
    assert!(refused.stdout.contains("tier seats"), "{}", refused.stdout);
    assert_eq!(yard.asked("quillon") + yard.asked("brasto"), 0);
    yard.env.run(&["budget", "configure", "--tier", "seats", "--daily-budget", "5"]).expect_code(0);
    council(&yard, &members, &["--rounds", "1", &key]).expect_code(0);
    let report = yard.env.run(&["budget", "report", "--by", "tier", "--json"]).expect_code(0).json();
    let rows = report["rows"].as_array().expect("rows").iter();
    let rows: Vec<(&str, u64)> =
        rows.map(|row| (row["name"].as_str().unwrap_or("?"), row["attempts"].as_u64().unwrap_or(0))).collect();
    // The first member also puts it together.
    assert_eq!(rows, [("", 1), ("seats", 2)], "{report:#}");
}
