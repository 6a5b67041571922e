//! What holds for any text.

use super::*;
use proptest::{collection::vec, prelude::*, sample::select};

fn any_words() -> impl Strategy<Value = String> {
    let word = select(vec![
        "text",
        "assignee:alice",
        "assignee:bob",
        "assignee:",
        "`assignee:eve`",
        "`",
        "``",
        "\\",
        "#tag",
        "#auto-dispatch",
        "#a-needed",
        "~4h",
        "(ai:2h",
        "test:1h)",
        "started:2026-11-16",
        "started:x",
        "blocked-by:t2,t1",
        "blocks:t3",
        "ä\u{a0}ö",
        "pr:#3",
        "completed:2026-01-01",
        "---",
    ]);
    let space = select(vec![" ", "  ", "\t", "\u{a0}"]);
    (vec((space, word), 0..6), select(vec!["", " ", "  ", "\r"])).prop_map(|(words, tail)| {
        words.into_iter().map(|(space, word)| format!("{space}{word}")).collect::<String>() + tail
    })
}

fn any_box() -> impl Strategy<Value = &'static str> {
    prop_oneof![4 => Just("- [ ] "), 4 => select(vec!["\t* [x] ", "  + [-] ", "- [>] ", "- [✓]\t"])]
}

/// Lines that are nearly right, in every way that matters; those that hide all that follows are rare.
fn any_line() -> impl Strategy<Value = String> {
    let indent = select(vec!["", "  ", "\t", "    ", "> "]);
    let other = select(vec!["- ", "", "## ", "1. "]);
    let hiding = select(vec!["```", "~~~", "<!-- ", "--> "]);
    let start = prop_oneof![9 => any_box(), 6 => other, 1 => hiding];
    let name = select(vec!["t1", "t2", "t3", "t1.1", "t1.2.1", "t20", "t1:", "Notes", ""]);
    (indent, start, name, any_words()).prop_map(|(indent, start, name, words)| format!("{indent}{start}{name}{words}"))
}

/// A file that has the task `t5` and a queue, unless a line above hides them.
fn any_file() -> impl Strategy<Value = String> {
    let ending = || select(vec!["\n", "\n", "\r\n", "\n\n"]);
    let noise = || vec((any_line(), ending()), 0..5);
    let task = (any_box(), any_words()).prop_map(|(start, words)| format!("{start}t5{words}"));
    let parts = (noise(), (task, ending()), noise(), ending(), noise());
    (parts, any::<bool>(), any::<bool>()).prop_map(|((above, task, between, ending, below), ends, marked)| {
        let queue = ("## Dispatch Queue".to_owned(), ending);
        let lines = above.into_iter().chain([task]).chain(between).chain([queue]).chain(below);
        let text: String = lines.map(|(line, ending)| format!("{line}{ending}")).collect();
        let text = if ends { text } else { text.trim_end_matches(['\r', '\n']).to_owned() };
        if marked { format!("\u{feff}{text}") } else { text }
    })
}

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![any_file(), any::<String>(), "[-*+ \t\r\n\\[\\]xX>#~`t0-9.:a-c]{0,80}"]
}

fn any_id() -> impl Strategy<Value = TaskId> {
    prop_oneof![6 => Just("t5"), 1 => select(vec!["t1", "t2", "t1.1"])].prop_map(id)
}

fn any_setting() -> impl Strategy<Value = (Field, &'static str)> {
    let date = select(vec!["2026-11-16", "2026-11-16T04:00:00Z", "2027-01-01"]);
    let value = select(vec!["alice", "carol", "#3", "GH#9", "a:b", "(x)", "ü"]);
    prop_oneof![
        (select(vec![Field::Started, Field::Logged, Field::Completed, Field::Verified]), date),
        (select(vec![Field::Assignee, Field::Reference, Field::Model, Field::PullRequest]), value),
        (select(vec![Field::Estimate, Field::Actual]), select(vec!["4h", "2h30m"])),
        (select(vec![Field::BlockedBy, Field::Blocks]), select(vec!["t2", "t2,t1"])),
    ]
}

