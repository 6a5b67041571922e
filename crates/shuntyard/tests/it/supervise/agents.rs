//! Tasks that a model does, through OpenCode.

use crate::supervise::Yard;
use serde_json::json;
use shuntyard_scripted::Step;
use std::sync::LazyLock;

static YARD: LazyLock<Yard> = LazyLock::new(|| {
    Yard::with(
        "agents",
        r#"
[tiers]
haiku = ["scripted/alpha"]
flash = ["scripted/beta"]
"#,
    )
    .shared()
});

fn write(path: &str, content: &str) -> Step {
    Step::tool("write", json!({"filePath": path, "content": content}))
}

#[test]
fn a_model_does_a_task_and_the_evidence_is_kept() {
    let yard = &*YARD;
    let key = yard.env.provider.script("done", vec![write("done.txt", "by the model\n"), Step::text("I wrote it.")]);
    let id = yard.add(&[
        &format!("write done.txt {key}"),
        "--model",
        "scripted/alpha",
        "--verify",
        "grep -q model done.txt",
    ]);
    yard.settle();
    let task = yard.task(&id);
    assert_eq!(task["phase"], "done", "{task:#}");
    assert_eq!(yard.git(&["show", &format!("shuntyard/{id}:done.txt")]), "by the model");
    assert_eq!(yard.git(&["status", "--porcelain"]), "", "the parent checkout is as it was");
    assert_eq!(task["attempts"][0]["model"], "scripted/alpha");
    let receipt = &task["receipt"];
    assert_eq!(receipt["good"], true);
    assert_eq!(receipt["findings"]["changed"], json!(["done.txt"]));
    assert_eq!(receipt["findings"]["checks"][0]["exit"], json!({"code": 0}));
    assert_eq!(receipt["findings"]["answered"], "scripted/alpha");
    let spent = yard.env.provider.requests(&key).total_reported().cost.as_usd();
    assert_eq!(task["cost_usd"].as_f64(), Some(spent), "the task cost what the provider says");
    yard.env.run(&["task", "verify", &id]).expect_code(0);
}

#[test]
fn words_alone_are_never_done() {
    let yard = &*YARD;
    let key = yard.env.provider.script("talk", vec![Step::text("Done! All tests pass."), Step::text("Really done.")]);
    let id = yard.add(&[&format!("change something {key}"), "--model", "scripted/alpha"]);
    yard.settle();
    let task = yard.task(&id);
    assert_eq!(task["phase"], "blocked", "{task:#}");
    assert!(task["reason"].as_str().expect("a reason").contains("nothing was changed"), "{task:#}");
}

#[test]
fn a_red_verify_is_told_to_the_next_try() {
    let yard = &*YARD;
    let steps = vec![
        write("answer.txt", "41\n"),
        Step::text("It is 42."),
        write("answer.txt", "42\n"),
        Step::text("Now it is."),
    ];
    let key = yard.env.provider.script("red", steps);
    let verify = "echo expected 42; grep -qx 42 answer.txt";
    let id =
        yard.add(&[&format!("write the answer {key}"), "--tier", "haiku", "--verify", verify, "--deliver", "merge"]);
    yard.settle();
    let task = yard.task(&id);
    assert_eq!(task["phase"], "done", "{task:#}");
    assert_eq!(task["attempts"].as_array().map(Vec::len), Some(2), "{task:#}");
    assert_eq!(task["attempts"][0]["failure_mode"], "LOGIC");
    assert_eq!(yard.git(&["show", "main:answer.txt"]), "42");
    let asked = format!("{:?}", yard.env.provider.requests(&key).entries[2].messages);
    assert!(asked.contains("expected 42"), "the second try is told what the first one lacked: {asked}");
}

#[test]
fn a_task_that_fails_twice_rises_a_tier() {
    let yard = &*YARD;
    let steps = vec![
        write("level.txt", "1\n"),
        Step::text("done"),
        write("level.txt", "2\n"),
        Step::text("done"),
        write("level.txt", "3\n"),
        Step::text("done"),
    ];
    let key = yard.env.provider.script("rise", steps);
    let id = yard.add(&[&format!("reach level three {key}"), "--tier", "haiku", "--verify", "grep -qx 3 level.txt"]);
    yard.settle();
    let task = yard.task(&id);
    assert_eq!(task["phase"], "done", "{task:#}");
    let models: Vec<&str> = task["attempts"]
        .as_array()
        .expect("tries")
        .iter()
        .map(|try_| try_["model"].as_str().expect("a model"))
        .collect();
    assert_eq!(models, ["scripted/alpha", "scripted/alpha", "scripted/beta"], "{task:#}");
}

