//! What an edit must not touch: texts in every layout that people write, changed at random places.

use super::*;
use proptest::{collection::vec, prelude::*};
use serde_json::json;

const MINE: [&str; 3] = ["agent", "validator", "model"];

/// Whether `whole` is `part` with something put in between.
fn is_kept(part: &str, whole: &str) -> bool {
    let mut letters = whole.chars();
    part.chars().all(|letter| letters.any(|other| other == letter))
}

fn comments(text: &str) -> Vec<&str> {
    text.lines().filter_map(|line| line.find("//").map(|at| &line[at..])).collect()
}

#[test]
fn a_new_value_comes_last_in_its_object() {
    let table = [
        ("{}", "{\n  \"agent\": {\n    \"validator\": {\n      \"model\": \"p/m\"\n    }\n  }\n}"),
        (
            "{\n  \"agent\": {\n    \"validator\": { \"mode\": \"all\" } // mine\n  }\n}\n",
            "{\n  \"agent\": {\n    \"validator\": { \"mode\": \"all\", \"model\": \"p/m\" } // mine\n  }\n}\n",
        ),
        (
            "{\n\t\"agent\": {\n\t\t\"validator\": {\n\t\t\t\"mode\": \"all\", // why\n\t\t},\n\t},\n}",
            "{\n\t\"agent\": {\n\t\t\"validator\": {\n\t\t\t\"mode\": \"all\", // why\n\t\t\t\"model\": \"p/m\",\n\t\t},\n\t},\n}",
        ),
        (
            "{\"agent\": {\"validator\": {\"model\" : /* was */ 'old/one' , \"x\": 1}}}",
            "{\"agent\": {\"validator\": {\"model\" : /* was */ \"p/m\" , \"x\": 1}}}",
        ),
    ];
    for (before, after) in table {
        assert_eq!(set_value(before, &MINE, &json!("p/m")).as_deref(), Ok(after), "{before}");
    }
}

#[test]
fn a_value_leaves_with_its_line_and_its_comma() {
    let table = [
        ("{\n  \"a\": 1, // one\n  \"b\": 2\n}\n", "b", "{\n  \"a\": 1 // one\n}\n"),
        ("{\n  \"a\": 1,\n  \"b\": 2, // two\n}\n", "a", "{\n  \"b\": 2, // two\n}\n"),
        ("{\"a\": 1, \"b\": 2}", "a", "{\"b\": 2}"),
        ("{\"a\": 1, \"b\": 2}", "b", "{\"a\": 1}"),
        ("{ \"a\": 1, \"b\": 2,\n  \"c\": 3 }", "b", "{ \"a\": 1,\n  \"c\": 3 }"),
        ("{\n  \"a\": 1, // one\n  \"b\": 2\n}\n", "a", "{\n  // one\n  \"b\": 2\n}\n"),
        ("{\"a\": 1 /* one */, \"b\": 2}", "a", "{/* one */ \"b\": 2}"),
        ("{\"a\": 1, /* two */ \"b\": 2}", "b", "{\"a\": 1 /* two */ }"),
        ("{\r\n\t\"a\": 1,\r\n\t\"b\": 2\r\n}", "b", "{\r\n\t\"a\": 1\r\n}"),
        ("{\"a\": 1}", "a", "{}"),
    ];
    for (before, key, after) in table {
        assert_eq!(remove_value(before, &[key]).as_deref(), Ok(after), "{before}");
    }
}

#[test]
fn only_what_says_nothing_counts_as_empty() {
    for text in ["{\"a\": {\"b\": 1}}", "{\"a\": { /* why */ }}", "{\"a\": []}", "{\"b\": {}}", "[1]"] {
        assert_eq!(remove_empty(text, &["a"]).as_deref(), Ok(text), "{text}");
    }
    assert_eq!(remove_empty("{\n  \"a\": {\n  },\n}", &["a"]).as_deref(), Ok("{\n}"));
}

