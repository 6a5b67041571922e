//! What holds for any record.

use super::*;
use crate::{Nano, values::duration::Limit};
use proptest::{collection::vec, prelude::*, sample::select, test_runner::Config as Run};
use std::time::Duration;

/// Small counts, where the edges are, and a few that are enormous.
fn count() -> impl Strategy<Value = u64> {
    prop_oneof![8 => 0..6_u64, 6 => 0..120_u64, 1 => select(vec![u64::MAX, u64::MAX / 2, 1 << 53])]
}

fn moment() -> impl Strategy<Value = i64> {
    prop_oneof![
        4 => (0..20_i64).prop_map(|weeks| NOW - weeks * 7 * DAY),
        1 => select(vec![NOW, NOW + 9 * DAY, i64::MIN, i64::MAX, 0]),
    ]
}

fn any_tally() -> impl Strategy<Value = Tally> {
    let tier = select(vec!["haiku", "flash", "sonnet", "pro", "opus", "gone", ""]);
    let model = select(vec!["a/one", "a/two", "b/three", ""]);
    let counts = (count(), 0..=100_u64, count(), count());
    (moment(), tier, model, counts, any::<i64>()).prop_map(|(at, tier, model, counts, cost)| {
        let (successes, share, failures, uncounted) = counts;
        let proven = if share > 60 { successes } else { successes / 100 * share };
        Tally {
            at,
            task_type: "fix".into(),
            tier: tier.into(),
            model: model.into(),
            successes,
            proven,
            failures,
            uncounted,
            cost: Nano(cost),
            priced: successes,
            ..Tally::default()
        }
    })
}

fn any_table() -> impl Strategy<Value = Option<&'static str>> {
    select(vec![None, Some("haiku"), Some("flash"), Some("sonnet"), Some("pro"), Some("opus"), Some("gone")])
}

/// Settings that the configuration permits.
fn any_settings() -> impl Strategy<Value = Patterns> {
    let life = select(vec![None, Some(1), Some(86_400), Some(30 * 86_400), Some(u64::MAX)]);
    ((1..30_u32, 0..=100_u32, 0..=100_u32), (0..20_u32, 0..=50_u32), life).prop_map(
        |((samples, low, high), (tolerance_points, explore_percent), life)| Patterns {
            samples,
            success_percent: low.min(high),
            below_top_percent: low.max(high),
            tolerance_points,
            explore_percent,
            half_life: Limit(life.map(Duration::from_secs)),
            ..settings()
        },
    )
}

fn any_past() -> impl Strategy<Value = Past> {
    let names = (select(vec!["fix", "docs"]), select(vec!["a/one", "a/two", "b/three"]));
    let counts = (0..9_u64, 0..9_u64, 0..3_u64);
    (names, counts, any::<u32>(), any::<bool>()).prop_map(|((task_type, model), counts, cost, priced)| {
        let (successes, failures, uncounted) = counts;
        let runs = successes + failures + uncounted;
        Past {
            requested: "{}".into(),
            task_type: task_type.into(),
            model: model.into(),
            runs,
            successes,
            failures,
            cost: Nano(i64::from(cost)),
            priced: if priced { runs } else { 0 },
        }
    })
}

/// Where a choice goes when experience takes part.
fn went(table: Option<&str>, tallies: &[Tally]) -> Option<String> {
    routed(table, tallies).ok().map(|followed| followed.tier)
}

fn with(tallies: &[Tally], more: Tally) -> Vec<Tally> {
    let mut all = tallies.to_vec();
    all.push(more);
    all
}

/// The place of a tier; what is not in the order has none.
fn place(tier: &str) -> Option<usize> {
    TIERS.iter().position(|other| *other == tier)
}

