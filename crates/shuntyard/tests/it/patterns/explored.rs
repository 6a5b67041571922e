//! Another tier is tried now and then, when that is wanted, and each choice is kept with how probable it was.

use super::{
    asked_model,
    learned::{enter, looked_at},
    only, yard,
};
use shuntyard_core::experience::Verdict;
use shuntyard_store::NewOutcome;
use std::collections::BTreeSet;

/// Two tiers, so that each has one neighbour.
const HALF: [(&str, &str); 2] =
    [("SHUNTYARD_PATTERNS_EXPLORE_PERCENT", "50"), ("SHUNTYARD_TIER_ORDER", "haiku,sonnet")];

fn wander(flags: &[&str]) -> NewOutcome {
    let args = [&["dispatch", "--json"], flags, &["Wander about"]].concat();
    let report = yard().env.run_with(&HALF, &args).expect_ok();
    let kept = only(&yard().env, &report);
    assert_eq!(kept.model, asked_model(&report));
    kept
}

#[test]
fn half_of_the_tasks_go_to_the_neighbour_and_critical_ones_never() {
    let kind = ["--task-type", "wandering"];
    // There must be something to compare with before another is tried.
    assert_eq!(wander(&kind).propensity, Some(1_000_000));
    enter(&looked_at("wandering", "haiku", "low/m", Verdict::Success), 12);
    // That all of twenty go the same way by chance happens once in half a million times.
    let several = |_| std::thread::spawn(move || -> Vec<NewOutcome> { (0..5).map(|_| wander(&kind)).collect() });
    let running: Vec<_> = (0..4).map(several).collect();
    let kept: Vec<NewOutcome> = running.into_iter().flat_map(|some| some.join().expect("outcomes")).collect();
    assert_eq!(kept.len(), 20);
    let seen: BTreeSet<&str> = kept.iter().map(|kept| kept.model.as_str()).collect();
    assert_eq!(seen, BTreeSet::from(["low/m", "middle/m"]));
    for kept in &kept {
        // Outcomes recorded meanwhile change how often another is tried; each choice records how probable it was.
        assert!(kept.propensity.is_some_and(|drawn| (1..=1_000_000).contains(&drawn)), "{kept:#?}");
        let tier = if kept.model == "low/m" { "haiku" } else { "sonnet" };
        assert_eq!(kept.tier.as_deref(), Some(tier), "{kept:#?}");
    }
    // Critical requests, requests that name a model, and mere questions are not left to chance: all go where experience
    // leads by now.
    let led = wander(&["--critical", "--task-type", "wandering"]).model;
    for _ in 0..3 {
        let kept = wander(&["--critical", "--task-type", "wandering"]);
        assert_eq!((&kept.model, kept.propensity), (&led, None));
        let decided = yard().env.run_with(&HALF, &["route", "--json", "--task-type", "wandering", "Wander about"]);
        assert_eq!(decided.expect_code(0).json()["ref"], led);
    }
    assert_eq!(wander(&["--tier", "sonnet"]).propensity, None);
    assert_eq!(wander(&["-m", "low/m", "--task-type", "wandering"]).propensity, None);
}
