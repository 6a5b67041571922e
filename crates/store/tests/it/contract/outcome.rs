//! Outcomes: kept whole, once for each attempt, and found again.

use super::{Backend, concurrency::stores, event::story, sample};
use serde_json::json;
use shuntyard_core::{
    ErrorClass, Nano,
    experience::{Evidence, FailureMode, Verdict},
};
use shuntyard_store::{
    DispatchEnd, ErrorKind, NewOutcome, OutcomeFilter, OutcomeOrder, OutcomeRecord, RunStatus, Store,
};
use std::sync::Arc;
use tokio::task::JoinSet;

async fn runs(store: &dyn Store) -> u64 {
    store.outcome_tallies(None, None, i64::MIN).await.unwrap().iter().map(|tally| tally.runs()).sum()
}

pub async fn an_outcome_is_read_back_whole(backend: &dyn Backend) {
    let store = &*backend.fresh().await;
    let mut all = vec![sample::outcome(900), sample::bare_outcome(-7)];
    let failed = |at| NewOutcome { verdict: Verdict::Failure, ..sample::outcome(at) };
    all.extend(FailureMode::ALL.map(|mode| NewOutcome { failure_mode: Some(mode), ..failed(1) }));
    all.extend(ErrorClass::ALL.map(|class| NewOutcome { error_class: Some(class), ..failed(2) }));
    all.extend(Evidence::ALL.map(|evidence| NewOutcome { evidence, ..sample::outcome(3) }));
    all.extend([0, 1, 2].map(|quality| NewOutcome { quality: Some(quality), ..sample::outcome(4) }));
    all.push(NewOutcome { propensity: Some(0), text: "two\nlines \"ü\"".into(), ..sample::outcome(5) });
    all.push(NewOutcome {
        cost: Nano(i64::MAX),
        tokens: i64::MAX.unsigned_abs(),
        duration_ms: i64::MAX.unsigned_abs(),
        retries: u32::MAX,
        propensity: Some(1_000_000),
        ..sample::outcome(i64::MAX)
    });
    assert_eq!(store.record_outcomes(&all).await.unwrap(), u64::try_from(all.len()).unwrap());
    assert_eq!(sample::outcomes(&*backend.reopen().await).await, all);
    assert_eq!(store.record_outcomes(&[]).await.unwrap(), 0);
}

pub async fn outcomes_are_kept_all_or_none(backend: &dyn Backend) {
    let store = &*backend.fresh().await;
    for refused in [
        NewOutcome { quality: Some(3), ..sample::outcome(1) },
        NewOutcome { propensity: Some(1_000_001), ..sample::outcome(1) },
        NewOutcome { attempt: Some((sample::dispatch_id(), 0)), ..sample::outcome(1) },
    ] {
        let told = [sample::outcome(1), refused];
        assert_eq!(sample::kind(store.record_outcomes(&told).await), ErrorKind::Conflict, "{told:?}");
        assert_eq!(sample::outcomes(store).await, []);
        assert_eq!(store.outcome_tallies(None, None, i64::MIN).await.unwrap(), []);
        assert_eq!(store.similar_outcomes(&["parser".into()], 9).await.unwrap(), []);
        assert_eq!(story(store).await, []);
    }
}

pub async fn the_same_attempt_counts_once(backend: &dyn Backend) {
    let stores = stores(backend).await;
    let store = &*stores[0];
    let first = sample::outcome(1);
    let again = NewOutcome { at: 2, verdict: Verdict::Failure, text: "late".into(), ..first.clone() };
    let other = NewOutcome { attempt: first.attempt.map(|(dispatch, _)| (dispatch, 4)), ..sample::outcome(3) };
    let told = [first.clone(), again.clone(), other.clone()];
    assert_eq!(store.record_outcomes(&told).await.unwrap(), 2);
    assert_eq!(store.record_outcomes(&[again]).await.unwrap(), 0);
    assert_eq!(sample::outcomes(store).await, [first, other]);
    assert_eq!(store.similar_outcomes(&["late".into()], 9).await.unwrap(), []);

    let raced = sample::outcome(4);
    let mut tasks = JoinSet::new();
    for store in stores.iter().cycle().take(12) {
        let (store, raced) = (Arc::clone(store), raced.clone());
        tasks.spawn(async move { store.record_outcomes(&[raced]).await.unwrap() });
    }
    assert_eq!(tasks.join_all().await.iter().sum::<u64>(), 1);
    assert_eq!((runs(store).await, sample::outcomes(store).await.len()), (3, 3));
    // An outcome of no attempt is recorded as often as it happened.
    assert_eq!(store.record_outcomes(&[sample::bare_outcome(5), sample::bare_outcome(5)]).await.unwrap(), 2);
    assert_eq!(runs(store).await, 5);
}

