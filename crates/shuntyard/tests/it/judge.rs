//! Answers that are compared: by a judge that sees no names and both orders, and by what reviewers agree on.

use crate::yard::{Key, Yard, assert_settled, flags, model, with_models};
use serde_json::{Map, Value, json};
use shuntyard_core::Nano;
use shuntyard_scripted::{Said, Step};

/// Names that occur in no prompt by accident.
const NAMES: [&str; 3] = ["quillon/vexil-9", "brasto/tormund-3", "ondaray/sable-7"];

fn yard(name: &str) -> Yard {
    let one = |name: &str| {
        let (provider, id) = name.split_once('/').expect("a name");
        with_models(provider, Key::Config, &[model(id, &json!({}))])
    };
    let mut providers: Vec<_> = NAMES.iter().map(|name| one(name)).collect();
    let judges = ["fair", "first", "last", "vague", "torn"].map(|id| model(id, &json!({})));
    providers.push(with_models("bench", Key::Config, &judges));
    let reviewers = ["r0", "r1", "r2", "r3", "r4"].map(|id| model(id, &json!({})));
    providers.push(with_models("panel", Key::Config, &reviewers));
    let yard = Yard::new(name, providers, &json!({}), "");
    cast(&yard);
    yard
}

fn cast(yard: &Yard) {
    let choosing = |choose: fn(&[(String, String)]) -> usize| {
        move |said: &[Said]| {
            let shown = shown(&said.last().expect("a prompt").text);
            Step::structured(verdict(&shown, choose(&shown)))
        }
    };
    let bench = yard.at("bench");
    bench.act("fair", choosing(|shown| shown.iter().position(|(_, text)| text.contains("GOLD")).expect("the best")));
    bench.act("first", choosing(|_| 0));
    bench.act("last", choosing(|shown| shown.len() - 1));
    bench.act("vague", |_| Step::text("I like all of them."));
    bench.act("torn", |said| {
        let shown = shown(&said.last().expect("a prompt").text);
        let mut torn = verdict(&shown, 0);
        torn["best"] = json!(shown[1].0);
        Step::structured(torn)
    });
    for (index, id) in ["r0", "r1", "r2", "r3", "r4"].into_iter().enumerate() {
        yard.at("panel").act(id, move |said| reviewer(index, &said.last().expect("a prompt").text));
    }
}

/// What a judge is shown: each label with its answer, in the order of the prompt.
pub(crate) fn shown(prompt: &str) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    let mut open = false;
    for line in prompt.lines() {
        match line.split_whitespace().collect::<Vec<_>>()[..] {
            ["BEGIN", _, "answer", label] => {
                found.push((label.to_owned(), String::new()));
                open = true;
            }
            ["END", _, "answer", _] => open = false,
            _ if open => found.last_mut().expect("an answer").1.push_str(line),
            _ => {}
        }
    }
    found
}

pub(crate) fn verdict(shown: &[(String, String)], best: usize) -> Value {
    let mut ranking: Vec<&String> = shown.iter().map(|(label, _)| label).collect();
    let first = ranking.remove(best);
    ranking.insert(0, first);
    let scores: Map<String, Value> =
        ranking.iter().enumerate().map(|(place, label)| ((*label).clone(), json!(9 - place))).collect();
    json!({"ranking": ranking, "best": first, "scores": scores, "reason": format!("{first} is right")})
}

/// The first so many object, by the number in the prompt, and the last may have to be silent.
fn reviewer(index: usize, prompt: &str) -> Step {
    if prompt.contains("silent") && index == 4 {
        return Step::status(403);
    }
    if prompt.contains("talkative") && index == 4 {
        return Step::text("looks good to me");
    }
    let objecting = (0..5).find(|count| prompt.contains(&format!("objections={count}"))).expect("a count");
    let finding = json!({"severity": "major", "file": "src/lib.rs", "line": 10 + index % 2,
        "text": "the length is not checked, so an empty input panics"});
    let remark = json!({"severity": "info", "file": null, "line": null, "text": "a nice change"});
    let (verdict, findings) =
        if index < objecting { ("reject", json!([finding])) } else { ("approve", json!([remark])) };
    Step::structured(json!({"verdict": verdict, "findings": findings, "confidence": 0.8}))
}

/// Asks all three, of which one has the best answer, and lets a judge compare.
fn judged(yard: &Yard, judge: &str, extra: &[&str]) -> (shuntyard_testkit::Outcome, String) {
    let key = yard.at("quillon").script("judged", vec![Step::text("I am Vexil-9, and I say lead.")]);
    yard.script("brasto", &key, vec![Step::text("Tormund-3 by Brasto thinks: GOLD.\nCertainly gold.")]);
    yard.script("ondaray", &key, vec![Step::text("Unlike Vexil I, Sable 7, say tin.")]);
    let args = [&["dispatch"][..], &flags(&NAMES), extra, &["--judge", judge, &key]].concat();
    (yard.env.run(&args), key)
}

