//! Recorded outcomes, by the commands that enter, query, show and export them. None of them starts a server.

use crate::own_env;
use serde_json::{Value, json};
use shuntyard_core::{
    Nano,
    experience::{Evidence, Verdict},
};
use shuntyard_store::{NewOutcome, Store as _, sqlite::SqliteStore};
use shuntyard_testkit::{Outcome, TestEnv};
use std::os::unix::fs::PermissionsExt;

const TOML: &str = r#"
tier_order = ["haiku", "sonnet", "opus"]
[tiers]
haiku = ["acme/swift"]
sonnet = ["north/birch", "acme/careful"]
opus = ["north/oak"]
[tier_aliases]
small = "haiku"
[budget]
time_zone = "UTC"
"#;

fn scene(name: &str) -> TestEnv {
    let env = own_env(&format!("patterns-{name}"));
    env.write_config(TOML);
    env
}

fn patterns(env: &TestEnv, args: &[&str]) -> Outcome {
    env.run(&[&["patterns", "--json"], args].concat())
}

/// Done, with its document.
#[track_caller]
fn done(env: &TestEnv, args: &[&str]) -> Value {
    patterns(env, args).expect_code(0).json()
}

/// Enters a review with more flags.
#[track_caller]
fn review(env: &TestEnv, model: &str, outcome: &str, more: &[&str]) -> Value {
    let usual = ["record", "--task-type", "code-review", "--model", model, "--outcome", outcome];
    done(env, &[&usual, more].concat())["outcome"].clone()
}

fn list<'a>(document: &'a Value, key: &str) -> &'a Vec<Value> {
    document[key].as_array().expect("a list")
}

fn in_store<T>(env: &TestEnv, work: impl AsyncFnOnce(SqliteStore) -> T) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let path = env.data_dir().join("shuntyard.db");
    runtime.block_on(async { work(SqliteStore::open_existing(&path).await.expect("the store")).await })
}

fn now() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("a time after 1970");
    i64::try_from(since.as_micros()).expect("a time of this age")
}

/// An outcome as a dispatch leaves it.
fn left(asked: &str, tier: &str, model: &str) -> NewOutcome {
    NewOutcome {
        at: now(),
        attempt: None,
        task: None,
        batch: None,
        task_type: "code-review".into(),
        requested: json!({"tier": asked}),
        asked_tier: Some(asked.into()),
        tier: Some(tier.into()),
        model: model.into(),
        strategy: "text".into(),
        verdict: Verdict::Success,
        failure_mode: None,
        error_class: None,
        evidence: Evidence::Answered,
        quality: None,
        tokens: 10,
        cost: Nano(1),
        cost_known: true,
        duration_ms: 5,
        retries: 0,
        repository: String::new(),
        propensity: None,
        text: String::new(),
    }
}

#[track_caller]
fn leave(env: &TestEnv, outcomes: &[NewOutcome]) {
    let added = in_store(env, async |store| store.record_outcomes(outcomes).await.expect("recorded"));
    assert_eq!(usize::try_from(added), Ok(outcomes.len()));
}

