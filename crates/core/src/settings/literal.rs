//! A value as a person types it on a command line or in a variable, as TOML.

use super::{layers::BUILT_IN, open::is_open};
use toml::{Table, Value};

/// A value of the same kind as the setting at this path: its default or, in a table that users add to, that of
/// another entry.
pub(super) fn example_at(path: &[&str]) -> Option<Value> {
    let built_in = BUILT_IN.as_ref().ok()?;
    let mut value = Value::Table(built_in.clone());
    for (depth, name) in path.iter().enumerate() {
        let Value::Table(mut table) = value else { return None };
        let open = is_open(&path[..depth].join("."));
        value = table.remove(*name).or_else(|| if open { any_of(table) } else { None })?;
    }
    Some(value)
}

fn any_of(table: Table) -> Option<Value> {
    table.into_iter().next().map(|(_, value)| value)
}

/// Numbers and switches are written bare when they are such, lists with commas between; a string needs no quotation
/// marks. Whatever does not fit stays a string, so that it meets the ordinary type check with its ordinary message.
pub(super) fn literal(example: Option<&Value>, typed: &str) -> String {
    let as_string = || Value::String(typed.to_owned()).to_string();
    let as_toml = || is_toml(typed).then(|| typed.trim().to_owned());
    match example {
        Some(Value::String(_)) => match typed.trim().chars().next() {
            Some('"' | '\'') => as_toml().unwrap_or_else(as_string),
            _ => as_string(),
        },
        Some(Value::Array(_)) => match typed.trim().starts_with('[') {
            true => as_toml().unwrap_or_else(as_string),
            false => list(typed),
        },
        Some(Value::Integer(_) | Value::Boolean(_) | Value::Float(_) | Value::Datetime(_) | Value::Table(_)) | None => {
            as_toml().unwrap_or_else(as_string)
        }
    }
}

/// A list of strings, from its items with commas between.
pub(super) fn list(typed: &str) -> String {
    let items = typed.split(',').map(str::trim).filter(|item| !item.is_empty());
    Value::Array(items.map(|item| Value::String(item.to_owned())).collect()).to_string()
}

/// Whether it is one value in TOML and nothing else.
fn is_toml(typed: &str) -> bool {
    typed.parse::<toml_edit::Value>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_read_as_what_its_setting_is() {
        let table = [
            ("dispatch.text_timeout", "3m", "\"3m\""),
            ("dispatch.text_timeout", "90", "\"90\""),
            ("dispatch.text_timeout", "\"3m\"", "\"3m\""),
            ("default_model", "say \"hi\"", "'say \"hi\"'"),
            ("dispatch.agent_steps", "40", "40"),
            ("dispatch.agent_steps", "many", "\"many\""),
            ("budget.strict", "true", "true"),
            ("budget.strict", "yes", "\"yes\""),
            ("policy.deny_providers", "acme, north", "[\"acme\", \"north\"]"),
            ("policy.deny_providers", "", "[]"),
            ("policy.deny_providers", "[\"acme\"]", "[\"acme\"]"),
            ("policy.deny_providers", "[\"acme\"", "'[\"acme\"'"),
            ("tiers.mine", "a/b,c/d", "[\"a/b\", \"c/d\"]"),
            ("task_types.mine", "haiku", "\"haiku\""),
            ("tags.mine.score", "cheap", "\"cheap\""),
            ("repository./app.hooks", "true", "true"),
            ("repository./app.setup", "npm ci", "\"npm ci\""),
            ("workers.mine", "{ access = \"read\" }", "{ access = \"read\" }"),
            ("nowhere.at_all", "1", "1"),
        ];
        for (path, typed, expected) in table {
            let path: Vec<&str> = path.split('.').collect();
            assert_eq!(literal(example_at(&path).as_ref(), typed), expected, "{path:?} {typed}");
        }
    }
}
