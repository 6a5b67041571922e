//! What several fallbacks report, and what holds at each of them.

use super::{fallback::*, *};
use crate::values::Trigger;
use std::time::Duration;

#[test]
fn the_story_of_one_and_of_three_hops() {
    let world = listed("");
    let (hops, _) = walk(&world, routed("task=code-review"), &[LIMIT, WEAK, Trigger::Overloaded]);
    let moves = [
        ("a/s1", "rate_limit", "b/s2", Some("sonnet"), None),
        ("b/s2", "capability", "a/p1", Some("pro"), Some("sonnet")),
        // Nothing else is in this tier, so the best by its score substitutes for it.
        ("a/p1", "overloaded", "b/o1", Some("pro"), Some("sonnet")),
    ];
    let said: Vec<String> =
        moves.iter().map(|(from, trigger, to, ..)| format!("{from} failed ({trigger}), so {to} is asked")).collect();
    for (index, (_, _, to, tier, requested)) in moves.into_iter().enumerate() {
        let hop = &hops[index + 1];
        assert_eq!(hop.model.to_string(), to);
        assert_eq!((hop.rule, hop.task_type.as_deref()), (Rule::TaskType, Some("code-review")));
        assert_eq!((hop.tier.as_deref(), hop.requested_tier.as_deref()), (tier, requested), "{to}");
        let chosen: Vec<_> =
            hop.trace.iter().filter(|step| step.chosen).map(|step| step.candidate.as_deref()).collect();
        assert_eq!(chosen, [Some(to)]);
        let steps: Vec<_> =
            hop.trace.iter().filter(|step| step.step == Step::Fallback).map(|step| step.why.as_str()).collect();
        assert_eq!(steps, said[..=index]);
        // Each move is reported once, after the earlier warnings.
        let told: Vec<_> = hop.warnings.iter().filter(|warning| warning.contains("failed (")).collect();
        assert_eq!(told, said[..=index].iter().collect::<Vec<_>>());
        assert!(said[..=index].iter().all(|said| hop.reason.contains(said.as_str())), "{}", hop.reason);
        assert!(hop.reason.starts_with("task type code-review goes to tier sonnet; a/s1 is the first of it"));
        assert!(hop.trace.starts_with(&[hops[0].trace[0].clone()]));
    }
    assert!(hops[3].warnings.last().unwrap().ends_with("b/o1 stands in"), "{:?}", hops[3].warnings);
}

#[test]
fn what_was_told_before_a_hop_is_still_told() {
    let mut world = listed("");
    world.advice.budget.is_set = true;
    world.advice.budget.degraded.insert("opus".into(), "80 % is spent".into());
    let (hops, _) = walk(&world, routed("opus"), &[LIMIT]);
    assert_eq!((hops[0].tier.as_deref(), hops[0].requested_tier.as_deref()), (Some("pro"), Some("opus")));
    assert_eq!((hops[1].tier.as_deref(), hops[1].requested_tier.as_deref()), (Some("pro"), Some("opus")));
    assert_eq!(hops[1].warnings[0], "tier opus is downgraded to pro: 80 % is spent");
}

