//! Configurations of any shape: what is entered can be read, what is taken out is gone, and all else stays.

use crate::roles::pack::config_text::{ConfigTextError, entry, register, unregister};
use jsonc_parser::{ParseOptions, parse_to_serde_value};
use proptest::prelude::*;
use serde_json::{Value, json};
use shuntyard_core::roles::pack::jsonc::JsoncError;

fn value() -> Value {
    json!({"type": "local", "command": ["shuntyard", "mcp"], "enabled": true})
}

fn read(text: &str) -> Value {
    parse_to_serde_value(text.trim_start_matches('\u{feff}'), &ParseOptions::default()).expect(text)
}

/// The same without our entry, and without a section that has nothing else in it.
fn without(mut document: Value, made_section: bool) -> Value {
    if let Some(section) = document.get_mut("mcp").and_then(Value::as_object_mut) {
        section.remove("shuntyard");
        if made_section && section.is_empty() {
            document.as_object_mut().expect("an object").remove("mcp");
        }
    }
    document
}

#[test]
fn the_edit_looks_like_the_file() {
    let table = [
        (
            "{\n    \"model\": \"p/m\" // mine\n}\n",
            "{\n    \"model\": \"p/m\", // mine\n    \"mcp\": {\n        \"shuntyard\": {\n            \"type\": \"local\",\n            \"command\": [\"shuntyard\", \"mcp\"],\n            \"enabled\": true\n        }\n    }\n}\n",
        ),
        (
            "{\r\n\t\"mcp\": {\r\n\t\t// none yet\r\n\t},\r\n}\r\n",
            "{\r\n\t\"mcp\": {\r\n\t\t// none yet\r\n\t\t\"shuntyard\": {\r\n\t\t\t\"type\": \"local\",\r\n\t\t\t\"command\": [\"shuntyard\", \"mcp\"],\r\n\t\t\t\"enabled\": true,\r\n\t\t},\r\n\t},\r\n}\r\n",
        ),
    ];
    let ordered = json!({"type": "local", "command": ["shuntyard", "mcp"], "enabled": true});
    for (before, after) in table {
        let registered = register(before, &ordered).expect(before);
        assert_eq!(read(&registered.text)["mcp"]["shuntyard"], value());
        assert_eq!(sorted_lines(&registered.text), sorted_lines(after), "{}", registered.text);
        let undone = unregister(&registered.text, registered.made_section).expect("undone");
        assert_eq!(read(&undone), read(before));
    }
}

/// The order of keys in what we enter is that of a map; which it is does not matter, nor which of them has no comma.
fn sorted_lines(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = text.split_inclusive('\n').map(|line| line.replace(',', "")).collect();
    lines.sort();
    lines
}

#[test]
fn what_is_no_object_is_refused() {
    let table = [
        ("[1]", JsoncError::NotObject("the whole".into())),
        ("{\"mcp\": []}", JsoncError::NotObject("\"mcp\"".into())),
        ("{\"mcp\": {}, \"mcp\": {}}", JsoncError::Twice("mcp".into())),
        ("{\"mcp\": {\"shuntyard\": 1, \"shuntyard\": 2}}", JsoncError::Twice("shuntyard".into())),
    ];
    for (text, error) in table {
        assert_eq!(register(text, &value()), Err(ConfigTextError::Text(error)), "{text}");
    }
    assert!(matches!(register("{", &value()), Err(ConfigTextError::Text(JsoncError::NotJson(_)))));
}

/// A comment, as anything between two tokens may be one. Each has a number, so that a lost one is missed.
fn comment() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => Just(String::new()),
        1 => (0..1_000_000_u32).prop_map(|number| format!(" /* block {number} */ ")),
        1 => (0..1_000_000_u32).prop_map(|number| format!(" // line {number}\n")),
        1 => Just("\n\n".to_owned()),
    ]
}

fn scalar() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z/ ]{0,8}".prop_map(|text| format!("\"{text}\"")),
        (-999..999_i32).prop_map(|number| number.to_string()),
        Just("true".to_owned()),
        Just("[1, 2 /* in a list */, ]".to_owned()),
    ]
}

fn object(values: BoxedStrategy<String>) -> BoxedStrategy<String> {
    let member = (comment(), "[a-z]{1,6}", comment(), values, comment());
    (prop::collection::vec(member, 0..5), any::<bool>(), comment(), any::<bool>())
        .prop_map(|(members, trailing, last, lines)| {
            let end = if lines { "\n" } else { "" };
            let count = members.len();
            let mut seen = std::collections::BTreeSet::new();
            let body: String = members
                .into_iter()
                .enumerate()
                .map(|(at, (before, name, between, value, after))| {
                    // Names differ by their place; `mcp` is put in by the test.
                    let name = if seen.insert(name.clone()) && name != "mcp" { name } else { format!("{name}{at}") };
                    let comma = if at + 1 < count || trailing { "," } else { "" };
                    format!("{end}  {before}\"{name}\":{between} {value}{after}{comma}")
                })
                .collect();
            format!("{{{body}{last}{end}}}")
        })
        .boxed()
}

fn document() -> impl Strategy<Value = String> {
    let inner = object(scalar().boxed());
    let section = prop_oneof![Just(None), object(scalar().boxed()).prop_map(Some)];
    (object(prop_oneof![scalar().boxed(), inner].boxed()), section, comment(), any::<bool>(), any::<bool>()).prop_map(
        |(outer, section, head, carriage, mark)| {
            let text = match section {
                Some(section) if outer.trim_start_matches('{').trim_start().starts_with('}') => {
                    outer.replacen('{', &format!("{{\"mcp\": {section}"), 1)
                }
                Some(section) => outer.replacen('{', &format!("{{\"mcp\": {section}, "), 1),
                None => outer,
            };
            let text = format!("{head}{text}\n");
            let text = if carriage { text.replace('\n', "\r\n") } else { text };
            if mark { format!("\u{feff}{text}") } else { text }
        },
    )
}

fn comments(text: &str) -> Vec<String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let numbered = words.windows(2).filter(|pair| matches!(pair[0], "block" | "line"));
    let mut found: Vec<String> = numbered.map(|pair| pair.join(" ")).collect();
    found.sort();
    found
}

proptest! {
    #[test]
    fn an_entry_goes_in_and_comes_out(text in document()) {
        let parsed: Result<Value, _> =
            parse_to_serde_value(text.trim_start_matches('\u{feff}'), &ParseOptions::default());
        prop_assume!(parsed.is_ok());
        let before = read(&text);
        let registered = register(&text, &value()).expect("registered");
        prop_assert_eq!(entry(&registered.text).expect("readable"), Some(value()));
        prop_assert_eq!(without(read(&registered.text), registered.made_section), before.clone());
        prop_assert_eq!(comments(&registered.text), comments(&text));
        prop_assert_eq!(registered.text.starts_with('\u{feff}'), text.starts_with('\u{feff}'));
        let again = register(&registered.text, &value()).expect("registered again");
        prop_assert_eq!(&again.text, &registered.text);
        let undone = unregister(&registered.text, registered.made_section).expect("undone");
        prop_assert_eq!(read(&undone), before);
        prop_assert_eq!(comments(&undone), comments(&text));
    }
}
