//! Limits hold, however many processes start items.

use crate::queue::{
    Place,
    place::{PATIENCE, outcomes},
};
use shuntyard_testkit::{environment::finish, eventually};

/// A command line that records how many of its kind run at the same time, itself included.
fn counting(place: &Place, kind: &str) -> String {
    let directory = place.file(kind);
    std::fs::create_dir_all(&directory).expect("a directory");
    let here = directory.display();
    format!(
        "touch {here}/$SHUNTYARD_TASK; ls {here} | wc -l >> {here}.log; sleep 0.1; rm {here}/$SHUNTYARD_TASK; {}",
        place.records()
    )
}

/// The most that ran at the same time.
fn most(place: &Place, kind: &str) -> u32 {
    let seen = place.lines(&format!("{kind}.log"));
    seen.iter().map(|line| line.parse().expect("a number")).max().expect("one ran")
}

#[test]
fn supervisors_and_passes_together_stay_within_the_total() {
    let place = Place::with("limit-total", "concurrency = 3\nmost = 3\nper_repository = 3\n");
    place.add_many(30, &counting(&place, "all"));
    let _supervisors = [place.supervise(), place.supervise()];
    eventually("all to be done", PATIENCE, || {
        let passes: Vec<_> = (0..10).map(|_| place.env.spawn(&["pulse"])).collect();
        for pass in passes {
            finish(pass).expect_code(0);
        }
        place.count("done") == 30
    });
    let most = most(&place, "all");
    assert!(most <= 3, "{most} ran at once");
    place.expect_each_ran_once();
}

#[test]
fn a_batch_stays_within_its_own_limit() {
    let place = Place::new("limit-batch");
    place.env.run(&["batch", "create", "narrow", "--concurrency", "1"]).expect_code(0);
    let (narrow, wide) = (counting(&place, "narrow"), counting(&place, "wide"));
    for _ in 0..5 {
        place.add(&narrow, &["--batch", "narrow"]);
        place.add(&wide, &[]);
    }
    let _supervisors = [place.supervise(), place.supervise()];
    place.wait_for_done(10);
    assert_eq!(most(&place, "narrow"), 1);
    place.expect_each_ran_once();
    assert!(place.tasks().iter().all(|task| outcomes(task).len() == 1));
}

#[test]
fn a_repository_stays_within_its_own_limit() {
    let place = Place::with("limit-repository", "concurrency = 4\nmost = 4\nper_repository = 1\n");
    let other = place.env.repository("other").display().to_string();
    let (here, there) = (counting(&place, "here"), counting(&place, "there"));
    for _ in 0..5 {
        place.add(&here, &[]);
        place.add(&there, &["--repo", &other]);
    }
    let _supervisor = place.supervise();
    place.wait_for_done(10);
    assert_eq!((most(&place, "here"), most(&place, "there")), (1, 1));
    place.expect_each_ran_once();
}
