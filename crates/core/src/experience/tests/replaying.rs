//! The past under another policy: what is known adds up, and nothing is made up.

use super::*;
use crate::Nano;

fn past(task_type: &str, model: &str, successes: u64, failures: u64, cents: i64) -> Past {
    let runs = successes + failures;
    Past {
        requested: format!(r#"{{"task_type":"{task_type}"}}"#),
        task_type: task_type.into(),
        model: model.into(),
        runs,
        successes,
        failures,
        cost: Nano(cents * 10_000_000),
        priced: runs,
    }
}

fn to(model: &str) -> impl Fn(&Past) -> Chosen {
    move |_| Chosen::Model(model.into())
}

#[test]
fn the_policy_of_the_past_gives_the_past() {
    let log = [past("fix", "a/cheap", 7, 3, 10), past("fix", "b/dear", 9, 1, 100), past("docs", "a/cheap", 3, 0, 5)];
    let found = replay(&log, 3, |group| Chosen::Model(group.model.clone()));
    assert_eq!(
        found.same,
        Share {
            runs: 23,
            cost_usd: 1.15,
            success_percent: Some(19.0 * 100.0 / 23.0),
            policy_cost_usd: Some(1.15),
            policy_success_percent: Some(19.0 * 100.0 / 23.0),
        }
    );
    assert_eq!((found.changed.runs, found.unknown.runs, found.changes.len()), (0, 0, 0));
}

#[test]
fn another_model_is_estimated_by_what_it_did() {
    let log = [past("fix", "a/cheap", 6, 2, 8), past("fix", "b/dear", 10, 0, 100)];
    let found = replay(&log, 3, to("a/cheap"));
    assert_eq!(found.same.runs, 8);
    let Share { runs, cost_usd, success_percent, policy_cost_usd, policy_success_percent } = found.changed;
    assert_eq!((runs, cost_usd, success_percent), (10, 1.0, Some(100.0)));
    assert_eq!((policy_cost_usd, policy_success_percent), (Some(0.1), Some(75.0)));
    assert_eq!(found.changes.len(), 1);
    assert_eq!((found.changes[0].to.as_deref(), found.changes[0].samples), (Some("a/cheap"), 8));
}

#[test]
fn what_the_log_does_not_know_is_not_made_up() {
    let free = Past { priced: 0, cost: Nano(0), ..past("fix", "a/unpriced", 5, 0, 0) };
    let log =
        [past("fix", "b/dear", 10, 0, 100), past("fix", "a/cheap", 2, 0, 1), past("docs", "c/other", 9, 0, 1), free];
    for (policy, least, why) in [
        ("a/cheap", 3, "the log has 2 outcomes of it with such tasks, and it takes 3"),
        // It did other tasks.
        ("c/other", 3, "the log has 0 outcomes of it with such tasks, and it takes 3"),
        ("z/never", 0, "what it costs is not in the log"),
        ("a/unpriced", 3, "what it costs is not in the log"),
    ] {
        let found = replay(&log, least, to(policy));
        let change = found.changes.iter().find(|change| change.from == "b/dear").unwrap();
        assert_eq!(change.why, why, "{policy}");
        assert_eq!((found.unknown.policy_cost_usd, found.unknown.policy_success_percent), (None, None));
        assert!(found.unknown.runs >= 10 && found.unknown.cost_usd >= 1.0);
    }
    let refused = replay(&log, 3, |_| Chosen::Refused("no such kind of task".into()));
    assert_eq!((refused.same.runs, refused.changed.runs, refused.unknown.runs), (0, 0, 26));
    assert!(refused.changes.iter().all(|change| change.to.is_none() && change.why == "no such kind of task"));
    assert_eq!(refused.changes.iter().map(|change| change.runs).collect::<Vec<_>>(), [10, 9, 5, 2]);
}

#[test]
fn runs_that_say_nothing_have_a_cost_and_no_success() {
    let cancelled = Past { runs: 4, ..past("fix", "a/cheap", 0, 0, 4) };
    let found = replay(&[cancelled], 3, to("a/cheap")).same;
    assert_eq!((found.runs, found.cost_usd, found.success_percent), (4, 0.04, None));
    assert_eq!(found.policy_success_percent, None);
    let empty = replay(&[], 3, to("a/cheap"));
    assert_eq!((empty.same.runs, empty.same.success_percent), (0, None));
}