#[test]
fn two_samples_are_refused_and_three_recommend_a_tier() {
    let env = scene("three");
    for samples in 0..3_u64 {
        let refused = patterns(&env, &["recommend", "code-review"]);
        let said = refused.expect_code(1).json();
        assert_eq!(said["recommends"], "nothing");
        assert_eq!(
            (&said["tier"], &said["model"], &said["table_tier"]),
            (&Value::Null, &Value::Null, &json!("sonnet"))
        );
        let counted = list(&said, "tiers").first().map_or(0, |tier| tier["samples"].as_u64().unwrap_or_default());
        assert_eq!(counted, samples);
        env.run(&["patterns", "recommend", "code-review"]).expect_code(1);
        review(&env, "acme/swift", "success", &[]);
    }
    let said = done(&env, &["recommend", "code-review"]);
    assert_eq!(
        (&said["recommends"], &said["tier"], &said["model"]),
        (&json!("tier"), &json!("haiku"), &json!("acme/swift"))
    );
    assert_eq!((&said["samples"], &said["scope"]), (&json!(3), &json!("everywhere")));
    let lower = said["lower_percent"].as_f64().expect("a number");
    assert!((60.0..=75.1).contains(&lower), "{said:#}");
    let people = env.run(&["patterns", "recommend", "code-review"]);
    people.expect_code(0);
    assert_eq!(people.stdout.lines().next(), Some("code-review: tier haiku, where acme/swift did best"));
    // Three samples that do not reach the share are no recommendation either.
    for outcome in ["success", "failure", "failure"] {
        done(&env, &["record", "--task-type", "quick-check", "--model", "acme/swift", "--outcome", outcome]);
    }
    let said = patterns(&env, &["recommend", "quick-check"]).json();
    assert_ne!(said["recommends"], "tier", "{said:#}");
    // A model that is in no tier is recommended by name.
    for _ in 0..3 {
        done(&env, &["record", "--task-type", "odd-job", "--model", "far/away", "--outcome", "success"]);
    }
    let said = done(&env, &["recommend", "odd-job"]);
    assert_eq!(
        (&said["recommends"], &said["tier"], &said["model"]),
        (&json!("model"), &Value::Null, &json!("far/away"))
    );
}

#[test]
fn the_cheapest_tier_that_qualifies_is_recommended() {
    let env = scene("cheapest");
    let enter = |kind: &str, model: &str, successes: usize, failures: usize| {
        for (outcome, count) in [("success", successes), ("failure", failures)] {
            for _ in 0..count {
                done(&env, &["record", "--task-type", kind, "--model", model, "--outcome", outcome]);
            }
        }
    };
    for (kind, cheap, dear, expected, followed) in [
        ("code-review", (3, 0), (5, 0), "haiku", true),
        ("api-analysis", (9, 1), (10, 0), "haiku", true),
        ("logic-verification", (7, 3), (6, 0), "opus", false),
    ] {
        enter(kind, "acme/swift", cheap.0, cheap.1);
        enter(kind, "north/oak", dear.0, dear.1);
        let said = done(&env, &["recommend", kind]);
        assert_eq!((&said["tier"], &said["table_tier"]), (&json!(expected), &json!("sonnet")), "{said:#}");
        assert_eq!(said["followed"], followed, "{said:#}");
        let routed = if followed { expected } else { "sonnet" };
        assert_eq!(said["routed_tier"], routed, "{said:#}");
        let reason = said["routed_reason"].as_str().expect("a reason");
        assert_eq!(reason.contains("sonnet, the tier of the table, has not been seen failing"), !followed, "{reason}");
    }
}

#[test]
fn a_top_task_goes_below_the_top_only_when_it_does_not_look_hard() {
    let env = scene("hard");
    for _ in 0..4 {
        done(&env, &["record", "--task-type", "complex-fix", "--model", "acme/swift", "--outcome", "success"]);
    }
    assert_eq!(done(&env, &["recommend", "complex-fix", "--text", "rename a field"])["tier"], "haiku");
    let hard = patterns(&env, &["recommend", "complex-fix", "--text", "find the race condition"]);
    let said = hard.expect_code(1).json();
    assert!(said["reason"].as_str().is_some_and(|reason| reason.contains("looks hard")), "{said:#}");
}