pub async fn a_dispatch_end_keeps_its_outcomes_once(backend: &dyn Backend) {
    let store = &*backend.fresh().await;
    let new = sample::dispatch(900);
    store.begin_dispatch(&new).await.unwrap();
    let of = |ordinal, text: &str| NewOutcome {
        attempt: Some((new.id, ordinal)),
        text: text.into(),
        ..sample::outcome(2_000)
    };
    // One of them is known already.
    store.record_outcomes(&[of(1, "first")]).await.unwrap();
    let before = story(store).await;
    let end = DispatchEnd { outcomes: vec![of(1, "again"), of(2, "second")], ..sample::dispatch_end(2_000) };
    store.finish_dispatch(new.id, &end).await.unwrap();
    assert_eq!(sample::outcomes(store).await, [of(1, "first"), of(2, "second")]);
    let late = DispatchEnd { outcomes: vec![of(3, "late")], ..sample::dispatch_end(3_000) };
    store.finish_dispatch(new.id, &late).await.unwrap();
    assert_eq!(sample::outcomes(store).await, [of(1, "first"), of(2, "second")]);
    assert_eq!(runs(store).await, 2);
    let told: Vec<String> = story(store).await.into_iter().skip(before.len()).map(|(_, kind, ..)| kind).collect();
    assert_eq!(told, ["dispatch.finished"], "the end itself tells of them");
}

pub async fn a_dispatch_end_that_fails_keeps_no_outcome(backend: &dyn Backend) {
    let store = &*backend.fresh().await;
    let new = sample::dispatch(900);
    store.begin_dispatch(&new).await.unwrap();
    let before = story(store).await;
    let end = DispatchEnd { outcomes: vec![sample::outcome(1)], ..sample::dispatch_end(2_000) };
    let running = DispatchEnd { status: RunStatus::Running, ..end.clone() };
    let mut refused = end.clone();
    refused.outcomes.push(NewOutcome { quality: Some(3), ..sample::outcome(1) });
    assert_eq!(sample::kind(store.finish_dispatch(sample::dispatch_id(), &end).await), ErrorKind::NotFound);
    assert_eq!(sample::kind(store.finish_dispatch(new.id, &running).await), ErrorKind::Conflict);
    assert_eq!(sample::kind(store.finish_dispatch(new.id, &refused).await), ErrorKind::Conflict);
    assert_eq!(sample::outcomes(store).await, []);
    assert_eq!(runs(store).await, 0);
    assert_eq!(story(store).await, before);
    assert_eq!(store.dispatch(new.id).await.unwrap(), sample::begun(&new), "it has not ended either");
    store.finish_dispatch(new.id, &end).await.unwrap();
    assert_eq!(sample::outcomes(store).await, end.outcomes);
}

pub async fn what_is_recorded_is_told_once(backend: &dyn Backend) {
    let store = &*backend.fresh().await;
    let one = sample::outcome(7);
    let several = [sample::bare_outcome(9), one.clone(), sample::bare_outcome(8)];
    let alone = std::slice::from_ref(&one);
    for told in [alone, alone, &several, &[sample::bare_outcome(6)], &[]] {
        store.record_outcomes(told).await.unwrap();
    }
    let dispatch = one.attempt.map(|(dispatch, _)| dispatch.to_string()).unwrap();
    let bare = json!({ "count": 1, "task_type": "", "model": "far/large", "verdict": "failure" });
    let full = json!({ "count": 1, "task_type": "code-review", "model": "local/small@low", "verdict": "success" });
    let expected = [(7, dispatch, full), (9, String::new(), json!({ "count": 2 })), (6, String::new(), bare)];
    let expected = expected.map(|(at, subject, data)| (at, "outcome.recorded".to_owned(), subject, data));
    assert_eq!(story(store).await, expected);
}