#[test]
fn the_better_content_wins_in_both_orders_and_nobody_is_named() {
    let yard = yard("judge-fair");
    let (outcome, key) = judged(&yard, "bench/fair", &["--json"]);
    let report = outcome.expect_code(0).json();
    let verdict = &report["verdict"];
    assert_eq!(
        [&verdict["kind"], &verdict["decision"], &verdict["winner"]],
        ["judge", "winner", NAMES[1]],
        "{verdict:#}"
    );
    assert_eq!([&verdict["judge"], &verdict["position_biased"]], [&json!("bench/fair"), &Value::Null]);
    assert_eq!(verdict["scores"][NAMES[1]], 9.0, "{verdict:#}");
    assert_eq!(verdict["reasons"].as_array().map(Vec::len), Some(2));

    let mine = yard.ledger(&key);
    let passes: Vec<_> = mine.entries.iter().filter(|entry| entry.model == "fair").collect();
    assert_eq!(passes.len(), 2);
    for pass in &passes {
        let whole: String = pass.messages.iter().map(|said| said.text.to_lowercase()).collect();
        for name in ["quillon", "vexil", "brasto", "tormund", "ondaray", "sable"] {
            assert!(!whole.contains(name), "{name} is in the judge's prompt: {whole}");
        }
        assert_eq!(pass.answer_form.as_deref(), Some("json_schema"));
    }
    let orders: Vec<Vec<String>> =
        passes.iter().map(|pass| shown(&pass.last_user_text).into_iter().map(|(_, text)| text).collect()).collect();
    assert_eq!(orders[0].len(), 3);
    assert_eq!(orders[0], orders[1].iter().rev().cloned().collect::<Vec<_>>());
    let codes = passes.iter().map(|pass| pass.last_user_text.split_once("BEGIN ").map(|(_, rest)| &rest[..32]));
    let codes: Vec<_> = codes.collect();
    assert_ne!(codes[0], codes[1], "a boundary is used once");

    let of_judge: Nano = passes.iter().map(|pass| pass.cost()).sum();
    let usd = |value: &Value| value.as_f64().and_then(Nano::from_usd).expect("a cost");
    assert_eq!(usd(&verdict["cost_usd"]), of_judge);
    assert_eq!(usd(&report["summary"]["cost_usd"]), mine.total_reported().cost, "the judge is in the sum");
    assert_eq!(report["summary"]["usage"], json!(mine.total_reported().usage));
    assert_settled(&yard.env);
}

#[test]
fn who_always_picks_a_place_decides_nothing() {
    let yard = yard("judge-biased");
    for (judge, edge) in [("bench/first", "first"), ("bench/last", "last")] {
        let (outcome, key) = judged(&yard, judge, &["--json"]);
        let verdict = outcome.expect_code(0).json()["verdict"].clone();
        assert_eq!([&verdict["decision"], &verdict["position_biased"]], ["tie", edge], "{verdict:#}");
        assert_eq!(verdict["winner"], Value::Null);
        let tie = verdict["tie"].as_array().expect("a tie");
        assert!(tie.len() == 2 && tie[0] != tie[1], "{verdict:#}");
        assert_eq!(yard.asked_for("bench", &key), 2);
    }
    let (people, _) = judged(&yard, "bench/first", &[]);
    people.expect_code(0);
    assert!(people.stdout.contains("--- judged by bench/first ("), "{}", people.stdout);
    assert!(people.stdout.contains("a tie of "), "{}", people.stdout);
    assert!(people.stderr.contains("it goes by the order, not by the answers"), "{}", people.stderr);
}

#[test]
fn a_judge_that_gives_no_verdict_is_said_to_have_given_none() {
    let yard = yard("judge-vague");
    let (outcome, key) = judged(&yard, "bench/vague", &["--json"]);
    let report = outcome.expect_code(1).json();
    let verdict = &report["verdict"];
    assert_eq!([&verdict["decision"], &verdict["winner"]], [&json!("no_verdict"), &Value::Null]);
    let why = verdict["why"].as_str().expect("a reason");
    assert!(why.contains("the first pass failed: no answer fits the schema"), "{why}");
    assert_eq!(report["summary"]["ok"], 3, "the answers stand");
    let usd = report["summary"]["cost_usd"].as_f64().and_then(Nano::from_usd);
    assert_eq!(usd, Some(yard.ledger(&key).total_reported().cost), "what it said is paid all the same");
    let (outcome, _) = judged(&yard, "bench/torn", &["--json"]);
    let verdict = outcome.expect_code(1).json()["verdict"].clone();
    assert_eq!(verdict["decision"], "no_verdict");
    assert!(verdict["why"].as_str().is_some_and(|why| why.contains("no valid verdict")), "{verdict:#}");
    let (people, _) = judged(&yard, "bench/vague", &[]);
    assert!(people.stdout.contains("no verdict: the first pass failed"), "{}", people.stdout);
}