#[test]
fn failures_of_the_surroundings_do_not_count() {
    let env = scene("surroundings");
    for mode in ["TRANSIENT", "resource", "Environment"] {
        for _ in 0..3 {
            let entered = review(&env, "acme/swift", "failure", &["--failure-mode", mode]);
            assert_eq!(entered["counts"], false);
        }
    }
    let said = patterns(&env, &["recommend", "code-review"]);
    assert_eq!(list(&said.expect_code(1).json(), "tiers")[0]["samples"], 0);
    for _ in 0..3 {
        review(&env, "acme/swift", "success", &[]);
    }
    assert_eq!(done(&env, &["recommend", "code-review"])["success_percent"], 100.0);
    let rows = done(&env, &["stats"]);
    let row = &list(&rows, "rows")[0];
    assert_eq!((&row["runs"], &row["uncounted"], &row["failures"]), (&json!(12), &json!(9), &json!(0)));
    // A failure without a mode is the model's own.
    for _ in 0..2 {
        assert_eq!(review(&env, "acme/swift", "failure", &[])["failure_mode"], "LOGIC");
    }
    patterns(&env, &["recommend", "code-review"]).expect_code(1);
    let said = done(&env, &["analyze"]);
    let claims: Vec<&Value> = list(&said, "findings").iter().map(|finding| &finding["claim"]).collect();
    assert!(!claims.contains(&&json!("failure_mode")), "no mode is more than half of eleven: {said:#}");
}

#[test]
fn what_is_entered_is_written_out_again() {
    let env = scene("export");
    let repository = env.repository("elsewhere");
    let directory = repository.to_string_lossy().into_owned();
    let given = [
        "--tier",
        "small",
        "--quality",
        "2",
        "--cost",
        "0.000000001",
        "--duration",
        "90s",
        "--tokens",
        "1234",
        "--retries",
        "2",
        "--strategy",
        "pair",
        "--evidence",
        "verified",
        "--repo",
        &directory,
        "--text",
        "=cmd|' /C calc'!A0, \"quoted\"",
        "--at",
        "2026-02-01T10:00:00Z",
    ];
    review(&env, "acme/careful@low", "success", &given);
    review(&env, "north/oak", "failure", &["--failure-mode", "BLOCKED", "--text", "plain"]);
    let all = done(&env, &["export"]);
    assert_eq!(all["count"], 2);
    let first = &list(&all, "outcomes")[0];
    let expected = json!({"task_type": "code-review", "model": "acme/careful@low", "tier": "haiku", "outcome": "success",
        "quality": 2, "cost_nano": 1, "cost_known": true, "duration_ms": 90_000, "tokens": 1234, "retries": 2,
        "strategy": "pair", "evidence": "verified", "failure_mode": null, "at_ms": 1_769_940_000_000_i64,
        "at": "2026-02-01T10:00:00Z", "text": "=cmd|' /C calc'!A0, \"quoted\"", "dispatch": null, "counts": true});
    for (key, value) in expected.as_object().expect("an object") {
        assert_eq!(&first[key], value, "{key}");
    }
    assert!(first["repository"].as_str().is_some_and(|found| found.ends_with("work/elsewhere")), "{first:#}");
    let second = &list(&all, "outcomes")[1];
    assert_eq!((&second["failure_mode"], &second["cost_usd"]), (&json!("BLOCKED"), &Value::Null));

    let lines = env.run(&["patterns", "export", "--format", "jsonl"]);
    let lines: Vec<Value> =
        lines.expect_code(0).stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(&lines, list(&all, "outcomes"));
    let csv = env.run(&["patterns", "export", "--format", "csv"]);
    let csv: Vec<&str> = csv.expect_code(0).stdout.lines().collect();
    assert_eq!(csv.len(), 3);
    assert!(csv[0].starts_with("id,at,at_ms,") && csv[0].ends_with(",text"), "{}", csv[0]);
    assert!(csv[1].ends_with(",\"'=cmd|' /C calc'!A0, \"\"quoted\"\"\""), "{}", csv[1]);
    assert!(csv[1].contains(",0.000000001,"), "{}", csv[1]);
    assert!(csv.iter().flat_map(|line| line.split(',')).all(|cell| !cell.starts_with(['=', '+', '@'])));

    assert_eq!(done(&env, &["export", "--since", "30d"])["count"], 1, "only the newer one");
    assert_eq!(done(&env, &["export", "--task-type", "other"])["count"], 0);
    patterns(&env, &["export", "--format", "csv"]).expect_code(2);
}

