//! Items that are cancelled, and batches that are paused.

use crate::queue::{
    Place,
    place::{PATIENCE, any_alive, outcomes},
};
use shuntyard_host::{ProcessIdentity, tree::descendants};
use shuntyard_testkit::eventually;

/// A command that records its process id and then takes long.
fn endless(place: &Place) -> String {
    format!("echo $$ > {}; sleep 300", place.file("pid").display())
}

/// The shell of [`endless`] and what it has started.
fn processes(place: &Place) -> Vec<ProcessIdentity> {
    eventually("it to begin", PATIENCE, || place.is_written("pid"));
    let pid = place.lines("pid")[0].parse().expect("a process id");
    ProcessIdentity::of(pid).into_iter().chain(descendants(pid)).collect()
}

#[test]
fn what_is_cancelled_before_it_starts_never_runs() {
    let place = Place::new("stop-before");
    let ids = [0, 1, 2].map(|_| place.add(&place.records(), &[]));
    place.env.run(&["task", "cancel", &ids[1]]).expect_code(0);
    place.settle();
    assert_eq!(place.phase(&ids[1]), "cancelled");
    let mut ran = place.ran();
    ran.sort_unstable();
    assert_eq!(ran, [ids[0].clone(), ids[2].clone()]);
    assert_eq!(outcomes(&place.task(&ids[1])), [""; 0], "it was never begun");
}

#[test]
fn what_is_cancelled_while_it_runs_has_ended_and_the_next_begins() {
    let place = Place::with("stop-during", "concurrency = 1\nmost = 1\n");
    let _supervisor = place.supervise();
    let long = place.add(&endless(&place), &[]);
    let processes = processes(&place);
    let next = place.add(&place.records(), &[]);
    place.env.run(&["task", "cancel", &long, "--wait"]).expect_code(0);
    assert!(!any_alive(&processes), "it is cancelled, so nothing of it runs");
    assert_eq!((place.phase(&long), outcomes(&place.task(&long))), ("cancelled".to_owned(), vec!["cancelled".into()]));
    place.wait_for_phase(&next, "done");
    assert_eq!(place.ran(), [next]);
}

#[test]
fn what_is_cancelled_without_a_supervisor_ends_too() {
    let place = Place::new("stop-alone");
    let supervisor = place.supervise();
    let id = place.add(&endless(&place), &[]);
    let processes = processes(&place);
    supervisor.kill();
    assert!(any_alive(&processes), "it outlives its supervisor");
    place.env.run(&["task", "cancel", &id, "--wait"]).expect_code(0);
    assert_eq!((place.phase(&id), any_alive(&processes)), ("cancelled".to_owned(), false));
}

#[test]
fn a_paused_batch_begins_nothing_and_what_runs_goes_on() {
    let place = Place::with("stop-pause", "concurrency = 2\nmost = 2\n");
    place.env.run(&["batch", "create", "some", "--concurrency", "1"]).expect_code(0);
    let go = place.file("go");
    let waits = format!(
        "echo > {}; while [ ! -e {} ]; do sleep 0.05; done; {}",
        place.file("begun").display(),
        go.display(),
        place.records()
    );
    let supervisor = place.supervise();
    let running = place.add(&waits, &["--batch", "some"]);
    let held = place.add(&place.records(), &["--batch", "some"]);
    eventually("the first to begin", PATIENCE, || place.is_written("begun"));
    place.env.run(&["batch", "pause", "some"]).expect_code(0);
    std::fs::write(&go, "").expect("written");
    place.wait_for_phase(&running, "done");
    let other = place.add(&place.records(), &[]);
    place.wait_for_phase(&other, "done");
    // Once nothing is left to do, the paused item has not been begun.
    place.settle();
    assert_eq!((place.phase(&held), place.ran()), ("queued".to_owned(), vec![running, other]));
    place.env.run(&["batch", "resume", "some"]).expect_code(0);
    place.wait_for_phase(&held, "done");
    drop(supervisor);
    place.expect_each_ran_once();
}
