//! What the budget does to a choice, by tables: each row is the limits, a request, and the chosen model and the
//! message.

use super::{fallback::*, *};
use crate::{
    limits::{Billing, Key, Kind, Line, Unit, advise},
    values::Urgency,
};

/// A limit of a thousand of which so much is used.
fn line(kind: Kind, name: &str, used: i64) -> Line {
    Line {
        key: Key::new(kind, name),
        billing: Billing::Token,
        period: None,
        unit: Unit::Usd,
        limit: 1000,
        from: 0,
        until: i64::MAX,
        degrade_percent: 80,
        stop_percent: 95,
        unknown_allowed: false,
        settled: used,
        reserved: 0,
        unknown: 0,
    }
}

fn provider_line(name: &str, used: i64) -> Line {
    line(Kind::Provider, name, used)
}

fn allowance(name: &str, used: i64) -> Line {
    Line { billing: Billing::Subscription, unit: Unit::Requests, ..provider_line(name, used) }
}

/// The tiers of `listed` without the provider that no tier lists, under these limits.
fn under(lines: &[Line], urgency: Urgency) -> World {
    let mut world = listed("");
    world.catalogue.providers.remove("extra");
    world.advice.budget = advise(lines, urgency, world.config.tier_order.iter());
    world
}

fn chosen(world: &World, reference: &str) -> Resolution {
    world.resolve(reference, Needs::default()).unwrap_or_else(|error| panic!("{reference}: {error}"))
}

/// The text of the budget in a trace.
fn said(found: &Resolution) -> String {
    let lines = found.trace.iter().filter(|step| step.step == Step::Budget).map(|step| step.why.as_str());
    lines.collect::<Vec<_>>().join(" | ")
}

/// The model, the tier and the tier that was wanted instead.
fn outcome(found: &Resolution) -> (String, Option<&str>, Option<&str>) {
    (found.model.to_string(), found.tier.as_deref(), found.requested_tier.as_deref())
}

#[test]
fn nothing_is_chosen_when_all_is_spent_unless_somebody_says_so() {
    let spent = [line(Kind::Overall, "", 950)];
    for urgency in [Urgency::Normal, Urgency::Critical] {
        let world = under(&spent, urgency);
        for reference in ["a/s1", "s1", "tier=sonnet", "task=code-review", "profile=coder", "node:fast", "auto", ""] {
            let refused = world.resolve(reference, Needs::default()).unwrap_err();
            assert_eq!(
                refused,
                RouteError::Closed { why: "overall has used 95 % of $0.000001000 ($0.000000950 spent)".into() }
            );
        }
        // A mistyped name is still reported as one.
        let mistyped = world.resolve("tier=sonet", Needs::default()).unwrap_err();
        assert!(matches!(mistyped, RouteError::UnknownTier { .. }), "{mistyped}");
    }
    let world = under(&spent, Urgency::PastTheStop);
    for (reference, model) in [("a/p1", "a/p1"), ("tier=sonnet", "a/s1"), ("opus", "b/o1")] {
        let found = chosen(&world, reference);
        assert_eq!(found.model.to_string(), model);
        assert_eq!(said(&found), "within it; overall has used 95 % of $0.000001000; passed on request");
    }
}

