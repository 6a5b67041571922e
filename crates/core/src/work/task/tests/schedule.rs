//! Who is next: limits hold, repositories take turns, and a held task has a reason.

use super::*;
use proptest::{collection::vec, option, prelude::*, sample::select, strategy::Strategy, test_runner::Config as Run};
use std::collections::BTreeMap;

fn candidate(number: i64, repository: &str) -> Candidate {
    Candidate {
        id: TaskId::numbered(u64::try_from(number).unwrap()),
        number,
        priority: 0,
        repository: repository.into(),
        batch: None,
        parent: None,
    }
}

fn live(repository: &str) -> Live {
    Live { repository: repository.into(), batch: None, parent: None, model: Some("acme/b".into()) }
}

fn limits() -> Limits {
    Limits { total: 100, repository: 100, siblings: 3, provider: 8, model: 8, batches: BTreeMap::new() }
}

fn started(turnout: &Turnout) -> Vec<&str> {
    turnout.start.iter().map(TaskId::as_str).collect()
}

#[test]
fn repositories_take_turns() {
    let all: Vec<Candidate> =
        (1..=6).map(|number| candidate(number, if number <= 4 { "left" } else { "right" })).collect();
    let turnout = order(&all, &[], &limits());
    assert_eq!(started(&turnout), ["t001", "t005", "t002", "t006", "t003", "t004"]);
    // What already runs counts.
    let turnout = order(&all, &[live("left"), live("left")], &limits());
    assert_eq!(started(&turnout), ["t005", "t006", "t001", "t002", "t003", "t004"]);
}

#[test]
fn the_more_urgent_come_first_whatever_their_repository_has() {
    let urgent = |number, priority| Candidate { priority, ..candidate(number, "left") };
    let all = [urgent(1, i64::MIN), urgent(2, 0), urgent(3, i64::MAX), urgent(4, 7), candidate(5, "right")];
    let turnout = order(&all, &[live("left"), live("left")], &limits());
    assert_eq!(started(&turnout), ["t003", "t004", "t005", "t002", "t001"]);
}

#[test]
fn whoever_is_held_knows_what_is_full() {
    let slot = |kind, name: &str, limit| Slot { kind, name: name.into(), limit };
    let batches = BTreeMap::from([("night".to_owned(), 0)]);
    let in_batch = |batch: &str| Candidate { batch: Some(batch.into()), ..candidate(2, "left") };
    let part = Candidate { parent: Some(id("t001")), ..candidate(2, "left") };
    let sibling = || Live { parent: Some(id("t001")), ..live("right") };
    let total = |total| Limits { total, ..limits() };
    let table = [
        (candidate(2, "left"), vec![live("right")], total(1), Some(slot(SlotKind::Total, "", 1))),
        (candidate(2, "left"), vec![], total(0), Some(slot(SlotKind::Total, "", 0))),
        (candidate(2, "left"), vec![live("right"); 3], total(1), Some(slot(SlotKind::Total, "", 1))),
        (
            candidate(2, "left"),
            vec![live("left")],
            Limits { repository: 1, ..limits() },
            Some(slot(SlotKind::Repository, "left", 1)),
        ),
        (candidate(2, "left"), vec![live("leftx")], Limits { repository: 1, ..limits() }, None),
        (
            in_batch("night"),
            vec![],
            Limits { batches: batches.clone(), ..limits() },
            Some(slot(SlotKind::Batch, "night", 0)),
        ),
        (in_batch("day"), vec![], Limits { batches, ..limits() }, None),
        (part.clone(), vec![sibling(); 3], limits(), Some(slot(SlotKind::Siblings, "t001", 3))),
        (part, vec![sibling(); 2], limits(), None),
    ];
    for (candidate, live, limits, wanted) in table {
        let turnout = order(std::slice::from_ref(&candidate), &live, &limits);
        let found = turnout.held.first().map(|(_, hold)| hold.slot.clone());
        assert_eq!(found, wanted, "{candidate:?}");
        assert_eq!(turnout.start.len(), usize::from(wanted.is_none()));
    }
}

#[test]
fn one_that_is_held_does_not_hold_the_others() {
    let all = [candidate(1, "left"), candidate(2, "left"), candidate(3, "right")];
    let turnout = order(&all, &[], &Limits { repository: 1, ..limits() });
    assert_eq!(started(&turnout), ["t001", "t003"]);
    let slot = Slot { kind: SlotKind::Repository, name: "left".into(), limit: 1 };
    assert_eq!(turnout.held, [(id("t002"), Hold { slot })]);
}

