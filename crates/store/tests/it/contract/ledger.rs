//! The sums of what was spent: they follow the attempts to the last nano-dollar.

use super::{Backend, event::story, sample};
use serde_json::json;
use shuntyard_core::{Nano, Usage};
use shuntyard_store::{
    AttemptEnd, AttemptRecord, BUCKET_MICROS, GroupBy, NewAttempt, NewSpend, RunStatus, SpendKey, SpendKind, Spent,
    Store,
};

/// Begins an attempt of a dispatch of its own and gives it back.
async fn begin(store: &dyn Store, change: impl FnOnce(NewAttempt) -> NewAttempt) -> NewAttempt {
    let dispatch = sample::dispatch(1);
    store.begin_dispatch(&dispatch).await.unwrap();
    let attempt = change(sample::attempt(dispatch.id, 1));
    sample::start(store, &attempt).await;
    attempt
}

async fn end(store: &dyn Store, attempt: &NewAttempt, end: &AttemptEnd) {
    store.finish_attempt(attempt.dispatch, attempt.ordinal, end).await.unwrap();
}

async fn all_time(store: &dyn Store, kind: SpendKind, name: &str) -> Spent {
    store.spent(&SpendKey::new(kind, name), i64::MIN, i64::MAX).await.unwrap()
}

fn spent(cost: i64, attempts: u64, unknown: u64, tokens: u64) -> Spent {
    Spent { cost: Nano(cost), attempts, unknown, tokens }
}

/// What the ledger should hold of an attempt, by the attempt's own row.
fn of(attempt: &AttemptRecord) -> Spent {
    match attempt.status {
        RunStatus::Running => Spent::default(),
        _ => spent(attempt.cost.0, 1, u64::from(!attempt.cost_known), attempt.usage.total()),
    }
}

pub async fn the_sums_follow_every_settle_and_raise(backend: &dyn Backend) {
    let store = &*backend.fresh().await;
    let far = begin(store, |new| NewAttempt { model: "far/large".into(), task: Some("other".into()), ..new }).await;
    let near = begin(store, |new| NewAttempt { model: "near/org/small@low".into(), tier: None, ..new }).await;
    let ended = |at, cost, cost_known, output| AttemptEnd {
        at,
        cost_known,
        usage: Usage { input: 10, output, ..Usage::default() },
        ..sample::attempt_end(cost)
    };
    let later = 5 * BUCKET_MICROS;
    for (attempt, report, expected) in [
        (&far, ended(7, 50, false, 1), spent(50, 1, 1, 11)),
        (&far, ended(7, 50, false, 1), spent(50, 1, 1, 11)),
        (&far, ended(later, 50, false, 3), spent(50, 1, 1, 13)),
        (&near, ended(9, 1_000, true, 20), spent(1_000, 1, 0, 30)),
        // An exact figure corrects what was not known, and only once.
        (&far, ended(later, 40, true, 0), spent(40, 1, 0, 10)),
        (&far, ended(later, 40, true, 0), spent(40, 1, 0, 10)),
        (&far, ended(later, 30, true, 0), spent(40, 1, 0, 10)),
        (&far, ended(later, 70, false, 0), spent(70, 1, 0, 10)),
        (&far, ended(later, 70, true, 0), spent(70, 1, 0, 10)),
        (&far, ended(8, 90, true, 5), spent(90, 1, 0, 15)),
        (&far, ended(later, 1, false, 0), spent(90, 1, 0, 15)),
        (&near, ended(later, 1_001, true, 20), spent(1_001, 1, 0, 30)),
    ] {
        end(store, attempt, &report).await;
        let [of_far, of_near] = [
            of(&store.dispatch(far.dispatch).await.unwrap().attempts[0]),
            of(&store.dispatch(near.dispatch).await.unwrap().attempts[0]),
        ];
        assert_eq!(if attempt == &far { of_far } else { of_near }, expected, "{report:?}");
        for (kind, name, sum) in [
            (SpendKind::Overall, "", of_far + of_near),
            (SpendKind::Provider, "far", of_far),
            (SpendKind::Provider, "near", of_near),
            (SpendKind::Tier, "quick", of_far),
            (SpendKind::Tier, "", of_near),
            (SpendKind::Task, "other", of_far),
            (SpendKind::Task, "task-7", of_near),
            (SpendKind::Batch, "batch-3", of_far + of_near),
            (SpendKind::Batch, "task-7", Spent::default()),
        ] {
            assert_eq!(all_time(store, kind, name).await, sum, "{kind:?} {name} after {report:?}");
        }
    }
    let first = store.spending(i64::MIN, i64::MAX, GroupBy::Bucket).await.unwrap();
    assert_eq!(first, [("0".to_owned(), spent(1_091, 2, 0, 45))], "all of it at the time of the first end");
}