#[test]
fn a_provider_that_is_running_low_gives_way_to_another_of_the_tier_then_to_a_cheaper_tier_then_stays() {
    let table = [
        (vec!["a"], "sonnet", "b/s2", "sonnet", None),
        (vec!["a", "b"], "sonnet", "c/s3", "sonnet", None),
        (vec!["b"], "sonnet", "a/s1", "sonnet", None),
        (vec!["a", "b", "c"], "sonnet", "a/f1", "flash", Some("sonnet")),
        (vec!["a"], "pro", "a/s1", "sonnet", Some("pro")),
        (vec!["a", "b"], "haiku", "a/h1", "haiku", None),
        (vec!["c"], "opus", "b/o1", "opus", None),
    ];
    for (low, tier, model, used, requested) in table {
        let lines: Vec<Line> = low.iter().map(|name| provider_line(name, 800)).collect();
        let found = chosen(&under(&lines, Urgency::Normal), tier);
        assert_eq!(outcome(&found), (model.to_owned(), Some(used), requested), "{low:?} {tier}: {:#?}", found.trace);
        let way = requested.map(|requested| format!("tier {requested} is downgraded to {used}: provider "));
        let told = |text: &String| way.as_ref().is_some_and(|way| text.starts_with(way));
        assert_eq!(found.warnings.iter().filter(|warning| told(warning)).count(), usize::from(way.is_some()));
        assert_eq!(said(&found).starts_with("tier "), way.is_some(), "{}", said(&found));
        let own = found.model.provider.as_str();
        assert_eq!(said(&found).contains("running low: provider "), low.contains(&own), "{}", said(&found));
        // Who was passed over for it is in the trace, with the reason.
        let passed = found.trace.iter().any(|step| step.why.ends_with("has used 80 % of $0.000001000"));
        assert_eq!(passed, low.contains(&"a") || way.is_some(), "{:#?}", found.trace);
    }
}

#[test]
fn a_stranger_does_not_stand_in_for_a_provider_that_is_running_low() {
    let mut world = listed("");
    let lines = ["a", "b", "c"].map(|name| provider_line(name, 800));
    world.advice.budget = advise(&lines, Urgency::Normal, world.config.tier_order.iter());
    // No tier lists `extra/free`, and the tier has models that may be asked: those of the next cheaper tier come first.
    assert_eq!(outcome(&chosen(&world, "sonnet")), ("a/f1".to_owned(), Some("flash"), Some("sonnet")));
}

#[test]
fn a_tier_gives_way_for_the_limits_of_its_own_providers_only() {
    let world = under(&[provider_line("c", 800)], Urgency::Normal);
    let images = Needs { images: 1, ..Needs::default() };
    // Nothing of the tier takes images, and that is not a matter of money.
    let found = world.resolve("tier=opus", images).unwrap();
    assert_eq!(outcome(&found), ("c/s3".to_owned(), Some("opus"), None), "{:#?}", found.trace);
}

#[test]
fn what_was_named_stays_with_a_provider_that_is_running_low_and_ends_with_it() {
    let low = under(&[provider_line("a", 949)], Urgency::Normal);
    let found = chosen(&low, "a/s1");
    assert_eq!(found.model.to_string(), "a/s1");
    assert_eq!(said(&found), "running low: provider a has used 94 % of $0.000001000");
    let spent = under(&[provider_line("a", 950)], Urgency::Critical);
    let why = "provider a has used 95 % of $0.000001000 ($0.000000950 spent)".to_owned();
    for reference in ["a/s1", "s1"] {
        let refused = spent.resolve(reference, Needs::default()).unwrap_err();
        assert_eq!(refused, RouteError::OverBudget { model: "a/s1".into(), why: why.clone() });
    }
    let routed = chosen(&spent, "sonnet");
    assert_eq!(routed.model.to_string(), "b/s2");
    let passed = TraceStep::about(Step::Tier, "a/s1", why.clone());
    assert!(routed.trace.contains(&passed), "{:#?}", routed.trace);
    assert!(routed.rejected.iter().any(|group| group.why == why && group.models == ["a/s1"]), "{:?}", routed.rejected);
    assert_eq!(said(&routed), "within it");
    let past = chosen(&under(&[provider_line("a", 950)], Urgency::PastTheStop), "a/s1");
    assert_eq!(said(&past), "within it; provider a has used 95 % of $0.000001000; passed on request");
}

#[test]
fn critical_work_keeps_its_tier_until_nothing_is_left() {
    let low = [provider_line("a", 800), line(Kind::Tier, "opus", 800), line(Kind::Overall, "", 800)];
    let world = under(&low, Urgency::Critical);
    for (tier, model) in [("sonnet", "a/s1"), ("pro", "a/p1"), ("opus", "b/o1")] {
        let found = chosen(&world, tier);
        assert_eq!(outcome(&found), (model.to_owned(), Some(tier), None));
        assert_eq!(found.warnings, Vec::<String>::new());
        assert_eq!(said(&found).matches("critical, so it keeps its tier").count(), 3, "{}", said(&found));
    }
    // A tier that is used up is downgraded for every request; a named model is not of a tier.
    let spent = under(&[line(Kind::Tier, "opus", 950)], Urgency::Critical);
    assert_eq!(outcome(&chosen(&spent, "opus")), ("a/p1".to_owned(), Some("pro"), Some("opus")));
    assert_eq!(chosen(&spent, "b/o1").model.to_string(), "b/o1");
}

