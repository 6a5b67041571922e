//! Contests: several models work on one task, and one result is delivered.

use crate::{
    judge::{shown, verdict},
    supervise::Yard,
};
use serde_json::{Value, json};
use shuntyard_core::Nano;
use shuntyard_scripted::{Said, Step, Tokens};
use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

const VERIFY: &str = "grep -qx 42 answer.txt";
const A: &str = "scripted/alpha";
const B: &str = "scripted/beta";

pub(super) fn write(content: &str) -> Step {
    Step::tool("write", json!({"filePath": "answer.txt", "content": content}))
}

/// A model that writes this and reports that it is done.
pub(super) fn writes(yard: &Yard, model: &str, content: &'static str) {
    yard.env.provider.act(model, move |said| if is_after_tool(said) { Step::text("done") } else { write(content) });
}

pub(super) fn is_after_tool(said: &[Said]) -> bool {
    said.last().is_some_and(|last| last.role == "tool")
}

/// A judge that names the answer with this word, or else the first that it sees.
pub(super) fn judges(yard: &Yard, model: &str, word: &'static str) {
    yard.env.provider.act(model, move |said| {
        let shown = shown(&said.last().expect("a prompt").text);
        let best = shown.iter().position(|(_, text)| text.contains(word)).unwrap_or(0);
        Step::structured(verdict(&shown, best))
    });
}

pub(super) fn contest(yard: &Yard, more: &[&str]) -> String {
    let args = ["write the answer", "--strategy", "contest", "-m", A, "-m", B, "--verify", VERIFY];
    yard.add(&[&args, more].concat())
}

pub(super) fn asked(yard: &Yard, model: &str) -> usize {
    yard.env.provider.ledger().entries.iter().filter(|entry| entry.model == model).count()
}

fn usd(value: &Value) -> Nano {
    value.as_f64().and_then(Nano::from_usd).expect("an amount")
}

#[test]
fn the_green_one_is_delivered_and_the_other_can_be_looked_at() {
    let yard = Yard::new("contest-green");
    writes(&yard, "alpha", "41\n");
    writes(&yard, "beta", "42\n");
    let id = contest(&yard, &["--deliver", "merge", "--task-type", "code-review"]);
    yard.settle();
    let task = yard.task(&id);
    assert_eq!(task["phase"], "done", "{task:#}");
    assert_eq!((yard.git(&["show", "main:answer.txt"]).as_str(), &task["strategy"]), ("42", &json!("contest")));
    assert_eq!(task["attempts"][0]["model"], B, "{task:#}");
    let contest = &task["contest"];
    assert_eq!(contest["winner"], B, "{contest:#}");
    assert!(contest["reason"].as_str().is_some_and(|why| why.contains("the only one of 2 entries")), "{contest:#}");
    let [first, second] = [&contest["entries"][0], &contest["entries"][1]];
    for (entry, model, verify, outcome) in [(first, A, "red", "failed"), (second, B, "green", "done")] {
        assert_eq!([&entry["model"], &entry["verify"], &entry["outcome"]], [model, verify, outcome], "{contest:#}");
    }
    for (entry, content) in [(first, "41"), (second, "42")] {
        let branch = entry["branch"].as_str().expect("a branch");
        assert_eq!(yard.git(&["show", &format!("{branch}:answer.txt")]), content, "{contest:#}");
    }
    let told = yard.env.provider.ledger().total_reported().cost;
    assert_eq!(usd(&task["cost_usd"]), told, "the contest cost what the provider says");
    assert_eq!(usd(&first["cost_usd"]) + usd(&second["cost_usd"]), told, "{contest:#}");
    let entry = yard.task(&format!("{id}.1"));
    assert_eq!((&entry["entry_of"], &entry["cost_usd"]), (&json!(id), &first["cost_usd"]), "{entry:#}");
    let spent = yard.env.run(&["budget", "report", "--by", "task", "--json"]).expect_code(0).json().to_string();
    assert!(!spent.contains(&format!("{id}.1")), "an entry is charged to its contest: {spent}");
    let other = yard.add(&["another", "--command", "true", "--in-place"]);
    let listed = yard.env.run(&["task", "list"]).expect_code(0).stdout.clone();
    let places = [&id, &format!("  {id}.1"), &format!("  {id}.2"), &other].map(|id| listed.find(id.as_str()));
    assert!(places.is_sorted() && places[0].is_some(), "{listed}");
    assert!(yard.env.run(&["task", "show", &id]).expect_code(0).stdout.contains("won"));

    // The result advises later requests of the same kind, until it is too old.
    let route = |more: &[&str]| {
        let args = [&["route", "--json"], more, &["Review this"]].concat();
        yard.env.run(&args).expect_code(0).json()
    };
    let found = route(&["--task-type", "code-review"]);
    let step = contest_step(&found);
    assert_eq!([&found["rule"], &found["model"]["model"]], ["contest", "beta"], "{found:#}");
    assert!(step["chosen"] == true && step["why"].as_str().is_some_and(|why| why.contains("by 100 %")), "{found:#}");
    let other = route(&["--task-type", "docs-generation"]);
    assert_eq!(
        (contest_step(&other)["chosen"] == true, contest_step(&other)["why"].as_str()),
        (false, Some("none was held"))
    );
    assert_eq!(route(&["--model", A])["rule"], "explicit", "a name always wins");
    yard.env.write_config("[contest]\nmax_age = \"1ms\"\n");
    let old = route(&["--task-type", "code-review"]);
    assert!(old["rule"] == "task_type" && contest_step(&old)["why"].to_string().contains("older than"), "{old:#}");
}

