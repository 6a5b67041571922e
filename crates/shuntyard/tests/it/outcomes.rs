//! The outcomes that a store has kept.

use crate::yard::in_store;
use serde_json::Value;
use shuntyard_store::{NewOutcome, OutcomeFilter, OutcomeOrder, Store as _};
use shuntyard_testkit::TestEnv;

/// All outcomes that are kept, the oldest first.
pub fn all(env: &TestEnv) -> Vec<NewOutcome> {
    let filter = OutcomeFilter { limit: 100_000, ..OutcomeFilter::default() };
    let records =
        in_store(env, async |store| store.outcomes(&filter, OutcomeOrder::Oldest).await.expect("the outcomes"));
    records.into_iter().map(|record| record.outcome).collect()
}

/// The outcomes of a dispatch, in the order of its attempts.
pub fn of_dispatch(env: &TestEnv, id: &str) -> Vec<NewOutcome> {
    let is_ours = |outcome: &NewOutcome| outcome.attempt.is_some_and(|(dispatch, _)| dispatch.to_string() == id);
    let mut ours: Vec<NewOutcome> = all(env).into_iter().filter(is_ours).collect();
    ours.sort_by_key(|outcome| outcome.attempt.map(|(_, ordinal)| ordinal));
    ours
}

/// The outcomes that a report is about.
#[track_caller]
pub fn of_report(env: &TestEnv, report: &Value) -> Vec<NewOutcome> {
    of_dispatch(env, report["id"].as_str().expect("an id"))
}

/// The one outcome of a dispatch that asked one model.
#[track_caller]
pub fn only(env: &TestEnv, report: &Value) -> NewOutcome {
    let mut found = of_report(env, report);
    assert_eq!(found.len(), 1, "{found:#?}\n{report:#}");
    found.remove(0)
}
