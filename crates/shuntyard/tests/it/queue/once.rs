//! Each item is done exactly once.

use crate::queue::{
    Place,
    place::{outcomes, text},
};
use shuntyard_testkit::environment::finish;
use std::collections::BTreeSet;

#[test]
fn one_supervisor_does_each_item_once() {
    let place = Place::new("once");
    place.add_many(40, &place.records());
    let _supervisor = place.supervise();
    place.wait_for_done(40);
    place.expect_each_ran_once();
    assert!(place.tasks().iter().all(|task| outcomes(task) == ["approved"]));
}

#[test]
fn two_supervisors_do_each_item_once() {
    let place = Place::new("once-two");
    place.add_many(40, &place.records());
    let mut supervisors = [place.supervise(), place.supervise()];
    place.wait_for_done(40);
    place.expect_each_ran_once();
    assert!(supervisors.iter_mut().all(super::Supervisor::is_running), "each goes on beside the other");
}

#[test]
fn items_that_are_added_meanwhile_from_everywhere_are_done_once() {
    let place = Place::new("once-added");
    let _supervisor = place.supervise();
    let command = place.records();
    let args = ["task", "add", "--json", "--in-place", "--command", &command];
    let mut ids = BTreeSet::new();
    for _ in 0..3 {
        let adding: Vec<_> = (0..4).map(|_| place.env.spawn(&args)).collect();
        ids.extend(adding.into_iter().map(|add| text(&finish(add).expect_code(0).json()["id"])));
    }
    assert_eq!(ids.len(), 12, "no id is given twice: {ids:?}");
    place.wait_for_done(12);
    place.expect_each_ran_once();
}

#[test]
fn single_passes_do_each_item_once() {
    let place = Place::new("once-passes");
    place.add_many(8, &place.records());
    shuntyard_testkit::eventually("all to be done", super::place::PATIENCE, || {
        let passes: Vec<_> = (0..3).map(|_| place.env.spawn(&["pulse"])).collect();
        for pass in passes {
            finish(pass).expect_code(0);
        }
        place.count("done") == 8
    });
    place.expect_each_ran_once();
}
