//! Units that may run at the same time do: each waits for the other, which only ends when both are running.

use super::{bash, branches, git, ground, outcomes, plan_units, run};
use shuntyard_scripted::Step;

/// Creates a file when it has begun, and ends when the other has; its own file contains where it was done.
fn meets(own: &str, other: &str) -> Step {
    bash(&format!(
        "touch \"$HOME/{own}\"; for i in $(seq 900); do [ -e \"$HOME/{other}\" ] && break; sleep 0.05; done; \
         [ -e \"$HOME/{other}\" ] && pwd > {own}.txt"
    ))
}

#[test]
fn independent_units_are_at_work_at_the_same_time_in_trees_of_their_own() {
    let env = ground("spec-together");
    let keys = plan_units(&env, [meets("one", "two"), meets("two", "one")]);
    let report = run(&env, 0, &["--verify", "test -d .ai"]);
    assert_eq!(outcomes(&report).len(), 6, "{report:#}");
    for (unit, place) in [("one", "s001-01-implementer"), ("two", "s001-02-implementer")] {
        let worked_in = git(&env.project(), &["show", &format!("shuntyard/s001:{unit}.txt")]);
        assert!(worked_in.ends_with(&format!("/{place}")), "{unit} was done in {worked_in}");
    }
    let [one, two] = keys.map(|key| env.provider.requests(&key).entries);
    // The first answer sends each to wait, and the second is asked for when the wait is over.
    assert!(one[0].started_at < two[1].started_at && two[0].started_at < one[1].started_at, "{one:#?}{two:#?}");
    assert_eq!(branches(&env), ["shuntyard/s001"], "what has gone into that one is not needed any more");
    assert_eq!(git(&env.project(), &["log", "--format=%s", "main"]).lines().count(), 2, "nobody asked for a merge");
}