#[test]
fn tiers_give_way_step_by_step_and_the_cheapest_stays() {
    let world = under(&[line(Kind::Tier, "opus", 800), line(Kind::Tier, "pro", 900)], Urgency::Normal);
    let found = chosen(&world, "opus");
    assert_eq!(outcome(&found), ("a/s1".to_owned(), Some("sonnet"), Some("opus")));
    let steps = [
        "tier opus is downgraded to pro: tier opus has used 80 % of $0.000001000",
        "tier pro is downgraded to sonnet: tier pro has used 90 % of $0.000001000",
    ];
    assert_eq!(found.warnings, steps);
    assert_eq!(said(&found), format!("{} | {} | within it", steps[0], steps[1]));
    // All tiers are running low together: there is nothing below the cheapest.
    let all = under(&[line(Kind::Overall, "", 800)], Urgency::Normal);
    assert_eq!(outcome(&chosen(&all, "opus")), ("a/h1".to_owned(), Some("haiku"), Some("opus")));
    assert_eq!(outcome(&chosen(&all, "haiku")), ("a/h1".to_owned(), Some("haiku"), None));
}

#[test]
fn what_is_paid_for_comes_first_within_a_list_but_not_before_a_first_choice() {
    let table = [
        (vec!["c"], "sonnet", "c/s3"),
        (vec!["b", "c"], "sonnet", "b/s2"),
        (vec!["a"], "sonnet", "a/s1"),
        // It comes first among those that are listed; one that is not does not push itself in.
        (vec!["c"], "haiku", "a/h1"),
        (vec!["b"], "haiku", "b/h2"),
    ];
    for (paid, tier, model) in table {
        let lines: Vec<Line> = paid.iter().map(|name| allowance(name, 100)).collect();
        let found = chosen(&under(&lines, Urgency::Normal), tier);
        assert_eq!(outcome(&found), (model.to_owned(), Some(tier), None), "{paid:?}");
        let first = format!("{} is paid for already and comes first: ", found.model.provider);
        assert_eq!(said(&found).starts_with(&first), paid.contains(&found.model.provider.as_str()), "{}", said(&found));
    }
    let mut tagged = under(&[allowance("b", 100)], Urgency::Normal);
    assert_eq!(chosen(&tagged, "node:fast").model.provider, "b", "the best by the score would be another");
    tagged.catalogue.small_model = Some(ModelRef::new("a", "h1"));
    let found = chosen(&tagged, "node:fast");
    assert_eq!(found.model.to_string(), "a/h1");
    assert_eq!(said(&found), "within it");
    // What fails, lacks something or is used up is passed over all the same.
    let mut world = under(&[allowance("c", 100)], Urgency::Normal);
    world.bar("c", SOON);
    assert_eq!(chosen(&world, "sonnet").model.to_string(), "a/s1");
    let used = under(&[allowance("c", 950)], Urgency::Normal);
    assert_eq!(chosen(&used, "sonnet").model.to_string(), "a/s1");
    let images = Needs { images: 1, ..Needs::default() };
    let world = under(&[allowance("b", 100)], Urgency::Normal);
    assert_eq!(world.resolve("tier=sonnet", images).unwrap().model.to_string(), "c/s3");
}

