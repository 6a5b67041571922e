//! Whole loops, review by review.

use super::*;
use proptest::{collection::vec, prelude::*, sample::select};

fn finding(file: &str, line: u32, text: &str) -> Finding {
    Finding { severity: Severity::Major, file: Some(file.into()), line: Some(line), text: text.into() }
}

/// The steps that a loop takes through these reviews, in short words.
fn steps(reviews: &[Looked], limits: &Limits) -> Vec<String> {
    let mut state = State::default();
    let step = |looked: &Looked| {
        let (after, step) = next(&state, looked, limits);
        // A state is kept between reviews, so it has to survive being written.
        state = serde_json::from_str(&serde_json::to_string(&after).unwrap()).unwrap();
        assert_eq!(state, after);
        match step {
            Step::Fix { findings } => format!("fix {}", findings.len()),
            Step::Done => "done".into(),
            Step::Stop { because: Stop::Stuck { finding, times } } => format!("stuck {times} {}", finding.text),
            Step::Stop { because: Stop::MaxIterations { left } } => format!("max {}", left.len()),
            Step::Stop { because: Stop::NotReviewed } => "not reviewed".into(),
        }
    };
    reviews.iter().map(step).collect()
}

#[test]
fn a_loop_ends_in_one_of_four_ways() {
    let lock = |line| finding("src/a.rs", line, &format!("line {line}: the lock is never released"));
    let reworded = finding("./src/a.rs", 99, "the lock is still never released");
    let other = |number: u32| finding("b.rs", number, &format!("variable{number} shadows parameter{number}"));
    let remark = Finding { severity: Severity::Info, ..other(1) };
    let whole = |findings: &[Finding]| Looked::Whole(findings.to_vec());
    let two = Limits { max_iterations: 2, ..Limits::default() };
    let none = Limits { max_iterations: 0, ..Limits::default() };
    let standard = Limits::default();
    type Row<'a> = (&'a str, &'a Limits, Vec<Looked>, Vec<&'a str>);
    let table: Vec<Row<'_>> = vec![
        ("clean at once", &standard, vec![whole(&[])], vec!["done"]),
        ("a remark is clean", &standard, vec![whole(&[remark])], vec!["done"]),
        (
            "fixed",
            &standard,
            vec![whole(&[lock(1), other(1)]), whole(&[other(1)]), whole(&[])],
            vec!["fix 2", "fix 1", "done"],
        ),
        (
            "stuck, although the line moves and the words change",
            &standard,
            vec![whole(&[lock(10)]), whole(&[lock(44), other(1)]), whole(&[reworded])],
            vec!["fix 1", "fix 2", "stuck 3 the lock is still never released"],
        ),
        (
            "coming and going is stuck too",
            &standard,
            vec![whole(&[lock(1)]), whole(&[other(1)]), whole(&[lock(2)]), whole(&[other(1)]), whole(&[lock(3)])],
            vec!["fix 1", "fix 1", "fix 1", "fix 1", "stuck 3 line 3: the lock is never released"],
        ),
        (
            "always something new",
            &two,
            vec![whole(&[other(1)]), whole(&[other(2)]), whole(&[other(3)])],
            vec!["fix 1", "fix 1", "max 1"],
        ),
        (
            "clean after the last fix",
            &two,
            vec![whole(&[other(1)]), whole(&[other(2)]), whole(&[])],
            vec!["fix 1", "fix 1", "done"],
        ),
        ("no fix allowed", &none, vec![whole(&[other(1)])], vec!["max 1"]),
        ("nobody looked", &standard, vec![Looked::Partly(vec![])], vec!["not reviewed"]),
        ("some looked and found", &standard, vec![Looked::Partly(vec![lock(1)])], vec!["fix 1"]),
        (
            "the same twice is one, at two places two",
            &standard,
            vec![whole(&[lock(1), lock(1), lock(70)])],
            vec!["fix 2"],
        ),
    ];
    for (name, limits, reviews, expected) in table {
        assert_eq!(steps(&reviews, limits), expected, "{name}");
    }
}

#[test]
fn of_several_stuck_ones_the_oldest_then_the_gravest_is_named() {
    let old = Finding { severity: Severity::Minor, ..finding("a", 1, "old trouble remains here") };
    let grave = Finding { severity: Severity::Critical, ..finding("b", 1, "grave fault elsewhere") };
    let once = Limits { stuck_after: 2, ..Limits::default() };
    let both = Looked::Whole(vec![old.clone(), grave]);
    assert_eq!(steps(&[both.clone(), both.clone()], &once)[1], "stuck 2 grave fault elsewhere");
    let patient = Limits { stuck_after: 3, max_iterations: 9, ..Limits::default() };
    let loops = steps(&[Looked::Whole(vec![old]), both.clone(), both], &patient);
    assert_eq!(loops, ["fix 1", "fix 2", "stuck 3 old trouble remains here"]);
    let shown = serde_json::to_value(Step::Stop { because: Stop::NotReviewed }).unwrap();
    assert_eq!(shown, serde_json::json!({"step": "stop", "because": {"reason": "not_reviewed"}}));
}

proptest! {
    #[test]
    fn every_loop_ends_and_is_done_only_when_clean(
        reviews in vec(vec((select(vec!["a", "b"]), 0u32..9, "[a-c]{3}( [a-c]{3}){0,2}"), 0..4), 12),
        max_iterations in 0usize..6,
    ) {
        let limits = Limits { max_iterations, ..Limits::default() };
        let mut state = State::default();
        let mut ended = false;
        for review in reviews {
            let findings: Vec<Finding> = review.iter().map(|(file, line, text)| finding(file, *line, text)).collect();
            let is_clean = findings.is_empty();
            let (after, step) = next(&state, &Looked::Whole(findings), &limits);
            prop_assert_eq!(after.iterations.len(), state.iterations.len() + 1);
            state = after;
            match step {
                Step::Fix { findings } => prop_assert!(!findings.is_empty() && state.iterations.len() <= max_iterations),
                Step::Done => { prop_assert!(is_clean); ended = true; }
                Step::Stop { .. } => { prop_assert!(!is_clean); ended = true; }
            }
            if ended {
                break;
            }
        }
        prop_assert!(ended);
    }
}
