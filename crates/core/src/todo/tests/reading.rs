//! The content of a line, its place, and what is no task at all.

use super::*;
use std::time::Duration;

#[test]
fn a_line_with_everything() {
    let task = read(FULL);
    let hours = |count: u64| Duration::from_secs(count * 3600);
    assert_eq!((task.id.as_str(), task.checkbox, task.line), ("t001", Checkbox::Open, 1));
    assert_eq!(task.description, "Description text");
    assert_eq!(task.tags, ["tag", "auto-dispatch"]);
    let values: Vec<_> = task.fields.iter().map(|found| (found.field, found.value.as_str())).collect();
    let expected = [
        (Field::Estimate, "4h"),
        (Field::Assignee, "alice"),
        (Field::Started, "2026-11-16T04:00:00Z"),
        (Field::Reference, "GH#12"),
        (Field::BlockedBy, "t002,t003"),
        (Field::Blocks, "t004"),
        (Field::Logged, "2026-11-15"),
        (Field::Completed, "2026-11-16"),
        (Field::Actual, "3h"),
        (Field::Model, "sonnet"),
        (Field::PullRequest, "#34"),
        (Field::Verified, "2026-11-16"),
    ];
    assert_eq!(values, expected);
    let parts = vec![("ai".to_owned(), hours(2)), ("test".to_owned(), hours(1))];
    assert_eq!(task.estimate, Some(Estimate { total: hours(4), parts }));
    assert_eq!((task.actual(), task.github_issue()), (Some(hours(3)), Some(12)));
    assert_eq!(task.listed(Field::BlockedBy).collect::<Vec<_>>(), ["t002", "t003"]);
}

#[test]
fn a_field_is_a_whole_word_outside_of_back_ticks() {
    let table = [
        ("see assignee: field", None, "see assignee: field"),
        ("see assignee: bob", None, "see assignee: bob"),
        ("the `assignee:bob` field", None, "the `assignee:bob` field"),
        ("the ``assignee:bob ` x`` field", None, "the ``assignee:bob ` x`` field"),
        ("set `a assignee:bob b` here", None, "set `a assignee:bob b` here"),
        ("assignee:`bob`", None, "assignee:`bob`"),
        ("(assignee:bob)", None, "(assignee:bob)"),
        ("unassignee:bob", None, "unassignee:bob"),
        ("Assignee:bob", None, "Assignee:bob"),
        ("`assignee:eve` assignee:bob", Some("bob"), "`assignee:eve`"),
        ("don`t  stop assignee:bob now", Some("bob"), "don`t  stop now"),
        ("tab\tassignee:bob", Some("bob"), "tab"),
        ("hard space\u{a0}assignee:bob", Some("bob"), "hard space"),
        ("assignee:a:b", Some("a:b"), ""),
        ("assignee:eve text assignee:bob", Some("bob"), "text"),
    ];
    for (text, assignee, description) in table {
        let task = read(&format!("- [ ] t001 {text}"));
        assert_eq!((task.value(Field::Assignee), task.description.as_str()), (assignee, description), "{text}");
    }
}

#[test]
fn estimates_and_tags_are_told_from_prose() {
    let table: [(&str, Option<u64>, &[&str], &str); 11] = [
        ("~2h30m", Some(150), &[], ""),
        ("~1d", Some(1440), &[], ""),
        ("~4h (see below)", Some(240), &[], "(see below)"),
        ("~4h (ai:2h `test:1h)`", Some(240), &[], "(ai:2h `test:1h)`"),
        ("~4h (ai:2h model:1h) x", Some(240), &[], "x"),
        ("~/path ~5 ~ ~soon ~4h,", None, &[], "~/path ~5 ~ ~soon ~4h,"),
        ("#12 # #a, ##a", None, &[], "#12 # #a, ##a"),
        ("#a #b-c #d_e/f", None, &["a", "b-c", "d_e/f"], ""),
        ("`#a` #b", None, &["b"], "`#a`"),
        ("#größe", None, &["größe"], ""),
        ("C# is a language", None, &[], "C# is a language"),
    ];
    for (text, minutes, tags, description) in table {
        let task = read(&format!("- [ ] t001 {text}"));
        let total = task.estimate.as_ref().map(|estimate| estimate.total.as_secs() / 60);
        let seen = (total, task.tags.iter().map(String::as_str).collect::<Vec<_>>(), task.description.as_str());
        assert_eq!(seen, (minutes, tags.to_vec(), description), "{text}");
    }
}

