//! Where the store and the file disagree.

use super::*;

fn stored(name: &str, phase: StoredPhase, assignee: Option<&str>) -> StoredTask {
    StoredTask { id: id(name), phase, assignee: assignee.map(str::to_owned) }
}

#[test]
fn each_side_has_what_the_other_lacks() {
    let document = Document::parse("- [ ] t1 a\n- [x] t2 b\n- [ ] t3\n- [ ] t3\n- [ ] t4\n- [ ] t4");
    let named = stored("fix-login", StoredPhase::Cancelled, None);
    let store = [stored("t9", StoredPhase::Open, None), named, stored("t3", StoredPhase::Done, None)];
    let expected = [
        Difference::OnlyInStore { id: id("t9"), phase: StoredPhase::Open },
        Difference::OnlyInStore { id: id("fix-login"), phase: StoredPhase::Cancelled },
        Difference::Ambiguous { id: id("t3"), lines: vec![3, 4] },
        Difference::OnlyInFile { id: id("t1"), line: 1, checkbox: Checkbox::Open },
        Difference::OnlyInFile { id: id("t2"), line: 2, checkbox: Checkbox::Done },
        Difference::Ambiguous { id: id("t4"), lines: vec![5, 6] },
    ];
    assert_eq!(reconcile(&document, &store), expected);
    assert_eq!(reconcile(&Document::parse(""), &[]), []);
}

#[test]
fn ends_and_assignees_are_compared() {
    let (open, done, cancelled) = (StoredPhase::Open, StoredPhase::Done, StoredPhase::Cancelled);
    let (t1, line) = (id("t1"), 1);
    let file_ended = |checkbox| Some(Difference::FileEnded { id: t1.clone(), line, checkbox });
    let store_ended = |checkbox, phase| Some(Difference::StoreEnded { id: t1.clone(), line, checkbox, phase });
    let ends_differ = |checkbox, phase| Some(Difference::EndsDiffer { id: t1.clone(), line, checkbox, phase });
    let assignee = |file: Option<&str>, store: Option<&str>| {
        let (file, store) = (file.map(str::to_owned), store.map(str::to_owned));
        Some(Difference::AssigneeDiffers { id: t1.clone(), line, file, store })
    };
    let table = [
        ("- [ ] t1", open, None, None),
        ("- [x] t1", done, None, None),
        ("- [-] t1", cancelled, None, None),
        ("- [>] t1", open, None, None),
        ("- [x] t1", open, None, file_ended(Checkbox::Done)),
        ("- [-] t1", open, Some("bob"), file_ended(Checkbox::Declined)),
        ("- [ ] t1", done, None, store_ended(Checkbox::Open, done)),
        ("- [>] t1", cancelled, None, store_ended(Checkbox::Unknown('>'), cancelled)),
        ("- [x] t1", cancelled, None, ends_differ(Checkbox::Done, cancelled)),
        ("- [-] t1", done, None, ends_differ(Checkbox::Declined, done)),
        ("- [ ] t1 assignee:bob", open, Some("bob"), None),
        ("- [ ] t1 assignee:bob", open, Some("eve"), assignee(Some("bob"), Some("eve"))),
        ("- [ ] t1 assignee:bob", open, None, assignee(Some("bob"), None)),
        ("- [ ] t1", open, Some("eve"), assignee(None, Some("eve"))),
        ("- [x] t1 assignee:bob", done, Some("eve"), None),
    ];
    for (text, phase, who, expected) in table {
        let differences = reconcile(&Document::parse(text), &[stored("t1", phase, who)]);
        assert_eq!(differences, expected.into_iter().collect::<Vec<_>>(), "{text} {phase:?} {who:?}");
    }
}
