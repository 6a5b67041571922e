//! Who works next: tables for each turn, and a property for every way through.

use super::*;
use proptest::{collection::vec, prelude::*, sample::select};

const TESTS: Role = Role::Agent(Agent::TestWriter);
const CODE: Role = Role::Agent(Agent::Implementer);
const DOCS: Role = Role::Agent(Agent::Documentation);
const JUDGE: Role = Role::Validator;

fn done(role: Role, cycle: u32, outcome: RoleOutcome) -> Done {
    Done { role, cycle, outcome }
}

fn approved(role: Role, cycle: u32) -> Done {
    done(role, cycle, RoleOutcome::Approved)
}

fn judged(cycle: u32, verdict: Verdict) -> Done {
    done(JUDGE, cycle, RoleOutcome::Judged(verdict))
}

fn run(role: Role, cycle: u32) -> Next {
    Next::Run { role, cycle }
}

fn escalation(next: &Next) -> &str {
    match next {
        Next::Escalate { reason } => reason,
        Next::Run { .. } | Next::Wait | Next::Finished => panic!("{next:?} is no escalation"),
    }
}

#[test]
fn each_works_when_all_before_are_done() {
    let pipeline = [TESTS, CODE, DOCS, JUDGE];
    let mut facts = Vec::new();
    for role in pipeline {
        assert_eq!(next(&pipeline, &facts), run(role, 1));
        facts.push(done(role, 1, RoleOutcome::Waiting));
        assert_eq!(next(&pipeline, &facts), Next::Wait);
        facts.push(done(role, 1, RoleOutcome::Running));
        assert_eq!(next(&pipeline, &facts), Next::Wait, "the later fact counts");
        facts.push(approved(role, 1));
    }
    facts.push(judged(1, Verdict::Pass));
    assert_eq!(next(&pipeline, &facts), Next::Finished);
}

#[test]
fn the_validator_is_the_last_wherever_it_is_named() {
    assert_eq!(next(&[JUDGE, CODE], &[]), run(CODE, 1));
    assert_eq!(next(&[CODE], &[approved(CODE, 1)]), run(JUDGE, 1));
}

#[test]
fn nobody_named_runs_nothing() {
    for pipeline in [&[][..], &[JUDGE]] {
        assert_eq!(escalation(&next(pipeline, &[])), "Execution names nobody, so nothing runs");
    }
}

#[test]
fn what_was_found_is_mended_once() {
    let pipeline = [TESTS, CODE, DOCS, JUDGE];
    let mut facts: Vec<Done> = [TESTS, CODE, DOCS].map(|role| approved(role, 1)).to_vec();
    facts.push(judged(1, Verdict::Fail));
    assert_eq!(next(&pipeline, &facts), run(CODE, 2));
    facts.push(approved(CODE, 2));
    assert_eq!(next(&pipeline, &facts), run(JUDGE, 2));
    let with = |verdict| next(&pipeline, &[&facts[..], &[judged(2, verdict)]].concat());
    assert_eq!(with(Verdict::Pass), Next::Finished);
    assert!(escalation(&with(Verdict::Fail)).contains("also after"), "{:?}", with(Verdict::Fail));
    assert!(escalation(&with(Verdict::Blocked)).contains("blocked"));
}

#[test]
fn without_an_implementer_the_last_one_mends() {
    let facts = [approved(DOCS, 1), judged(1, Verdict::Fail)];
    assert_eq!(next(&[DOCS, JUDGE], &facts), run(DOCS, 2));
}

#[test]
fn what_did_not_end_well_is_put_before_a_person() {
    let reason = || "why".to_owned();
    for outcome in [
        RoleOutcome::Failed { reason: reason() },
        RoleOutcome::Blocked { reason: reason() },
        RoleOutcome::Cancelled { reason: reason() },
    ] {
        assert_eq!(escalation(&next(&[CODE, JUDGE], &[done(CODE, 1, outcome)])), "implementer: why");
    }
    for (outcome, words) in [
        (RoleOutcome::Approved, "no verdict"),
        (RoleOutcome::Judged(Verdict::Unclear(None)), "no verdict"),
        (RoleOutcome::Judged(Verdict::Unclear(Some("maybe".to_owned()))), "maybe"),
        (RoleOutcome::Judged(Verdict::Blocked), "blocked"),
    ] {
        let next = next(&[CODE, JUDGE], &[approved(CODE, 1), done(JUDGE, 1, outcome)]);
        assert!(escalation(&next).contains(words), "{next:?}");
    }
}

fn any_outcome() -> impl Strategy<Value = RoleOutcome> {
    let verdicts = [Verdict::Pass, Verdict::Fail, Verdict::Fail, Verdict::Blocked, Verdict::Unclear(None)];
    prop_oneof![
        8 => Just(RoleOutcome::Approved),
        6 => select(verdicts.to_vec()).prop_map(RoleOutcome::Judged),
        1 => Just(RoleOutcome::Failed { reason: "failed".to_owned() }),
        1 => Just(RoleOutcome::Cancelled { reason: "cancelled".to_owned() }),
    ]
}

proptest! {
    #[test]
    fn every_way_ends_with_the_validator_last_and_one_more_cycle_at_most(
        roles in vec(select(&[TESTS, CODE, DOCS, JUDGE][..]), 0..5),
        outcomes in vec(any_outcome(), 12),
    ) {
        let mut pipeline = roles;
        pipeline.dedup();
        let mut facts: Vec<Done> = Vec::new();
        let mut outcomes = outcomes.into_iter();
        let end = loop {
            match next(&pipeline, &facts) {
                Next::Run { role, cycle } => {
                    let outcome = outcomes.next().expect("the steps come to an end");
                    facts.push(Done { role, cycle, outcome });
                }
                other => break other,
            }
        };
        prop_assert!(facts.len() <= pipeline.len() + 3);
        prop_assert!(facts.iter().all(|fact| fact.cycle <= MOST_CYCLES));
        prop_assert!(facts.iter().filter(|fact| fact.cycle == 2 && fact.role != JUDGE).count() <= 1);
        for cycle in 1..=MOST_CYCLES {
            let judge = facts.iter().position(|fact| fact.cycle == cycle && fact.role == JUDGE);
            let others = facts.iter().rposition(|fact| fact.cycle == cycle && fact.role != JUDGE);
            prop_assert!(judge.is_none() || judge > others, "{facts:?}");
        }
        let passed = facts.last().is_some_and(|fact| fact.outcome == RoleOutcome::Judged(Verdict::Pass) && fact.role == JUDGE);
        prop_assert_eq!(end == Next::Finished, passed, "{:?}", facts);
        prop_assert!(end != Next::Wait);
    }
}
