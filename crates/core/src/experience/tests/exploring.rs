//! What is tried, and how often.

use super::*;
use std::collections::BTreeMap;

fn tries(percent: u32, chosen: &str, tallies: &[Tally]) -> BTreeMap<String, (u32, u32)> {
    let settings = Patterns { explore_percent: percent, ..settings() };
    let tiers = by_tier(tallies, NOW, settings.half_life_micros());
    let mut drawn: BTreeMap<String, (u32, u32)> = BTreeMap::new();
    // Of whole percents all borders are at whole thousands, so the ends of each thousand stand for all of it.
    for roll in (0..1_000_000).step_by(1000) {
        let draw = |roll| explore(&settings, &BUILT_IN.tier_order, chosen, &tiers, roll);
        let Exploration { tier, propensity } = draw(roll);
        assert_eq!(draw(roll + 999), draw(roll));
        assert_ne!(tier.as_deref(), Some(chosen));
        let one = drawn.entry(tier.unwrap_or_else(|| chosen.to_owned())).or_insert((0, propensity));
        assert_eq!(one.1, propensity, "a choice has one probability");
        one.0 += 1000;
    }
    drawn
}

#[test]
fn each_choice_is_drawn_as_often_as_it_says() {
    let known = |tier, successes, failures| vec![tally(tier, successes, failures)];
    for (percent, chosen, tallies, expected) in [
        (0, "sonnet", known("sonnet", 95, 5), vec![("sonnet", 1_000_000)]),
        (5, "sonnet", known("sonnet", 95, 5), vec![("flash", 10_000), ("opus", 40_000), ("sonnet", 950_000)]),
        // Much may be gained.
        (5, "sonnet", known("sonnet", 90, 10), vec![("flash", 10_000), ("opus", 120_000), ("sonnet", 870_000)]),
        (5, "haiku", known("haiku", 95, 5), vec![("haiku", 950_000), ("opus", 50_000)]),
        (5, "opus", known("opus", 50, 50), vec![("opus", 950_000), ("pro", 50_000)]),
        (50, "haiku", known("haiku", 50, 50), vec![("opus", 1_000_000)]),
        (50, "sonnet", known("sonnet", 50, 50), vec![("flash", 100_000), ("opus", 900_000)]),
        (1, "sonnet", known("sonnet", 95, 5), vec![("flash", 2_000), ("opus", 8_000), ("sonnet", 990_000)]),
        // Nothing to compare with.
        (5, "sonnet", vec![], vec![("sonnet", 1_000_000)]),
        (5, "sonnet", known("sonnet", 9, 0), vec![("sonnet", 1_000_000)]),
        (5, "sonnet", known("sonnet", 10, 0), vec![("flash", 10_000), ("opus", 40_000), ("sonnet", 950_000)]),
        (5, "gone", known("gone", 95, 5), vec![("gone", 1_000_000)]),
    ] {
        let drawn = tries(percent, chosen, &tallies);
        let expected: BTreeMap<String, (u32, u32)> =
            expected.into_iter().map(|(tier, count)| (tier.to_owned(), (count, count))).collect();
        assert_eq!(drawn, expected, "{percent} % from {chosen}, {tallies:?}");
    }
}

#[test]
fn what_is_known_to_be_no_better_is_not_tried() {
    for (chosen, tallies, expected) in [
        ("sonnet", vec![tally("sonnet", 95, 5), tally("flash", 5, 15)], vec!["opus", "sonnet"]),
        ("sonnet", vec![tally("sonnet", 95, 5), tally("opus", 180, 20)], vec!["flash", "pro", "sonnet"]),
        (
            "sonnet",
            vec![tally("sonnet", 95, 5), tally("opus", 180, 20), tally("pro", 180, 20), tally("flash", 5, 15)],
            vec!["sonnet"],
        ),
        // Two tiers down is not tried.
        ("opus", vec![tally("opus", 95, 5), tally("pro", 5, 15)], vec!["opus"]),
    ] {
        let drawn: Vec<String> = tries(5, chosen, &tallies).into_keys().collect();
        assert_eq!(drawn, expected, "{chosen}, {tallies:?}");
    }
}

#[test]
fn by_default_nothing_is_tried() {
    assert_eq!(settings().explore_percent, 0);
}
