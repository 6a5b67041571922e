//! Which findings are one and which are not, and what is made of answers that are none.

use super::*;
use crate::values::Percent;
use crate::values::Severity;
use proptest::{collection::vec, option, prelude::*, sample::select};
use serde_json::{Value, json};

fn finding(file: &str, line: u32, text: &str) -> Finding {
    let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    Finding { severity: Severity::Minor, file: some(file), line: (line > 0).then_some(line), text: text.to_owned() }
}

fn answered(findings: Vec<Finding>) -> Reviewed {
    Reviewed::Answered(Review { verdict: Opinion::Approve, findings, confidence: 1.0 })
}

/// Who found each group, the groups by their first line and text.
fn grouped(reviews: &[Vec<Finding>]) -> Vec<Vec<usize>> {
    let reviews: Vec<Reviewed> = reviews.iter().cloned().map(answered).collect();
    let mut groups = consensus(&reviews, &Sameness::default()).groups;
    groups.sort_by_key(|group| (group.line, group.findings[0].finding.text.clone()));
    groups.into_iter().map(|group| group.found_by).collect()
}

#[test]
fn place_and_words_make_findings_one() {
    let sql = "SQL injection through the user name";
    let same = "the user name allows SQL injection";
    type Row<'a> = (&'a str, Vec<Vec<Finding>>, Vec<Vec<usize>>);
    let table: Vec<Row<'_>> = vec![
        (
            "the same line decides alone",
            vec![vec![finding("a", 5, "boom")], vec![finding("./a", 5, "crash")]],
            vec![vec![0, 1]],
        ),
        ("a close line needs words", vec![vec![finding("a", 5, sql)], vec![finding("a", 8, same)]], vec![vec![0, 1]]),
        (
            "a close line without words",
            vec![vec![finding("a", 5, "boom")], vec![finding("a", 6, "crash")]],
            vec![vec![0], vec![1]],
        ),
        ("too far away", vec![vec![finding("a", 5, sql)], vec![finding("a", 9, sql)]], vec![vec![0], vec![1]]),
        ("no line, the same words", vec![vec![finding("a", 0, sql)], vec![finding("a", 900, same)]], vec![vec![0, 1]]),
        (
            "no line, other words",
            vec![vec![finding("a", 0, "boom")], vec![finding("a", 9, "crash")]],
            vec![vec![0], vec![1]],
        ),
        ("another file", vec![vec![finding("a", 5, sql)], vec![finding("b", 5, sql)]], vec![vec![0], vec![1]]),
        ("no file at all", vec![vec![finding("", 0, sql)], vec![finding("", 0, same)]], vec![vec![0, 1]]),
        (
            "a file is not the whole",
            vec![vec![finding("", 0, sql)], vec![finding("a", 0, sql)]],
            vec![vec![0], vec![1]],
        ),
        (
            "where a reviewer says several things, words decide",
            vec![vec![finding("a", 5, sql)], vec![finding("a", 5, "a bad variable"), finding("a", 5, same)]],
            vec![vec![0, 1], vec![1]],
        ),
        ("one reviewer twice is one reviewer", vec![vec![finding("a", 5, sql), finding("a", 5, sql)]], vec![vec![0]]),
    ];
    for (name, reviews, mut expected) in table {
        let mut found = grouped(&reviews);
        found.sort();
        expected.sort();
        assert_eq!(found, expected, "{name}");
    }
}

#[test]
fn a_chain_of_close_lines_does_not_grow() {
    let reviews: Vec<Vec<Finding>> =
        (0..20u32).map(|reviewer| vec![finding("a", 1 + 3 * reviewer, "unwrap may panic")]).collect();
    assert_eq!(grouped(&reviews).len(), 10);
}

#[test]
fn a_group_tells_how_many_of_those_who_answered() {
    let grave = Finding { severity: Severity::Critical, ..finding("a", 5, "the lock is never released") };
    let reviews = [
        answered(vec![finding("a", 6, "the lock is not released")]),
        answered(vec![grave, finding("b", 1, "unused")]),
        answered(vec![]),
        Reviewed::Silent { why: "timeout\u{7}".into() },
        Reviewed::Invalid { faults: parse(&json!({})).unwrap_err() },
    ];
    let found = consensus(&reviews, &Sameness::default());
    assert_eq!((found.asked, found.answered), (5, 3));
    assert_eq!(found.verdicts, Counts { approve: 3, unknown: 2, ..Counts::default() });
    let lock = &found.groups[0];
    assert_eq!((lock.severity, lock.answered, lock.agreement), (Severity::Critical, 3, Percent::new(66)));
    assert_eq!((lock.found_by.as_slice(), lock.text.as_str()), ([0, 1].as_slice(), "the lock is never released"));
    let why: Vec<&str> = found.unknown.iter().map(|unknown| unknown.why.as_str()).collect();
    assert_eq!(why, ["it did not answer: timeout\u{fffd}", "its answer is not valid: verdict is missing"]);
    let shown = serde_json::to_value(&found).unwrap();
    assert_eq!(shown["groups"][0]["severity"], "critical");
    assert_eq!(shown["groups"][0]["findings"][0]["reviewer"], 1);
}