#[test]
fn an_export_goes_to_a_new_file_that_only_its_owner_reads() {
    let env = scene("file");
    review(&env, "acme/swift", "success", &[]);
    // More than one page.
    leave(&env, &vec![left("haiku", "haiku", "acme/swift"); 1203]);
    let file = env.project().join("out.jsonl");
    let path = file.to_string_lossy().into_owned();
    let export = ["export", "--format", "jsonl", "-o", &path];
    env.run(&[&["patterns"], export.as_slice()].concat()).expect_code(0);
    let text = std::fs::read_to_string(&file).expect("the file");
    assert_eq!(text.lines().count(), 1204);
    let mut ids: Vec<i64> = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("JSON")["id"].as_i64().expect("an id"))
        .collect();
    let written = ids.clone();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids, written, "each once, in order");
    assert_eq!(std::fs::metadata(&file).expect("the file").permissions().mode() & 0o777, 0o600);
    std::fs::write(&file, "mine").expect("written");
    let refused = env.run(&[&["patterns"], export.as_slice()].concat());
    refused.expect_code(2);
    assert!(refused.stderr.contains("is there already"), "{}", refused.stderr);
    assert_eq!(std::fs::read_to_string(&file).expect("the file"), "mine");
    env.run(&[&["patterns"], export.as_slice(), &["--force"]].concat()).expect_code(0);
    assert_eq!(std::fs::read_to_string(&file).expect("the file"), text);
    env.run(&["patterns", "export", "-o", "/no/such/directory/file"]).expect_code(2);
    let left_over = std::fs::read_dir(env.project()).expect("the project").count();
    assert_eq!(left_over, 2, "the file and .git, and nothing half-written");
    let document = patterns(&env, &["export", "-o", &path, "--force"]).expect_code(0).json();
    assert_eq!(document["outcomes"], 1204);
    let whole: Value = serde_json::from_str(&std::fs::read_to_string(&file).expect("the file")).expect("JSON");
    assert_eq!(whole["count"], 1204);
}

#[test]
fn drift_has_levels_by_tier_and_in_all() {
    let env = scene("drift");
    done(&env, &["drift"]);
    let moves = |asked: &str, stayed: usize, moved: usize| {
        let mut outcomes = vec![left(asked, asked, "acme/swift"); stayed];
        outcomes.extend(vec![left(asked, "haiku", "acme/swift"); moved]);
        outcomes
    };
    leave(&env, &[moves("haiku", 20, 0), moves("sonnet", 3, 1), moves("opus", 1, 1)].concat());
    let mut old = left("haiku", "opus", "north/oak");
    old.at -= 8 * 86_400 * 1_000_000;
    leave(&env, &vec![old; 100]);
    let found = done(&env, &["drift"]);
    let tiers: Vec<(&Value, &Value, &Value)> =
        list(&found, "tiers").iter().map(|tier| (&tier["asked"], &tier["level"], &tier["moved"])).collect();
    let expected = [
        (&json!("haiku"), &json!("none"), &json!(0)),
        (&json!("opus"), &json!("warning"), &json!(1)),
        (&json!("sonnet"), &json!("notice"), &json!(1)),
    ];
    assert_eq!(tiers, expected);
    assert_eq!((&found["level"], &found["runs"], &found["moved"]), (&json!("none"), &json!(26), &json!(2)));
    let people = env.run(&["patterns", "drift"]);
    people.expect_code(0);
    assert!(people.stdout.contains("in all: 2 of 26 runs moved to another tier (8 %): fine"), "{}", people.stdout);
    let longer = done(&env, &["drift", "--since", "30d"]);
    assert_eq!((&longer["level"], &longer["moved"]), (&json!("warning"), &json!(102)));
}

