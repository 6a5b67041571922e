//! The rules for what is entered, and what may be claimed.

use super::{fields, findings::*};
use shuntyard_core::{
    Nano,
    experience::{FailureMode, Tally},
    settings::{Config, Layer, Layered, Origin},
};

const NOW: i64 = 1_800_000_000_000_000;

fn config() -> Config {
    let text = r#"
        tier_order = ["haiku", "sonnet", "opus"]
        [tiers]
        haiku = ["acme/swift"]
        sonnet = ["acme/careful"]
        opus = ["north/oak"]
    "#;
    let layer = Layer { origin: Origin::File("test".into()), text: text.into() };
    Layered::merge(&[layer]).unwrap().config
}

#[test]
fn kinds_of_tasks_are_words() {
    let longest = "x".repeat(64);
    let too_long = "x".repeat(65);
    for good in ["code-review", "a", "v1.2_b", "prüfung", &longest] {
        assert_eq!(fields::word(good), Ok(good.to_owned()));
    }
    for bad in ["", " ", "two words", "a/b", "a\nb", "a\0b", "=1", "\u{1b}[31m", "a,b", "a\u{202e}b", &too_long] {
        assert!(fields::word(bad).is_err(), "{bad:?}");
    }
}

#[test]
fn models_are_whole_names() {
    assert!(fields::model("acme/swift@low").is_ok());
    let long = format!("acme/{}", "x".repeat(300));
    for bad in ["swift", "", "acme/", "acme/sw ift", "acme/sw\u{1b}ift", &long] {
        assert!(fields::model(bad).is_err(), "{bad:?}");
    }
}

#[test]
fn tiers_are_known_by_all_their_names() {
    let config = config();
    assert_eq!(fields::tier(&config, "sonnet").ok(), Some("sonnet".into()));
    let refused = fields::tier(&config, "sonet").unwrap_err();
    assert_eq!(refused.message, "there is no tier `sonet`; did you mean `sonnet`?");
    assert!(fields::unknown_type(&config, "code-review").is_none());
    let note = fields::unknown_type(&config, "code-reveiw").unwrap();
    assert!(note.ends_with("did you mean `code-review`?"), "{note}");
}

#[test]
fn moments_lie_in_the_past() {
    let table = [
        ("2026-02-01", Some(1_769_904_000)),
        ("2026-02-01 14:30", Some(1_769_956_200)),
        ("2026-02-01T14:30:00Z", Some(1_769_956_200)),
        ("2026-02-01T15:30:00+01:00", Some(1_769_956_200)),
        (" 2026-02-01 ", Some(1_769_904_000)),
        ("2026-02-30", None),
        ("yesterday", None),
        ("", None),
        ("9999-01-01", None),
    ];
    for (text, seconds) in table {
        let found = fields::moment(text, "UTC", NOW).ok();
        assert_eq!(found, seconds.map(|seconds: i64| seconds * 1_000_000), "{text:?}");
    }
    let berlin = fields::moment("2026-02-01 14:30", "Europe/Berlin", NOW).unwrap();
    assert_eq!(berlin, 1_769_952_600_000_000);
}

#[test]
fn what_is_kept_of_a_text_can_be_shown() {
    let mut config = config();
    let kept = fields::text(&config, "fix\0 the \u{1b}[31mred\u{202e} thing\nwith key sk-abcdefghij0123456789");
    assert!(!kept.contains(char::is_control) && !kept.contains('\u{202e}'), "{kept:?}");
    assert!(kept.starts_with("fix") && !kept.contains("abcdefghij"), "{kept:?}");
    assert!(fields::text(&config, &"word ".repeat(2_000_000)).chars().count() <= 400);
    config.patterns.text_limit = 0;
    assert_eq!(fields::text(&config, "a secret plan"), "");
}

/// Recorded outcomes of one kind: successes, how many of them were verified, and failures.
fn work(tier: &str, model: &str, well: u64, proven: u64, failures: u64, cost: i64) -> Tally {
    let runs = well + failures;
    Tally {
        at: NOW,
        task_type: "code-review".into(),
        tier: tier.into(),
        model: model.into(),
        successes: well,
        proven,
        failures,
        cost: Nano(cost * i64::try_from(runs).unwrap()),
        priced: runs,
        ..Tally::default()
    }
}