#[test]
fn a_run_takes_a_slot_of_everything_it_uses() {
    let limits = Limits { batches: BTreeMap::from([("night".to_owned(), 5)]), ..limits() };
    let run = Candidate { batch: Some("night".into()), parent: Some(id("t001")), ..candidate(2, "left") };
    let shown = |model| -> Vec<(SlotKind, String, u32)> {
        slots(&run, model, &limits).into_iter().map(|slot| (slot.kind, slot.name, slot.limit)).collect()
    };
    let mut wanted = vec![
        (SlotKind::Total, String::new(), 100),
        (SlotKind::Repository, "left".into(), 100),
        (SlotKind::Batch, "night".into(), 5),
        (SlotKind::Siblings, "t001".into(), 3),
    ];
    assert_eq!(shown(None), wanted);
    wanted.push((SlotKind::Provider, "router".into(), 8));
    wanted.push((SlotKind::Model, "router/acme/b:free".into(), 8));
    assert_eq!(shown(Some("router/acme/b:free")), wanted);
}

#[test]
fn a_full_slot_says_so_in_words() {
    let all = [
        SlotKind::Total,
        SlotKind::Repository,
        SlotKind::Batch,
        SlotKind::Siblings,
        SlotKind::Provider,
        SlotKind::Model,
    ];
    for kind in all {
        let shown = Slot { kind, name: "name".into(), limit: 7 }.shown();
        assert!(shown.contains('7') && shown.contains("limit"), "{shown}");
        assert_eq!(shown.contains("name"), kind != SlotKind::Total, "{shown}");
    }
}

type Place3 = (String, Option<String>, Option<TaskId>);

fn any_place() -> impl Strategy<Value = Place3> {
    let batch = option::of(select(texts(&["night", "day", "free"])));
    let parent = option::of(select(vec![id("t900"), id("t901")]));
    (select(texts(&["left", "right", "far"])), batch, parent)
}

fn any_limits() -> impl Strategy<Value = Limits> {
    (0..8_u32, 0..5_u32, 0..4_u32, 0..4_u32, 0..4_u32).prop_map(|(total, repository, siblings, night, day)| Limits {
        total,
        repository,
        siblings,
        batches: BTreeMap::from([("night".to_owned(), night), ("day".to_owned(), day)]),
        ..limits()
    })
}

/// Counted anew, without the scheduler's own parts.
fn uses(slot: &Slot, (repository, batch, parent): &Place3) -> bool {
    match slot.kind {
        SlotKind::Total => true,
        SlotKind::Repository => *repository == slot.name,
        SlotKind::Batch => batch.as_ref() == Some(&slot.name),
        SlotKind::Siblings => parent.as_ref().is_some_and(|parent| parent.as_str() == slot.name),
        SlotKind::Provider | SlotKind::Model => false,
    }
}

proptest! {
    #![proptest_config(Run { cases: 2 * Run::default().cases, ..Run::default() })]

    #[test]
    fn limits_are_never_passed(
        wanted in vec((any_place(), -2..3_i64), 0..14),
        running in vec(any_place(), 0..6),
        limits in any_limits(),
    ) {
        let candidates: Vec<Candidate> = (1..).zip(&wanted).map(|(number, ((repository, batch, parent), priority))| {
            let (batch, parent) = (batch.clone(), parent.clone());
            Candidate { priority: *priority, batch, parent, ..candidate(number, repository) }
        }).collect();
        let place = |id: &TaskId| &wanted[usize::try_from(id.number().unwrap()).unwrap() - 1].0;
        let live: Vec<Live> = running.iter().cloned()
            .map(|(repository, batch, parent)| Live { repository, batch, parent, model: None }).collect();
        let turnout = order(&candidates, &live, &limits);
        let at_work: Vec<&Place3> = running.iter().chain(turnout.start.iter().map(place)).collect();
        let taken = |slot: &Slot| at_work.iter().filter(|place| uses(slot, place)).count();
        for id in &turnout.start {
            let candidate = candidates.iter().find(|candidate| candidate.id == *id).unwrap();
            for slot in slots(candidate, None, &limits) {
                prop_assert!(taken(&slot) <= slot.limit as usize, "{} passes {:?}", id, slot);
            }
        }
        for (id, Hold { slot }) in &turnout.held {
            prop_assert!(uses(slot, place(id)), "{} does not need {:?}", id, slot);
            prop_assert!(taken(slot) >= slot.limit as usize, "{} is held by {:?}, which has room", id, slot);
        }
        let mut all: Vec<&TaskId> = turnout.start.iter().chain(turnout.held.iter().map(|(id, _)| id)).collect();
        all.sort();
        prop_assert_eq!(all, candidates.iter().map(|candidate| &candidate.id).collect::<Vec<_>>());
        // In which order they are looked at makes no difference.
        let reversed: Vec<Candidate> = candidates.iter().rev().cloned().collect();
        prop_assert_eq!(order(&reversed, &live, &limits), turnout);
    }
}