/// Pieces that are all lines with their endings.
fn pieces(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

/// All lines but the one that was edited are the same, and so is what is read from them.
fn touches_one_line(before: &Document, edited: &Edited) -> Result<(), TestCaseError> {
    let (old, new) = (pieces(before.text()), pieces(edited.document.text()));
    prop_assert_eq!(old.len(), new.len());
    for (index, (old, new)) in old.iter().zip(&new).enumerate() {
        let changed = edited.line == Some(index + 1);
        prop_assert_eq!(old != new, changed, "line {}", index + 1);
    }
    let others = |document: &Document| -> Vec<TaskLine> {
        document.tasks().filter(|task| Some(task.line) != edited.line).cloned().collect()
    };
    prop_assert_eq!(others(before), others(&edited.document));
    prop_assert_eq!(&Document::parse(edited.document.text()), &edited.document);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2 * ProptestConfig::default().cases))]

    #[test]
    fn any_text_survives(text in any_text()) {
        let document = Document::parse(&text);
        prop_assert_eq!(&document.to_string(), &text);
        let mut reached = if text.starts_with('\u{feff}') { 3 } else { 0 };
        for line in &document.lines {
            prop_assert_eq!(line.start, reached);
            prop_assert!(line.start <= line.end && line.end <= line.next);
            prop_assert!(["", "\n", "\r\n"].contains(&&text[line.end..line.next]));
            reached = line.next;
        }
        prop_assert_eq!(reached, text.len());
        for task in document.tasks() {
            let line = document.line(task.line);
            prop_assert_eq!(line[task.mark.clone()].chars().count(), 1);
            for found in &task.fields {
                let word = format!("{}{}", found.field.prefix(), found.value);
                prop_assert_eq!(&line[found.word.clone()], word.as_str());
            }
        }
    }

    #[test]
    fn a_field_that_is_set_is_read_back(text in any_file(), id in any_id(), (field, value) in any_setting()) {
        let document = Document::parse(&text);
        let Ok(edited) = document.set_field(&id, field, value) else { return Ok(()) };
        touches_one_line(&document, &edited)?;
        let (old, new) = (document.task(&id).unwrap().unwrap(), edited.document.task(&id).unwrap().unwrap());
        prop_assert_eq!(new.values(field).collect::<Vec<_>>(), [value]);
        prop_assert_eq!((&old.description, &old.tags, old.checkbox), (&new.description, &new.tags, new.checkbox));
        for other in Field::ALL.into_iter().filter(|other| *other != field) {
            prop_assert_eq!(old.values(other).collect::<Vec<_>>(), new.values(other).collect::<Vec<_>>());
        }
        let again = edited.document.set_field(&id, field, value).unwrap();
        prop_assert_eq!(told(&again), (edited.document.text(), None));
        let removed = edited.document.remove_field(&id, field).unwrap();
        touches_one_line(&edited.document, &removed)?;
        prop_assert_eq!(removed.document.task(&id).unwrap().unwrap().value(field), None);
        if old.value(field).is_none() {
            prop_assert_eq!(removed.document.text(), document.text());
        }
    }

    #[test]
    fn a_box_that_is_set_is_read_back(text in any_file(), id in any_id(), mark in select(vec![' ', 'x', '-', '>', 'é'])) {
        let document = Document::parse(&text);
        let checkbox = Checkbox::of(mark);
        let Ok(edited) = document.set_box(&id, checkbox) else { return Ok(()) };
        touches_one_line(&document, &edited)?;
        prop_assert_eq!(edited.document.task(&id).unwrap().unwrap().checkbox, checkbox);
    }

    #[test]
    fn a_claim_has_one_holder_and_touches_one_line(text in any_file(), id in any_id()) {
        let document = Document::parse(&text);
        let now = "2026-11-16T04:00:00Z";
        let Ok(claimed) = claim(&document, &id, "alice", now) else { return Ok(()) };
        touches_one_line(&document, &claimed)?;
        let task = claimed.document.task(&id).unwrap().unwrap();
        prop_assert!(task.values(Field::Assignee).all(|name| name == "alice"));
        prop_assert!(claim(&claimed.document, &id, "bob", now).is_err());
        prop_assert!(unclaim(&claimed.document, &id, "bob", Force::No).is_err());
        prop_assert!(pickable(&claimed.document).picks.iter().all(|pick| pick.id != id));
    }

    #[test]
    fn a_task_that_is_added_moves_nothing(text in any_file()) {
        let document = Document::parse(&text);
        let Ok(edited) = document.append_task("Dispatch Queue", "- [ ] t777 new") else { return Ok(()) };
        let place = edited.line.unwrap();
        let bare = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
        let mut lines = bare(edited.document.text());
        prop_assert_eq!(lines.remove(place - 1), "- [ ] t777 new");
        prop_assert_eq!(lines, bare(&text));
        prop_assert!(pickable(&edited.document).picks.iter().any(|pick| pick.id.as_str() == "t777"));
    }

    #[test]
    fn decisions_end_for_any_text(text in any_text()) {
        let document = Document::parse(&text);
        for circle in cycles(&document) {
            prop_assert!(!circle.is_empty());
        }
        let pickup = pickable(&document);
        for pick in &pickup.picks {
            prop_assert_eq!(blockers(&document, &pick.id), []);
            prop_assert!(document.task(&pick.id).unwrap().unwrap().value(Field::Assignee).is_none());
        }
        for difference in reconcile(&document, &[]) {
            let is_of_the_file = matches!(difference, Difference::OnlyInFile { .. } | Difference::Ambiguous { .. });
            prop_assert!(is_of_the_file);
        }
    }
}
