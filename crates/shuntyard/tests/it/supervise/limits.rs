//! Limits hold however many passes run at once.

use crate::supervise::Yard;
use shuntyard_testkit::{environment::finish, eventually};
use std::time::Duration;

/// Counts itself into a file while it runs, and notes how many there are.
const COUNTING: &str =
    "touch $TRACE/$SHUNTYARD_TASK; ls $TRACE | wc -l >> $TRACE.log; sleep 0.3; rm $TRACE/$SHUNTYARD_TASK";

#[test]
fn ten_passes_at_once_never_exceed_a_limit() {
    let mut yard = Yard::with("passes", "concurrency = 3\nmost = 3\nper_repository = 3\n");
    let trace = yard.env.root.join("trace");
    std::fs::create_dir_all(&trace).expect("a directory");
    yard.env.set("TRACE", trace.display().to_string());
    let orders: String =
        (0..12).map(|_| format!("{}\n", serde_json::json!({"command": COUNTING, "in_place": true}))).collect();
    yard.env.run_with_input(&["task", "add", "--from", "-"], &orders).expect_code(0);
    eventually("all to be done", Duration::from_secs(60), || {
        let passes: Vec<_> = (0..10).map(|_| yard.env.spawn(&["pulse"])).collect();
        for pass in passes {
            finish(pass).expect_code(0);
        }
        let done = yard.env.run(&["task", "list", "--phase", "done", "--json"]).json();
        done["tasks"].as_array().map(Vec::len) == Some(12)
    });
    let seen = std::fs::read_to_string(trace.with_extension("log")).expect("the trace");
    let most = seen.lines().filter_map(|line| line.trim().parse::<u32>().ok()).max();
    assert!(most.is_some_and(|most| most <= 3), "{seen}");
    assert_eq!(seen.lines().count(), 12, "each ran once: {seen}");
}

#[test]
fn a_conflict_is_foretold_and_touches_nothing() {
    let yard = Yard::new("forecast");
    let change = |word: &str| yard.add(&["change the README", "--command", &format!("echo {word} > README")]);
    let (first, second) = (change("left"), change("right"));
    let third = yard.add(&["add a file", "--command", "echo x > other.txt"]);
    yard.settle();
    let status = yard.env.run(&["status", "--json"]).json();
    let conflicts = status["conflicts"].as_array().expect("a list");
    assert_eq!(conflicts.len(), 1, "{status:#}");
    let names = [conflicts[0]["task"].as_str().expect("a task"), conflicts[0]["with"].as_str().expect("a task")];
    assert!(names.contains(&first.as_str()) && names.contains(&second.as_str()), "not {third}: {names:?}");
    assert_eq!(conflicts[0]["paths"], serde_json::json!(["README"]));
    assert_eq!(yard.git(&["status", "--porcelain"]), "");
}