#[test]
fn similar_tasks_are_found_with_what_was_done() {
    let env = scene("similar");
    for (text, model, outcome) in [
        ("Repair the timezone parser of the calendar", "acme/swift", "failure"),
        ("The calendar shows the wrong timezone", "north/oak", "success"),
        ("Timezone of the calendar export", "north/oak", "success"),
        ("Write a haiku about spring", "acme/swift", "success"),
    ] {
        review(&env, model, outcome, &["--text", text]);
    }
    // The same again is shown once, and counted.
    review(&env, "north/oak", "success", &["--text", "Timezone of the calendar export"]);
    let found = done(&env, &["suggest", "calendar entries lose their timezone"]);
    let times: u64 = list(&found, "similar").iter().filter_map(|one| one["times"].as_u64()).sum();
    assert_eq!(times, 4, "{found:#}");
    let texts: Vec<&str> = list(&found, "similar").iter().filter_map(|one| one["text"].as_str()).collect();
    assert_eq!(texts.len(), 3, "{texts:?}");
    assert!(texts.iter().all(|text| text.to_lowercase().contains("calendar")), "{texts:?}");
    assert_eq!((&found["best_model"]["name"], &found["best_tier"]["name"]), (&json!("north/oak"), &json!("opus")));
    assert_eq!(list(&done(&env, &["suggest", "--limit", "1", "calendar"]), "similar").len(), 1);
    let people = env.run(&["patterns", "suggest", "calendar timezone"]);
    let last = people.expect_code(0).stdout.lines().last().unwrap_or_default();
    assert_eq!(last, "best among them: tier opus (3 of 3 well), north/oak (3 of 3 well)");
    assert_eq!(list(&done(&env, &["suggest", "OR AND NOT ( \" * NEAR"]), "similar").len(), 0);
}

#[test]
fn a_repository_with_enough_of_its_own_counts_alone() {
    let env = scene("repository");
    let own = env.repository("own").to_string_lossy().into_owned();
    for _ in 0..10 {
        review(&env, "north/oak", "success", &["--repo", &own]);
    }
    for _ in 0..5 {
        review(&env, "acme/swift", "success", &[]);
    }
    let here = done(&env, &["recommend", "code-review", "--repo", &own]);
    assert_eq!(here["tier"], "opus");
    assert!(here["scope"].as_str().is_some_and(|scope| scope.ends_with("work/own")), "{here:#}");
    let elsewhere = done(&env, &["recommend", "code-review"]);
    assert_eq!(elsewhere["scope"], "everywhere");
}

#[test]
fn a_dispatch_is_remembered_and_can_be_judged() {
    let env = crate::env();
    let report = env.dispatch(&["-m", "scripted/alpha", "--task-type", "judged-here", "say something"]).expect_ok();
    let id = report["id"].as_str().expect("an id");
    let of = |env: &TestEnv| {
        let all = done(env, &["export"]);
        let ours = list(&all, "outcomes").iter().find(|one| one["dispatch"] == id).cloned();
        ours.unwrap_or_else(|| panic!("no outcome of {id}: {all:#}"))
    };
    let before = of(env);
    assert_eq!((&before["outcome"], &before["evidence"]), (&json!("success"), &json!("answered")));
    let judged =
        done(env, &["record", "--dispatch", id, "--outcome", "failure", "--evidence", "verified", "--quality", "0"]);
    assert_eq!(judged["action"], "judged");
    let after = of(env);
    assert_eq!(after, judged["outcome"]);
    let said = (&after["outcome"], &after["failure_mode"], &after["evidence"], &after["quality"]);
    assert_eq!(said, (&json!("failure"), &json!("LOGIC"), &json!("verified"), &json!(0)));
    assert_eq!((&after["cost_nano"], &after["model"]), (&before["cost_nano"], &before["model"]));
    let unknown = "01a1e17e-7d98-72fb-a9e3-8b4f2a35018f";
    patterns(env, &["record", "--dispatch", unknown, "--outcome", "success"]).expect_code(2).expect_class("usage");
}