fn contest_step(route: &Value) -> Value {
    let trace = route["trace"].as_array().expect("a trace");
    trace.iter().find(|step| step["step"] == "contest").expect("the step").clone()
}

#[test]
fn a_judge_compares_what_is_green_in_both_orders() {
    let yard = Yard::with("contest-judge", "judge_model = \"scripted/eyes\"\n");
    writes(&yard, "alpha", "42\nplain\n");
    writes(&yard, "beta", "42\nGOLD\n");
    judges(&yard, "eyes", "GOLD");
    let id = contest(&yard, &["--task-type", "code-review"]);
    yard.settle();
    let task = yard.task(&id);
    assert_eq!((&task["phase"], &task["contest"]["winner"]), (&json!("done"), &json!(B)), "{task:#}");
    assert!(task["contest"]["reason"].as_str().is_some_and(|why| why.contains("scripted/eyes found")), "{task:#}");
    assert!(yard.git(&["show", &format!("shuntyard/{id}:answer.txt")]).contains("GOLD"));
    let ledger = yard.env.provider.ledger();
    let passes: Vec<_> = ledger.entries.iter().filter(|entry| entry.model == "eyes").collect();
    assert_eq!(passes.len(), 2, "one pass for each order");
    let orders: Vec<Vec<String>> =
        passes.iter().map(|pass| shown(&pass.last_user_text).into_iter().map(|(_, text)| text).collect()).collect();
    assert_eq!(orders[0], orders[1].iter().rev().cloned().collect::<Vec<_>>());
    assert!(!passes.iter().any(|pass| pass.last_user_text.contains("alpha")), "no model is named");
    assert_eq!(usd(&task["cost_usd"]), ledger.total_reported().cost, "the judge is paid by the contest");

    // A judge that is biased by the order decides nothing, and a rule does.
    judges(&yard, "eyes", "no such word");
    let id = contest(&yard, &[]);
    yard.settle();
    let contest = &yard.task(&id)["contest"];
    let reason = contest["reason"].as_str().expect("a reason");
    assert!(reason.contains("in the other order, so a rule decided"), "{contest:#}");
    let costs = [0, 1].map(|place| usd(&contest["entries"][place]["cost_usd"]));
    let cheaper = if costs[1] < costs[0] { B } else { A };
    assert_eq!(contest["winner"], cheaper, "{contest:#}");

    // A close verdict advises nothing: the judge gave 9 and 8.
    let route = ["route", "--task-type", "code-review", "--json", "Review this"];
    assert_eq!(yard.env.run(&route).expect_code(0).json()["rule"], "contest");
    yard.env.write_config("[contest]\nmin_margin = 11\n");
    let found = yard.env.run(&route).expect_code(0).json();
    assert_eq!(found["rule"], "task_type", "{found:#}");
    assert!(contest_step(&found)["why"].to_string().contains("by 10 %: that is less than"), "{found:#}");
}

