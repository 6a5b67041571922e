//! Priorities and dependencies.

use crate::queue::{Place, place::text};

#[test]
fn higher_priorities_come_first_and_equal_ones_as_they_were_added() {
    let place = Place::with("order-priority", "concurrency = 1\nmost = 1\n");
    let ids = ["0", "-5", "9", "0", "9"].map(|priority| place.add(&place.records(), &["--priority", priority]));
    let _supervisor = place.supervise();
    place.wait_for_done(5);
    let order = [2, 4, 0, 3, 1].map(|index: usize| ids[index].clone());
    assert_eq!(place.ran(), order);
}

#[test]
fn an_item_starts_after_all_that_it_depends_on() {
    let place = Place::new("order-dependencies");
    // The last is the first in the line, and the most urgent.
    place.add(&place.records(), &["--id", "top", "--depends-on", "left,right", "--priority", "9"]);
    for side in ["left", "right"] {
        let command = format!("{}; sleep 0.2", place.records());
        place.add(&command, &["--id", side, "--depends-on", "base", "--priority", "5"]);
    }
    let _supervisor = place.supervise();
    place.add(&place.records(), &["--id", "base"]);
    place.wait_for_done(4);
    let ran = place.ran();
    assert_eq!((ran.len(), ran[0].as_str(), ran[3].as_str()), (4, "base", "top"), "{ran:?}");
}

#[test]
fn what_depends_on_a_failure_waits_until_that_is_done() {
    let place = Place::new("order-failure");
    let go = place.file("go");
    let command = format!("test -e {}", go.display());
    place.add(&command, &["--id", "first", "--attempts", "1"]);
    place.add(&place.records(), &["--id", "second", "--depends-on", "first"]);
    place.settle();
    assert_eq!((place.phase("first"), place.phase("second")), ("failed".to_owned(), "queued".to_owned()));
    let status = place.env.run(&["status", "--json"]).expect_code(0).json();
    let held: Vec<String> = status["held"].as_array().expect("a list").iter().map(|held| text(&held["id"])).collect();
    assert_eq!(held, ["second"], "{status:#}");
    assert_eq!(place.ran(), Vec::<String>::new());
    std::fs::write(&go, "").expect("written");
    place.env.run(&["task", "retry", "first"]).expect_code(0);
    place.settle();
    assert_eq!((place.phase("first"), place.phase("second")), ("done".to_owned(), "done".to_owned()));
    assert_eq!(place.ran(), ["second"]);
}
