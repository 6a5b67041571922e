//! `docs/configuration.md` lists every setting with the words, the value and the order of the built-in file,
//! and with the variables that are really looked up.

use super::keep;
use std::cell::RefCell;
use switchyard_core::config::{DEFAULTS, Layered, overrides_from_variables};
use toml::Value;

#[test]
fn every_setting_is_documented() {
    let values: toml::Table = DEFAULTS.parse().expect("the built-in settings are TOML");
    let variables = variables();
    let mut text = String::new();
    let mut documented = Vec::new();
    for section in sections() {
        let table = match section.name.as_str() {
            "" => &values,
            name => values[name].as_table().expect("a section is a table"),
        };
        let title = if section.name.is_empty() { "Top level".into() } else { format!("`[{}]`", section.name) };
        text.push_str(&format!("### {title}\n\n"));
        if !section.about.is_empty() {
            text.push_str(&format!("{}\n\n", section.about));
        }
        text.push_str(&section.head());
        for (key, about) in &section.settings {
            let path = if section.name.is_empty() { key.clone() } else { format!("{}.{key}", section.name) };
            text.push_str(&row(&section, key, about, &table[key], &variables, &path));
            documented.push(path);
        }
        text.push('\n');
    }
    documented.sort();
    let known: Vec<String> = Layered::merge(&[]).expect("they merge").origins.into_keys().collect();
    assert_eq!(documented, known, "the built-in file is laid out in a way that this test cannot read");
    keep("docs/configuration.md", &text);
}

/// A table of the file: what is said above it, and its settings, each with what is said above that.
#[derive(Debug, Default)]
struct Section {
    name: String,
    about: String,
    settings: Vec<(String, String)>,
}

impl Section {
    /// Whether its keys are names that a user may add.
    fn is_open(&self) -> bool {
        matches!(self.name.as_str(), "tiers" | "task_types")
    }

    fn head(&self) -> String {
        let columns: &[&str] = match self.name.as_str() {
            "tiers" => &["tier", "models, in order"],
            "task_types" => &["task type", "tier"],
            _ => &["setting", "default", "meaning", "variable"],
        };
        let rule = vec!["---"; columns.len()];
        format!("| {} |\n| {} |\n", columns.join(" | "), rule.join(" | "))
    }
}

fn row(section: &Section, key: &str, about: &str, value: &Value, variables: &[Vec<String>], path: &str) -> String {
    if section.is_open() {
        let names = match value {
            Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
            other => other.as_str().into_iter().collect::<Vec<_>>(),
        };
        let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        return format!("| `{key}` | {} |\n", names.join(", "));
    }
    assert!(!about.is_empty(), "{path} has no comment in the built-in file");
    let long = format!("SWITCHYARD_{}", path.to_uppercase().replace('.', "_"));
    let names = variables.iter().find(|names| names[0] == long).unwrap_or_else(|| panic!("{long} is not looked up"));
    // The short name, when there is one, is the one to use.
    let names: Vec<String> = names.iter().rev().map(|name| format!("`{name}`")).collect();
    format!("| `{path}` | `{value}` | {about} | {} |\n", names.join(", "))
}

/// The built-in file, read by its lines: a comment belongs to what follows it without an empty line, and goes
/// on to the next setting when that has none of its own.
fn sections() -> Vec<Section> {
    let mut sections = vec![Section::default()];
    let (mut comment, mut about) = (String::new(), String::new());
    for line in DEFAULTS.lines() {
        let section = sections.last_mut().expect("one is always there");
        if let Some(words) = line.strip_prefix('#') {
            comment = format!("{comment} {}", words.trim()).trim().to_owned();
        } else if let Some(name) = line.strip_prefix('[') {
            let name = name.trim_end_matches(']').to_owned();
            sections.push(Section { name, about: std::mem::take(&mut comment), settings: Vec::new() });
            about.clear();
        } else if line.is_empty() {
            comment.clear();
        } else if let Some((key, _)) = line.split_once(" = ") {
            if !comment.is_empty() {
                about = std::mem::take(&mut comment);
            }
            section.settings.push((key.to_owned(), about.clone()));
        }
    }
    sections
}

/// The variables that set something, each with its other name if it has one, as they are asked for.
fn variables() -> Vec<Vec<String>> {
    let asked: RefCell<Vec<Vec<String>>> = RefCell::default();
    let known: Vec<String> = Layered::merge(&[]).expect("they merge").origins.into_keys().collect();
    let is_long =
        |name: &str| known.iter().any(|path| name == format!("SWITCHYARD_{}", path.to_uppercase().replace('.', "_")));
    let set = overrides_from_variables(|name| {
        let mut asked = asked.borrow_mut();
        match asked.last_mut() {
            Some(names) if !is_long(name) => names.push(name.to_owned()),
            _ => asked.push(vec![name.to_owned()]),
        }
        None
    });
    assert!(set.is_empty(), "no variable was given");
    asked.into_inner()
}
