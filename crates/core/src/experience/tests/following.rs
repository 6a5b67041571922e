//! Where a choice goes, and why not where the recommendation points.

use super::*;

fn check(table: &str, rows: &[(&str, &[Tally])]) {
    for (expected, tallies) in rows {
        let found = routed(Some(table), tallies);
        let went = found.as_ref().map_or("table", |followed| followed.tier.as_str());
        assert_eq!(went, *expected, "table {table}, {tallies:?}: {found:?}");
    }
}

/// The message when the choice goes elsewhere than recommended.
fn told(table: &str, tallies: &[Tally]) -> String {
    match routed(Some(table), tallies) {
        Ok(followed) => followed.reason,
        Err(why) => why,
    }
}

#[test]
fn a_recommendation_is_followed_where_nothing_speaks_against_it() {
    for tallies in [
        vec![tally("haiku", 3, 0)],
        vec![tally("haiku", 3, 0), tally("opus", 5, 0)],
        vec![tally("haiku", 9, 1), tally("opus", 20, 0)],
        vec![tally("haiku", 20, 0), tally("sonnet", 20, 0)],
    ] {
        let (said, found) = (recommended(Some("sonnet"), &tallies), routed(Some("sonnet"), &tallies));
        let followed = found.unwrap_or_else(|why| panic!("{tallies:?}: {why}"));
        assert_eq!((followed.tier.as_str(), followed.reason.as_str()), ("haiku", said.reason()), "{tallies:?}");
    }
}

#[test]
fn below_the_table_only_proof_counts() {
    check(
        "sonnet",
        &[
            ("table", &[unproven("haiku", 1000, 0)]),
            ("sonnet", &[unproven("haiku", 1000, 0), unproven("sonnet", 3, 0)]),
            ("haiku", &[Tally { proven: 3, ..tally("haiku", 1000, 0) }]),
            ("table", &[Tally { proven: 2, ..tally("haiku", 1000, 0) }]),
            // Failures count, checked or not.
            ("table", &[Tally { proven: 3, ..tally("haiku", 1000, 2) }]),
            // At the table answers are enough.
            ("sonnet", &[unproven("sonnet", 3, 0)]),
        ],
    );
    // There is no default tier, so nothing is below it.
    assert_eq!(routed(None, &[unproven("haiku", 3, 0)]).unwrap().tier, "haiku");
    // A tier without a place in the order keeps its work: it is unknown whether another is weaker.
    assert!(routed(Some("gone"), &[tally("haiku", 3, 0)]).is_err());
    assert_eq!(
        told("sonnet", &[unproven("haiku", 50, 0)]),
        "haiku did 50 of 50 such tasks well (100 %, at least 98 %); the only tier that qualifies; not followed: nobody \
         has looked at 50 of its answers, and below sonnet only looked-at work counts"
    );
}

#[test]
fn below_the_table_it_must_be_as_good() {
    check(
        "opus",
        &[
            // Three of three are worth 75 %, thirty of thirty 97 %.
            ("opus", &[tally("sonnet", 3, 0), tally("opus", 30, 0)]),
            ("pro", &[tally("sonnet", 3, 0), tally("pro", 30, 0), tally("opus", 30, 0)]),
            ("sonnet", &[tally("sonnet", 3, 0), tally("opus", 2, 0)]),
            // Within one point of what the best does at least.
            ("haiku", &[tally("haiku", 990, 10), tally("opus", 998, 2)]),
            ("opus", &[tally("haiku", 970, 30), tally("opus", 998, 2)]),
        ],
    );
    assert_eq!(
        told("opus", &[tally("sonnet", 3, 0), tally("opus", 30, 0)]),
        "opus did 30 of 30 such tasks well (100 %, at least 97 %); sonnet would qualify, and is not taken: opus is known \
         for more (30 of 30, at least 97 %)"
    );
}

#[test]
fn a_table_that_is_surpassed_makes_way_step_by_step() {
    let known = tally("haiku", 84, 16);
    let top = tally("opus", 29, 1);
    check(
        "haiku",
        &[
            ("haiku", &[known.clone(), tally("opus", 3, 0)]),
            ("flash", &[known.clone(), top.clone()]),
            ("flash", &[known.clone(), tally("flash", 3, 0), top.clone()]),
            ("sonnet", &[known.clone(), tally("flash", 25, 5), top.clone()]),
            ("sonnet", &[known.clone(), tally("flash", 25, 5), tally("sonnet", 29, 1), top.clone()]),
            ("opus", &[known.clone(), tally("flash", 25, 5), tally("sonnet", 25, 5), tally("pro", 25, 5), top.clone()]),
            // One that has hardly failed keeps its work, whatever others did.
            ("haiku", &[tally("haiku", 6, 2), tally("opus", 100, 0)]),
        ],
    );
    assert_eq!(
        told("haiku", &[known, top]),
        "haiku did 84 of 100 such tasks well (84 %, at least 80 %), and a stronger tier does better; this one is on the \
         way there; haiku would qualify, and is not taken: opus probably does better (29 of 30, at least 92 %)"
    );
}

#[test]
fn a_dear_tier_that_does_well_is_no_reason_to_leave_a_cheap_one() {
    check(
        "haiku",
        &[
            ("table", &[tally("opus", 30, 0)]),
            ("table", &[tally("opus", 30, 0), tally("haiku", 2, 0)]),
            ("haiku", &[tally("opus", 300, 0), tally("haiku", 5, 0)]),
            // On the way up from one that fails, tiers without outcomes come first.
            ("flash", &[tally("opus", 300, 0), tally("haiku", 60, 40)]),
        ],
    );
    check("opus", &[("haiku", &[tally("haiku", 40, 0)])]);
    assert_eq!(
        told("haiku", &[tally("opus", 30, 0)]),
        "opus did 30 of 30 such tasks well (100 %, at least 97 %); the only tier that qualifies; not followed: haiku, the \
         tier of the table, has not been seen failing"
    );
}

#[test]
fn where_nothing_is_recommended_the_reason_is_the_same() {
    for tallies in [vec![], vec![tally("sonnet", 2, 0)], vec![tally("haiku", 7, 3)], vec![tally("", 9, 0)]] {
        let said = recommended(Some("sonnet"), &tallies);
        assert_eq!(routed(Some("sonnet"), &tallies), Err(said.reason().to_owned()), "{tallies:?}");
    }
}
