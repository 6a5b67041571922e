//! Which tier is recommended, and why not another.

use super::*;

fn check(table: &str, rows: &[(&str, &[Tally])]) {
    for (expected, tallies) in rows {
        let recommended = recommended(Some(table), tallies);
        assert_eq!(said(&recommended), *expected, "table {table}, {tallies:?}: {}", recommended.reason());
        assert!(!recommended.reason().is_empty(), "{tallies:?}");
    }
}

#[test]
fn a_tier_enters_with_three_samples_and_three_of_four() {
    check(
        "sonnet",
        &[
            ("nothing", &[]),
            ("nothing", &[tally("sonnet", 2, 0)]),
            ("sonnet", &[tally("sonnet", 3, 0)]),
            ("nothing", &[tally("sonnet", 2, 1)]),
            ("sonnet", &[tally("sonnet", 3, 1)]),
            ("nothing", &[tally("sonnet", 74, 26)]),
            ("sonnet", &[tally("sonnet", 75, 25)]),
            // What does not count is no sample.
            ("nothing", &[Tally { uncounted: 50, ..tally("sonnet", 2, 0) }]),
            ("sonnet", &[Tally { uncounted: 50, ..tally("sonnet", 3, 0) }]),
            // Records of several models and weeks are one record of the tier.
            ("sonnet", &[tally("sonnet", 1, 0), Tally { model: "other/model".into(), ..tally("sonnet", 2, 0) }]),
        ],
    );
}

#[test]
fn a_refusal_says_what_is_missing() {
    for (table, tallies, expected) in [
        (Some("sonnet"), vec![], "no experience with such tasks yet"),
        (
            Some("sonnet"),
            vec![tally("sonnet", 2, 0)],
            "sonnet did 2 of 2 such tasks well (100 %, at least 67 %), and it takes 3 samples",
        ),
        (
            Some("sonnet"),
            vec![tally("sonnet", 74, 26)],
            "sonnet did 74 of 100 such tasks well (74 %, at least 69 %), and it takes 75 %",
        ),
        (
            Some("opus"),
            vec![tally("pro", 79, 21)],
            "pro did 79 of 100 such tasks well (79 %, at least 75 %), and to go below the top tier it takes 80 %",
        ),
        (
            None,
            vec![tally("gone", 5, 0)],
            "some/gone-model did 5 of 5 such tasks well (100 %, at least 83 %), but its tier is not known any more",
        ),
        (
            None,
            vec![tally("gone", 1, 0)],
            "some/gone-model did 1 of 1 such tasks well (100 %, at least 50 %), and it takes 3 samples",
        ),
        (
            Some("sonnet"),
            vec![aged(120, tally("sonnet", 5, 0))],
            "sonnet did 5 of 5 such tasks well (100 %, at least 24 %), but that was long ago",
        ),
    ] {
        let recommended = recommended(table, &tallies);
        assert_eq!(recommended, Recommended::Nothing { reason: expected.into() }, "{tallies:?}");
        assert_eq!(recommended.tier(), None);
    }
}

#[test]
fn the_cheapest_that_qualifies_wins() {
    for table in ["haiku", "sonnet"] {
        check(
            table,
            &[
                ("haiku", &[tally("haiku", 10, 0), tally("sonnet", 10, 0), tally("opus", 10, 0)]),
                ("flash", &[tally("sonnet", 10, 0), tally("flash", 10, 0)]),
                // However much more a dearer one was used, and whatever it is known for.
                ("haiku", &[tally("haiku", 3, 0), tally("opus", 5, 0)]),
                ("haiku", &[tally("haiku", 9, 1), tally("opus", 20, 0)]),
                ("haiku", &[tally("haiku", 75, 25), tally("opus", 1000, 0)]),
                ("opus", &[tally("haiku", 7, 3), tally("opus", 20, 0)]),
                ("opus", &[tally("haiku", 2, 0), tally("opus", 20, 0)]),
            ],
        );
    }
    check(
        "opus",
        &[
            ("haiku", &[tally("haiku", 200, 2), tally("opus", 200, 2)]),
            ("haiku", &[tally("haiku", 80, 20), tally("opus", 998, 2)]),
            ("opus", &[tally("haiku", 79, 21), tally("opus", 998, 2)]),
        ],
    );
}

#[test]
fn a_recommendation_says_how_much_it_is_worth() {
    for (tallies, worth, why) in [
        (
            vec![tally("sonnet", 3, 0)],
            75.0,
            "sonnet did 3 of 3 such tasks well (100 %, at least 75 %); the only tier that qualifies",
        ),
        (
            vec![tally("sonnet", 9, 0), tally("opus", 30, 0), tally("pro", 3, 0)],
            90.0,
            "sonnet did 9 of 9 such tasks well (100 %, at least 90 %); the cheapest of 3 tiers that qualify",
        ),
    ] {
        let Recommended::Tier { tier, success_percent, lower_percent, reason, .. } =
            recommended(Some("sonnet"), &tallies)
        else {
            panic!("no tier")
        };
        assert_eq!((tier.as_str(), reason.as_str()), ("sonnet", why));
        assert!((success_percent - 100.0).abs() < 1e-9 && (lower_percent - worth).abs() < 1e-9);
    }
}