#[test]
fn without_a_green_entry_a_person_is_needed_and_a_retry_tries_them_again() {
    let yard = Yard::new("contest-red");
    let tries = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&tries);
    yard.env.provider.act("alpha", move |said| match is_after_tool(said) {
        true => Step::text("done"),
        false => write(if counted.fetch_add(1, Ordering::Relaxed) == 0 { "40\n" } else { "42\n" }),
    });
    writes(&yard, "beta", "41\n");
    let id = contest(&yard, &[]);
    yard.settle();
    let task = yard.task(&id);
    assert_eq!((&task["phase"], &task["contest"]["winner"]), (&json!("blocked"), &Value::Null), "{task:#}");
    let reason = task["reason"].as_str().expect("a reason");
    let retry = format!("`shuntyard task retry {id}`");
    for words in ["needs a person", A, B, "grep -qx 42", &retry] {
        assert!(reason.contains(words), "{words}: {reason}");
    }
    assert_eq!(task["contest"]["reason"], task["reason"]);
    let attention = yard.env.run(&["status", "--json"]).expect_code(0).json()["needs_attention"].clone();
    let ids: Vec<&Value> = attention.as_array().expect("tasks").iter().map(|task| &task["id"]).collect();
    assert_eq!(ids, [&json!(id)], "the contest speaks for its entries");
    yard.env.run(&["task", "retry", &id]).expect_code(0);
    yard.settle();
    let task = yard.task(&id);
    assert_eq!((&task["phase"], &task["contest"]["winner"]), (&json!("done"), &json!(A)), "{task:#}");
    assert_eq!(yard.git(&["show", &format!("shuntyard/{id}:answer.txt")]), "42");
    assert_eq!(usd(&task["cost_usd"]), yard.env.provider.ledger().total_reported().cost);
    assert_eq!(yard.task(&format!("{id}.2"))["attempts"].as_array().map(Vec::len), Some(2), "both were tried again");
}

#[test]
fn entries_in_parallel_stay_within_one_limit() {
    let yard = Yard::new("contest-money");
    // Each step costs $1.50, and none of them ever ends.
    let step = Tokens::new(0, 100_000);
    for model in ["alpha", "beta"] {
        let count = AtomicUsize::new(0);
        yard.env.provider.act(model, move |_| {
            let number = count.fetch_add(1, Ordering::Relaxed);
            write(&format!("{number}\n")).usage(step)
        });
    }
    let id = contest(&yard, &["--max-cost", "9"]);
    yard.settle();
    let task = yard.task(&id);
    assert_eq!(task["phase"], "blocked", "{task:#}");
    // OpenCode begins a step by itself, so on a busy machine one more can be asked for before the run is ended. Nothing
    // is asked for after that, and all of it is counted.
    let asked = [asked(&yard, "alpha"), asked(&yard, "beta")];
    assert!(asked.iter().all(|asked| (3..=4).contains(asked)), "each has half of it: {asked:?}");
    let (spent, told) = (usd(&task["cost_usd"]), yard.env.provider.ledger().total_reported().cost);
    assert!(spent >= told && spent >= Nano::from_usd(9.0).expect("a limit"), "{spent} of {told}: {task:#}");
    // What is too little for a single attempt is not spent at all.
    let before = yard.env.provider.ledger().entries.len();
    let poor = contest(&yard, &["--max-cost", "0.000001"]);
    yard.settle();
    let task = yard.task(&poor);
    assert_eq!((&task["phase"], yard.env.provider.ledger().entries.len()), (&json!("blocked"), before), "{task:#}");
    assert!(task["reason"].as_str().is_some_and(|why| why.contains("budget")), "{task:#}");
}

