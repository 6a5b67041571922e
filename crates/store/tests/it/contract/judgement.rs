//! A second judgement of an outcome: it replaces the first one, in the row and in the counts.

use super::{Backend, event::story, sample};
use serde_json::json;
use shuntyard_core::{
    DispatchId,
    experience::{Evidence, FailureMode, Tally, Verdict},
};
use shuntyard_store::{ErrorKind, Judgement, NewOutcome, OutcomeRecord, Store};

fn judgement(verdict: Verdict, failure_mode: Option<FailureMode>, evidence: Evidence) -> Judgement {
    Judgement { verdict, failure_mode, evidence, quality: None }
}

fn success(evidence: Evidence) -> Judgement {
    judgement(Verdict::Success, None, evidence)
}

fn failure(failure_mode: Option<FailureMode>) -> Judgement {
    judgement(Verdict::Failure, failure_mode, Evidence::Verified)
}

fn judged(outcome: &NewOutcome, judgement: &Judgement) -> NewOutcome {
    let Judgement { verdict, failure_mode, evidence, quality } = *judgement;
    NewOutcome { verdict, failure_mode, evidence, quality, ..outcome.clone() }
}

async fn judge(
    store: &dyn Store,
    dispatch: DispatchId,
    ordinal: Option<u32>,
    now: i64,
    judgement: &Judgement,
) -> Option<OutcomeRecord> {
    store.judge_outcome(dispatch, ordinal, now, judgement).await.unwrap()
}

pub async fn a_judgement_moves_the_counts_both_ways(backend: &dyn Backend) {
    let store = &*backend.fresh().await;
    let outcome = sample::outcome(900);
    let (dispatch, ordinal) = outcome.attempt.unwrap();
    let beside = NewOutcome { attempt: None, ..outcome.clone() };
    store.record_outcomes(&[outcome.clone(), beside.clone()]).await.unwrap();
    // The counts of the one beside it stay where they are.
    for (judgement, [successes, proven, failures, uncounted, quality, rated]) in [
        (success(Evidence::Verified), [2, 1, 0, 0, 2, 1]),
        (Judgement { quality: Some(1), ..success(Evidence::Judged) }, [2, 1, 0, 0, 3, 2]),
        (failure(None), [1, 0, 1, 0, 2, 1]),
        (failure(Some(FailureMode::Logic)), [1, 0, 1, 0, 2, 1]),
        (failure(Some(FailureMode::Environment)), [1, 0, 0, 1, 2, 1]),
        (Judgement { quality: Some(2), ..failure(Some(FailureMode::Resource)) }, [1, 0, 0, 1, 2, 1]),
        (Judgement { quality: Some(0), ..failure(Some(FailureMode::Blocked)) }, [1, 0, 1, 0, 2, 2]),
        (success(Evidence::Answered), [2, 0, 0, 0, 2, 1]),
    ] {
        let now = judge(store, dispatch, Some(ordinal), 1_000, &judgement).await.unwrap();
        assert_eq!(now.outcome, judged(&outcome, &judgement));
        assert_eq!(sample::outcomes(store).await, [now.outcome, beside.clone()]);
        let expected = Tally {
            at: 0,
            task_type: "code-review".into(),
            tier: "deep".into(),
            model: "local/small@low".into(),
            successes,
            proven,
            failures,
            uncounted,
            cost: shuntyard_core::Nano(100),
            priced: 2,
            tokens: 336,
            duration_ms: 8_000,
            retries: 10,
            quality,
            rated,
        };
        for repository in [None, Some("/project")] {
            let counts = store.outcome_tallies(Some("code-review"), repository, 0).await.unwrap();
            assert_eq!(counts, std::slice::from_ref(&expected), "{repository:?} after {judgement:?}");
        }
    }
}

pub async fn the_last_attempt_is_judged_unless_one_is_named(backend: &dyn Backend) {
    let store = &*backend.fresh().await;
    let dispatch = sample::dispatch_id();
    let of = |ordinal| NewOutcome { attempt: Some((dispatch, ordinal)), ..sample::outcome(900) };
    let told = [of(2), of(10), of(9), sample::outcome(901), sample::bare_outcome(902)];
    store.record_outcomes(&told).await.unwrap();
    let said = failure(None);
    let last = judge(store, dispatch, None, 1, &said).await.unwrap();
    assert_eq!(last.outcome, judged(&of(10), &said));
    let named = judge(store, dispatch, Some(2), 2, &said).await.unwrap();
    assert_eq!(named.outcome, judged(&of(2), &said));
    let expected = [named.outcome, last.outcome, of(9), told[3].clone(), told[4].clone()];
    assert_eq!(sample::outcomes(&*backend.reopen().await).await, expected);
    assert_eq!(judge(store, dispatch, Some(3), 3, &said).await, None);
    assert_eq!(judge(store, sample::dispatch_id(), None, 3, &said).await, None);
    assert_eq!(sample::outcomes(store).await, expected);
}

pub async fn a_judgement_is_told_when_it_changes_something(backend: &dyn Backend) {
    let store = &*backend.fresh().await;
    let outcome = sample::outcome(900);
    let (dispatch, ordinal) = outcome.attempt.unwrap();
    store.record_outcomes(&[outcome]).await.unwrap();
    let said = Judgement { quality: Some(0), ..failure(Some(FailureMode::Logic)) };
    for now in [1_000, 1_001] {
        judge(store, dispatch, None, now, &said).await.unwrap();
    }
    judge(store, sample::dispatch_id(), None, 1_002, &said).await;
    let data = json!({
        "ordinal": ordinal, "task_type": "code-review", "model": "local/small@low", "verdict": "failure",
        "failure_mode": "LOGIC", "evidence": "verified", "quality": 0,
    });
    let story = story(store).await;
    assert_eq!(story[1..], [(1_000, "outcome.judged".to_owned(), dispatch.to_string(), data)]);
}

pub async fn a_refused_judgement_changes_nothing(backend: &dyn Backend) {
    let store = &*backend.fresh().await;
    let outcome = sample::outcome(900);
    let (dispatch, _) = outcome.attempt.unwrap();
    store.record_outcomes(std::slice::from_ref(&outcome)).await.unwrap();
    let (counts, told) = (store.outcome_tallies(None, None, 0).await.unwrap(), story(store).await);
    let refused = Judgement { quality: Some(3), ..failure(None) };
    assert_eq!(sample::kind(store.judge_outcome(dispatch, None, 1, &refused).await), ErrorKind::Conflict);
    assert_eq!(sample::outcomes(store).await, [outcome]);
    assert_eq!(store.outcome_tallies(None, None, 0).await.unwrap(), counts);
    assert_eq!(story(store).await, told);
}
