//! Deliveries that cannot all be merged as they are.

use crate::supervise::Yard;

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