#[test]
fn why_has_every_transition_and_how_the_model_of_every_attempt_was_chosen() {
    let yard = &*YARD;
    let steps = vec![write("why.txt", "1\n"), Step::text("done"), write("why.txt", "2\n"), Step::text("done")];
    let key = yard.env.provider.script("why", steps);
    let id = yard.add(&[&format!("count to two {key}"), "--tier", "haiku", "--verify", "grep -qx 2 why.txt"]);
    yard.settle();
    let why = yard.env.run(&["task", "why", &id, "--json"]).expect_code(0).json();
    let transitions = why["transitions"].as_array().expect("transitions");
    let moves: Vec<&str> = transitions.iter().filter_map(|change| change["to"].as_str()).collect();
    let attempt = ["starting", "running", "evaluating"];
    assert_eq!(moves, [&["queued"], &attempt[..], &["queued"], &attempt, &["delivering", "done"]].concat(), "{why:#}");
    assert!(transitions.iter().all(|change| change["at"].is_string() && change["route"].is_null()), "{why:#}");
    let refused = &transitions[4];
    assert!(refused["detail"].as_str().is_some_and(|detail| detail.contains("grep -qx 2")), "{refused:#}");
    let attempts = why["attempts"].as_array().expect("attempts");
    assert_eq!(attempts.len(), 2, "{why:#}");
    for attempt in attempts {
        let trace = attempt["route"]["trace"].as_array().expect("a trace");
        let chosen = trace.iter().find(|step| step["chosen"] == true).expect("a choice");
        assert_eq!((&chosen["step"], &chosen["candidate"]), (&json!("tier"), &json!("scripted/alpha")), "{attempt:#}");
        assert_eq!(attempt["route"]["tier"], "haiku", "{attempt:#}");
        assert_eq!(
            (&attempt["models"][0]["model"], &attempt["models"][0]["status"]),
            (&json!("scripted/alpha"), &json!("ok"))
        );
    }
    assert_eq!(why["route"], attempts[1]["route"]);
    let people = yard.env.run(&["task", "why", &id]).expect_code(0).stdout.clone();
    for words in ["new → queued (add)", "queued → starting (claim)", "delivering → done (deliver)", "WHAT WAS FOUND"]
    {
        assert!(people.contains(words), "{words}: {people}");
    }
    for number in [1, 2] {
        assert!(people.contains(&format!("attempt {number}: scripted/alpha, because ")), "{people}");
    }
}

#[test]
fn going_in_circles_is_noticed_and_the_work_is_kept() {
    let yard = &*YARD;
    let mut steps = vec![write("kept.txt", "kept\n")];
    steps.extend(
        std::iter::repeat_with(|| Step::tool("bash", json!({"command": "ls nowhere", "description": "look"}))).take(40),
    );
    let key = yard.env.provider.script("circles", steps);
    let id = yard.add(&[&format!("look around {key}"), "--model", "scripted/alpha", "--attempts", "1"]);
    yard.settle();
    let task = yard.task(&id);
    assert_eq!(task["phase"], "failed", "{task:#}");
    assert!(task["reason"].as_str().expect("a reason").contains("circles"), "{task:#}");
    assert_eq!(yard.kept(&id, "kept.txt"), "kept", "what was not verified stays in its workspace");
    assert!(!yard.git(&["branch", "--list", "shuntyard/*"]).contains(&id), "and is on no branch");
    assert!(yard.env.provider.requests(&key).entries.len() < 12, "it was ended early");
}

#[test]
fn a_limit_is_no_failure_and_ends_by_itself() {
    // A limit is remembered for the provider, and would hold the other tests up.
    let yard = Yard::with("limit", "[fallback.cooldowns]\nrate_limit = \"2s\"\n[availability]\nlimit_ttl = \"2s\"\n");
    let steps = vec![
        Step::status(429).retry_after(1),
        Step::status(429).retry_after(1),
        write("later.txt", "later\n"),
        Step::text("done"),
    ];
    let key = yard.env.provider.script("limit", steps);
    let id = yard.add(&[&format!("write later.txt {key}"), "--model", "scripted/odd"]);
    yard.settle();
    let task = yard.task(&id);
    assert_eq!(task["phase"], "done", "{task:#}");
    let modes: Vec<_> =
        task["attempts"].as_array().expect("tries").iter().map(|one| one["failure_mode"].clone()).collect();
    assert!(modes.iter().all(|mode| mode.is_null() || mode == "TRANSIENT"), "{task:#}");
}

