//! Outcomes counted: the weeks equal a recount of all outcomes, and windows hold what lies in them.

use super::{Backend, sample};
use shuntyard_core::{
    Nano,
    experience::{Evidence, FailureMode, Move, Past, Tally, Verdict},
};
use shuntyard_store::{Judgement, NewOutcome, WEEK_MICROS, week};
use std::collections::BTreeMap;

/// The same numbers in every run: a test that fails can be looked at.
struct Dice(u64);

impl Dice {
    fn below(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }

    fn one<T: Clone>(&mut self, of: &[T]) -> T {
        of[usize::try_from(self.below(of.len() as u64)).unwrap()].clone()
    }

    fn judgement(&mut self) -> Judgement {
        let modes = FailureMode::ALL.map(Some);
        let verdict = self.one(&[Verdict::Success, Verdict::Failure]);
        let failure_mode = if verdict == Verdict::Failure && self.below(7) > 0 { self.one(&modes) } else { None };
        let quality = self.one(&[None, Some(0), Some(1), Some(2)]);
        Judgement { verdict, failure_mode, evidence: self.one(&Evidence::ALL), quality }
    }

    fn outcome(&mut self) -> NewOutcome {
        let Judgement { verdict, failure_mode, evidence, quality } = self.judgement();
        let tier = self.one(&[None, Some("quick"), Some("deep")]);
        NewOutcome {
            at: i64::try_from(self.below(4)).unwrap() * WEEK_MICROS - self.one(&[0, 1]),
            attempt: self.one(&[true, false]).then(|| (sample::dispatch_id(), 1)),
            task_type: self.one(&["", "docs", "review"]).into(),
            tier: tier.map(str::to_owned),
            model: self.one(&["far/large", "local/small"]).into(),
            repository: self.one(&["", "/one", "/two"]).into(),
            verdict,
            failure_mode,
            evidence,
            quality,
            tokens: self.below(1_000),
            cost: Nano(i64::try_from(self.below(1_000)).unwrap()),
            cost_known: self.below(3) > 0,
            duration_ms: self.below(1_000),
            retries: u32::try_from(self.below(3)).unwrap(),
            ..sample::outcome(0)
        }
    }
}

/// What the counts should be, by the outcomes themselves.
fn recount(outcomes: &[NewOutcome], task_type: Option<&str>, repository: Option<&str>, from: i64) -> Vec<Tally> {
    let mut weeks: BTreeMap<(String, i64, String, String), Tally> = BTreeMap::new();
    for outcome in outcomes {
        let (at, tier) = (week(outcome.at), outcome.tier.clone().unwrap_or_default());
        if task_type.is_some_and(|wanted| wanted != outcome.task_type)
            || repository.is_some_and(|wanted| wanted != outcome.repository)
            || at < week(from)
        {
            continue;
        }
        let key = (outcome.task_type.clone(), at, tier.clone(), outcome.model.clone());
        let named =
            Tally { at, task_type: outcome.task_type.clone(), tier, model: outcome.model.clone(), ..Tally::default() };
        weeks.entry(key).or_insert(named).add(&counted(outcome));
    }
    weeks.into_values().collect()
}

fn counted(outcome: &NewOutcome) -> Tally {
    let mut tally = Tally {
        tokens: outcome.tokens,
        duration_ms: outcome.duration_ms,
        retries: outcome.retries.into(),
        ..Tally::default()
    };
    if outcome.cost_known {
        (tally.cost, tally.priced) = (outcome.cost, 1);
    }
    if !outcome.counts() {
        return Tally { uncounted: 1, ..tally };
    }
    match outcome.verdict {
        Verdict::Success => (tally.successes, tally.proven) = (1, outcome.evidence.is_proof().into()),
        Verdict::Failure => tally.failures = 1,
    }
    if let Some(quality) = outcome.quality {
        (tally.quality, tally.rated) = (quality.into(), 1);
    }
    tally
}