#[test]
fn what_changes_nothing_is_still_said() {
    let notes = [line(Kind::Batch, "night", 900), line(Kind::Task, "t1", 800), allowance("b", 940)];
    let found = chosen(&under(&notes, Urgency::Critical), "sonnet");
    // What is paid for is used to its end.
    assert_eq!(outcome(&found), ("b/s2".to_owned(), Some("sonnet"), None));
    let expected = "b is paid for already and comes first: provider b has used 94 % of 1000 requests; \
                    batch night has used 90 % of $0.000001000; critical, so it keeps its tier; \
                    task t1 has used 80 % of $0.000001000; critical, so it keeps its tier; \
                    provider b has used 94 % of 1000 requests; critical, so it keeps its tier";
    assert_eq!(said(&found), expected);
    assert_eq!(said(&chosen(&under(&[], Urgency::Normal), "sonnet")), "none is set");
    assert_eq!(said(&chosen(&under(&[provider_line("c", 1)], Urgency::Normal), "a/s1")), "within it");
}

#[test]
fn a_batch_and_a_task_degrade_like_everything_together() {
    for (kind, whose) in [(Kind::Batch, "batch x"), (Kind::Task, "task x")] {
        let found = chosen(&under(&[line(kind, "x", 850)], Urgency::Normal), "pro");
        assert_eq!(outcome(&found), ("a/h1".to_owned(), Some("haiku"), Some("pro")));
        let told = format!("tier pro is downgraded to sonnet: {whose} has used 85 % of $0.000001000");
        assert!(found.warnings.contains(&told) && said(&found).starts_with(&told), "{:#?}", found.trace);
        let spent = under(&[line(kind, "x", 950)], Urgency::Normal);
        assert!(matches!(spent.resolve("tier=pro", Needs::default()), Err(RouteError::Closed { .. })));
    }
}

/// The tiers of `listed`, a dear and a cheap model that no tier lists, and models with eyes in the named places.
fn furnished(lines: &[Line], eyes: &[&str]) -> World {
    let mut world = under(lines, Urgency::Normal);
    let strangers = vec![model("grand", 600.0), model("small", 9.0)];
    world.catalogue.providers.insert("lux".into(), provider(Source::Config, false, strangers));
    for (id, provider) in &mut world.catalogue.providers {
        provider.models.edit(|models| {
            for model in models.values_mut() {
                model.image_input = eyes.contains(&format!("{id}/{}", model.id).as_str());
            }
        });
    }
    world
}

#[test]
fn a_provider_that_is_used_up_makes_its_tiers_give_way_to_cheaper_ones_only() {
    let why = "provider b has used 96 % of $0.000001000 ($0.000000960 spent)";
    let spent = |names: &[&str]| names.iter().map(|name| provider_line(name, 960)).collect::<Vec<_>>();
    // (used up, tier) → (model, its tier, the downgraded tier)
    let table = [
        (&["b"][..], "opus", Some(("a/p1", Some("pro"), Some("opus")))),
        (&["b"], "sonnet", Some(("a/s1", Some("sonnet"), None))),
        (&["a", "b"], "opus", Some(("c/s3", Some("sonnet"), Some("opus")))),
        (&["a"], "pro", Some(("b/s2", Some("sonnet"), Some("pro")))),
        // Nothing of any tier is left: the substitute is cheaper, and of no tier.
        (&["a", "b", "c"], "opus", Some(("lux/small", None, Some("opus")))),
        (&["a", "b", "c"], "sonnet", Some(("lux/small", None, Some("sonnet")))),
        (&["a", "b", "c"], "flash", None),
        (&["a", "b", "c"], "haiku", None),
        (&["a", "b"], "flash", None),
    ];
    for (names, tier, expected) in table {
        let world = furnished(&spent(names), &[]);
        match (world.resolve(&format!("tier={tier}"), Needs::default()), expected) {
            (Ok(found), Some((model, used, requested))) => {
                assert_eq!(outcome(&found), (model.to_owned(), used, requested), "{names:?} {tier}");
                let told = |text: &String| text.contains("has used 96 % of $0.000001000");
                assert_eq!(found.warnings.iter().any(told), requested.is_some(), "{:?}", found.warnings);
                assert_eq!(told(&found.reason), requested.is_some(), "{}", found.reason);
            }
            (Err(RouteError::Unaffordable { what, why }), None) => {
                assert_eq!(
                    (what, why),
                    (format!("tier {tier}"), "provider a has used 96 % of $0.000001000 ($0.000000960 spent)".into())
                );
            }
            (found, expected) => panic!("{names:?} {tier}: {found:?} for {expected:?}"),
        }
    }
    let found = chosen(&furnished(&spent(&["b"]), &[]), "opus");
    assert_eq!(found.warnings, [format!("tier opus is downgraded to pro: {why}")]);
    let lone = chosen(&furnished(&spent(&["a", "b", "c"]), &[]), "opus");
    assert_eq!(lone.warnings, [format!("tier opus: the budget keeps its models away ({why}); lux/small stands in")]);
    assert!(lone.rejected.iter().any(|group| group.why == "is not known to be cheaper" && group.count == 1));
    // What failed there is not exchanged for something dear either.
    let (_, error) = walk(&furnished(&spent(&["a", "b", "c"]), &[]), routed("opus"), &[LIMIT]);
    assert!(error.is_some_and(|error| error.to_string().contains(why)));
}

