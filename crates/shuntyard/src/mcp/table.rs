//! JSON as Markdown: each list of objects as a table, the other values as lines. A cell never breaks its row, whatever
//! text a task contains.

use super::telling::one_line;
use serde_json::{Map, Value};

const WIDEST: usize = 60;
const MOST_COLUMNS: usize = 8;
/// The most informative columns come first; all others follow in their own order, up to the limit.
const FIRST: &str = "id name workflow profile provider task_type tier kind status state requested reference model models \
                     rule policy reason worker position progress task usable";
/// A job has far more fields than fit in a row; `task_peek` shows the rest.
const OF_TASKS: [&str; 8] = ["id", "kind", "status", "worker", "model", "position", "progress", "task"];

pub fn markdown(found: &Value) -> String {
    let Value::Object(fields) = found else { return one_line(&found.to_string(), 2000) };
    let view = fields.get("view").and_then(Value::as_str).unwrap_or("list");
    let only: &[&str] = if view == "tasks" { &OF_TASKS } else { &[] };
    // A view that is one thing is an object under its name.
    let inner = fields.get(view).and_then(Value::as_object).unwrap_or(fields);
    let mut first = view.to_owned();
    let mut lines = Vec::new();
    for (name, value) in inner {
        match value {
            Value::Array(rows) if name == view => {
                first = format!("{view}: {}", rows.len());
                lines.extend(rows_of(rows, only));
            }
            Value::Array(rows) if rows.iter().all(Value::is_object) && !rows.is_empty() => {
                lines.push(format!("{name}:"));
                lines.extend(rows_of(rows, &[]));
            }
            Value::Number(number) if name == "left_out" => {
                if number.as_u64() != Some(0) {
                    lines.push(format!("({number} more: raise `limit`, or narrow it with `query`)"));
                }
            }
            _ if name == "view" || value.is_null() => {}
            value => lines.push(format!("- {name}: {}", plain(value, 400))),
        }
    }
    lines.insert(0, first);
    lines.join("\n")
}

/// `only`: the columns that are shown, when not all of them are useful.
fn rows_of(rows: &[Value], only: &[&str]) -> Vec<String> {
    let rows: Vec<&Map<String, Value>> = rows.iter().filter_map(Value::as_object).collect();
    let columns = columns(&rows, only);
    if columns.is_empty() {
        return Vec::new();
    }
    let line = |cells: Vec<String>| format!("| {} |", cells.join(" | "));
    let head = line(columns.iter().map(|column| (*column).to_owned()).collect());
    let rule = format!("|{}", " --- |".repeat(columns.len()));
    let row =
        |row: &Map<String, Value>| columns.iter().map(|name| row.get(*name).map(cell).unwrap_or_default()).collect();
    let body = rows.iter().map(|fields| line(row(fields)));
    [head, rule].into_iter().chain(body).collect()
}

/// The columns that any row has something in.
fn columns<'a>(rows: &[&'a Map<String, Value>], only: &[&str]) -> Vec<&'a str> {
    let mut found: Vec<&str> = Vec::new();
    for (name, value) in rows.iter().flat_map(|row| row.iter()) {
        let is_empty = match value {
            Value::Null => true,
            Value::Array(items) => items.is_empty(),
            Value::Object(fields) => fields.is_empty(),
            _ => false,
        };
        let is_shown = only.is_empty() || only.contains(&name.as_str());
        if is_shown && !is_empty && !found.contains(&name.as_str()) {
            found.push(name);
        }
    }
    found.sort_by_key(|name| FIRST.split(' ').position(|first| first == *name).unwrap_or(usize::MAX));
    found.truncate(MOST_COLUMNS);
    found
}

fn cell(value: &Value) -> String {
    plain(value, WIDEST).replace('|', "\\|")
}

fn plain(value: &Value, most: usize) -> String {
    let text = match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(|item| plain(named(item), most)).collect::<Vec<_>>().join(", "),
        Value::Object(fields) => {
            let said = fields.iter().filter(|(_, value)| !value.is_null());
            said.map(|(name, value)| format!("{name} {}", plain(value, most))).collect::<Vec<_>>().join(", ")
        }
        other => other.to_string(),
    };
    one_line(&text, most)
}

/// In a list inside a cell, a thing that has a name is shown by it.
fn named(item: &Value) -> &Value {
    item.get("name").unwrap_or(item)
}

#[cfg(test)]
mod tests {
    use super::markdown;
    use serde_json::json;

    #[test]
    fn rows_become_a_table_and_the_rest_lines() {
        let found = json!({"view": "tasks", "left_out": 3, "tasks": [
            {"task": "a | b\nc", "id": "j1", "status": "done", "worker": null, "over": true},
            {"task": "x".repeat(100), "id": "j2", "status": "running", "worker": "coder", "over": false},
        ]});
        let expected = format!(
            "tasks: 2\n(3 more: raise `limit`, or narrow it with `query`)\n| id | status | worker | task |\n\
             | --- | --- | --- | --- |\n| j1 | done |  | a \\| b c |\n| j2 | running | coder | {}… |",
            "x".repeat(59)
        );
        assert_eq!(markdown(&found), expected);
    }

    #[test]
    fn a_view_that_is_one_thing_is_told_in_lines() {
        let found = json!({"view": "status", "status": {"jobs": {"queued": 1, "running": 0}, "runner": "running",
            "servers": [], "workers": [{"name": "coder", "state": "idle"}]}});
        let expected = "status\n- jobs: queued 1, running 0\n- runner: running\n- servers: \nworkers:\n\
                        | name | state |\n| --- | --- |\n| coder | idle |";
        assert_eq!(markdown(&found), expected);
    }

    #[test]
    fn what_is_inside_a_cell_is_shortened_to_what_it_is_called() {
        let found = json!({"view": "workflows", "workflows": [{"steps": [{"name": "plan"}, {"name": "build"}],
            "workflow": "both", "limits": {"steps": 4, "chars": null}}]});
        let expected =
            "workflows: 1\n| workflow | limits | steps |\n| --- | --- | --- |\n| both | steps 4 | plan, build |";
        assert_eq!(markdown(&found), expected);
    }

    #[test]
    fn nothing_is_said_to_be_nothing() {
        assert_eq!(markdown(&json!({"view": "workers", "workers": [], "left_out": 0})), "workers: 0");
    }
}