pub async fn a_window_holds_its_first_edge_and_not_its_last(backend: &dyn Backend) {
    let store = &*backend.fresh().await;
    for (at, cost) in [(0, 1), (BUCKET_MICROS - 1, 10), (BUCKET_MICROS, 100), (2 * BUCKET_MICROS, 1_000), (-1, 10_000)]
    {
        let attempt = begin(store, |new| NewAttempt { at: at.min(new.at), ..new }).await;
        end(store, &attempt, &AttemptEnd { at, usage: Usage::default(), ..sample::attempt_end(cost) }).await;
    }
    // One that ends before it began, by a clock that was set back, counts where it began.
    let late = begin(store, |new| NewAttempt { at: 9 * BUCKET_MICROS + 5, ..new }).await;
    end(store, &late, &AttemptEnd { at: 7, usage: Usage::default(), ..sample::attempt_end(100_000) }).await;
    for (from, until, cost, attempts) in [
        (9 * BUCKET_MICROS, 10 * BUCKET_MICROS, 100_000, 1),
        (0, BUCKET_MICROS, 11, 2),
        (0, 2 * BUCKET_MICROS, 111, 3),
        (BUCKET_MICROS, 2 * BUCKET_MICROS, 100, 1),
        (BUCKET_MICROS, 3 * BUCKET_MICROS, 1_100, 2),
        (-BUCKET_MICROS, 0, 10_000, 1),
        (3 * BUCKET_MICROS, 4 * BUCKET_MICROS, 0, 0),
        (BUCKET_MICROS, BUCKET_MICROS, 0, 0),
    ] {
        let expected = spent(cost, attempts, 0, 0);
        for (kind, name) in [(SpendKind::Overall, ""), (SpendKind::Provider, "local"), (SpendKind::Tier, "quick")] {
            let sum = store.spent(&SpendKey::new(kind, name), from, until).await.unwrap();
            assert_eq!(sum, expected, "{kind:?} from {from} until {until}");
        }
        let task = store.spent(&SpendKey::new(SpendKind::Task, "task-7"), from, until).await.unwrap();
        assert_eq!(task, spent(111_111, 6, 0, 0), "a task counts all time");
    }
    assert_eq!(all_time(store, SpendKind::Provider, "quick").await, Spent::default());
    let buckets = store.spending(0, 2 * BUCKET_MICROS, GroupBy::Bucket).await.unwrap();
    assert_eq!(buckets, [("0".to_owned(), spent(11, 2, 0, 0)), ("900000000".to_owned(), spent(100, 1, 0, 0))]);
}