pub async fn the_counts_equal_a_recount(backend: &dyn Backend) {
    let store = &*backend.fresh().await;
    let mut dice = Dice(7);
    for round in 0..12 {
        let told: Vec<NewOutcome> = (0..25).map(|_| dice.outcome()).collect();
        store.record_outcomes(&told).await.unwrap();
        let known = sample::outcomes(store).await;
        for _ in 0..8 {
            if let Some((dispatch, ordinal)) = dice.one(&known).attempt {
                let judged = store.judge_outcome(dispatch, Some(ordinal), 1, &dice.judgement()).await.unwrap();
                assert!(judged.is_some());
            }
        }
        let all = sample::outcomes(store).await;
        assert_eq!(all.len(), 25 * (round + 1));
        for task_type in [None, Some(""), Some("docs"), Some("review"), Some("none")] {
            for repository in [None, Some("/one"), Some("/two"), Some("/none")] {
                for from in [i64::MIN, -1, 0, WEEK_MICROS, 9 * WEEK_MICROS] {
                    let counts = store.outcome_tallies(task_type, repository, from).await.unwrap();
                    let expected = recount(&all, task_type, repository, from);
                    assert_eq!(counts, expected, "{task_type:?} {repository:?} {from} in round {round}");
                }
            }
        }
    }
}

pub async fn repositories_are_counted_apart_and_together(backend: &dyn Backend) {
    let store = &*backend.fresh().await;
    for (repository, runs) in [("/one", 1), ("/two", 2), ("", 4)] {
        let told = vec![NewOutcome { repository: repository.into(), ..sample::bare_outcome(5) }; runs];
        store.record_outcomes(&told).await.unwrap();
    }
    for (repository, runs) in [(None, 7), (Some(""), 7), (Some("/one"), 1), (Some("/two"), 2), (Some("/three"), 0)] {
        for task_type in [None, Some("")] {
            let counts = store.outcome_tallies(task_type, repository, 0).await.unwrap();
            assert_eq!(counts.iter().map(|tally| tally.failures).sum::<u64>(), runs, "{repository:?}");
            assert!(counts.len() <= 1, "{counts:?}");
        }
    }
}

pub async fn the_week_of_a_moment_is_counted_whole(backend: &dyn Backend) {
    let store = &*backend.fresh().await;
    let told = [-WEEK_MICROS - 1, -WEEK_MICROS, -1, 0, WEEK_MICROS - 1, WEEK_MICROS].map(sample::bare_outcome);
    store.record_outcomes(&told).await.unwrap();
    let [before, last, this, next] =
        [(-2, 1), (-1, 2), (0, 2), (1, 1)].map(|(week, failures)| (week * WEEK_MICROS, failures));
    for (from, expected) in [
        (i64::MIN, vec![before, last, this, next]),
        (-WEEK_MICROS - 1, vec![before, last, this, next]),
        (-WEEK_MICROS, vec![last, this, next]),
        (-1, vec![last, this, next]),
        (0, vec![this, next]),
        (WEEK_MICROS - 1, vec![this, next]),
        (WEEK_MICROS, vec![next]),
        (2 * WEEK_MICROS, vec![]),
        (i64::MAX, vec![]),
    ] {
        for task_type in [None, Some("")] {
            let counts = store.outcome_tallies(task_type, None, from).await.unwrap();
            let weeks: Vec<(i64, u64)> = counts.iter().map(|tally| (tally.at, tally.failures)).collect();
            assert_eq!(weeks, expected, "from {from}");
        }
    }
}

pub async fn what_says_nothing_about_the_model_counts_apart(backend: &dyn Backend) {
    let store = &*backend.fresh().await;
    let told = FailureMode::ALL.map(|mode| NewOutcome {
        verdict: Verdict::Failure,
        failure_mode: Some(mode),
        evidence: Evidence::Verified,
        ..sample::outcome(5)
    });
    store.record_outcomes(&told).await.unwrap();
    let expected = Tally {
        task_type: "code-review".into(),
        tier: "deep".into(),
        model: "local/small@low".into(),
        failures: 3,
        uncounted: 3,
        cost: Nano(300),
        priced: 6,
        tokens: 6 * 168,
        duration_ms: 24_000,
        retries: 30,
        quality: 6,
        rated: 3,
        ..Tally::default()
    };
    assert_eq!(store.outcome_tallies(None, None, 0).await.unwrap(), [expected]);
}