#[test]
fn a_contest_that_is_cancelled_ends_its_entries() {
    let yard = Yard::new("contest-cancel");
    writes(&yard, "alpha", "42\n");
    yard.env.provider.act("beta", |_| Step::hang_mid_stream());
    let id = contest(&yard, &[]);
    yard.pulse_until("the second entry to be asked", || asked(&yard, "beta") > 0);
    assert_eq!(yard.phase(&id), "waiting");
    let why = yard.task(&id)["reason"].as_str().expect("a reason").to_owned();
    assert!(why.contains("entries of the contest are still to settle"), "{why}");
    yard.env.run(&["task", "cancel", &id]).expect_code(0);
    yard.wait_for_phase(&format!("{id}.2"), "cancelled");
    yard.settle();
    assert_eq!(yard.phase(&id), "cancelled");
    // Begun again, it is as new.
    writes(&yard, "beta", "41\n");
    yard.env.run(&["task", "reset", &id]).expect_code(0);
    yard.settle();
    let task = yard.task(&id);
    assert_eq!((&task["phase"], &task["contest"]["winner"]), (&json!("done"), &json!(A)), "{task:#}");
}

#[test]
fn what_a_cancelled_entry_has_spent_counts_and_it_is_not_tried_alone() {
    let yard = Yard::new("contest-spent");
    let hangs = |said: &[Said]| if is_after_tool(said) { Step::hang_mid_stream() } else { write("40\n") };
    yard.env.provider.act("alpha", hangs);
    writes(&yard, "beta", "42\n");
    let id = contest(&yard, &[]);
    let first = format!("{id}.1");
    yard.pulse_until("its second step", || asked(&yard, "alpha") > 1);
    yard.env.run(&["task", "cancel", &first]).expect_code(0);
    yard.wait_for_phase(&first, "cancelled");
    yard.settle();
    let task = yard.task(&id);
    assert_eq!((&task["phase"], &task["contest"]["winner"]), (&json!("done"), &json!(B)), "{task:#}");
    let spent = |entry: usize| usd(&task["contest"]["entries"][entry]["cost_usd"]);
    assert!(spent(0) > Nano::ZERO, "its first step was paid: {task:#}");
    assert_eq!(spent(0) + spent(1), usd(&task["cost_usd"]), "{task:#}");
    let route = ["route", "--json", "--task-type", "code-review", "Review this"];
    assert_ne!(yard.env.run(&route).expect_code(0).json()["rule"], "contest", "nothing was shown about the models");
    let alone = yard.env.run(&["task", "retry", &first]);
    assert!(alone.expect_code(3).stderr.contains(&format!("task retry {id}")), "{}", alone.stderr);
}

#[test]
fn a_contest_that_is_over_before_any_entry_is_done_has_failed() {
    let yard = Yard::new("contest-late");
    yard.env.provider.act("alpha", |_| Step::hang_mid_stream());
    yard.env.provider.act("beta", |_| Step::hang_mid_stream());
    let id = contest(&yard, &["--deadline", "2s"]);
    yard.settle();
    let task = yard.task(&id);
    assert_eq!(task["phase"], "failed", "{task:#}");
    assert!(task["reason"].as_str().is_some_and(|why| why.starts_with("timeout: its deadline")), "{task:#}");
}

#[test]
fn what_makes_no_contest_is_refused_before_anything_is_added() {
    let yard = Yard::new("contest-usage");
    let refused = |args: &[&str], words: &str| {
        let outcome = yard.env.run(&[&["task", "add", "x", "--json"], args].concat());
        let message = outcome.expect_code(2).json()["error"]["message"].to_string();
        assert!(message.contains(words), "{words}: {message}");
    };
    refused(&["-m", A, "-m", B], "only a contest has several");
    refused(&["--strategy", "contest"], "a contest needs 2 to 10 different models, and 0 were named");
    refused(&["--strategy", "contest", "-m", A], "and 1 were named");
    refused(&["--strategy", "contest", "-m", A, "-m", A], "is named twice");
    refused(&["--strategy", "contest", "-m", A, "-m", "node:fast"], "is no full name of a model");
    refused(&["--strategy", "contest", "-m", A, "-m", "alpha"], "is no full name of a model");
    refused(&["--strategy", "contest", "-m", A, "-m", B, "--tier", "haiku"], "--tier says nothing");
    refused(&["--strategy", "contest", "-m", A, "-m", B, "--command", "true"], "is about a model");
    refused(&["--strategy", "contest", "-m", A, "-m", B, "--in-place"], "work in place");
    refused(&["--strategy", "best", "--tier", "haiku"], "chooses the tier itself");
    refused(&["--strategy", "cascade", "-m", A], "chooses the tier itself");
    let file = yard.env.root.join("tasks.jsonl");
    std::fs::write(&file, format!("{{\"description\": \"x\", \"models\": [\"{A}\", \"{B}\"]}}\n")).expect("written");
    let bulk = yard.env.run(&["task", "add", "--from", file.to_str().expect("text"), "--json"]);
    assert!(bulk.expect_code(2).json()["error"]["message"].to_string().contains("line 1: 2 models were named"));
    let listed = yard.env.run(&["task", "list", "--json"]).expect_code(0).json();
    assert_eq!(listed["tasks"], json!([]));
    let good = json!({"description": "x", "strategy": "contest", "models": [A, B], "verify": VERIFY});
    std::fs::write(&file, good.to_string()).expect("written");
    let added = yard.env.run(&["task", "add", "--from", file.to_str().expect("text"), "--json"]).expect_code(0).json();
    let id = added["ids"][0].as_str().expect("an id");
    assert_eq!(yard.task(id)["strategy"], "contest");
    yard.env.run(&["task", "cancel", id]).expect_code(0);
}

