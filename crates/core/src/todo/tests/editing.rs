//! Edits, down to the byte.

use super::*;

#[test]
fn a_field_is_set_where_it_stands_or_behind_the_last_word() {
    let table = [
        ("- [ ] t1 a", Field::Assignee, "bob", "- [ ] t1 a assignee:bob"),
        ("- [ ] t1 a  \r\n", Field::Assignee, "bob", "- [ ] t1 a assignee:bob  \r\n"),
        ("- [ ] t1", Field::Model, "opus", "- [ ] t1 model:opus"),
        ("- [ ] t1  assignee:eve\tb\n", Field::Assignee, "bob", "- [ ] t1  assignee:bob\tb\n"),
        ("- [ ] t1 `assignee:eve` b\n", Field::Assignee, "bob", "- [ ] t1 `assignee:eve` b assignee:bob\n"),
        ("- [ ] t1 see assignee: x\n", Field::Assignee, "bob", "- [ ] t1 see assignee: x assignee:bob\n"),
        ("- [ ] t1 ~4h (ai:2h) b", Field::Estimate, "2h30m", "- [ ] t1 ~2h30m (ai:2h) b"),
        ("- [ ] t1 b", Field::Estimate, "30m", "- [ ] t1 b ~30m"),
        ("- [ ] t1 a\n- [ ] t2 b", Field::PullRequest, "#3", "- [ ] t1 a pr:#3\n- [ ] t2 b"),
        ("\u{feff}- [ ] t1 ä", Field::BlockedBy, "t2,t3.1", "\u{feff}- [ ] t1 ä blocked-by:t2,t3.1"),
    ];
    for (before, field, value, after) in table {
        let edited = Document::parse(before).set_field(&id("t1"), field, value).unwrap();
        assert_eq!(told(&edited), (after, Some(1)), "{before}");
        let again = edited.document.set_field(&id("t1"), field, value).unwrap();
        assert_eq!(told(&again), (after, None), "{before}");
    }
}

#[test]
fn a_field_goes_with_one_space() {
    let table = [
        ("- [ ] t1 a assignee:bob", Field::Assignee, "- [ ] t1 a"),
        ("- [ ] t1 assignee:bob a\r\n", Field::Assignee, "- [ ] t1 a\r\n"),
        ("- [ ] t1 a\u{a0}assignee:bob  \n", Field::Assignee, "- [ ] t1 a  \n"),
        ("- [ ] t1 a ~4h (ai:2h test:1h) #b\n", Field::Estimate, "- [ ] t1 a #b\n"),
        ("- [ ] t1 `assignee:x` assignee:bob\n", Field::Assignee, "- [ ] t1 `assignee:x`\n"),
    ];
    for (before, field, after) in table {
        let edited = Document::parse(before).remove_field(&id("t1"), field).unwrap();
        assert_eq!(told(&edited), (after, Some(1)), "{before}");
        let again = edited.document.remove_field(&id("t1"), field).unwrap();
        assert_eq!(told(&again), (after, None), "{before}");
    }
}

#[test]
fn a_box_changes_its_mark_alone() {
    let table = [
        ("\t* [ ] t1 a\r\n", Checkbox::Done, Some("\t* [x] t1 a\r\n")),
        ("- [X] t1 a", Checkbox::Done, None),
        ("- [X] t1 a", Checkbox::Unknown('x'), None),
        ("- [✓] t1 a", Checkbox::Declined, Some("- [-] t1 a")),
        ("- [ ] t1 a", Checkbox::Unknown('→'), Some("- [→] t1 a")),
    ];
    for (before, checkbox, after) in table {
        let edited = Document::parse(before).set_box(&id("t1"), checkbox).unwrap();
        assert_eq!(told(&edited), (after.unwrap_or(before), after.map(|_| 1)), "{before}");
    }
    let document = Document::parse("- [ ] t1 a");
    for mark in [']', '\n', '\r'] {
        assert_eq!(document.set_box(&id("t1"), Checkbox::Unknown(mark)), Err(EditError::BadMark(mark)));
    }
}

