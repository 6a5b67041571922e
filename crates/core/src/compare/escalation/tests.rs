//! Every edge of the default rule, and what unknowns do to it.

use super::*;
use crate::compare::consensus::{Finding, Review};
use crate::values::AtLeast;
use crate::values::Outcome;
use crate::values::Percent;
use crate::values::Rule;
use crate::values::Severity;
use crate::values::Threshold;
use Outcome::{Fix, Pass, SecondOpinion as Ask};
use proptest::{collection::vec, prelude::*, sample::select};

#[test]
fn the_default_rule_at_every_edge() {
    // By the number of objections from none to all.
    let table: [&[Outcome]; 7] = [
        &[Pass, Fix],
        &[Pass, Ask, Fix],
        &[Pass, Pass, Fix, Fix],
        &[Pass, Pass, Ask, Fix, Fix],
        &[Pass, Pass, Ask, Fix, Fix, Fix],
        &[Pass, Pass, Pass, Ask, Fix, Fix, Fix],
        &[Pass, Pass, Pass, Ask, Ask, Fix, Fix, Fix],
    ];
    let rule = Rule::default();
    for (asked, expected) in (1..).zip(table) {
        let found: Vec<Outcome> = (0..=asked).map(|objecting| rule.outcome(objecting, asked)).collect();
        assert_eq!(found, expected, "{asked} reviewers");
        for (objecting, outcome) in expected.iter().enumerate() {
            let decision = rule.decide_counts(objecting, asked - objecting, 0);
            assert_eq!(decision.ruling, Ruling::Decided { outcome: *outcome });
            assert_eq!(decision.follow, *outcome);
        }
    }
}

#[test]
fn unknowns_are_tried_as_both() {
    // Objecting, clear, unknown; all that could come of it; what is followed.
    let table: [(usize, usize, usize, &[Outcome], Outcome); 15] = [
        // One who is silent keeps it from passing, however many others are content.
        (0, 4, 1, &[Pass, Ask], Ask),
        (0, 9, 1, &[Pass, Ask], Ask),
        (0, 2, 1, &[Pass, Ask], Ask),
        (1, 7, 1, &[Pass, Ask], Ask),
        (0, 3, 2, &[Pass, Ask], Ask),
        (1, 3, 1, &[Pass, Ask], Ask),
        (1, 2, 2, &[Pass, Ask, Fix], Fix),
        (2, 2, 1, &[Ask, Fix], Fix),
        (3, 1, 1, &[Fix], Fix),
        (3, 0, 2, &[Fix], Fix),
        // Nothing is known to be wrong, so there is nothing to fix yet.
        (0, 0, 5, &[Pass, Ask, Fix], Ask),
        (0, 0, 1, &[Pass, Fix], Ask),
        (0, 1, 1, &[Pass, Ask], Ask),
        (1, 0, 1, &[Ask, Fix], Fix),
        (0, 0, 0, &[Pass, Ask, Fix], Ask),
    ];
    for (objecting, clear, unknown, expected, follow) in table {
        let decision = Rule::default().decide_counts(objecting, clear, unknown);
        let possible = match &decision.ruling {
            Ruling::Decided { outcome } => vec![*outcome],
            Ruling::Undecided { possible, reason } => {
                assert!(!reason.is_empty());
                possible.clone()
            }
        };
        assert_eq!((possible.as_slice(), decision.follow), (expected, follow), "{objecting} {clear} {unknown}");
    }
    let told = Rule::default().decide_counts(1, 3, 1);
    let shown = serde_json::to_value(&told).unwrap();
    assert_eq!(shown["decision"], "undecided");
    assert_eq!(shown["follow"], "second_opinion");
    assert_eq!(shown["reason"], "1 of 5 object, and 1 without an answer to count could make it 2");
    let told = serde_json::to_value(Rule::default().decide_counts(0, 4, 1)).unwrap();
    assert_eq!((&told["decision"], &told["follow"]), (&"undecided".into(), &"second_opinion".into()));
    assert_eq!(told["reason"], "0 of 5 object, but nothing passes while 1 gave no answer to count");
}