fn ats(records: &[OutcomeRecord]) -> Vec<i64> {
    records.iter().map(|record| record.outcome.at).collect()
}

pub async fn outcomes_are_filtered_and_sorted(backend: &dyn Backend) {
    let store = &*backend.fresh().await;
    let outcome = |at, task_type: &str, model: &str, repository: &str| NewOutcome {
        task_type: task_type.into(),
        model: model.into(),
        repository: repository.into(),
        ..sample::outcome(at)
    };
    let told = [
        outcome(30, "docs", "far/large", "/one"),
        outcome(10, "docs", "local/small", "/two"),
        outcome(40, "code", "far/large", ""),
        outcome(20, "docs", "far/large", "/two"),
        outcome(50, "docs", "far/large", "/two"),
    ];
    store.record_outcomes(&told).await.unwrap();
    let all = OutcomeFilter { limit: 99, ..OutcomeFilter::default() };
    let [docs, far, two] = ["docs", "far/large", "/two"].map(|text| Some(text.to_owned()));
    for (filter, oldest) in [
        (all.clone(), vec![30, 10, 40, 20, 50]),
        (OutcomeFilter { from: Some(20), ..all.clone() }, vec![30, 40, 20, 50]),
        (OutcomeFilter { until: Some(40), ..all.clone() }, vec![30, 10, 20]),
        (OutcomeFilter { from: Some(20), until: Some(40), ..all.clone() }, vec![30, 20]),
        (OutcomeFilter { from: Some(20), until: Some(20), ..all.clone() }, vec![]),
        (OutcomeFilter { task_type: docs.clone(), ..all.clone() }, vec![30, 10, 20, 50]),
        (OutcomeFilter { model: far.clone(), ..all.clone() }, vec![30, 40, 20, 50]),
        (OutcomeFilter { repository: two.clone(), ..all.clone() }, vec![10, 20, 50]),
        (OutcomeFilter { repository: Some(String::new()), ..all.clone() }, vec![40]),
        (OutcomeFilter { task_type: docs.clone(), model: far.clone(), ..all.clone() }, vec![30, 20, 50]),
        (OutcomeFilter { task_type: docs, model: far, repository: two, until: Some(50), ..all.clone() }, vec![20]),
        (OutcomeFilter { task_type: Some("none".into()), ..all.clone() }, vec![]),
    ] {
        assert_eq!(ats(&store.outcomes(&filter, OutcomeOrder::Oldest).await.unwrap()), oldest, "{filter:?}");
        let mut newest = oldest;
        newest.sort_by_key(|at| std::cmp::Reverse(*at));
        assert_eq!(ats(&store.outcomes(&filter, OutcomeOrder::Newest).await.unwrap()), newest, "{filter:?}");
        let two = OutcomeFilter { limit: 2, ..filter };
        newest.truncate(2);
        assert_eq!(ats(&store.outcomes(&two, OutcomeOrder::Newest).await.unwrap()), newest, "{two:?}");
    }
}

pub async fn a_reader_goes_on_where_it_was(backend: &dyn Backend) {
    let store = &*backend.fresh().await;
    let told: Vec<NewOutcome> = (0..7).map(|number| sample::bare_outcome(100 - number)).collect();
    store.record_outcomes(&told).await.unwrap();
    let mut filter = OutcomeFilter { model: Some("far/large".into()), limit: 3, ..OutcomeFilter::default() };
    let mut read = vec![];
    loop {
        let page = store.outcomes(&filter, OutcomeOrder::Oldest).await.unwrap();
        assert!(page.len() <= 3);
        let Some(last) = page.last() else { break };
        filter.after = last.id;
        read.extend(page);
    }
    assert!(read.is_sorted_by_key(|record| record.id));
    assert_eq!(read.iter().map(|record| record.outcome.clone()).collect::<Vec<_>>(), told);
    let newest = store.outcomes(&filter, OutcomeOrder::Newest).await.unwrap();
    assert_eq!(ats(&newest), [100, 99, 98], "only those who read by id go on");
    // At the same moment the one that was recorded last is the newest.
    store.record_outcomes(&[sample::bare_outcome(100)]).await.unwrap();
    let newest = store.outcomes(&filter, OutcomeOrder::Newest).await.unwrap();
    assert!(newest[0].id > newest[1].id && newest[1].outcome.at == 100, "{newest:?}");
}