#[test]
fn ids_are_exact() {
    for word in ["t1", "t001", "t001.2", "t001.2.1"] {
        assert_eq!(read(&format!("- [ ] {word} a")).id.as_str(), word);
    }
    for word in ["t", "001", "T001", "t001.", "t.1", "t001..1", "t1a", "t001:", "t٣", "`t001`", "fix-login", ""] {
        assert_eq!(Document::parse(&format!("- [ ] {word} a")).tasks().next(), None, "{word}");
    }
    let document = Document::parse("- [ ] t20.1 a\n- [ ] t2 b\n- [ ] t200 c\n- [ ] **t9** d\n");
    assert_eq!(document.task(&id("t20")), Ok(None));
    assert_eq!(document.tasks().count(), 3);
}

#[test]
fn an_id_on_two_lines_names_both() {
    let document = Document::parse("- [ ] t1 a\n\n- [x] t1 b\n- [ ] t2 c\n");
    let duplicate = document.task(&id("t1")).unwrap_err();
    assert_eq!(duplicate.to_string(), "t1 stands on more than one line: 1, 3");
    assert_eq!(document.task(&id("t2")).unwrap().map(|task| task.line), Some(4));
}

#[test]
fn sections_nest_and_hidden_lines_are_no_tasks() {
    let text = "\u{feff}- [ ] t0 first\r\n# Plan #\n- [ ] t1 a\n## Dispatch Queue\n### Urgent\n- [ ] t2 b\n```md\n\
        ## Not a heading\n- [ ] t3 shown\n```\n<!--\n- [ ] t4 put away\n-->\n#hashtag\n* [X] t5 c\n\nLater\n-----\n\
        + [-] t6 d\n####### too deep\n> - [ ] t7 quoted\n- [ ] t8 last";
    let document = Document::parse(text);
    let seen: Vec<String> = document.tasks().map(|task| format!("{} {}", task.id, task.sections.join("/"))).collect();
    let expected = [
        "t0 ",
        "t1 Plan",
        "t2 Plan/Dispatch Queue/Urgent",
        "t5 Plan/Dispatch Queue/Urgent",
        "t6 Plan/Later",
        "t8 Plan/Later",
    ];
    assert_eq!(seen, expected);
    assert_eq!(document.tasks().last().and_then(TaskLine::section), Some("Later"));
    assert_eq!(document.to_string(), text);
}

#[test]
fn parents_come_from_ids_and_from_indentation() {
    let table = [
        ("- [ ] t1\n  - [ ] t2\n    - [ ] t3\n  - [ ] t4\n- [ ] t5", "t1< t2<t1 t3<t2 t4<t1 t5<"),
        ("- [ ] t1\n\t- [ ] t2\n\t\t- [ ] t3", "t1< t2<t1 t3<t2"),
        ("- [ ] t1\n- [ ] t1.2.1\n- [ ] t1.2", "t1< t1.2.1<t1.2 t1.2<t1"),
        ("- [ ] t1\n- [ ] t1.2.1", "t1< t1.2.1<t1"),
        ("- [ ] t2\n  - [ ] t1.1", "t2< t1.1<t2"),
        ("- [ ] t2\n  - [ ] t1.1\n- [ ] t1", "t2< t1.1<t1 t1<"),
        ("- [ ] t1\n## Next\n  - [ ] t2", "t1< t2<"),
        ("- [ ] t1\n- plain\n  - [ ] t2", "t1< t2<"),
        ("- [ ] t1\n1. plain\n   - [ ] t2", "t1< t2<"),
        ("- [ ] t1\n  - plain\n    - [ ] t2", "t1< t2<t1"),
        ("- [ ] t1\n  - [ ] a step\n    - [ ] t2", "t1< t2<t1"),
        ("- [ ] t1\n\n  - [ ] t2", "t1< t2<t1"),
        ("- [ ] t1\nlazy text\n  - [ ] t2", "t1< t2<t1"),
        ("- [ ] t1\n\ntext\n\n  - [ ] t2", "t1< t2<"),
        ("- [ ] t1\n\n  text\n\n  - [ ] t2", "t1< t2<t1"),
        ("- [ ] t1.1\n  - [ ] t1", "t1.1<t1 t1<t1.1"),
    ];
    for (text, expected) in table {
        let document = Document::parse(text);
        let one = |task: &TaskLine| {
            format!("{}<{}", task.id, task.parent.as_ref().map(TaskId::to_string).unwrap_or_default())
        };
        assert_eq!(document.tasks().map(one).collect::<Vec<_>>().join(" "), expected, "{text}");
    }
}

#[test]
fn a_task_that_seems_to_be_its_own_ancestor_is_named_once() {
    let document = Document::parse("- [ ] t1.1 a\n  - [ ] t1 b\n- [ ] t1.1.5 c\n");
    let last = document.task(&id("t1.1.5")).unwrap().unwrap();
    let names = |tasks: Vec<&TaskLine>| tasks.iter().map(|task| task.id.to_string()).collect::<Vec<_>>();
    assert_eq!(names(document.ancestors(last)), ["t1.1", "t1"]);
    assert_eq!(names(document.descendants(&id("t1"))), ["t1.1", "t1.1.5"]);
}
