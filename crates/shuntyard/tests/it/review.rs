//! Reviews of a change, and the loop that has its findings fixed until nothing is found, or nothing helps.

use crate::yard::{Key, Yard, assert_settled, plain};
use serde_json::{Value, json};
use shuntyard_core::Nano;
use shuntyard_scripted::{Said, Step};
use shuntyard_testkit::{Outcome, environment::finish, eventually};
use std::{
    path::{Path, PathBuf},
    process::Command,
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

const REVIEWERS: [&str; 4] = ["-m", "one/m", "-m", "two/m"];

/// Both reviewers search for the same text; the fixer is scripted by each test.
fn yard(name: &str) -> Yard {
    let providers = ["one", "two", "fixer"].map(|id| plain(id, Key::Config)).into();
    let yard = Yard::new(name, providers, &json!({"model": "fixer/m"}), "");
    for id in ["one", "two"] {
        yard.at(id).act("m", reviewer);
    }
    yard
}

/// Reports every line of the change that contains BUG.
fn reviewer(said: &[Said]) -> Step {
    let prompt = &said.last().expect("a prompt").text;
    let findings: Vec<Value> = prompt
        .lines()
        .filter(|line| line.starts_with('+') && line.contains("BUG"))
        .map(|line| json!({"severity": "major", "file": "src/fresh.rs", "line": 1, "text": format!("wrong: {line}")}))
        .collect();
    review(findings)
}

fn review(findings: Vec<Value>) -> Step {
    let verdict = if findings.is_empty() { "approve" } else { "reject" };
    Step::structured(json!({"verdict": verdict, "findings": findings, "confidence": 0.9}))
}

fn git(directory: &Path, args: &[&str]) -> String {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=t", "-c", "user.email=t@t"]).args(args).current_dir(directory);
    let output = command.output().expect("git");
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

/// A repository with a commit, a staged change, one that is not staged, a new file with a bug and an ignored one.
fn repository(yard: &Yard, key: &str) -> PathBuf {
    let directory = yard.env.repository("changed");
    std::fs::create_dir_all(directory.join("src")).expect("a directory");
    let write = |name: &str, text: &str| std::fs::write(directory.join(name), text).expect("written");
    write(".gitignore", "*.log\n");
    write("src/staged.rs", "fn staged() {}\n");
    write("src/known.rs", "fn known() {}\n");
    git(&directory, &["add", "."]);
    git(&directory, &["commit", "-qm", "first"]);
    write("src/staged.rs", "fn staged() { one() }\n");
    git(&directory, &["add", "src/staged.rs"]);
    write("src/known.rs", "fn known() { two() }\n");
    write("src/fresh.rs", &format!("fn fresh() {{ BUG {key} }}\n"));
    write("secret.log", "IGNORED\n");
    directory
}

fn run(yard: &Yard, directory: &Path, args: &[&str]) -> Outcome {
    let place = directory.to_string_lossy();
    yard.env.run(&[&["review", "--json", "--dir", &place][..], &REVIEWERS, args].concat())
}

/// A step of the fixer that writes the new file anew.
fn rewrite(directory: &Path, text: &str) -> Step {
    Step::tool("write", json!({"filePath": directory.join("src/fresh.rs"), "content": text}))
}

fn usd(value: &Value) -> Nano {
    value.as_f64().and_then(Nano::from_usd).expect("a cost")
}

#[test]
fn reviewers_see_the_whole_change_and_the_index_stays_as_it_was() {
    let yard = yard("review");
    let key = yard.at("one").fresh_key("seen");
    let directory = repository(&yard, &key);
    let state = || {
        (git(&directory, &["status", "--porcelain"]), std::fs::read(directory.join(".git/index")).expect("the index"))
    };
    let before = state();
    let report = run(&yard, &directory, &[]).expect_code(1).json();
    assert_eq!(state(), before, "the user's index is left alone");
    let verdict = &report["verdict"];
    assert_eq!([&verdict["kind"], &verdict["decision"]["follow"]], ["consensus", "fix"], "{verdict:#}");
    assert_eq!(verdict["findings"][0]["found_by"], json!(["one/m", "two/m"]));
    assert_eq!(verdict["findings"][0]["file"], "src/fresh.rs");
    let entries = yard.ledger(&key).entries;
    assert_eq!(entries.len(), 2);
    for entry in &entries {
        let seen = &entry.last_user_text;
        for part in [
            "+fn staged() { one() }",
            "+fn known() { two() }",
            "-fn known() {}",
            "+++ b/src/fresh.rs",
            "+fn fresh() { BUG",
        ] {
            assert!(seen.contains(part), "{part} is missing: {seen}");
        }
        assert!(!seen.contains("IGNORED"), "{seen}");
        assert_eq!(entry.session, None, "a review asks directly");
    }
    assert_eq!(usd(&report["summary"]["cost_usd"]), yard.booked());

    // A range has what is in it and nothing else; from below the top, it is the whole all the same.
    let range = run(&yard, &directory, &["HEAD"]).json();
    assert_eq!(range["summary"]["ok"], 2);
    git(&directory, &["add", "src"]);
    git(&directory, &["commit", "-qm", "second"]);
    std::fs::write(directory.join("src/later.rs"), "fn later() {}\n").expect("written");
    let asked = yard.asked("one");
    run(&yard, &directory.join("src"), &["HEAD~1..HEAD"]).expect_code(1);
    let last = yard.at("one").ledger().entries[asked].last_user_text.clone();
    assert!(last.contains("+fn fresh() { BUG") && !last.contains("later"), "{last}");
    // What is fine passes, and what is not there needs no reviewer.
    run(&yard, &directory, &[]).expect_code(0);
    std::fs::remove_file(directory.join("src/later.rs")).expect("removed");
    let asked = yard.asked("one");
    let nothing = run(&yard, &directory, &[]);
    assert_eq!(nothing.expect_code(0).json()["results"], json!([]));
    assert_eq!(yard.asked("one"), asked);
    // Where nothing is committed yet, everything is new.
    let young = yard.env.repository("young");
    std::fs::write(young.join("young.rs"), "fn young() { BUG }\n").expect("written");
    run(&yard, &young, &[]).expect_code(1);
    assert!(yard.at("one").ledger().entries[asked].last_user_text.contains("+fn young() { BUG }"));
    run(&yard, &directory, &["no-such-branch"]).expect_code(2).expect_class("usage");
    // What is not checked out cannot be fixed.
    run(&yard, &directory, &["HEAD~1..HEAD~1", "--loop"]).expect_code(2).expect_class("usage");
    run(&yard, &directory, &["HEAD~1...nothing", "--loop"]).expect_code(2).expect_class("usage");
    run(&yard, Path::new("/"), &[]).expect_code(2).expect_class("usage");
    assert_settled(&yard.env);
}

#[test]
fn a_finding_is_mended_and_looked_at_again() {
    let yard = yard("review-loop");
    let key = yard.at("one").fresh_key("mended");
    let directory = repository(&yard, &key);
    let index = std::fs::read(directory.join(".git/index")).expect("the index");
    yard.script("fixer", &key, vec![rewrite(&directory, "fn fresh() {}\n"), Step::text("I have mended it")]);
    let report = run(&yard, &directory, &["--loop", "--fixer", "fixer/m"]).expect_code(0).json();
    assert_eq!(report["ended"], json!({"step": "done"}), "{report:#}");
    let count = |name: &str| report[name].as_array().map(Vec::len);
    assert_eq!((count("reviews"), count("fixes")), (Some(2), Some(1)));
    assert_eq!(std::fs::read_to_string(directory.join("src/fresh.rs")).expect("the file"), "fn fresh() {}\n");
    assert_eq!(std::fs::read(directory.join(".git/index")).expect("the index"), index);
    assert_eq!(git(&directory, &["log", "--format=%s"]), "first\n", "nothing is committed");
    let told = &yard.at("fixer").ledger().entries[0].last_user_text;
    assert!(told.contains("[major] src/fresh.rs:1: wrong: +fn fresh() { BUG"), "{told}");
    assert_eq!(told.matches("[major]").count(), 1, "what both found is mended once: {told}");
    let sum = |name: &str| report[name].as_array().cloned().unwrap_or_default();
    let spent: Nano = sum("reviews").iter().map(|look| usd(&look["summary"]["cost_usd"])).sum();
    let spent = sum("fixes").iter().map(|fix| usd(&fix["cost_usd"])).sum::<Nano>() + spent;
    assert_eq!(spent, yard.booked());
    yard.env.stop_servers();
}

#[test]
fn a_range_that_ends_at_what_is_checked_out_is_mended() {
    let yard = yard("review-range");
    let key = yard.at("one").fresh_key("range");
    let directory = repository(&yard, &key);
    git(&directory, &["branch", "before"]);
    git(&directory, &["checkout", "-qb", "topic"]);
    git(&directory, &["add", "src"]);
    git(&directory, &["commit", "-qm", "second"]);
    // The other side has gone on: with three dots only the changes of this side are reviewed.
    git(&directory, &["checkout", "-q", "before"]);
    std::fs::write(directory.join("src/other.rs"), "fn other() {}\n").expect("written");
    git(&directory, &["add", "src"]);
    git(&directory, &["commit", "-qm", "other"]);
    git(&directory, &["checkout", "-q", "topic"]);
    for range in ["before...HEAD", "before...topic", "before..."] {
        std::fs::write(directory.join("src/fresh.rs"), format!("fn fresh() {{ BUG {key} }}\n")).expect("written");
        yard.script("fixer", &key, vec![rewrite(&directory, "fn fresh() {}\n"), Step::text("I have mended it")]);
        let asked = yard.asked("one");
        let report = run(&yard, &directory, &[range, "--loop", "--fixer", "fixer/m"]).expect_code(0).json();
        assert_eq!(report["ended"], json!({"step": "done"}), "{range}: {report:#}");
        assert_eq!(report["fixes"].as_array().map(Vec::len), Some(1), "{range}");
        let seen = yard.at("one").ledger().entries[asked].last_user_text.clone();
        assert!(seen.contains("+fn fresh() { BUG") && !seen.contains("other.rs"), "{range}: {seen}");
    }
    run(&yard, &directory, &["HEAD...before", "--loop"]).expect_code(2).expect_class("usage");
    // The recorded outcomes: a fix is no review, and the review after it has judged it.
    let taught = yard.env.run(&["patterns", "export", "--task-type", "complex-fix"]).expect_code(0).stdout.clone();
    let taught: Value = serde_json::from_str(&taught).expect("a document");
    let outcomes = taught["outcomes"].as_array().or_else(|| taught.as_array()).expect("outcomes").clone();
    assert_eq!(outcomes.len(), 3, "{taught:#}");
    for outcome in outcomes {
        assert_eq!([&outcome["evidence"], &outcome["outcome"]], ["judged", "success"], "{outcome:#}");
        assert!(
            outcome["text"].as_str().is_some_and(|text| text.starts_with("Fix what a review found:")),
            "{outcome:#}"
        );
    }
    yard.env.stop_servers();
}

#[test]
fn reviewers_that_all_fail_alike_are_told_by_the_code() {
    let yard = yard("review-codes");
    let directory = repository(&yard, "codes");
    let named = |models: [&str; 2], args: &[&str]| {
        let place = directory.to_string_lossy();
        let [first, second] = models;
        yard.env.run(&[&["review", "--json", "--dir", &place, "-m", first, "-m", second], args].concat())
    };
    named(["nobody/m", "noone/m"], &[]).expect_code(4);
    named(["one/m", "noone/m"], &[]).expect_code(1);
    for id in ["one", "two"] {
        yard.at(id).act("m", |_| Step::hang_before_headers());
    }
    named(["one/m", "two/m"], &["--timeout", "1s"]).expect_code(5);
    named(["one/m", "two/m"], &["--timeout", "1s", "--loop", "--fixer", "fixer/m"]).expect_code(5);
    for id in ["one", "two"] {
        yard.at(id).act("m", reviewer);
    }
    yard.env.run(&["budget", "configure", "--overall", "--daily-budget", "0.0000001"]).expect_code(0);
    named(["one/m", "two/m"], &[]).expect_code(3);
    named(["one/m", "two/m"], &["--critical"]).expect_code(3);
    let asked = yard.asked("one");
    named(["one/m", "two/m"], &["--over-budget"]).expect_code(1);
    assert_eq!(yard.asked("one"), asked + 1, "past every limit it is asked");
}

#[test]
fn a_finding_that_stays_ends_the_loop_with_its_name() {
    let yard = yard("review-stuck");
    let key = yard.at("one").fresh_key("stuck");
    let directory = repository(&yard, &key);
    let steps = (0..5)
        .flat_map(|n| [rewrite(&directory, &format!("// {n}\nfn fresh() {{ BUG {key} }}\n")), Step::text("done")]);
    yard.script("fixer", &key, steps.collect());
    let outcome = run(&yard, &directory, &["--loop", "--fixer", "fixer/m"]);
    let report = outcome.expect_code(1).json();
    let because = &report["ended"]["because"];
    assert_eq!([&because["reason"], &because["times"]], [&json!("stuck"), &json!(3)], "{report:#}");
    assert!(because["finding"]["text"].as_str().is_some_and(|text| text.contains("BUG")));
    assert_eq!(
        (report["reviews"].as_array().map(Vec::len), report["fixes"].as_array().map(Vec::len)),
        (Some(3), Some(2))
    );

    // A limit of its own ends it before that, and people read why.
    let place = directory.to_string_lossy();
    let args = [&["review", "--dir", &place, "--loop", "--fixer", "fixer/m", "--max-iterations", "1"][..], &REVIEWERS];
    let people = yard.env.run(&args.concat());
    people.expect_code(1);
    assert!(people.stdout.contains("fixed as often as allowed, and 1 findings are left"), "{}", people.stdout);
    assert!(people.stderr.contains("fixer/m has fixed: done"), "{}", people.stderr);
    yard.env.stop_servers();
}

#[test]
fn a_fixer_that_does_nothing_or_cannot_is_said() {
    let yard = yard("review-idle");
    let key = yard.at("one").fresh_key("idle");
    let directory = repository(&yard, &key);
    yard.script("fixer", &key, vec![Step::text("it is fine as it is"), Step::status(403)]);
    let report = run(&yard, &directory, &["--loop", "--fixer", "fixer/m"]).expect_code(1).json();
    assert_eq!(report["ended"]["because"]["reason"], "nothing_changed", "{report:#}");
    let report = run(&yard, &directory, &["--loop", "--fixer", "fixer/m"]).expect_code(1).json();
    assert_eq!(report["ended"]["because"]["reason"], "not_mended", "{report:#}");
    yard.script("fixer", &key, vec![Step::text("all is well")]);
    let place = directory.to_string_lossy();
    let args = [&["review", "--dir", &place, "--loop", "--fixer", "fixer/m"][..], &REVIEWERS].concat();
    let people = yard.env.run(&args);
    assert!(people.stderr.contains("fixer/m has changed nothing: all is well"), "{}", people.stderr);
    // A fixer that does not exist is refused before the reviewers are paid.
    let asked = yard.asked("one");
    run(&yard, &directory, &["--loop", "--fixer", "fixer/nobody"]).expect_code(2).expect_class("model_not_found");
    assert_eq!(yard.asked("one"), asked);
    yard.env.stop_servers();
}

#[test]
fn silence_is_no_approval_and_an_interrupted_loop_stops() {
    let yard = yard("review-silent");
    let key = yard.at("one").fresh_key("silent");
    let directory = repository(&yard, &key);
    yard.at("one").act("m", |_| review(Vec::new()));
    yard.at("two").act("m", |_| Step::status(403));
    let report = run(&yard, &directory, &["--loop", "--fixer", "fixer/m"]).expect_code(1).json();
    assert_eq!(report["ended"]["because"]["reason"], "not_reviewed", "{report:#}");
    let report = run(&yard, &directory, &[]).expect_code(1).json();
    assert_eq!(report["verdict"]["decision"]["decision"], "undecided", "{report:#}");

    let looks = AtomicUsize::new(0);
    yard.at("one").act("m", reviewer);
    yard.at("two").act("m", move |said| match looks.fetch_add(1, Ordering::Relaxed) {
        0 => reviewer(said),
        _ => Step::hang_mid_stream(),
    });
    yard.script("fixer", &key, vec![rewrite(&directory, "fn fresh() {}\n"), Step::text("mended")]);
    let place = directory.to_string_lossy();
    let args = [&["review", "--json", "--dir", &place, "--loop", "--fixer", "fixer/m"][..], &REVIEWERS].concat();
    let before = yard.asked("two");
    let running = yard.env.spawn(&args);
    eventually("the second look", Duration::from_secs(60), || yard.asked("two") == before + 2);
    assert!(Command::new("kill").args(["-INT", &running.id().to_string()]).status().expect("kill").success());
    let outcome = finish(running);
    let report = outcome.expect_code(1).json();
    assert_eq!(report["fixes"].as_array().map(Vec::len), Some(1), "{report:#}");
    assert_eq!(outcome.stderr.matches("stopping; once more").count(), 1, "it is said once: {}", outcome.stderr);
    yard.wait_until_let_go();
    yard.env.stop_servers();
    assert_settled(&yard.env);
}