proptest! {
    #![proptest_config(Run { cases: 2 * Run::default().cases, failure_persistence: None, ..Run::default() })]

    #[test]
    fn a_recommendation_is_a_tier_of_the_order_with_a_reason(
        settings in any_settings(),
        tallies in vec(any_tally(), 0..14),
        table in any_table(),
        hard in select(vec![None, Some("deadlock")]),
    ) {
        let found = recommend(&Asked { hard, ..asked(&settings, table) }, &tallies);
        prop_assert!(!found.recommended.reason().is_empty());
        if let Some(tier) = found.recommended.tier() {
            prop_assert!(place(tier).is_some(), "{tier}");
            if table == Some("opus") && hard.is_some() {
                prop_assert_eq!(tier, "opus");
            }
        }
        if let Recommended::Tier { tier, samples, success_percent, lower_percent, .. } = &found.recommended {
            prop_assert!(*samples >= u64::from(settings.samples));
            prop_assert!(*success_percent + 1e-3 >= f64::from(settings.success_percent));
            prop_assert!(lower_percent <= success_percent);
            let below = place(tier) < table.and_then(place);
            if below && table == Some("opus") {
                prop_assert!(*success_percent + 1e-3 >= f64::from(settings.below_top_percent));
            }
            let cheaper = found.tiers.iter().filter(|other| place(&other.name) < place(tier));
            for other in cheaper.filter(|other| other.samples >= u64::from(settings.samples) && other.weight >= 1.0) {
                let line = if table == Some("opus") { settings.below_top_percent } else { settings.success_percent };
                let marked = hard.is_some() && table == Some("opus");
                prop_assert!(marked || other.success_percent < f64::from(line) + 1e-3, "{tier} before {other:?}");
            }
        }
        let asked = Asked { hard, ..asked(&settings, table) };
        match follow(&asked, &tallies, &found) {
            Ok(Followed { tier, reason }) => {
                prop_assert!(place(&tier).is_some() && !reason.is_empty());
                if place(&tier) < table.and_then(place) {
                    let mut whole = Tally::default();
                    tallies.iter().filter(|tally| tally.tier == tier).for_each(|tally| whole.add(tally));
                    prop_assert!(whole.proven.saturating_add(whole.failures) >= u64::from(settings.samples), "{tier}");
                    prop_assert!(table != Some("opus") || hard.is_none());
                }
                if found.recommended.tier() != Some(&tier) && let Some(wanted) = found.recommended.tier() {
                    prop_assert!(reason.contains(wanted), "{reason} says nothing about {wanted}");
                }
            }
            Err(why) => prop_assert!(why.starts_with(found.recommended.reason()), "{why}"),
        }
        for standing in found.tiers.iter().chain(&found.models) {
            let Standing { success_percent, lower_percent, upper_percent, .. } = standing;
            for percent in [success_percent, lower_percent, upper_percent] {
                prop_assert!((0.0..=100.0 + 1e-9).contains(percent), "{standing:?}");
            }
            let rests_on_some = standing.weight > 1e-9;
            prop_assert!(!rests_on_some || *lower_percent <= success_percent + 1e-9, "{standing:?}");
            prop_assert!(!rests_on_some || *success_percent <= upper_percent + 1e-9, "{standing:?}");
        }
    }

    #[test]
    fn the_order_of_the_tallies_does_not_matter(tallies in vec(any_tally(), 0..8), table in any_table()) {
        let turned: Vec<Tally> = tallies.iter().rev().cloned().collect();
        prop_assert_eq!(said(&recommended(table, &tallies)), said(&recommended(table, &turned)));
        prop_assert_eq!(went(table, &tallies), went(table, &turned));
    }

    #[test]
    fn one_more_success_never_costs_a_tier_its_work(
        tallies in vec(any_tally(), 1..14),
        table in any_table(),
        more in 1..20_u64,
    ) {
        if let Some(tier) = recommended(table, &tallies).tier() {
            let now = recommended(table, &with(&tallies, tally(tier, more, 0)));
            prop_assert!(now.tier().and_then(place) <= place(tier) && now.tier().is_some(), "{tier}, then {now:?}");
        }
        if let Some(tier) = went(table, &tallies) {
            let now = went(table, &with(&tallies, tally(&tier, more, 0)));
            prop_assert!(now.as_deref().and_then(place) <= place(&tier) && now.is_some(), "{tier}, then {now:?}");
        }
    }

    #[test]
    fn failures_never_win_work_for_a_cheaper_tier(
        tallies in vec(any_tally(), 1..14),
        table in any_table(),
        cheaper in 0..5_usize,
        more in 1..20_u64,
    ) {
        let worse = with(&tallies, tally(TIERS[cheaper], 0, more));
        let before = recommended(table, &tallies);
        if before.tier().and_then(place) > Some(cheaper) {
            let now = recommended(table, &worse);
            prop_assert_ne!(now.tier(), Some(TIERS[cheaper]), "{:?}, then {:?}", before, now);
        }
        let before = went(table, &tallies);
        if before.as_deref().and_then(place) > Some(cheaper) {
            let now = went(table, &worse);
            prop_assert_ne!(now.as_deref(), Some(TIERS[cheaper]), "{:?} before", before);
        }
    }

    #[test]
    fn what_does_not_count_changes_nothing(tallies in vec(any_tally(), 0..10), table in any_table()) {
        let without: Vec<Tally> = tallies.iter().map(|tally| Tally { uncounted: 0, ..tally.clone() }).collect();
        prop_assert_eq!(recommended(table, &tallies), recommended(table, &without));
    }

    #[test]
    fn probabilities_sum_to_certainty(
        settings in any_settings(),
        tallies in vec(any_tally(), 0..14),
        chosen in select(vec!["haiku", "flash", "sonnet", "pro", "opus", "gone", ""]),
    ) {
        let tiers = by_tier(&tallies, NOW, settings.half_life_micros());
        let mut roll = 0;
        let mut seen = std::collections::BTreeSet::new();
        // The rolls of one choice lie side by side: each stretch is as long as its probability.
        while roll < 1_000_000 {
            let one = explore(&settings, &BUILT_IN.tier_order, chosen, &tiers, roll);
            prop_assert!(one.propensity > 0 && seen.insert(one.tier.clone()), "{one:?} twice");
            prop_assert!(one.tier.as_deref().is_none_or(|tier| place(tier).is_some() && tier != chosen));
            let last = explore(&settings, &BUILT_IN.tier_order, chosen, &tiers, roll + one.propensity - 1);
            prop_assert_eq!(&last, &one);
            roll += one.propensity;
        }
        prop_assert_eq!(roll, 1_000_000);
    }

    #[test]
    fn all_runs_of_the_past_are_in_one_share(
        log in vec(any_past(), 0..8),
        least in 0..6_u64,
        policy in select(vec!["a/one", "b/three", "z/never", ""]),
    ) {
        let runs: u64 = log.iter().map(|group| group.runs).sum();
        let cost: i64 = log.iter().map(|group| group.cost.0).sum();
        let found = replay(&log, least, |group| match policy {
            "" => Chosen::Refused("no".into()),
            // One kind keeps its model.
            policy if group.task_type == "fix" => Chosen::Model(policy.into()),
            _ => Chosen::Model(group.model.clone()),
        });
        prop_assert_eq!(found.same.runs + found.changed.runs + found.unknown.runs, runs);
        let spent = found.same.cost_usd + found.changed.cost_usd + found.unknown.cost_usd;
        prop_assert!((spent - Nano(cost).as_usd()).abs() < 1e-6);
        let changes: u64 = found.changes.iter().map(|change| change.runs).sum();
        prop_assert_eq!(changes, found.changed.runs + found.unknown.runs);
        prop_assert_eq!(found.same.policy_cost_usd, Some(found.same.cost_usd));
        prop_assert_eq!(found.same.policy_success_percent, found.same.success_percent);
        prop_assert_eq!((found.unknown.policy_cost_usd, found.unknown.policy_success_percent), (None, None));
        if policy == "z/never" {
            prop_assert_eq!(found.changed.runs, 0);
        }
    }

    #[test]
    fn what_is_remembered_is_one_line_within_its_limit(text in ".{0,300}", limit in 0..200_usize) {
        let kept = remembered(&text, limit);
        prop_assert!(kept.chars().count() <= limit && !kept.contains(['\n', '\t']));
        prop_assert!(search_terms(&text).len() <= 12);
    }

    #[test]
    fn no_random_key_is_remembered(
        key in "[A-Za-z0-9+_-]{28,60}[0-9]{3}[a-z]",
        limit in 0..200_usize,
        before in "[a-z ]{0,80}",
    ) {
        let kept = remembered(&format!("{before} {key} end"), limit);
        prop_assert!(!kept.contains(&key[..12]), "{kept}");
    }
}
