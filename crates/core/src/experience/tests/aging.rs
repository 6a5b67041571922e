//! What age does to a record.

use super::*;

fn record(tallies: &[Tally]) -> Standing {
    by_tier(tallies, NOW, settings().half_life_micros()).remove(0)
}

#[test]
fn an_outcome_counts_half_after_the_half_life() {
    assert_eq!(settings().half_life_micros(), 30 * DAY);
    for (days, expected) in [(0, 8.0), (30, 4.0), (60, 2.0), (90, 1.0)] {
        let found = record(&[aged(days, tally("sonnet", 8, 0))]);
        assert!((found.weight - expected).abs() < 1e-9, "{days}: {}", found.weight);
        // The counts themselves stay what they are.
        assert_eq!((found.samples, found.successes), (8, 8));
    }
}

#[test]
fn old_failures_are_forgotten_and_old_successes_fade() {
    let failed = aged(300, tally("sonnet", 0, 30));
    assert_eq!(said(&recommended(Some("sonnet"), &[failed.clone(), tally("sonnet", 3, 0)])), "sonnet");
    // Recent success outweighs old success.
    let done = aged(60, tally("haiku", 20, 0));
    assert_eq!(routed(Some("opus"), &[done.clone(), tally("opus", 20, 0)]).unwrap().tier, "opus");
    assert_eq!(routed(Some("opus"), &[aged(0, done.clone()), tally("opus", 20, 0)]).unwrap().tier, "haiku");
    // And in the end it does not count, also without another tier.
    assert_eq!(said(&recommended(Some("opus"), &[done])), "haiku");
    assert_eq!(said(&recommended(Some("opus"), &[aged(200, tally("haiku", 20, 0))])), "nothing");
}

#[test]
fn without_a_half_life_all_count_the_same() {
    let settings = Patterns { half_life: crate::values::duration::Limit(None), ..settings() };
    let old = [aged(9000, tally("haiku", 20, 0)), aged(9000, tally("opus", 20, 0))];
    assert_eq!(said(&recommend(&asked(&settings, Some("opus")), &old).recommended), "haiku");
    // Not even a bad week makes the past forgotten.
    let found = by_tier(&[aged(21, tally("haiku", 90, 0)), tally("haiku", 0, 10)], NOW, 0).remove(0);
    assert!((found.success_percent - 90.0).abs() < 1e-9);
}

#[test]
fn an_outcome_from_the_future_counts_whole() {
    for at in [NOW + 1, NOW + 400 * DAY, i64::MAX] {
        let found = record(&[Tally { at, ..tally("sonnet", 4, 1) }]);
        assert!((found.weight - 5.0).abs() < 1e-9, "{at}");
    }
    let found = record(&[Tally { at: i64::MIN, ..tally("sonnet", 4, 1) }]);
    assert!(found.weight < 1e-9 && found.lower_percent < 1e-6 && found.upper_percent > 99.999);
}

#[test]
fn a_model_that_has_changed_is_judged_by_what_it_does_now() {
    for (older, recent, changed) in [
        // Worse, better, about the same.
        ((95, 5), (35, 15), true),
        ((35, 15), (48, 2), true),
        ((90, 10), (44, 6), false),
        // Four failures are not yet a change, five are.
        ((100, 0), (2, 4), false),
        ((100, 0), (2, 5), true),
        ((0, 100), (4, 0), false),
        ((0, 100), (5, 0), true),
    ] {
        let tallies = [aged(14, tally("haiku", older.0, older.1)), tally("haiku", recent.0, recent.1)];
        let found = record(&tallies);
        let alone = record(&tallies[1..]);
        assert_eq!(found.success_percent.to_bits() == alone.success_percent.to_bits(), changed, "{older:?} {recent:?}");
        assert_eq!(found.samples, older.0 + older.1 + recent.0 + recent.1);
    }
    // A day sooner it is no past that the last weeks could differ from.
    let within = [aged(13, tally("haiku", 100, 0)), tally("haiku", 0, 10)];
    assert!(record(&within).success_percent > 80.0);
}

#[test]
fn a_range_is_honest_about_few_samples() {
    for (successes, failures, lower, upper) in [
        (0, 0, 0.0, 100.0),
        (1, 0, 50.0, 100.0),
        (3, 0, 75.0, 100.0),
        (9, 0, 90.0, 100.0),
        (0, 3, 0.0, 25.0),
        (3, 1, 50.0, 90.0),
    ] {
        let found = record(&[tally("haiku", successes, failures)]);
        assert!((found.lower_percent - lower).abs() < 1e-9, "{successes} {failures}: {}", found.lower_percent);
        assert!((found.upper_percent - upper).abs() < 1e-9, "{successes} {failures}: {}", found.upper_percent);
    }
}

#[test]
fn records_are_by_tier_and_by_model() {
    let tallies = [tally("haiku", 3, 1), tally("haiku", 1, 0), tally("", 2, 0)];
    let names = |found: Vec<Standing>| found.into_iter().map(|one| (one.name, one.samples)).collect::<Vec<_>>();
    assert_eq!(names(by_tier(&tallies, NOW, 0)), [("haiku".to_owned(), 5)]);
    assert_eq!(names(by_model(&tallies, NOW, 0)), [("some/-model".to_owned(), 2), ("some/haiku-model".to_owned(), 5)]);
}
