//! When nothing is started because everything around fails.

use super::*;

const PAUSE: i64 = 30 * MINUTE;
const NEVER: i64 = i64::MIN;

/// Minutes before now, the newest first, and how each ended.
fn endings(list: &[(i64, Option<FailureMode>)]) -> Vec<Ending> {
    list.iter().map(|(minutes, failure)| Ending { at: NOW - minutes * MINUTE, failure: *failure }).collect()
}

#[test]
fn breaker_table() {
    use FailureMode::{Ambiguous, Blocked, Environment, Logic, Resource, Transient};
    const BAD: Option<FailureMode> = Some(Environment);
    let open = |minutes: i64| Breaker::Open { until: NOW - minutes * MINUTE + PAUSE };
    let table = [
        (vec![], Breaker::Closed),
        (vec![(0, BAD)], Breaker::Closed),
        (vec![(0, BAD), (1, BAD)], Breaker::Closed),
        (vec![(0, BAD), (1, BAD), (2, BAD)], open(0)),
        (vec![(9, BAD), (10, BAD), (11, BAD)], open(9)),
        (vec![(0, BAD), (1, BAD), (2, BAD), (3, BAD), (4, None)], open(0)),
        // A success, or a failure of another kind, shows that the environment works.
        (vec![(0, None), (1, BAD), (2, BAD), (3, BAD)], Breaker::Closed),
        (vec![(0, BAD), (1, BAD), (2, None), (3, BAD)], Breaker::Closed),
        (vec![(0, BAD), (1, BAD), (2, Some(Logic)), (3, BAD)], Breaker::Closed),
        (vec![(0, BAD), (1, Some(Transient)), (2, BAD), (3, BAD)], Breaker::Closed),
        (vec![(0, Some(Resource)), (1, Some(Resource)), (2, Some(Resource))], Breaker::Closed),
        (vec![(0, Some(Blocked)), (1, Some(Ambiguous)), (2, Some(Logic))], Breaker::Closed),
        // Three within the half hour, not three ever.
        (vec![(0, BAD), (1, BAD), (30, BAD)], Breaker::Closed),
        (vec![(0, BAD), (1, BAD), (29, BAD)], open(0)),
        // Once open it stays so until the moment that it names, although the oldest failure grows old meanwhile.
        (vec![(5, BAD), (19, BAD), (33, BAD)], open(5)),
        (vec![(29, BAD), (43, BAD), (57, BAD)], open(29)),
        (vec![(30, BAD), (31, BAD), (32, BAD)], Breaker::Closed),
        (vec![(300, BAD), (301, BAD), (302, BAD)], Breaker::Closed),
        // Another machine's clock may be ahead.
        (vec![(-2, BAD), (0, BAD), (1, BAD)], open(-2)),
    ];
    for (list, wanted) in table {
        assert_eq!(breaker(&endings(&list), 3, PAUSE, NEVER, NOW), wanted, "{list:?}");
    }
}

#[test]
fn a_person_can_clear_it() {
    let bad = Some(FailureMode::Environment);
    let list = endings(&[(1, bad), (2, bad), (3, bad), (4, bad)]);
    let open = Breaker::Open { until: NOW - MINUTE + PAUSE };
    for (cleared, wanted) in [
        (NOW, Breaker::Closed),
        (NOW - MINUTE, Breaker::Closed),
        (NOW - 3 * MINUTE, Breaker::Closed),
        (NOW - 4 * MINUTE, open),
        (NEVER, open),
    ] {
        assert_eq!(breaker(&list, 3, PAUSE, cleared, NOW), wanted);
    }
}

#[test]
fn other_numbers_and_none_at_all() {
    let bad = Some(FailureMode::Environment);
    let list = endings(&[(0, bad), (1, bad)]);
    let open = Breaker::Open { until: NOW + PAUSE };
    for (failures, pause, wanted) in [
        (0, PAUSE, Breaker::Closed),
        (1, PAUSE, open),
        (2, PAUSE, open),
        (3, PAUSE, Breaker::Closed),
        (usize::MAX, PAUSE, Breaker::Closed),
        (1, 0, Breaker::Closed),
        (1, i64::MAX, Breaker::Open { until: i64::MAX }),
    ] {
        assert_eq!(breaker(&list, failures, pause, NEVER, NOW), wanted, "{failures} {pause}");
    }
}

/// It is open just before the moment that it names, and closed from then on.
#[test]
fn it_keeps_the_moment_that_it_names() {
    let bad = Some(FailureMode::Environment);
    for gaps in [[0, 1, 2], [0, 14, 28], [0, 0, 0], [0, 29, 29]] {
        let list = endings(&gaps.map(|minutes| (minutes, bad)));
        let Breaker::Open { until } = breaker(&list, 3, PAUSE, NEVER, NOW) else { panic!("{gaps:?} is closed") };
        assert_eq!(breaker(&list, 3, PAUSE, NEVER, until - 1), Breaker::Open { until }, "{gaps:?}");
        assert_eq!(breaker(&list, 3, PAUSE, NEVER, until), Breaker::Closed, "{gaps:?}");
    }
}
