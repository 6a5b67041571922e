//! What a whole spec may cost.

use super::{RUN, TASK, commit, plan_two, put};
use super::{ground, implements, outcomes, plan_one, run, spec_text, text, validates, write};
use shuntyard_scripted::{Step, Tokens};
use std::time::Duration;

/// So many steps of this length take longer than ending a run takes on any machine.
const STEPS: usize = 12;
const THINKS: Duration = Duration::from_secs(1);

/// Each writes a file of its own.
fn writes() -> Vec<Step> {
    (0..STEPS).map(|number| write(&format!("file-{number}.txt"), "x\n")).collect()
}

/// $0.0315 each, at the price of the scripted model.
fn dear(steps: Vec<Step>) -> Vec<Step> {
    steps.into_iter().map(|step| step.usage(Tokens::new(10_000, 100)).delay(THINKS)).collect()
}

#[test]
fn a_spec_that_has_spent_its_money_says_so_and_goes_on_with_more() {
    let env = ground("spec-spending");
    // The first implementer is cut off after some of these; the next one finds the rest.
    let steps = [dear(writes()), implements(TASK, write("e.txt", "e\n")), validates(TASK, "pass")];
    let key = plan_one(&env, steps.concat());
    let stopped = env.run(&[&RUN[..], &["--max-cost", "0.05", "--json"]].concat());
    let report = stopped.expect_code(3).json();
    assert_eq!((text(&report, "outcome"), text(&report, "class")), ("escalated", "budget_refused"), "{report:#}");
    assert!(text(&report, "reason").contains("implementer: budget: "), "{report:#}");
    assert!(text(&report, "next").contains("--max-cost"), "{report:#}");
    let asked = env.provider.requests(&key).entries.len();
    assert!((2..STEPS).contains(&asked), "the second reaches the limit, and that ends it: {asked} requests");
    // Without more money no role begins.
    let again = run(&env, 3, &["--max-cost", "0.05"]);
    assert_eq!((&again["class"], outcomes(&again)), (&report["class"], outcomes(&report)));
    assert_eq!(env.provider.requests(&key).entries.len(), asked);
    let people = env.run(&[&RUN[..], &["--max-cost", "0.05"]].concat());
    assert!(people.expect_code(3).stderr.contains("needs a person: implementer: budget: "), "{}", people.stderr);

    let done = run(&env, 0, &["--max-cost", "5"]);
    let all = ["s001-implementer blocked", "s001-implementer-again done", "s001-validator pass"];
    assert_eq!(outcomes(&done), all, "{done:#}");
    let listed = super::git(&env.project(), &["ls-tree", "--name-only", "shuntyard/s001-validator"]);
    assert!(listed.contains("file-0.txt") && listed.contains("e.txt"), "what was paid for is there: {listed}");
    let cost = env.provider.ledger().total_reported().cost.as_usd();
    assert!((done["cost_usd"].as_f64().expect("a cost") - cost).abs() < 1e-9, "{done:#}: {cost}");
}

#[test]
fn what_is_left_is_shared_by_units_at_work_together() {
    let env = ground("spec-sharing");
    for directory in plan_two(&env) {
        // One step costs more than half of what there is.
        let steps = [dear(writes()), implements(&directory, write("one.txt", "x\n")), validates(&directory, "pass")];
        let steps = steps.concat();
        let key = env.provider.script("sharing", steps);
        put(&env, &format!("{directory}/task-spec.md"), &spec_text(&key, &["implementer"], "tests/export.sh"));
    }
    commit(&env);
    let report = run(&env, 3, &["--max-cost", "0.06"]);
    assert_eq!(text(&report, "class"), "budget_refused", "{report:#}");
    let units: Vec<&str> =
        report["units"].as_array().expect("units").iter().map(|unit| text(unit, "outcome")).collect();
    assert_eq!(units, ["escalated", "escalated"], "{report:#}");
    // Each may pass its share by the request that reaches it, and by those that OpenCode begins before the abort
    // arrives.
    let asked = env.provider.ledger().entries.len();
    assert!((2..2 * STEPS).contains(&asked), "both were ended: {asked} requests");
}