#[test]
fn bad_input_is_refused_and_nothing_is_kept() {
    let env = scene("bad");
    let record = ["record", "--task-type", "code-review", "--model", "acme/swift", "--outcome", "success"];
    let id = "01a1e17e-7d98-72fb-a9e3-8b4f2a35018f";
    let (long, no_text) = ("x".repeat(65), format!("@{}", env.root.join("missing").display()));
    let wrong: [&[&str]; 25] = [
        &["record"],
        &["record", "--task-type", "a", "--outcome", "success"],
        &["record", "--task-type", "a", "--model", "acme/swift"],
        &["record", "--task-type", "a b", "--model", "acme/swift", "--outcome", "success"],
        &["record", "--task-type", "", "--model", "acme/swift", "--outcome", "success"],
        &["record", "--task-type", &long, "--model", "acme/swift", "--outcome", "success"],
        &["record", "--task-type", "a", "--model", "swift", "--outcome", "success"],
        &["record", "--task-type", "a", "--model", "acme/sw\u{1b}[31mift", "--outcome", "success"],
        &["record", "--task-type", "a", "--model", "acme/swift", "--outcome", "maybe"],
        &["record", "--dispatch", id, "--task-type", "a", "--outcome", "success"],
        &["record", "--dispatch", id, "--model", "acme/swift", "--outcome", "success"],
        &["record", "--dispatch", id, "--cost", "1", "--outcome", "success"],
        &["record", "--dispatch", "12", "--outcome", "success"],
        &["record", "--dispatch", id, "--outcome", "success", "--failure-mode", "LOGIC"],
        &["recommend", ""],
        &["recommend", "code-review", "--repo", "/no/such/place"],
        &["recommend", "code-review", "--repo", "/"],
        &["recommend", "code-review", "--text", &no_text],
        &["suggest", " \n"],
        &["suggest", "--limit", "0", "x"],
        &["stats", "--since", "soon"],
        &["drift", "--since", "-7d"],
        &["export", "--format", "xml"],
        &["export", "--force"],
        &["report", "--since", "99999999999999999999d"],
    ];
    let more: [&[&str]; 17] = [
        &["--failure-mode", "LOGIC"],
        &["--outcome", "failure"],
        &["--tier", "sonet"],
        &["--quality", "3"],
        &["--quality=-1"],
        &["--cost=-1"],
        &["--cost", "nan"],
        &["--duration", "long"],
        &["--tokens=-5"],
        &["--tokens", "99999999999999999999"],
        &["--retries", "many"],
        &["--strategy", "two words"],
        &["--evidence", "answered"],
        &["--repo", "/no/such/place"],
        &["--text", &no_text],
        &["--at", "tomorrow"],
        &["--at", "2126-01-01"],
    ];
    let longer: Vec<Vec<&str>> = more.iter().map(|more| [record.as_slice(), more].concat()).collect();
    for args in wrong.into_iter().chain(longer.iter().map(Vec::as_slice)) {
        let refused = patterns(&env, args);
        assert_eq!(refused.code, Some(2), "{args:?}\nstdout: {}\nstderr: {}", refused.stdout, refused.stderr);
        refused.expect_class("usage");
    }
    let refused = patterns(&env, &[record.as_slice(), &["--tier", "sonet"]].concat());
    assert!(refused.stdout.contains("did you mean `sonnet`?"), "{}", refused.stdout);
    assert_eq!(done(&env, &["export"])["count"], 0);
    // An unknown kind is kept, with a warning.
    let odd = env.run(&["patterns", "record", "--task-type", "code-reveiw", "--model", "a/b", "--outcome", "success"]);
    odd.expect_code(0);
    assert!(odd.stderr.contains("did you mean `code-review`?"), "{}", odd.stderr);
}