pub async fn counts_stay_at_the_greatest_number(backend: &dyn Backend) {
    let store = &*backend.fresh().await;
    let huge = NewOutcome {
        attempt: Some((sample::dispatch_id(), 1)),
        tokens: u64::MAX,
        cost: Nano(i64::MAX),
        duration_ms: u64::MAX,
        retries: u32::MAX,
        ..sample::outcome(5)
    };
    let other = NewOutcome { attempt: Some((sample::dispatch_id(), 1)), ..huge.clone() };
    store.record_outcomes(&[huge, other]).await.unwrap();
    let counts = store.outcome_tallies(None, Some("/project"), 0).await.unwrap();
    let most = i64::MAX.unsigned_abs();
    assert_eq!((counts[0].tokens, counts[0].duration_ms, counts[0].cost), (most, most, Nano(i64::MAX)));
    assert_eq!((counts[0].retries, counts[0].successes), (2 * u64::from(u32::MAX), 2));
    let past = store.outcome_history(0, 9).await.unwrap();
    assert_eq!((past[0].cost, past[0].priced, past[0].runs), (Nano(i64::MAX), 2, 2));
}

pub async fn moves_between_tiers_are_counted_in_a_window(backend: &dyn Backend) {
    let store = &*backend.fresh().await;
    let mut told = vec![];
    for (at, asked, tier) in [
        (10, Some("quick"), Some("quick")),
        (10, Some("deep"), Some("quick")),
        (19, Some("deep"), Some("quick")),
        (15, None, Some("quick")),
        (15, Some("deep"), None),
        (20, Some("quick"), Some("deep")),
        (9, Some("quick"), Some("deep")),
    ] {
        let [asked_tier, tier] = [asked, tier].map(|tier| tier.map(str::to_owned));
        told.push(NewOutcome { asked_tier, tier, ..sample::bare_outcome(at) });
    }
    store.record_outcomes(&told).await.unwrap();
    let moved = |asked: &str, tier: &str, runs| Move { asked: asked.into(), tier: tier.into(), runs };
    for (from, until, expected) in [
        (10, 20, vec![moved("deep", "quick", 2), moved("quick", "quick", 1)]),
        (11, 20, vec![moved("deep", "quick", 1)]),
        (0, 21, vec![moved("deep", "quick", 2), moved("quick", "deep", 2), moved("quick", "quick", 1)]),
        (10, 10, vec![]),
        (21, i64::MAX, vec![]),
    ] {
        assert_eq!(store.tier_moves(from, until).await.unwrap(), expected, "from {from} until {until}");
    }
}

pub async fn the_past_is_counted_by_what_was_asked_for(backend: &dyn Backend) {
    let store = &*backend.fresh().await;
    let first = |at| NewOutcome { attempt: Some((sample::dispatch_id(), 1)), ..sample::outcome(at) };
    let failed =
        |failure_mode| NewOutcome { failure_mode, cost: Nano(7), cost_known: true, ..sample::bare_outcome(10) };
    let told = [
        first(10),
        // Not the first attempt: another model was asked before.
        NewOutcome { attempt: Some((sample::dispatch_id(), 2)), ..sample::outcome(10) },
        NewOutcome { cost: Nano(3), ..first(19) },
        NewOutcome { cost: Nano(1_000), cost_known: false, ..first(12) },
        NewOutcome { model: "far/large".into(), ..first(12) },
        NewOutcome { task_type: "docs".into(), ..first(12) },
        failed(None),
        failed(Some(FailureMode::Logic)),
        failed(Some(FailureMode::Transient)),
        sample::bare_outcome(9),
        sample::bare_outcome(20),
    ];
    store.record_outcomes(&told).await.unwrap();
    let asked = sample::outcome(0).requested.to_string();
    let past =
        |requested: &str, task_type: &str, model: &str, [runs, successes, failures, priced]: [u64; 4], cost| Past {
            requested: requested.into(),
            task_type: task_type.into(),
            model: model.into(),
            runs,
            successes,
            failures,
            cost: Nano(cost),
            priced,
        };
    let expected = [
        past(&asked, "code-review", "far/large", [1, 1, 0, 1], 50),
        past(&asked, "code-review", "local/small@low", [3, 3, 0, 2], 53),
        past(&asked, "docs", "local/small@low", [1, 1, 0, 1], 50),
        past("{}", "", "far/large", [3, 0, 2, 3], 21),
    ];
    assert_eq!(store.outcome_history(10, 20).await.unwrap(), expected);
    assert_eq!(store.outcome_history(21, i64::MAX).await.unwrap(), []);
}