pub async fn spending_is_grouped_in_order(backend: &dyn Backend) {
    let store = &*backend.fresh().await;
    for (model, tier, task, batch, at, cost) in [
        ("far/large", Some("deep"), Some("review"), None, 10 * BUCKET_MICROS, 1),
        ("far/large", None, Some("review"), Some("b"), 9 * BUCKET_MICROS, 10),
        ("far/small", Some("quick"), Some("docs"), Some("a"), 9 * BUCKET_MICROS, 100),
        ("alone", Some("quick"), None, None, 10 * BUCKET_MICROS, 1_000),
        ("far/large", Some("deep"), None, None, 99 * BUCKET_MICROS, 10_000),
    ] {
        let [tier, task, batch] = [tier, task, batch].map(|name: Option<&str>| name.map(str::to_owned));
        let attempt = begin(store, |new| NewAttempt { model: model.into(), tier, task, batch, ..new }).await;
        end(store, &attempt, &AttemptEnd { at, usage: Usage::default(), ..sample::attempt_end(cost) }).await;
    }
    let [nine, ten] = [9, 10].map(|number| (number * BUCKET_MICROS).to_string());
    for (by, expected) in [
        (GroupBy::Provider, vec![("", 1_000, 1), ("far", 111, 3)]),
        (GroupBy::Tier, vec![("", 10, 1), ("deep", 1, 1), ("quick", 1_100, 2)]),
        (GroupBy::Model, vec![("alone", 1_000, 1), ("far/large", 11, 2), ("far/small", 100, 1)]),
        (GroupBy::Bucket, vec![(&nine, 110, 2), (&ten, 1_001, 2)]),
        (GroupBy::Task, vec![("docs", 100, 1), ("review", 11, 2)]),
        (GroupBy::Batch, vec![("a", 100, 1), ("b", 10, 1)]),
    ] {
        let expected: Vec<(String, Spent)> =
            expected.into_iter().map(|(name, cost, count)| (name.to_owned(), spent(cost, count, 0, 0))).collect();
        assert_eq!(store.spending(0, 90 * BUCKET_MICROS, by).await.unwrap(), expected, "{by:?}");
    }
}

pub async fn what_is_entered_by_hand_counts_and_is_told(backend: &dyn Backend) {
    let store = &*backend.fresh().await;
    let new = NewSpend {
        at: BUCKET_MICROS + 5,
        provider: "far".into(),
        model: "far/large".into(),
        tier: Some("deep".into()),
        task: Some("review".into()),
        batch: None,
        spent: spent(500, 4, 1, 77),
    };
    store.record_spend(&new).await.unwrap();
    let correction = NewSpend { tier: None, task: None, spent: spent(-30, 0, 0, 0), ..new.clone() };
    store.record_spend(&correction).await.unwrap();
    let window = (BUCKET_MICROS, 2 * BUCKET_MICROS);
    for (key, expected) in [
        (SpendKey::overall(), spent(470, 4, 1, 77)),
        (SpendKey::new(SpendKind::Provider, "far"), spent(470, 4, 1, 77)),
        (SpendKey::new(SpendKind::Tier, "deep"), spent(500, 4, 1, 77)),
        (SpendKey::new(SpendKind::Task, "review"), spent(500, 4, 1, 77)),
        (SpendKey::new(SpendKind::Batch, "review"), Spent::default()),
    ] {
        assert_eq!(store.spent(&key, window.0, window.1).await.unwrap(), expected, "{key}");
    }
    let told = json!({
        "model": "far/large", "tier": "deep", "task": "review", "batch": null,
        "cost_nano": 500, "attempts": 4, "unknown": 1, "tokens": 77,
    });
    let story = story(store).await;
    assert_eq!(story[0], (new.at, "spend.recorded".to_owned(), "far".to_owned(), told));
    assert_eq!(story.len(), 2);
}

pub async fn a_sum_stays_at_the_greatest_amount(backend: &dyn Backend) {
    let store = &*backend.fresh().await;
    for model in ["far/large", "far/large", "far/other"] {
        let attempt = begin(store, |new| NewAttempt { model: model.into(), ..new }).await;
        let usage = Usage { input: u64::MAX, output: u64::MAX, ..Usage::default() };
        end(store, &attempt, &AttemptEnd { usage, ..sample::attempt_end(i64::MAX) }).await;
    }
    let most = spent(i64::MAX, 3, 0, i64::MAX.unsigned_abs());
    for (kind, name) in [(SpendKind::Overall, ""), (SpendKind::Provider, "far"), (SpendKind::Task, "task-7")] {
        assert_eq!(all_time(store, kind, name).await, most, "{kind:?}");
    }
    assert_eq!(store.spending(0, BUCKET_MICROS, GroupBy::Tier).await.unwrap(), [("quick".to_owned(), most)]);
}
