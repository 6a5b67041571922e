//! One value changes, and every other byte stays.

use crate::roles::pack::{
    EditError, Frontmatter, set_value,
    yaml::{self, Node},
};
use proptest::prelude::*;

#[test]
fn a_value_is_changed_in_its_place() {
    let table = [
        ("---\nmodel: a/b\n---\nbody", "---\nmodel: c/d\n---\nbody"),
        ("---\nx: y\nmodel:   'a/b'   # mine\nz: 1\n---\n", "---\nx: y\nmodel:   c/d   # mine\nz: 1\n---\n"),
        ("---\nmodel:\nx: y\n---\n", "---\nmodel: c/d\nx: y\n---\n"),
        ("---\nmodel: # none\n---\n", "---\nmodel: c/d # none\n---\n"),
        ("---\nx: y\n---\nmodel: in the body\n", "---\nx: y\nmodel: c/d\n---\nmodel: in the body\n"),
        ("---\r\nx: y\r\n---\r\nb\r\n", "---\r\nx: y\r\nmodel: c/d\r\n---\r\nb\r\n"),
        ("---\n---\nbody", "---\nmodel: c/d\n---\nbody"),
        ("\u{feff}---\n\"model\": a\n---\n", "\u{feff}---\n\"model\": c/d\n---\n"),
    ];
    for (before, after) in table {
        assert_eq!(set_value(before, "model", "c/d").as_deref(), Ok(after), "{before:?}");
    }
}

#[test]
fn what_is_not_one_line_is_left_alone() {
    for head in ["model:\n  a: b", "model: |\n  text", "model: a\n  goes on", "model: [a]", "model:\n- a"] {
        let changed = set_value(&format!("---\n{head}\n---\n"), "model", "c/d");
        assert!(matches!(changed, Err(EditError::NotOneLine { line: 2, .. })), "{head}: {changed:?}");
    }
    assert_eq!(set_value("---\na: b\n---\n", "a", "two\nlines"), Err(EditError::Unwritable));
    assert!(matches!(set_value("no head", "a", "b"), Err(EditError::Unreadable(_))));
    // A key in the first column would not belong to the map above it.
    assert!(matches!(set_value("---\n  a: b\n---\n", "c", "d"), Err(EditError::Unreadable(_))));
}

fn lines() -> impl Strategy<Value = Vec<String>> {
    let value = prop_oneof!["[a-z][a-z/ .]{0,8}[a-z]", "\"[a-z: #]{0,8}\"", "'[a-z: #]{0,8}'", "[0-9]{1,3}"];
    let line = (value, prop_oneof!["", " # [a-z: ]{0,6}", " {1,3}"]);
    let other =
        prop_oneof![Just(String::new()), Just("# a comment: x".to_owned()), Just("map:\n  in: side".to_owned())];
    (proptest::collection::vec(line, 1..5), other).prop_map(|(values, other)| {
        let mut lines: Vec<String> =
            values.into_iter().enumerate().map(|(at, (value, tail))| format!("key{at}: {value}{tail}")).collect();
        lines.insert(lines.len() / 2, other);
        lines
    })
}

/// A value without its place in the text.
fn said(node: &Node) -> String {
    match &node.value {
        yaml::Value::Map(entries) => {
            entries.iter().map(|entry| format!("{:?}: {},", entry.key, said(&entry.value))).collect()
        }
        yaml::Value::List(items) => items.iter().map(|item| format!("- {},", said(item))).collect(),
        yaml::Value::Null | yaml::Value::Plain(_) | yaml::Value::Quoted(_) => format!("{:?}", node.value),
    }
}

proptest! {
    #[test]
    fn every_other_byte_stays(
        lines in lines(), newline in prop_oneof!["\n", "\r\n"], body in "[a-z:#\n-]{0,20}", key in 0usize..6, value in "[ -~äé]{1,12}",
    ) {
        let newline = newline.as_str();
        let text = format!("---{newline}{}{newline}---{newline}{body}", lines.join("\n").replace('\n', newline));
        let key = format!("key{key}");
        let changed = set_value(&text, &key, &value).expect("changed");
        let before = Frontmatter::parse(&text).expect("readable");
        let after = Frontmatter::parse(&changed).expect("still readable");
        prop_assert_eq!(after.text(&key), Some(value.as_str()));
        let own = |line: &&str| line.starts_with(&format!("{key}:"));
        let rest = |text: &str| text.split_inclusive('\n').filter(|line| !own(line)).collect::<String>();
        prop_assert_eq!(rest(&changed), rest(&text));
        for entry in before.entries().iter().filter(|entry| entry.key != key) {
            prop_assert_eq!(after.get(&entry.key).map(|entry| said(&entry.value)), Some(said(&entry.value)));
        }
        // The text behind the value stays too.
        if let Some(line) = text.lines().find(own) {
            let comment = line.rfind(" # ").map(|at| &line[at..]).filter(|_| !line.contains(['"', '\'']));
            prop_assert!(comment.is_none_or(|comment| changed.lines().any(|line| line.ends_with(comment))));
        }
    }
}