#[test]
fn a_task_that_is_cancelled_ends_on_the_server_too() {
    let yard = &*YARD;
    let key = yard.env.provider.script("cancelled", vec![Step::hang_mid_stream()]);
    let id = yard.add(&[&format!("never ends {key}"), "--model", "scripted/alpha"]);
    yard.pulse_until_asked(&key);
    yard.env.run(&["task", "cancel", &id]).expect_code(0);
    yard.wait_for_phase(&id, "cancelled");
    let closed = || yard.env.provider.requests(&key).entries[0].client_closed();
    shuntyard_testkit::eventually("the provider to be let go", std::time::Duration::from_secs(20), closed);
}

#[test]
fn a_claim_that_no_money_is_left_for_is_not_made() {
    let yard = Yard::new("money");
    let limit = ["budget", "configure", "scripted", "--billing-type", "token", "--daily-budget", "0.000001"];
    yard.env.run(&limit).expect_code(0);
    let key = yard.env.provider.script("broke", vec![Step::text("paid for")]);
    let id = yard.add(&[&format!("cost something {key}"), "--model", "scripted/alpha"]);
    yard.env.run(&["pulse"]).expect_code(0);
    let task = yard.task(&id);
    assert_eq!(task["phase"], "waiting", "{task:#}");
    assert_eq!(task["attempts"], json!([]), "nothing was claimed");
    assert!(task["reason"].as_str().expect("a reason").contains("budget"), "{task:#}");
    assert_eq!(yard.env.provider.requests(&key).entries.len(), 0);
    let raise = ["budget", "configure", "scripted", "--daily-budget", "50"];
    yard.env.run(&raise).expect_code(0);
    yard.env.run(&["task", "retry", &id]).expect_code(0);
    yard.pulse_until_asked(&key);
    yard.env.run(&["task", "cancel", &id]).expect_code(0);
    yard.settle();
    let status = yard.env.run(&["budget", "status", "--json"]).json();
    assert!(!status.to_string().contains("\"reserved\":0.0001"), "what was reserved is free again: {status:#}");
}

#[test]
fn work_that_nothing_verifies_can_be_judged_by_a_model() {
    let yard = Yard::with("judged", "judge_model = \"scripted/beta\"\n");
    let wrong = Step::structured(json!({"verdict": "not_done", "reason": "the file is empty of sense"}));
    let key = yard.env.provider.script(
        "judged",
        vec![
            write("a.txt", "nonsense\n"),
            Step::text("done"),
            wrong,
            write("a.txt", "sense\n"),
            Step::text("done"),
            Step::structured(json!({"verdict": "done", "reason": "it makes sense"})),
        ],
    );
    let id = yard.add(&[&format!("write sense {key}"), "--model", "scripted/alpha"]);
    yard.settle();
    let task = yard.task(&id);
    assert_eq!(task["phase"], "done", "{task:#}");
    assert_eq!(task["attempts"][0]["failure_mode"], "LOGIC", "{task:#}");
    let reasons = task["receipt"]["reasons"].to_string();
    assert!(reasons.contains("it makes sense"), "{reasons}");
    let spent = yard.env.provider.requests(&key).total_reported().cost.as_usd();
    assert!(
        (task["cost_usd"].as_f64().expect("a cost") - spent).abs() < 1e-12,
        "the judge is paid by the task: {task:#}"
    );
}

#[test]
fn a_task_that_needs_a_person_is_looked_into_once() {
    let yard = Yard::with("look", "diagnose = true\n");
    let key = yard
        .env
        .provider
        .script("look", vec![Step::text("no"), Step::text("no"), write("DIAGNOSIS.md", "why\n"), Step::text("found")]);
    let id = yard.add(&[&format!("do what cannot be done {key}"), "--model", "scripted/alpha"]);
    yard.settle();
    yard.settle();
    assert_eq!(yard.phase(&id), "blocked", "{:#}", yard.task(&id));
    let look = yard.task(&format!("{id}-look"));
    assert_eq!(look["phase"], "done", "{look:#}");
    assert_eq!(yard.git(&["show", &format!("shuntyard/{id}-look:DIAGNOSIS.md")]), "why");
    yard.env.run(&["task", "retry", &id]).expect_code(0);
    yard.env.run(&["task", "cancel", &id]).expect_code(0);
    let listed = yard.env.run(&["task", "list", "--json"]).json();
    assert_eq!(listed["tasks"].as_array().map(Vec::len), Some(2), "{listed:#}");
}