#[test]
fn hostile_texts_are_kept_short_and_shown_harmless() {
    let env = scene("hostile");
    let big = env.root.join("big.txt");
    std::fs::write(&big, "resize \u{1b}[2J the\0 gallery \u{202e}sk-abcdefghij0123456789 ".repeat(250_000))
        .expect("written");
    assert!(std::fs::metadata(&big).expect("the file").len() > 10_000_000);
    let big = format!("@{}", big.display());
    let kept = review(&env, "acme/swift", "success", &["--text", &big]);
    let text = kept["text"].as_str().expect("a text");
    assert!(!text.is_empty() && text.chars().count() <= 400, "{text}");
    assert!(!text.contains(char::is_control) && !text.contains("abcdefghij"), "{text:?}");
    // What a dispatch left may hold more; it must not reach the terminal.
    let mut left = left("haiku", "haiku", "acme/swift");
    left.text = "gallery \u{1b}[31m\0 \u{9b}2J\u{202e}resize".into();
    left.task_type = "odd\u{1b}[2J".into();
    left.strategy = "a\nb".into();
    leave(&env, &[left]);
    for args in [
        ["suggest", &big].as_slice(),
        &["suggest", "resize\u{7f}the gallery"],
        &["recommend", "code-review", "--text", &big],
        &["stats"],
        &["analyze"],
        &["report"],
        &["drift"],
        &["export", "--format", "csv"],
        &["export", "--format", "jsonl"],
    ] {
        let shown = env.run(&[&["patterns"], args].concat());
        assert!(matches!(shown.code, Some(0 | 1)), "{args:?}: {}", shown.stderr);
        let seen = format!("{}{}", shown.stdout, shown.stderr);
        let harmful = |c: char| matches!(c, '\0'..='\x08' | '\x0b'..='\x1f' | '\x7f');
        assert!(!seen.contains(harmful), "{args:?}: {seen:?}");
    }
    let found = done(&env, &["suggest", &big]);
    assert_eq!(list(&found, "similar").len(), 2, "{found:#}");
    let input = env.run_with_input(&["patterns", "suggest", "--json", "-"], "\0gallery\0");
    assert_eq!(list(&input.expect_code(0).json(), "similar").len(), 2);
    env.write_config(&format!("{TOML}\n[patterns]\ntext_limit = 0\n"));
    assert_eq!(review(&env, "acme/swift", "success", &["--text", "remember me"])["text"], "");
}

#[test]
fn without_experience_each_command_says_how_to_get_some() {
    let env = scene("empty");
    let table: [(&[&str], i32); 7] = [
        (&["recommend", "code-review"], 1),
        (&["suggest", "anything at all"], 0),
        (&["stats"], 0),
        (&["analyze"], 0),
        (&["report"], 0),
        (&["export", "--format", "json"], 0),
        (&["drift"], 0),
    ];
    for (args, code) in table {
        let people = env.run(&[&["patterns"], args].concat());
        people.expect_code(code);
        assert!(people.stderr.contains("shuntyard patterns record --task-type"), "{args:?}: {}", people.stderr);
        patterns(&env, args).expect_code(code).json();
    }
}

#[test]
fn a_report_has_all_parts() {
    let env = scene("report");
    for _ in 0..9 {
        review(&env, "acme/swift", "success", &["--cost", "0.001"]);
        review(&env, "north/oak", "failure", &["--cost", "0.05"]);
    }
    review(&env, "acme/swift", "failure", &["--cost", "0.001"]);
    review(&env, "north/oak", "success", &["--cost", "0.05"]);
    leave(&env, &[left("opus", "haiku", "acme/swift")]);
    let report = done(&env, &["report"]);
    assert_eq!(list(&report, "stats").len(), 2);
    assert_eq!(list(&report, "recommendations")[0]["tier"], "haiku");
    assert_eq!(report["drift"]["level"], "warning");
    let claims: Vec<&Value> = list(&report["analysis"], "findings").iter().map(|finding| &finding["claim"]).collect();
    assert_eq!(claims, ["better", "no_better", "failure_mode", "cost_per_success"], "{report:#}");
    let people = env.run(&["patterns", "report"]);
    for part in [
        "code-review: tier haiku, where acme/swift did best",
        "- code-review: acme/swift is better than north/oak: good at least ",
        "- code-review: tier opus costs $0.0500 a run and is no better than haiku, which costs ",
        "in all: 1 of 1 runs moved to another tier (100 %): warning",
    ] {
        assert!(people.expect_code(0).stdout.contains(part), "{part}\n{}", people.stdout);
    }
    let nothing = done(&env, &["stats", "--task-type", "other"]);
    assert_eq!(list(&nothing, "rows").len(), 0);
}