fn review(verdict: Opinion, severities: &[Severity]) -> Reviewed {
    let finding = |severity: &Severity| Finding { severity: *severity, file: None, line: None, text: "x".into() };
    Reviewed::Answered(Review { verdict, findings: severities.iter().map(finding).collect(), confidence: 1.0 })
}

#[test]
fn remarks_do_not_count_and_silence_is_nothing() {
    let rule = Rule::default();
    let table = [
        (review(Opinion::Approve, &[]), Stance::Clear),
        (review(Opinion::Approve, &[Severity::Info, Severity::Info]), Stance::Clear),
        (review(Opinion::Approve, &[Severity::Info, Severity::Minor]), Stance::Objects),
        (review(Opinion::Reject, &[]), Stance::Objects),
        (review(Opinion::Reject, &[Severity::Info]), Stance::Objects),
        (review(Opinion::Unsure, &[Severity::Info]), Stance::Unknown),
        (review(Opinion::Unsure, &[Severity::Critical]), Stance::Objects),
        (Reviewed::Silent { why: String::new() }, Stance::Unknown),
        (Reviewed::Invalid { faults: vec![] }, Stance::Unknown),
    ];
    for (reviewed, expected) in &table {
        assert_eq!(rule.stance(reviewed), *expected, "{reviewed:?}");
    }
    let reviews = table.map(|(reviewed, _)| reviewed);
    let decision = rule.decide(&reviews);
    assert_eq!((decision.asked, decision.objecting, decision.clear, decision.unknown), (9, 4, 2, 3));
    let strict = Rule { counts_from: Severity::Info, ..Rule::default() };
    assert_eq!(strict.stance(&reviews[1]), Stance::Objects);
    let grave = Rule { counts_from: Severity::Critical, ..Rule::default() };
    assert_eq!(grave.stance(&reviews[2]), Stance::Clear);
}

#[test]
fn a_rule_is_data() {
    let text = r#"{"counts_from":"major","thresholds":[{"at_least":{"count":1},"then":"second_opinion"},
        {"at_least":{"percent":50},"then":"fix"}]}"#;
    let rule: Rule = serde_json::from_str(text).unwrap();
    assert_eq!((rule.outcome(0, 4), rule.outcome(1, 4), rule.outcome(2, 4)), (Pass, Ask, Fix));
    assert_eq!(serde_json::from_str::<Rule>("{}").unwrap(), Rule::default());
    let written = serde_json::to_string(&rule).unwrap();
    assert_eq!(serde_json::from_str::<Rule>(&written).unwrap(), rule);
    assert!(serde_json::from_str::<Rule>(r#"{"treshold":[]}"#).is_err());
    let zero = Rule { thresholds: vec![Threshold { at_least: AtLeast::Count(0), then: Fix }], ..Rule::default() };
    assert_eq!(zero.outcome(0, 5), Pass, "no objection is never a reason to fix");
}

proptest! {
    #[test]
    fn more_objections_never_lead_to_less(
        thresholds in vec((0u8..=100, 0usize..9, any::<bool>(), select(vec![Pass, Ask, Fix])), 0..5),
        objecting in 0usize..5,
        clear in 0usize..5,
        unknown in 0usize..5,
    ) {
        let thresholds = thresholds.into_iter().map(|(percent, count, by_count, then)| {
            let at_least = if by_count { AtLeast::Count(count) } else { AtLeast::Percent(Percent::new(percent)) };
            Threshold { at_least, then }
        });
        let rule = Rule { thresholds: thresholds.collect(), ..Rule::default() };
        let asked = objecting + clear + unknown;
        prop_assert!(rule.outcome(objecting, asked) <= rule.outcome(objecting + 1, asked));
        let decision = rule.decide_counts(objecting, clear, unknown);
        // Nothing passes while any reviewer is unknown.
        prop_assert!(unknown == 0 || decision.follow != Pass);
        prop_assert!(unknown > 0 || asked == 0 || decision.follow == rule.outcome(objecting, asked));
    }
}