#[test]
fn a_judge_of_prompts_holds_a_contest_too() {
    let yard = Yard::new("contest-prompt");
    yard.env.provider.act("alpha", |_| Step::text("lead"));
    yard.env.provider.act("beta", |_| Step::text("GOLD"));
    judges(&yard, "eyes", "GOLD");
    let prompt = "Review this diff for bugs";
    let typed = yard.env.run(&["route", "--json", prompt]).expect_code(0).json();
    assert!(typed["task_type"].is_string() && typed["rule"] != "contest", "the text has a kind: {typed:#}");
    let batch = ["dispatch", "--json", "-m", A, "-m", B, "--judge", "scripted/eyes", prompt];
    assert_eq!(yard.env.run(&batch).expect_code(0).json()["verdict"]["winner"], B);
    let found = yard.env.run(&["route", "--json", prompt]).expect_code(0).json();
    assert_eq!([&found["rule"], &found["model"]["model"]], ["contest", "beta"], "{found:#}");
    assert!(contest_step(&found)["why"].to_string().contains("won a prompt"), "{found:#}");
}

#[test]
fn a_strategy_says_which_models_work() {
    let yard = Yard::with(
        "strategies",
        "[tiers]\nhaiku = [\"scripted/alpha\"]\nflash = [\"scripted/beta\"]\nopus = [\"scripted/odd\"]\n",
    );
    for model in ["alpha", "beta", "odd"] {
        let count = AtomicUsize::new(0);
        yard.env.provider.act(model, move |said| match is_after_tool(said) {
            true => Step::text("done"),
            false => write(&format!("no {}\n", count.fetch_add(1, Ordering::Relaxed))),
        });
    }
    let models = |more: &[&str]| -> Vec<String> {
        let id = yard.add(&[&["write the answer", "--verify", VERIFY, "--attempts", "2"], more].concat());
        yard.settle();
        let attempts = yard.task(&id)["attempts"].as_array().expect("attempts").clone();
        attempts.iter().map(|attempt| attempt["model"].as_str().expect("a model").to_owned()).collect()
    };
    assert_eq!(models(&["--strategy", "cascade"]), [A, B]);
    assert_eq!(models(&["--strategy", "best"])[0], "scripted/odd");
    assert_eq!(models(&["--strategy", "direct", "--tier", "haiku"]), [A, A]);
    assert_eq!(models(&["--tier", "haiku"])[0], A);
    let top = yard.repository().canonicalize().expect("a path");
    let settings = format!("[repository.{:?}]\nstrategy = \"best\"\n", top.display().to_string());
    let config = yard.env.root.join("home/.config/shuntyard/config.toml");
    let before = std::fs::read_to_string(&config).expect("a configuration");
    yard.env.write_config(&format!("{before}{settings}"));
    assert_eq!(models(&[])[0], "scripted/odd", "the repository's own strategy");
    assert_eq!(models(&["--tier", "haiku"])[0], A, "what is named comes first");
    yard.env.write_config(&format!("{before}{}", settings.replace("best", "contest")));
    let refused = yard.env.run(&["task", "list"]);
    assert!(refused.expect_code(2).stderr.contains("contest"), "{}", refused.stderr);
    yard.env.write_config(&before);
}