#[test]
fn what_cannot_be_edited_safely_is_refused() {
    let table = [
        ("{\"agent\": [1]}", JsoncError::NotObject("\"agent\"".into())),
        ("[1]", JsoncError::NotObject("the whole".into())),
        ("{\"agent\": {}, \"agent\": {}}", JsoncError::Twice("agent".into())),
    ];
    for (text, expected) in table {
        assert_eq!(set_value(text, &MINE, &json!("p/m")), Err(expected), "{text}");
    }
    assert!(matches!(set_value("{", &MINE, &json!(1)), Err(JsoncError::NotJson(_))));
    assert_eq!(set_value("{}", &[], &json!(1)), Err(JsoncError::NoPath));
}

#[test]
fn the_same_value_changes_nothing_and_a_mark_stays() {
    let text = "\u{feff}{'agent': {validator: {\"model\": 'p/m'}}} // end";
    assert_eq!(set_value(text, &MINE, &json!("p/m")).as_deref(), Ok(text));
    assert_eq!(remove_value(text, &["agent", "other"]).as_deref(), Ok(text));
    let changed = set_value(text, &MINE, &json!("p/n")).unwrap();
    assert_eq!(changed, "\u{feff}{'agent': {validator: {\"model\": \"p/n\"}}} // end");
}

/// An object with keys `a`, `b`, … in a layout of its own.
fn object(depth: u32) -> BoxedStrategy<String> {
    let value = prop_oneof![
        Just("1".to_owned()),
        Just("'single'".to_owned()),
        Just("[1, /* in */ 2,]".to_owned()),
        if depth == 0 { Just("{ }".to_owned()).boxed() } else { object(depth - 1) },
    ];
    let gap =
        prop_oneof![Just(""), Just(" "), Just("\n  "), Just(" // said\n\t"), Just(" /* so */ "), Just("\r\n    ")];
    (vec((value, gap.clone(), gap.clone()), 0..4), gap, any::<bool>())
        .prop_map(|(fields, end, trailing)| {
            let last = fields.len().saturating_sub(1);
            let fields: String = fields
                .iter()
                .enumerate()
                .map(|(place, (value, before, after))| {
                    let name = ["agent", "b", "validator", "d"][place];
                    let comma = if place < last || trailing { "," } else { "" };
                    format!("{before}\"{name}\":{after}{value}{comma}")
                })
                .collect();
            format!("{{{fields}{end}}}")
        })
        .boxed()
}

proptest! {
    #[test]
    fn everything_else_keeps_its_bytes(text in object(2), key in prop::sample::select(vec!["agent", "z", "validator"])) {
        let path = [key, "fresh", "model"];
        let Ok(after) = set_value(&text, &path, &json!("p/m")) else {
            // Only a value that is no object prevents it.
            prop_assert!(value_at(&text, &[key]).unwrap().is_some_and(|found| !found.is_object()));
            return Ok(());
        };
        prop_assert!(is_kept(&text, &after), "{text:?} became {after:?}");
        prop_assert_eq!(comments(&text), comments(&after));
        let mut expected = value_at(&text, &[]).unwrap().unwrap();
        expected[key]["fresh"]["model"] = json!("p/m");
        prop_assert_eq!(value_at(&after, &[]).unwrap().unwrap(), expected);
        let again = set_value(&after, &path, &json!("q/n")).unwrap();
        prop_assert_eq!(again, after.replacen("\"p/m\"", "\"q/n\"", 1));
    }

    #[test]
    fn what_is_taken_away_leaves_the_rest(text in object(2), key in prop::sample::select(vec!["agent", "b", "z"])) {
        let after = remove_value(&text, &[key]).unwrap();
        let mut expected = value_at(&text, &[]).unwrap().unwrap();
        expected.as_object_mut().unwrap().remove(key);
        prop_assert_eq!(value_at(&after, &[]).unwrap().unwrap(), expected);
    }
}
