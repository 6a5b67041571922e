//! The same again and again is noticed; slow progress is not taken for it.

use super::*;
use proptest::{collection::vec, prelude::*, sample::select, test_runner::Config as Run};

/// At which turn, counted from 1, a circle is noticed, and what it is.
fn noticed<'a>(repeats: usize, turns: impl IntoIterator<Item = &'a str>) -> Option<(usize, String)> {
    let mut circles = Circles::new(repeats);
    (1..).zip(turns).find_map(|(at, turn)| circles.note(Turn(turn.to_owned())).map(|what| (at, what)))
}

fn cycle<'a>(pattern: &'a [&'a str], count: usize) -> impl Iterator<Item = &'a str> {
    pattern.iter().copied().cycle().take(count)
}

#[test]
fn what_repeats_is_noticed_as_soon_as_it_came_too_often() {
    type Case<'a> = (usize, &'a [&'a str], Option<(usize, &'a str)>);
    let table: [Case<'_>; 9] = [
        (3, &["a"], Some((3, "a"))),
        (6, &["a"], Some((6, "a"))),
        (2, &["a"], Some((2, "a"))),
        (3, &["a", "b"], Some((6, "a, then b"))),
        (3, &["a", "b", "c"], Some((9, "a, then b, then c"))),
        (3, &["a", "a", "b"], Some((9, "a, then a, then b"))),
        (6, &["a", "b", "c", "d"], Some((24, "a, then b, then c, then d"))),
        (10, &["a", "b", "c", "d"], Some((40, "a, then b, then c, then d"))),
        (3, &["a", "b", "c", "d", "e"], None),
    ];
    for (repeats, pattern, wanted) in table {
        let wanted = wanted.map(|(at, what)| (at, what.to_owned()));
        assert_eq!(noticed(repeats, cycle(pattern, 200)), wanted, "{pattern:?} × {repeats}");
    }
}

#[test]
fn a_circle_after_good_work_is_noticed_too() {
    let work: Vec<String> = (0..100).map(|number| format!("edit {number}")).collect();
    let turns = work.iter().map(String::as_str).chain(cycle(&["read", "test"], 12));
    assert_eq!(noticed(6, turns), Some((112, "read, then test".to_owned())));
}

#[test]
fn turns_that_vary_slowly_are_no_circle() {
    let numbered: Vec<String> = (0..500).map(|number| format!("edit line {number}")).collect();
    assert_eq!(noticed(2, numbered.iter().map(String::as_str)), None);
    // Edit and test, with another edit each time, is how work looks.
    let working = numbered.iter().flat_map(|edit| [edit.as_str(), "test"]);
    assert_eq!(noticed(2, working), None);
    // Five times in a row and then something else, again and again.
    let nearly: Vec<&str> = cycle(&["a", "a", "a", "a", "a", "b"], 200).collect();
    assert_eq!(noticed(6, nearly), None);
}

#[test]
fn one_other_turn_breaks_the_row() {
    let turns = cycle(&["a"], 5).chain(["b"]).chain(cycle(&["a"], 5));
    assert_eq!(noticed(6, turns), None);
}

#[test]
fn odd_numbers_of_repeats_are_survived() {
    for repeats in [0, 1] {
        assert_eq!(noticed(repeats, cycle(&["a"], 2)), Some((2, "a".to_owned())), "once is not again");
        assert_eq!(noticed(repeats, ["a"]), None);
    }
    assert_eq!(noticed(usize::MAX, cycle(&["a"], 1000)), None);
    assert_eq!(noticed(usize::MAX / 4 + 1, cycle(&["a"], 1000)), None);
}

proptest! {
    #![proptest_config(Run::default())]

    /// Nothing is noticed that the newest turns do not show, and nothing that they show is missed.
    #[test]
    fn noticed_is_what_the_newest_turns_show(
        repeats in 2..5_usize,
        turns in vec(select(vec!["a", "b"]), 1..60),
    ) {
        let mut circles = Circles::new(repeats);
        for (index, turn) in turns.iter().enumerate() {
            let so_far = &turns[..=index];
            let shown = (1..=4).find(|length| {
                let span = length * repeats;
                so_far.len() >= span && {
                    let newest = &so_far[so_far.len() - span..];
                    newest.iter().zip(&newest[*length..]).all(|(one, later)| one == later)
                }
            });
            let wanted = shown.map(|length| so_far[so_far.len() - length..].join(", then "));
            prop_assert_eq!(circles.note(Turn((*turn).to_owned())), wanted);
        }
    }
}