#[test]
fn there_must_be_something_to_compare_and_somebody_to_do_it() {
    let yard = yard("judge-alone");
    let key = yard.at("quillon").script("alone", vec![Step::text("the only answer")]);
    yard.script("brasto", &key, vec![Step::status(403)]);
    let outcome = yard.ask(&NAMES[..2], &["--judge", "bench/fair", &key]);
    let verdict = outcome.expect_code(1).json()["verdict"].clone();
    assert_eq!(verdict["decision"], "no_verdict");
    assert!(verdict["why"].as_str().is_some_and(|why| why.contains("at least two")), "{verdict:#}");
    assert_eq!(yard.asked_for("bench", &key), 0);
    // A judge that does not exist is refused before the answers are paid for.
    let key = yard.at("quillon").script("nobody", vec![Step::text("never given")]);
    let refused = yard.ask(&NAMES[..2], &["--judge", "bench/nobody", &key]);
    refused.expect_code(2).expect_class("model_not_found");
    assert_eq!(yard.ledger(&key).entries.len(), 0);
}

#[test]
fn a_judge_sees_what_is_too_long_to_be_shown() {
    let yard = yard("judge-long");
    let long = |end: &str| Step::text(format!("{}{end}", "so it is, ".repeat(30)));
    let key = yard.at("quillon").script("long", vec![long("lead")]);
    yard.script("brasto", &key, vec![long("GOLD")]);
    let args = [&["dispatch", "--json", "--judge", "bench/fair"][..], &flags(&NAMES[..2]), &[&key]].concat();
    let report = yard.env.run_with(&[("SHUNTYARD_DISPATCH_ANSWER_LIMIT", "50")], &args).expect_code(0).json();
    assert_eq!([&report["results"][1]["truncated"], &report["verdict"]["winner"]], [&json!(true), &json!(NAMES[1])]);
}

fn agreed(yard: &Yard, question: &str) -> (Value, Option<i32>) {
    let reviewers = ["panel/r0", "panel/r1", "panel/r2", "panel/r3", "panel/r4"];
    let outcome = yard.ask(&reviewers, &["--consensus", question]);
    (outcome.json()["verdict"].clone(), outcome.code)
}

#[test]
fn objections_are_counted_and_silence_counts_where_it_matters() {
    let yard = yard("consensus");
    let table = [
        ("objections=0", "decided", "pass", [0, 5, 0]),
        ("objections=1", "decided", "pass", [1, 4, 0]),
        ("objections=2", "decided", "second_opinion", [2, 3, 0]),
        ("objections=3", "decided", "fix", [3, 2, 0]),
        // One more objection would change nothing here; but nothing passes while a reviewer is silent.
        ("objections=0 silent", "undecided", "second_opinion", [0, 4, 1]),
        ("objections=3 silent", "decided", "fix", [3, 1, 1]),
        // Here it would change something, so that it is not decided, and the graver way is taken.
        ("objections=1 silent", "undecided", "second_opinion", [1, 3, 1]),
        ("objections=2 silent", "undecided", "fix", [2, 2, 1]),
        ("objections=1 talkative", "undecided", "second_opinion", [1, 3, 1]),
    ];
    for (question, decision, follow, counts) in table {
        let (verdict, code) = agreed(&yard, question);
        let found = &verdict["decision"];
        assert_eq!([&found["decision"], &found["follow"]], [decision, follow], "{question}: {verdict:#}");
        assert_eq!(json!([found["objecting"], found["clear"], found["unknown"]]), json!(counts), "{question}");
        assert_eq!(code, Some(i32::from(counts[2] > 0)), "{question}: a reviewer that failed is a failure");
        let unknown = verdict["unknown"].as_array().expect("a list");
        assert_eq!(unknown.len(), counts[2], "{question}");
        assert!(unknown.iter().all(|silent| silent["model"] == "panel/r4" && silent["why"] != ""), "{verdict:#}");
        let reason = found["reason"].as_str().unwrap_or_default();
        assert_eq!(reason.ends_with(": panel/r4"), decision == "undecided", "who was silent is told: {reason}");
    }
    let (verdict, _) = agreed(&yard, "objections=3");
    let graves: Vec<_> =
        verdict["findings"].as_array().expect("findings").iter().filter(|it| it["severity"] == "major").collect();
    assert_eq!(graves.len(), 1, "one thing, however many found it: {verdict:#}");
    assert_eq!(graves[0]["found_by"], json!(["panel/r0", "panel/r1", "panel/r2"]));
    assert_eq!(graves[0]["agreement_percent"], 60);
}
