//! The words for states, and what is read from them.

use super::*;
use crate::values::Deliver;

#[test]
fn a_state_knows_its_phase_and_what_it_waits_for() {
    let table = [
        ("queued", Phase::Queued, None),
        ("waiting", Phase::Waiting, Some(NOW)),
        ("waiting", Phase::Waiting, Some(NOW + 1)),
        ("starting", Phase::Running, None),
        ("starting", Phase::Running, None),
        ("starting", Phase::Running, None),
        ("running", Phase::Running, None),
        ("asking", Phase::Waiting, None),
        ("asking", Phase::Running, None),
        ("evaluating", Phase::Running, None),
        ("delivering", Phase::Running, None),
        ("review", Phase::Waiting, Some(NOW + 1)),
        ("stopping", Phase::Running, None),
        ("stopping", Phase::Running, None),
        ("done", Phase::Done, None),
        ("failed", Phase::Failed, None),
        ("blocked", Phase::Blocked, None),
        ("cancelled", Phase::Cancelled, None),
    ];
    let found: Vec<_> = every_state().iter().map(|state| (state.name(), state.phase(), state.wakes_at())).collect();
    assert_eq!(found, table);
}

#[test]
fn no_state_is_a_dead_end() {
    for state in every_state() {
        let owners = [
            state.is_held(),
            state.wakes_at().is_some(),
            state == State::Queued,
            // Nothing happens by itself, and the user was notified.
            state.phase().is_settled(),
        ];
        assert_eq!(owners.iter().filter(|owner| **owner).count(), 1, "{state:?}");
        let rules = rules();
        let leaves = |event| step(&task(state.clone()), event, &rules, NOW + HOUR).is_ok();
        assert!(every_event().into_iter().any(leaves), "nothing leads out of {state:?}");
    }
}

#[test]
fn phases_are_words_that_can_be_read_back() {
    for phase in Phase::ALL {
        assert_eq!(Phase::parse(phase.as_str()), Some(phase));
        assert_eq!(phase.to_string(), phase.as_str());
        assert_eq!(serde_json::to_value(phase).unwrap(), phase.as_str());
    }
    assert_eq!(Phase::parse("Done"), None);
    assert_eq!(Phase::parse(""), None);
}

#[test]
fn who_depends_on_a_task_goes_on_only_after_an_end_that_was_wanted() {
    let releases: Vec<Phase> = Phase::ALL.into_iter().filter(|phase| phase.releases()).collect();
    assert_eq!(releases, [Phase::Done, Phase::Cancelled]);
    let settled: Vec<Phase> = Phase::ALL.into_iter().filter(|phase| phase.is_settled()).collect();
    assert_eq!(settled, [Phase::Done, Phase::Failed, Phase::Blocked, Phase::Cancelled]);
}

#[test]
fn what_was_handed_over_fits_what_was_asked_for() {
    let head = || "0123456789abcdef".to_owned();
    let branch = Delivered::Branch { branch: "shuntyard/t007".into(), head: head() };
    let merged = Delivered::Merged { base: "main".into(), head: head() };
    let pull = Delivered::PullRequest { url: "https://forge/1".into(), head: head() };
    let table = [
        (branch, [true, false, false], Some(head()), "ready on shuntyard/t007 at 0123456789"),
        (merged, [false, true, true], Some(head()), "merged into main at 0123456789"),
        (pull, [false, false, true], Some(head()), "merged by https://forge/1"),
        (Delivered::Nothing, [true, true, true], None, "the command succeeded"),
    ];
    for (delivered, fits, commit, shown) in table {
        let found = [Deliver::Branch, Deliver::Merge, Deliver::Pr].map(|deliver| delivered.fits(deliver));
        assert_eq!(found, fits, "{delivered:?}");
        assert_eq!(delivered.head(), commit.as_deref());
        assert_eq!(delivered.to_string(), shown);
    }
}

#[test]
fn nothing_is_handed_over_in_another_way_than_was_asked_for() {
    let head = || "def".to_owned();
    let merged = || Event::Deliver { delivered: Delivered::Merged { base: "main".into(), head: head() } };
    let branch = || Event::Deliver { delivered: Delivered::Branch { branch: "b".into(), head: head() } };
    let pull = || Event::Deliver { delivered: Delivered::PullRequest { url: "u".into(), head: head() } };
    let propose = || Event::Propose { url: "u".into(), head: head(), until: NOW, assessed: Assessed::No };
    let table = [
        (Deliver::Merge, merged(), true),
        (Deliver::Merge, branch(), false),
        (Deliver::Merge, pull(), false),
        (Deliver::Merge, propose(), false),
        (Deliver::Pr, merged(), true),
        (Deliver::Pr, branch(), false),
        (Deliver::Pr, pull(), true),
        (Deliver::Pr, propose(), true),
    ];
    for (deliver, event, legal) in table {
        let mut before = task(State::Delivering { head: head() });
        before.spec.deliver = deliver;
        assert_eq!(step(&before, event.clone(), &rules(), NOW).is_ok(), legal, "{deliver:?} {event:?}");
    }
}

#[test]
fn reasons_say_why() {
    let reasons: Vec<(&str, String)> = every_state().iter().map(|state| (state.name(), state.reason())).collect();
    for (name, reason) in reasons {
        let silent = matches!(name, "queued" | "starting" | "running" | "evaluating" | "delivering");
        assert_eq!(reason.is_empty(), silent, "{name}: {reason}");
    }
}
