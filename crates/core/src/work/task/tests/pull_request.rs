//! A pull request that needs another attempt, or another delivery.

use super::*;
use crate::{
    settings::Merging,
    work::pull_request::{PullRequest, Reporting, assess, may_merge},
};
use serde_json::json;

fn in_review(record: Option<PullRequestRecord>, tally: Tally) -> Task {
    let state = State::Review { url: "u".into(), head: "abc".into(), until: NOW };
    Task { tally: Tally { pull_request: record, ..tally }, ..task(state) }
}

fn record() -> PullRequestRecord {
    PullRequestRecord::proposed(None, "u", "abc", NOW - HOUR, Assessed::No)
}

fn revise(asked: Asked) -> Event {
    let answers = texts(&["review 1", "comment 2"]);
    let assessment = PullRequestState::ChangesRequested.into();
    Event::Revise {
        failure: logic("review"),
        asked,
        assessment,
        answers,
        tier: Some("b".into()),
        model: Some("acme/b".into()),
    }
}

#[test]
fn a_review_starts_the_ladder_anew_and_failed_checks_climb_it() {
    let tired = Tally { tries: 2, reinforced: 1, rises: 2, last: Some("review".into()), ..Tally::default() };
    let before = in_review(Some(record()), tired);
    let asked = step(&before, revise(Asked::ByReviewer), &rules(), NOW).unwrap().task;
    assert_eq!(asked.state, State::Queued);
    assert_eq!((asked.tally.tries, asked.tally.rises, asked.tally.last), (2, 0, None));
    assert_eq!(asked.tally.lessons, texts(&["detail of review"]));
    let checks = step(&before, revise(Asked::ByChecks), &rules(), NOW).unwrap().task;
    assert!(matches!(checks.state, State::Blocked { cause: Cause::Parked, .. }), "{:?}", checks.state);
    for tally in [asked.tally.pull_request, checks.tally.pull_request] {
        let record = tally.unwrap();
        assert_eq!(record.answered, texts(&["review 1", "comment 2"]));
        assert_eq!(record.assessment.state, PullRequestState::ChangesRequested);
    }
}

#[test]
fn what_was_answered_and_approved_is_remembered_as_long_as_it_holds() {
    let rebase = || Event::Redeliver { why: Redelivery::Rebase };
    let mut once = step(&in_review(Some(record()), Tally::default()), rebase(), &rules(), NOW).unwrap().task;
    assert!(once.tally.pull_request.as_ref().unwrap().wants_rebase("abc"));
    assert_eq!(once.tally.resume, Some(Stage::Deliver { head: "abc".into() }));
    // It is proposed with its new head: the approval of the old one is known to be for the same work.
    once.state = State::Delivering { head: "abc".into() };
    let propose = Event::Propose { url: "u".into(), head: "def".into(), until: NOW, assessed: Assessed::No };
    let proposed = step(&once, propose, &rules(), NOW).unwrap().task;
    let known = proposed.tally.pull_request.clone().unwrap();
    assert_eq!((known.head.as_str(), known.rebased.clone()), ("def", texts(&["abc"])));
    assert!(!known.wants_rebase("def"));
    assert_eq!(known.proposed_at, NOW);
    // Another attempt is other work.
    let revised = step(&proposed, revise(Asked::ByReviewer), &rules(), NOW).unwrap().task;
    assert_eq!(revised.tally.pull_request.unwrap().rebased, [""; 0]);
    // A check that changes nothing keeps the time at which the head was proposed.
    let looked = Event::Propose { url: "u".into(), head: "def".into(), until: NOW, assessed: Assessed::No };
    let looked = step(&proposed, looked, &rules(), NOW + HOUR).unwrap().task;
    assert_eq!(looked.tally.pull_request.unwrap(), known);
}

#[test]
fn a_delivery_that_only_checks_a_merge_asks_for_no_rebase() {
    let merged = Event::Redeliver { why: Redelivery::Merged };
    let after = step(&in_review(Some(record()), Tally::default()), merged, &rules(), NOW).unwrap().task;
    let record = after.tally.pull_request.unwrap();
    assert!(record.has_ended() && !record.wants_rebase("abc"));
    assert_eq!(record.assessment.state, PullRequestState::Merged);
    assert_eq!(after.tally.resume, Some(Stage::Deliver { head: "abc".into() }));
}

#[test]
fn an_approval_is_not_for_the_work_that_follows_a_conflict() {
    let report = |head: &str| {
        let review = json!({
            "id": "1", "author": {"login": "bo"}, "authorAssociation": "OWNER", "state": "APPROVED",
            "commit": {"oid": "abc"},
        });
        let found: PullRequest = serde_json::from_value(json!({
            "state": "OPEN", "headRefOid": head, "mergeable": "MERGEABLE", "mergeStateStatus": "CLEAN",
            "reviewDecision": "APPROVED", "reviews": [review],
        }))
        .unwrap();
        found
    };
    let blocked = Failure { mode: FailureMode::Blocked, ..logic("needs") };
    let lost = |number: u32| Event::Lose { detail: format!("loss {number}") };
    for (name, events, wanted) in [
        ("a mere rebase", vec![], true),
        ("a conflict", vec![Event::Return { failure: logic("conflict") }, Event::Claim], false),
        (
            "a lost worker, and a retry",
            (0..=rules().losses).map(lost).chain([Event::Retry, Event::Claim]).collect(),
            false,
        ),
        ("an obstacle, and the same delivery", vec![Event::Return { failure: blocked }], true),
    ] {
        let rebase = Event::Redeliver { why: Redelivery::Rebase };
        let mut now = in_review(Some(record()), Tally::default());
        for event in [rebase, Event::Claim, Event::Start].into_iter().chain(events) {
            now = step(&now, event, &rules(), NOW).unwrap().task;
        }
        now.state = State::Delivering { head: "def".into() };
        let propose = Event::Propose { url: "u".into(), head: "def".into(), until: NOW, assessed: Assessed::No };
        let after = step(&now, propose, &rules(), NOW).unwrap().task;
        let (found, known) = (report("def"), after.tally.pull_request.unwrap());
        let assessment = assess(Some(&found), Reporting::Complete);
        let may = may_merge(&found, &assessment, ("def", "main"), &known, Merging::Approved);
        assert_eq!(may.is_ok(), wanted, "{name}: {may:?}");
    }
}

#[test]
fn reviews_start_attempts_until_a_person_has_to_look() {
    let mut before = in_review(Some(record()), Tally::default());
    for round in 1..=11 {
        let after = step(&before, revise(Asked::ByReviewer), &rules(), NOW).unwrap().task;
        let blocked = matches!(after.state, State::Blocked { cause: Cause::Needs, .. });
        assert_eq!(blocked, round > 10, "{round}: {:?}", after.state);
        before = if blocked { after } else { in_review(after.tally.pull_request.clone(), after.tally) };
    }
    let retried = step(&before, Event::Retry, &rules(), NOW).unwrap().task;
    assert_eq!(retried.tally.pull_request.as_ref().unwrap().rounds, 0);
    let again = in_review(retried.tally.pull_request.clone(), retried.tally);
    assert_eq!(step(&again, revise(Asked::ByReviewer), &rules(), NOW).unwrap().task.state, State::Queued);
}