#[test]
fn what_is_needed_is_looked_for_in_each_cheaper_tier() {
    let images = Needs { images: 1, ..Needs::default() };
    let cap = |used| [line(Kind::Tier, "opus", used)];
    // (used of the tier's limit, models with image input) → (model, its tier, the downgraded tier)
    let all = ["b/o1", "b/h2", "lux/grand"];
    let table = [
        (940, &all[..], Some(("b/h2", Some("haiku"), Some("opus")))),
        (950, &all, Some(("b/h2", Some("haiku"), Some("opus")))),
        (940, &["b/o1", "lux/small"], Some(("lux/small", Some("pro"), Some("opus")))),
        // Until the stop it stays where it is, on its own account; after that no other account pays for it.
        (940, &["b/o1", "lux/grand"], Some(("b/o1", Some("opus"), None))),
        (950, &["b/o1", "lux/grand"], None),
    ];
    for (used, eyes, expected) in table {
        let world = furnished(&cap(used), eyes);
        match (world.resolve("tier=opus", images), expected) {
            (Ok(found), Some((model, tier, requested))) => {
                assert_eq!(outcome(&found), (model.to_owned(), tier, requested), "{used} {eyes:?}: {:#?}", found.trace);
                assert!(said(&found).contains("tier opus has used 9"), "{}", said(&found));
            }
            (Err(error @ RouteError::Unaffordable { .. }), None) => {
                let why = "tier opus is over its budget, and no cheaper model that fits is known: \
                           tier opus has used 95 % of $0.000001000 ($0.000000950 spent)";
                assert_eq!(error.to_string(), why);
            }
            (found, expected) => panic!("{used} {eyes:?}: {found:?} for {expected:?}"),
        }
    }
    // A model of the tier that is used up does not substitute for another tier, whose account would pay for it.
    let world = furnished(&cap(950), &["b/o1", "lux/grand"]);
    let found = world.resolve("tier=sonnet", images).unwrap();
    assert_eq!(outcome(&found), ("lux/grand".to_owned(), Some("sonnet"), None), "{:#?}", found.rejected);
    let below = furnished(&[line(Kind::Tier, "opus", 800)], &[]);
    assert_eq!(outcome(&chosen(&below, "opus")), ("a/p1".to_owned(), Some("pro"), Some("opus")));
}

#[test]
fn a_hop_keeps_to_the_budget_as_the_first_choice_does() {
    // Sideways past who is running low, and to a paid one before the others.
    let world = under(&[provider_line("b", 800)], Urgency::Normal);
    check(&world, routed("sonnet"), &[LIMIT], &["a/s1", "c/s3"], None);
    let world = under(&[allowance("c", 100)], Urgency::Normal);
    check(&world, routed("sonnet"), &[LIMIT], &["c/s3", "a/s1"], None);
    // A named one may be exchanged, but not for what is used up.
    let world = under(&[provider_line("b", 950)], Urgency::Normal);
    check(&world, asked("a/s1"), &[LIMIT], &["a/s1", "c/s3"], None);
    // The last of its tier failed and the others are running low: they are asked rather than none.
    let world = under(&[provider_line("b", 800), provider_line("c", 800)], Urgency::Normal);
    let (hops, error) = walk(&world, routed("sonnet"), &[LIMIT]);
    assert_eq!((hops.len(), error), (2, None));
}
