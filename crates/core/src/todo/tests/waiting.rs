//! What waits for what.

use super::*;

#[test]
fn only_a_ticked_or_declined_box_releases() {
    let table: [(&str, &[(&str, BlockerState)]); 12] = [
        ("- [ ] t1\n- [ ] t2", &[]),
        ("- [ ] t1 blocked-by:t2\n- [ ] t2", &[("t2", BlockerState::Open)]),
        ("- [ ] t1 blocked-by:t2\n- [X] t2", &[]),
        ("- [ ] t1 blocked-by:t2\n- [-] t2", &[]),
        ("- [ ] t1 blocked-by:t2\n- [>] t2", &[("t2", BlockerState::Marked('>'))]),
        ("- [ ] t1 blocked-by:t2\n- [x] t2.1", &[("t2", BlockerState::Missing)]),
        ("- [ ] t1 blocked-by:soon,", &[("soon", BlockerState::NotAnId)]),
        ("- [ ] t1 blocked-by:t2\n- [x] t2\n- [x] t2", &[("t2", BlockerState::Ambiguous { lines: vec![2, 3] })]),
        (
            "- [ ] t1 blocked-by:t2,t3 blocked-by:t4\n- [x] t3",
            &[("t2", BlockerState::Missing), ("t4", BlockerState::Missing)],
        ),
        ("- [ ] t1\n- [ ] t2 blocks:t3,t1", &[("t2", BlockerState::Open)]),
        ("- [ ] t1 blocked-by:t2\n- [ ] t2 blocks:t1", &[("t2", BlockerState::Open)]),
        ("- [ ] t1 `blocked-by:t2` blocked-by: t2\n- [ ] t2", &[]),
    ];
    for (text, expected) in table {
        let expected: Vec<Blocker> =
            expected.iter().map(|(id, why)| Blocker { id: (*id).into(), why: why.clone() }).collect();
        assert_eq!(blockers(&Document::parse(text), &id("t1")), expected, "{text}");
    }
}

#[test]
fn circles_are_found_and_named_in_order() {
    let table = [
        ("- [ ] t1 blocked-by:t2\n- [ ] t2 blocked-by:t3\n- [ ] t3", ""),
        ("- [ ] t1 blocked-by:t1", "t1"),
        ("- [ ] t1 blocked-by:t2\n- [ ] t2 blocked-by:t3\n- [ ] t3 blocked-by:t1", "t1 t2 t3"),
        ("- [ ] t5 blocked-by:t1\n- [ ] t3\n- [ ] t1 blocks:t3 blocked-by:t3", "t3 t1"),
        ("- [ ] t1 blocked-by:t2\n- [x] t2 blocked-by:t1", ""),
        (
            "- [ ] t1 blocked-by:t2\n- [ ] t2 blocked-by:t1\n- [ ] t3 blocked-by:t4\n- [ ] t4 blocked-by:t3",
            "t1 t2|t3 t4",
        ),
        ("- [ ] t1\n- [ ] t1.1 blocked-by:t1", "t1 t1.1"),
        ("- [ ] t1 blocked-by:t1.1\n- [ ] t1.1", ""),
        ("- [ ] t1 blocked-by:t9", ""),
    ];
    for (text, expected) in table {
        let found = cycles(&Document::parse(text));
        let shown: Vec<String> =
            found.iter().map(|circle| circle.iter().map(TaskId::to_string).collect::<Vec<_>>().join(" ")).collect();
        assert_eq!(shown.join("|"), expected, "{text}");
    }
}

#[test]
fn a_long_chain_is_no_trouble() {
    let count = 20_000;
    let chain: String = (0..count).map(|n| format!("- [ ] t{n} blocked-by:t{}\n", n + 1)).collect();
    assert_eq!(cycles(&Document::parse(&chain)), Vec::<Vec<TaskId>>::new());
    let closed = Document::parse(&format!("{chain}- [ ] t{count} blocked-by:t0\n"));
    assert_eq!(cycles(&closed).iter().map(Vec::len).collect::<Vec<_>>(), [count + 1]);
}