fn claims(tallies: &[Tally], failures: &[(&str, FailureMode)]) -> Vec<Claim> {
    findings(&config(), tallies, failures, NOW).into_iter().map(|finding| finding.claim).collect()
}

#[test]
fn only_what_the_ranges_support_is_claimed() {
    let (swift, oak) = ("acme/swift", "north/oak");
    let table = [
        ("nothing", vec![], vec![]),
        // 9 of 10 and 1 of 10 cannot be the same rate; 2 of 3 and 1 of 3 can.
        (
            "apart",
            vec![work("haiku", swift, 9, 9, 1, 0), work("opus", oak, 1, 1, 9, 0)],
            vec![Claim::Better, Claim::CostPerSuccess],
        ),
        (
            "overlapping",
            vec![work("haiku", swift, 2, 2, 1, 0), work("opus", oak, 1, 1, 2, 0)],
            vec![Claim::CostPerSuccess],
        ),
        ("too few", vec![work("haiku", swift, 2, 2, 0, 0), work("opus", oak, 0, 0, 2, 0)], vec![]),
        // Unjudged answers are evidence neither for one tier nor against the other.
        (
            "unproven",
            vec![work("haiku", swift, 9, 0, 1, 0), work("opus", oak, 1, 0, 9, 0)],
            vec![Claim::Unproven, Claim::CostPerSuccess],
        ),
        (
            "unjudged is not bad",
            vec![work("haiku", swift, 9, 9, 0, 0), work("opus", oak, 20, 0, 2, 0)],
            vec![Claim::CostPerSuccess],
        ),
        (
            "dearer and worse",
            vec![work("haiku", swift, 19, 19, 1, 10), work("opus", oak, 6, 6, 4, 900)],
            vec![Claim::Better, Claim::NoBetter, Claim::CostPerSuccess],
        ),
        (
            "dearer and better",
            vec![work("haiku", swift, 6, 6, 4, 10), work("opus", oak, 19, 19, 1, 900)],
            vec![Claim::Better, Claim::CostPerSuccess],
        ),
        // A tier that always did well may still be better than one that nearly always did.
        (
            "dearer, perhaps better",
            vec![work("haiku", swift, 19, 19, 1, 10), work("opus", oak, 5, 5, 0, 900)],
            vec![Claim::CostPerSuccess],
        ),
    ];
    for (case, tallies, expected) in table {
        assert_eq!(claims(&tallies, &[]), expected, "{case}");
    }
}

#[test]
fn a_mode_dominates_when_it_is_surely_more_than_half() {
    let tallies = [work("haiku", "acme/swift", 0, 0, 1, 0)];
    let failures = |environment: usize, logic: usize| {
        let mut modes = vec![("code-review", FailureMode::Environment); environment];
        modes.extend(vec![("code-review", FailureMode::Logic); logic]);
        modes.extend(vec![("other", FailureMode::Logic); 50]);
        modes
    };
    for (environment, logic, expected) in [
        (0, 0, vec![]),
        (2, 0, vec![]),
        (3, 0, vec![Claim::FailureMode]),
        (3, 2, vec![]),
        (9, 1, vec![Claim::FailureMode]),
    ] {
        assert_eq!(
            claims(&tallies, &failures(environment, logic)),
            expected,
            "{environment} of {}",
            logic + environment
        );
    }
    let found = findings(&config(), &tallies, &failures(9, 1), NOW);
    assert!(found[0].says.starts_with("code-review: 9 of 10 failures are ENVIRONMENT (at least "), "{}", found[0].says);
}

#[test]
fn a_cost_that_is_not_whole_is_not_told() {
    let mut partly = work("haiku", "acme/swift", 3, 3, 0, 100);
    assert_eq!(claims(std::slice::from_ref(&partly), &[]), [Claim::CostPerSuccess]);
    partly.priced = 2;
    assert_eq!(claims(&[partly], &[]), []);
    let failing = work("haiku", "acme/swift", 1, 1, 2, 100);
    let found = findings(&config(), &[failing], &[], NOW);
    assert_eq!(found[0].says, "code-review: a success costs $0.000000300 with acme/swift");
}