#[test]
fn below_the_top_it_takes_more_and_no_mark_of_a_hard_task() {
    check(
        "opus",
        &[("nothing", &[tally("pro", 79, 21)]), ("pro", &[tally("pro", 80, 20)]), ("haiku", &[tally("haiku", 80, 20)])],
    );
    // Below another tier than the top it does not.
    check("pro", &[("sonnet", &[tally("sonnet", 79, 21)])]);
    let settings = settings();
    for (table, place, expected) in [
        ("opus", "pro", "nothing"),
        ("opus", "haiku", "nothing"),
        ("opus", "opus", "opus"),
        // The mark only keeps tasks of the top tier there.
        ("pro", "sonnet", "sonnet"),
    ] {
        let hard = Asked { hard: Some("race condition"), ..asked(&settings, Some(table)) };
        let recommended = recommend(&hard, &[tally(place, 1000, 0)]).recommended;
        assert_eq!(said(&recommended), expected, "{table} {place}");
        assert_eq!(recommended.reason().contains("the task looks hard (race condition)"), expected == "nothing");
    }
    // Without a table there is nothing to stay above.
    let hard = Asked { hard: Some("race condition"), ..asked(&settings, None) };
    assert_eq!(said(&recommend(&hard, &[tally("haiku", 3, 0)]).recommended), "haiku");
}

#[test]
fn a_table_that_fails_makes_way() {
    check(
        "haiku",
        &[
            ("nothing", &[tally("haiku", 0, 2)]),
            ("up to flash", &[tally("haiku", 0, 3)]),
            ("up to sonnet", &[tally("haiku", 0, 3), tally("flash", 1, 9)]),
            ("up to flash", &[tally("haiku", 0, 3), tally("flash", 1, 2)]),
            ("flash", &[tally("haiku", 0, 3), tally("flash", 9, 1)]),
            // It may still be 75 %.
            ("nothing", &[tally("haiku", 7, 3)]),
            ("up to flash", &[tally("haiku", 60, 40)]),
            // One that qualifies is there already.
            ("opus", &[tally("haiku", 60, 40), tally("opus", 300, 0)]),
        ],
    );
    check("opus", &[("nothing", &[tally("opus", 0, 50)])]);
    check("pro", &[("nothing", &[tally("pro", 0, 50), tally("opus", 0, 50)])]);
}

#[test]
fn without_a_tier_the_model_itself_is_recommended() {
    let alone = |model: &str, successes, failures, cost: i64| Tally {
        model: model.into(),
        cost: crate::Nano(cost),
        priced: u64::from(cost > 0),
        ..tally("", successes, failures)
    };
    check(
        "sonnet",
        &[
            ("nothing", &[alone("a/one", 2, 0, 5)]),
            ("model a/one", &[alone("a/one", 3, 0, 5)]),
            ("model a/two", &[alone("a/one", 5, 0, 5), alone("a/two", 5, 0, 4)]),
            // What has no price could cost anything.
            ("model a/one", &[alone("a/one", 5, 0, 5), alone("a/two", 5, 0, 0)]),
            ("model a/one", &[alone("a/one", 50, 0, 5), alone("a/two", 4, 1, 1)]),
            ("sonnet", &[alone("a/one", 50, 0, 5), tally("sonnet", 3, 0)]),
            ("nothing", &[tally("gone", 50, 0)]),
        ],
    );
}

#[test]
fn all_records_are_shown_in_order() {
    let settings = settings();
    let tallies = [tally("opus", 1, 0), tally("gone", 9, 0), tally("haiku", 0, 5), tally("", 4, 0)];
    let found = recommend(&asked(&settings, None), &tallies);
    let names = |standings: &[Standing]| standings.iter().map(|one| one.name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&found.tiers), ["haiku", "opus"]);
    assert_eq!(names(&found.models), ["some/gone-model", "some/-model", "some/opus-model", "some/haiku-model"]);
}

#[test]
fn counts_at_the_end_of_their_range_do_not_break_anything() {
    let all = Tally {
        uncounted: u64::MAX,
        cost: crate::Nano(i64::MAX),
        priced: u64::MAX,
        tokens: u64::MAX,
        ..tally("sonnet", u64::MAX, 0)
    };
    check(
        "sonnet",
        &[
            ("sonnet", &[all.clone(), all.clone()]),
            ("up to pro", &[Tally { successes: 0, proven: 0, failures: u64::MAX, ..all.clone() }]),
            ("up to pro", &[Tally { failures: u64::MAX, ..all.clone() }, Tally { failures: u64::MAX, ..all.clone() }]),
            ("sonnet", &[Tally { at: i64::MIN, ..all.clone() }, Tally { at: i64::MAX, ..all.clone() }]),
        ],
    );
    assert_eq!(all.runs(), u64::MAX);
    assert_eq!(all.mean_cost(), None);
    assert_eq!(Tally { cost: crate::Nano(9), priced: 2, ..Tally::default() }.mean_cost(), Some(crate::Nano(4)));
}