#[test]
fn what_is_ambiguous_or_unfit_is_refused() {
    let document = Document::parse("- [ ] t1 a\n- [ ] t2 assignee:a assignee:b\n- [ ] t1 c\n");
    let duplicate = Duplicate { id: id("t1"), lines: vec![1, 3] };
    assert_eq!(document.set_field(&id("t1"), Field::Assignee, "x"), Err(EditError::Duplicate(duplicate.clone())));
    assert_eq!(document.set_box(&id("t1"), Checkbox::Done), Err(EditError::Duplicate(duplicate)));
    assert_eq!(document.set_box(&id("t9"), Checkbox::Done), Err(EditError::Missing(id("t9"))));
    let repeated = EditError::Repeated { field: Field::Assignee, line: 2 };
    assert_eq!(document.remove_field(&id("t2"), Field::Assignee), Err(repeated.clone()));
    assert_eq!(document.set_field(&id("t2"), Field::Assignee, "a"), Err(repeated.clone()));
    assert_eq!(repeated.to_string(), "line 2 has `assignee:` more than once: leave one of them");
    let unfit = [
        (Field::Assignee, ""),
        (Field::Assignee, "a b"),
        (Field::Assignee, "a\nb"),
        (Field::Assignee, "a\u{a0}b"),
        (Field::Assignee, "`a`"),
        (Field::Started, "yesterday"),
        (Field::Completed, "2026-02-30"),
        (Field::Estimate, "4"),
        (Field::Actual, "long"),
        (Field::BlockedBy, "t1,"),
        (Field::Blocks, "x"),
    ];
    for (field, value) in unfit {
        let error = EditError::BadValue { field, value: value.to_owned() };
        assert_eq!(document.set_field(&id("t2"), field, value), Err(error));
    }
}

#[test]
fn a_task_is_added_at_the_end_of_its_section() {
    let line = "- [ ] t9 new";
    let table = [
        ("## A\n\n- [ ] t1 a\n\n## B\n", "A", "## A\n\n- [ ] t1 a\n- [ ] t9 new\n\n## B\n", 4),
        ("## A\r\n- [ ] t1 a\r\n  more\r\n\r\n", "A", "## A\r\n- [ ] t1 a\r\n  more\r\n- [ ] t9 new\r\n\r\n", 4),
        ("## A\r\n- [ ] t1 a", "A", "## A\r\n- [ ] t1 a\r\n- [ ] t9 new", 3),
        ("## A", "A", "## A\n- [ ] t9 new", 2),
        ("## A\n### B\n- [ ] t1 b\n", "A", "## A\n- [ ] t9 new\n### B\n- [ ] t1 b\n", 2),
        ("## A\n- [ ] t1 a\n\nB\n---\n", "A", "## A\n- [ ] t1 a\n- [ ] t9 new\n\nB\n---\n", 3),
        ("A\n===\n\ntext\n", "A", "A\n===\n\ntext\n- [ ] t9 new\n", 5),
    ];
    for (before, section, after, number) in table {
        let edited = Document::parse(before).append_task(section, line).unwrap();
        assert_eq!(told(&edited), (after, Some(number)), "{before}");
        assert_eq!(edited.document.task(&id("t9")).unwrap().map(|task| task.line), Some(number));
        assert_eq!(told(&edited.document.append_task(section, line).unwrap()), (after, None));
    }
}

#[test]
fn a_task_that_would_not_be_read_back_is_not_added() {
    let document = Document::parse("## A\n- [ ] t1 a\n## B\n## B\n## C\n```\nnever closed");
    let table = [
        ("A", "- [ ] t1 b", EditError::AlreadyThere { id: id("t1"), line: 2 }),
        ("B", "- [ ] t1 a", EditError::AlreadyThere { id: id("t1"), line: 2 }),
        ("B", "- [ ] t2 b", EditError::SectionTwice { title: "B".into(), lines: vec![3, 4] }),
        ("D", "- [ ] t2 b", EditError::NoSection("D".into())),
        ("C", "- [ ] t2 b", EditError::NotATask("- [ ] t2 b".into())),
        ("A", "- [ ] no id", EditError::NotATask("- [ ] no id".into())),
        ("A", "- [ ] t2 b\n", EditError::NotATask("- [ ] t2 b\n".into())),
        ("A", "text", EditError::NotATask("text".into())),
    ];
    for (section, line, error) in table {
        assert_eq!(document.append_task(section, line), Err(error), "{section} {line}");
    }
}