#[test]
fn needs_policy_and_budget_hold_at_each_hop() {
    let images = Needs { images: 1, ..Needs::default() };
    let see = |reference| Asked { needs: images, ..routed(reference) };
    let mut world = listed("");
    // Only one model takes images, wherever it is looked for.
    check(&world, see("sonnet"), &[LIMIT], &["c/s3"], Some("cannot take images"));
    check(&world, see("sonnet"), &[WEAK], &["c/s3"], Some("cannot take images"));
    check(&world, see("node:fast"), &[WEAK], &["c/s3"], Some("cannot take images"));
    let painter = Model { image_input: true, ..model("painter", 30.0) };
    world.catalogue.providers.insert("d".into(), provider(Source::Config, false, vec![painter]));
    check(&world, see("sonnet"), &[LIMIT], &["c/s3", "d/painter"], None);
    check(&world, see("sonnet"), &[WEAK], &["c/s3", "d/painter"], None);
    world.config.policy.deny_providers = vec!["d".into()];
    check(&world, see("sonnet"), &[LIMIT], &["c/s3"], Some("1 its provider is not allowed"));
    // Along a chain and up as well, a tag's own needs included.
    let mut tagged = listed("[fallback]\ndefault = [\"a/s1\", \"extra/free\"]\n");
    check(&tagged, routed("node:vision"), &[LIMIT], &["c/s3"], Some("a/s1: cannot take images; extra/free: cannot"));
    check(&tagged, routed("node:vision"), &[WEAK], &["c/s3"], Some("tier pro: "));
    tagged.config.policy.allow_providers = vec!["c".into()];
    check(&tagged, routed("sonnet"), &[LIMIT], &["c/s3"], Some("a/s1: its provider is not allowed"));
    // A provider without money is passed over, a downgraded tier is no escalation.
    let mut spent = listed("");
    spent.advice.budget.exhausted.insert("b".into(), "b has spent its budget".into());
    check(&spent, routed("sonnet"), &[LIMIT], &["a/s1", "c/s3"], None);
    spent.advice.budget.degraded.insert("flash".into(), "80 % is spent".into());
    check(&spent, routed("haiku"), &[WEAK], &["a/h1", "a/s1"], None);
    for tier in ["sonnet", "pro", "opus"] {
        spent.advice.budget.degraded.insert(tier.into(), "80 % is spent".into());
    }
    check(&spent, routed("haiku"), &[WEAK], &["a/h1"], Some("tier flash: is downgraded, 80 % is spent; tier sonnet"));
}

#[test]
fn a_failure_cools_down_for_its_time() {
    let second = Duration::from_secs;
    let built_in = config().fallback.cooldowns;
    let short = config_with("[fallback.cooldowns]\nlongest = \"90s\"\n").fallback.cooldowns;
    let endless = config_with("[fallback.cooldowns]\nlongest = \"none\"\n").fallback.cooldowns;
    let off = config_with("[fallback.cooldowns]\nrate_limit = \"none\"\nquota = \"0\"\n").fallback.cooldowns;
    let table = [
        (&built_in, Trigger::RateLimit, None, Some(60)),
        (&built_in, Trigger::Overloaded, None, Some(120)),
        (&built_in, Trigger::Timeout, None, Some(180)),
        (&built_in, Trigger::ApiError, None, Some(300)),
        (&built_in, Trigger::AuthError, None, Some(3600)),
        (&built_in, Trigger::Quota, None, Some(3600)),
        (&built_in, Trigger::Capability, None, None),
        (&built_in, Trigger::Capability, Some(500), None),
        // The wait that the provider asks for counts when it is longer, but not for ever.
        (&built_in, Trigger::RateLimit, Some(5), Some(60)),
        (&built_in, Trigger::RateLimit, Some(61), Some(61)),
        (&built_in, Trigger::RateLimit, Some(86_400), Some(86_400)),
        (&built_in, Trigger::RateLimit, Some(86_401), Some(86_400)),
        (&built_in, Trigger::Quota, Some(7200), Some(7200)),
        (&short, Trigger::RateLimit, Some(500), Some(90)),
        // The limit is for what a provider asks, not for what the user laid down.
        (&short, Trigger::ApiError, Some(500), Some(300)),
        (&endless, Trigger::RateLimit, Some(1_000_000), Some(1_000_000)),
        (&off, Trigger::RateLimit, None, None),
        (&off, Trigger::RateLimit, Some(500), None),
        (&off, Trigger::Quota, Some(500), None),
        (&off, Trigger::Timeout, None, Some(180)),
    ];
    for (cooldowns, trigger, said, expected) in table {
        assert_eq!(cooldowns.after(trigger, said.map(second)), expected.map(second), "{trigger} {said:?}");
    }
}