fn review(change: impl FnOnce(&mut Value)) -> Value {
    let mut value = json!({"verdict": "reject", "confidence": 0.5,
        "findings": [{"severity": "major", "file": "a.rs", "line": 3, "text": "wrong"}]});
    change(&mut value);
    value
}

#[test]
fn a_review_is_read_or_has_faults() {
    let good = parse(&review(|_| ())).unwrap();
    assert_eq!(good.findings[0].line, Some(3));
    let schema = crate::values::schema::AnswerSchema::parse(&schema().to_string()).unwrap();
    assert!(schema.faults(&review(|_| ())).is_empty());
    let table: [(Value, &str); 9] = [
        (review(|value| value["verdict"] = json!("lgtm")), "verdict is `lgtm` and may be approve, reject, unsure"),
        (review(|value| value["confidence"] = json!(1.1)), "confidence is outside 0 to 1"),
        (review(|value| value["findings"][0]["line"] = json!(u64::MAX)), "findings[0].line is outside 0 to 10000000"),
        (review(|value| value["findings"][0]["line"] = json!(-1)), "findings[0].line is outside 0 to 10000000"),
        (review(|value| value["findings"][0]["line"] = json!("3")), "findings[0].line is not a number"),
        (review(|value| value["findings"][0]["text"] = json!("\u{200b} ")), "findings[0].text has no text"),
        (
            review(|value| value["findings"][0]["severity"] = json!("blocker")),
            "findings[0].severity is `blocker` and may be critical, major, minor, info",
        ),
        (review(|value| value["findings"] = json!(vec![0; 51])), "findings has more than 50 entries"),
        (json!(null), "the answer is not an object"),
    ];
    for (value, expected) in table {
        assert_eq!(parse(&value).unwrap_err()[0].to_string(), expected);
        assert!(!schema.faults(&value).is_empty() || expected.ends_with("no text"), "{expected}");
    }
}

#[test]
fn what_a_review_says_is_cut_and_cleaned() {
    let value = review(|value| {
        value["findings"][0]["text"] = json!(format!("\u{1b}]0;x{}", "y".repeat(1_000_000)));
        value["findings"][0]["file"] = json!("a\n\u{202e}b.rs");
        value["findings"][0]["line"] = json!(0);
    });
    let found = parse(&value).unwrap().findings.remove(0);
    assert_eq!(found.text.chars().count(), 2000);
    assert!(!found.text.contains('\u{1b}'));
    assert_eq!((found.file.as_deref(), found.line), (Some("a b.rs"), None));
    let nowhere = review(|value| value["findings"][0]["file"] = Value::Null);
    assert_eq!(parse(&nowhere).unwrap().findings[0].line, None, "a line of no file");
}

fn any_finding() -> impl Strategy<Value = Finding> {
    let texts = select(vec!["lock never released", "the lock is released twice", "unwrap may panic", "panic", "x"]);
    let severities = select(vec![Severity::Info, Severity::Major, Severity::Critical]);
    (severities, option::of(select(vec!["a", "b"])), option::of(1u32..12), texts).prop_map(
        |(severity, file, line, text)| Finding {
            severity,
            file: file.map(Into::into),
            line: line.filter(|_| file.is_some()),
            text: text.into(),
        },
    )
}

proptest! {
    #[test]
    fn grouping_loses_nothing_and_knows_no_order(reviews in vec(vec(any_finding(), 0..5), 1..6), turn in 0usize..6) {
        let sameness = Sameness::default();
        let all: Vec<Reviewed> = reviews.iter().cloned().map(answered).collect();
        let found = consensus(&all, &sameness);
        let total: usize = found.groups.iter().map(|group| group.findings.len()).sum();
        prop_assert_eq!(total, reviews.iter().map(Vec::len).sum::<usize>());
        for group in &found.groups {
            let lines: Vec<u32> = group.findings.iter().filter_map(|found| found.finding.line).collect();
            let span = lines.iter().max().zip(lines.iter().min()).map_or(0, |(most, least)| most - least);
            prop_assert!(span <= sameness.line_tolerance);
            prop_assert!(group.found_by.len() <= found.answered);
        }
        let count = all.len();
        let mut turned = all.clone();
        turned.rotate_left(turn % count);
        let renamed = |reviewer: usize| (reviewer + turn % count) % count;
        let mut there: Vec<(String, Vec<usize>)> = consensus(&turned, &sameness).groups.into_iter().map(|group| {
            let mut by: Vec<usize> = group.found_by.iter().map(|reviewer| renamed(*reviewer)).collect();
            by.sort_unstable();
            (group.text, by)
        }).collect();
        let mut here: Vec<(String, Vec<usize>)> =
            found.groups.into_iter().map(|group| (group.text, group.found_by)).collect();
        there.sort();
        here.sort();
        prop_assert_eq!(here, there);
    }
}
