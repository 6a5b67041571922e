//! `docs/configuration.md` lists every setting with the words, the value and the order of the built-in file, and with
//! the variables that are really read.

use super::keep;
use shuntyard_core::settings::{DEFAULTS, Section, overrides_from_variables, sections};
use std::cell::RefCell;
use toml::{Table, Value};

/// Phrases are many, so only the first are shown.
const SHOWN: usize = 6;

#[test]
fn every_setting_is_documented() {
    let values: Table = DEFAULTS.parse().expect("the built-in settings are TOML");
    let variables = variables();
    let mut text = String::new();
    let mut documented = Vec::new();
    for group in sections().chunk_by(|left, right| left.is_entry() && left.title() == right.title()) {
        let first = &group[0];
        let title = if first.name.is_empty() { "Top level".into() } else { format!("`[{}]`", first.title()) };
        text.push_str(&format!("### {title}\n\n"));
        if !first.about.is_empty() {
            text.push_str(&format!("{}\n\n", first.about));
        }
        if group.iter().all(|section| section.settings.is_empty()) {
            text.push_str("Nothing is built in.\n\n");
            continue;
        }
        text.push_str(&first.head());
        for section in group {
            let table = table(&values, &section.name);
            let paths = section.settings.iter().map(|(key, _)| path(&section.name, key));
            documented.extend(paths);
            text.push_str(&section.rows(table, &variables));
        }
        text.push('\n');
    }
    documented.sort();
    let mut known = leaves("", &values);
    known.sort();
    assert_eq!(documented, known, "the built-in file is laid out in a way that this test cannot read");
    keep("docs/configuration.md", &text);
}

fn path(section: &str, key: &str) -> String {
    if section.is_empty() { key.to_owned() } else { format!("{section}.{key}") }
}

fn table<'a>(values: &'a Table, name: &str) -> &'a Table {
    name.split('.').filter(|part| !part.is_empty()).fold(values, |table, part| {
        table.get(part).and_then(Value::as_table).unwrap_or_else(|| panic!("{name} is no table"))
    })
}

/// How a section is shown.
trait Shown {
    fn columns(&self) -> Option<[&'static str; 2]>;
    fn is_entry(&self) -> bool;
    fn title(&self) -> &str;
    fn head(&self) -> String;
    fn rows(&self, table: &Table, variables: &[Vec<String>]) -> String;
}

impl Shown for Section {
    /// What its keys and values are called, when the keys are names that a user may add.
    fn columns(&self) -> Option<[&'static str; 2]> {
        Some(match self.title() {
            "tiers" => ["tier", "models, in order"],
            "tier_scores" => ["tier", "score"],
            "tier_aliases" => ["name", "tier"],
            "task_types" => ["task type", "tier"],
            "tags" => ["tag", "how it chooses"],
            "profiles" => ["profile", "runs on"],
            "via" => ["provider", "way"],
            "jobs.auto" => ["task type", "profile"],
            "workers" => ["profile", "how its workers work"],
            "workflows" => ["workflow", "steps"],
            "scores" => ["score", "points"],
            "classifier.words" => ["task type", "phrases"],
            "classifier.signs" => ["sign", "points"],
            _ => return None,
        })
    }

    /// Whether it is one of several tables that are described together.
    fn is_entry(&self) -> bool {
        self.title() != self.name
    }

    /// The name of what it is described with.
    fn title(&self) -> &str {
        let parent = self.name.rsplit_once('.').map_or("", |(parent, _)| parent);
        if matches!(parent, "tags" | "scores" | "workers" | "workflows" | "classifier.signs") {
            parent
        } else {
            &self.name
        }
    }

    fn head(&self) -> String {
        let columns = self.columns();
        let columns = columns.as_ref().map_or(["setting", "default", "meaning", "variable"].as_slice(), |two| two);
        let rule = vec!["---"; columns.len()];
        format!("| {} |\n| {} |\n", columns.join(" | "), rule.join(" | "))
    }

    fn rows(&self, table: &Table, variables: &[Vec<String>]) -> String {
        let keys = self.settings.iter().map(|(key, _)| key);
        if self.is_entry() {
            let own = self.name.rsplit('.').next().unwrap_or_default();
            let pairs: Vec<String> = keys.map(|key| format!("`{key} = {}`", table[key])).collect();
            return format!("| `{own}` | {} |\n", pairs.join(", "));
        }
        if self.columns().is_some() {
            let limit = if self.name == "classifier.words" { SHOWN } else { usize::MAX };
            return keys.map(|key| format!("| `{key}` | {} |\n", names(&table[key], limit))).collect();
        }
        let rows = self.settings.iter().map(|(key, about)| {
            let path = path(&self.name, key);
            // The comment above a table may hold for all that is in it.
            let about = if about.is_empty() && !self.about.is_empty() { "as above" } else { about };
            assert!(!about.is_empty(), "{path} has no comment in the built-in file");
            format!("| `{path}` | `{}` | {about} | {} |\n", table[key], variables_of(&path, variables))
        });
        rows.collect()
    }
}

fn names(value: &Value, limit: usize) -> String {
    let names: Vec<&str> = match value {
        Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
        other => other.as_str().into_iter().collect(),
    };
    let shown: Vec<String> = names.iter().take(limit).map(|name| format!("`{name}`")).collect();
    let more = names.len().saturating_sub(limit);
    if more == 0 { shown.join(", ") } else { format!("{}, and {more} more", shown.join(", ")) }
}

fn variables_of(path: &str, variables: &[Vec<String>]) -> String {
    let long = format!("SHUNTYARD_{}", path.to_uppercase().replace('.', "_"));
    let names = variables.iter().find(|names| names[0] == long).unwrap_or_else(|| panic!("{long} is not looked up"));
    // The short name, when there is one, is the one to use.
    names.iter().rev().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// The variables that set something, each with its other name if it has one, as they are asked for.
fn variables() -> Vec<Vec<String>> {
    let asked: RefCell<Vec<Vec<String>>> = RefCell::default();
    let known = leaves("", &DEFAULTS.parse().expect("TOML"));
    let is_long =
        |name: &str| known.iter().any(|path| name == format!("SHUNTYARD_{}", path.to_uppercase().replace('.', "_")));
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

/// The paths of all settings in a table.
fn leaves(path: &str, table: &Table) -> Vec<String> {
    let below = |(key, value): (&String, &Value)| {
        let full = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        match value {
            Value::Table(inner) => leaves(&full, inner),
            _ => vec![full],
        }
    };
    table.iter().flat_map(below).collect()
}
