//! Where a drift begins to be worth a word.

use super::*;

fn moves(rows: &[(&str, &str, u64)]) -> Vec<Move> {
    rows.iter().map(|(asked, tier, runs)| Move { asked: (*asked).into(), tier: (*tier).into(), runs: *runs }).collect()
}

#[test]
fn a_level_begins_where_the_share_reaches_it() {
    for (moved, expected) in [
        (0, DriftLevel::None),
        (24, DriftLevel::None),
        (25, DriftLevel::Notice),
        (49, DriftLevel::Notice),
        (50, DriftLevel::Warning),
        (100, DriftLevel::Warning),
    ] {
        let found = drift(&moves(&[("opus", "opus", 100 - moved), ("opus", "pro", moved)]), 25, 50);
        assert_eq!(found.level, expected, "{moved}");
        assert_eq!((found.runs, found.moved), (100, moved));
        assert_eq!(found.drift_percent.to_bits(), f64::from(u32::try_from(moved).unwrap()).to_bits());
        assert_eq!((found.tiers[0].level, found.tiers[0].moved), (expected, moved));
    }
    // A level of zero is reached by the first move and not by none.
    assert_eq!(drift(&moves(&[("opus", "opus", 1)]), 0, 0).level, DriftLevel::None);
    assert_eq!(drift(&moves(&[("opus", "opus", 99), ("opus", "pro", 1)]), 0, 100).level, DriftLevel::Notice);
}

#[test]
fn tiers_are_told_apart_and_summed() {
    let found = drift(
        &moves(&[
            ("opus", "sonnet", 1),
            ("opus", "pro", 3),
            ("opus", "haiku", 1),
            ("sonnet", "sonnet", 95),
            ("", "opus", 50),
            ("opus", "", 50),
            ("pro", "opus", 0),
        ]),
        25,
        50,
    );
    assert_eq!((found.level, found.runs, found.moved), (DriftLevel::None, 100, 5));
    let summary: Vec<_> = found.tiers.iter().map(|tier| (tier.asked.as_str(), tier.level, tier.moved)).collect();
    assert_eq!(summary, [("opus", DriftLevel::Warning, 5), ("sonnet", DriftLevel::None, 0)]);
    let to: Vec<_> = found.tiers[0].to.iter().map(|to| (to.tier.as_str(), to.runs)).collect();
    assert_eq!(to, [("pro", 3), ("haiku", 1), ("sonnet", 1)]);
}

#[test]
fn nothing_and_too_much_are_no_trouble() {
    let none = drift(&[], 25, 50);
    assert_eq!((none.level, none.runs, none.drift_percent.to_bits()), (DriftLevel::None, 0, 0.0_f64.to_bits()));
    let most = moves(&[("opus", "pro", u64::MAX), ("opus", "haiku", u64::MAX), ("opus", "opus", u64::MAX)]);
    assert_eq!(drift(&most, 25, 50).level, DriftLevel::Warning);
}
