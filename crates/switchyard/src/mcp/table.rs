//! JSON as Markdown: each list of objects as a table, what stands beside it as lines. A cell never breaks its row,
//! whatever somebody has written into a task.

use super::telling::one_line;
use serde_json::{Map, Value};

const WIDEST: usize = 60;
const MOST_COLUMNS: usize = 8;
/// What tells the most comes first; anything else follows in its own order, as far as there is room.
const FIRST: [&str; 14] = [
    "id",
    "name",
    "profile",
    "kind",
    "status",
    "state",
    "reference",
    "model",
    "policy",
    "reason",
    "worker",
    "position",
    "progress",
    "task",
];
/// A job has far more to tell than fits in a row; the rest is for a look at it.
const OF_TASKS: [&str; 8] = ["id", "kind", "status", "worker", "model", "position", "progress", "task"];

pub fn markdown(found: &Value) -> String {
    let Value::Object(fields) = found else { return one_line(&found.to_string(), 2000) };
    let view = fields.get("view").and_then(Value::as_str).unwrap_or("list");
    let mut parts = Vec::new();
    let mut lines = Vec::new();
    // A view that is one thing stands as an object under its name.
    let inner = fields.get(view).and_then(Value::as_object);
    for (name, value) in inner.unwrap_or(fields).iter().filter(|(name, _)| *name != "view") {
        match value {
            Value::Array(rows) if rows.iter().all(Value::is_object) => {
                parts.push(format!("{} {name}", rows.len()));
                lines.push(rows_of(rows, if view == "tasks" { &OF_TASKS } else { &[] }));
            }
            // The output of a job is for reading, not for a cell.
            Value::String(text) if text.contains('\n') => lines.push(format!("{name}:\n{text}")),
            Value::Null => {}
            Value::Number(number) if name == "left_out" && number.as_u64() == Some(0) => {}
            Value::Object(fields) => {
                let pairs = fields.iter().map(|(name, value)| format!("{name} {}", plain(value, 100)));
                lines.push(format!("- {name}: {}", pairs.collect::<Vec<_>>().join(", ")));
            }
            value => lines.push(format!("- {name}: {}", plain(value, 400))),
        }
    }
    let first = if parts.is_empty() { view.to_owned() } else { format!("{view}: {}", parts.join(", ")) };
    lines.retain(|line| !line.is_empty());
    lines.insert(0, first);
    lines.join("\n")
}

/// `only`: the columns that are shown, when not all of them are worth it.
fn rows_of(rows: &[Value], only: &[&str]) -> String {
    let rows: Vec<&Map<String, Value>> = rows.iter().filter_map(Value::as_object).collect();
    let columns = columns(&rows, only);
    if columns.is_empty() {
        return String::new();
    }
    let line = |cells: Vec<String>| format!("| {} |", cells.join(" | "));
    let head = line(columns.iter().map(|column| (*column).to_owned()).collect());
    let rule = format!("|{}", " --- |".repeat(columns.len()));
    let body = rows
        .iter()
        .map(|row| line(columns.iter().map(|column| row.get(*column).map_or_else(String::new, cell)).collect()));
    [head, rule].into_iter().chain(body).collect::<Vec<_>>().join("\n")
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
    found.sort_by_key(|name| FIRST.iter().position(|first| first == name).unwrap_or(FIRST.len()));
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
        Value::Array(items) if items.iter().all(|item| !item.is_object() && !item.is_array()) => {
            items.iter().map(|item| plain(item, most)).collect::<Vec<_>>().join(", ")
        }
        other => other.to_string(),
    };
    one_line(&text, most)
}

#[cfg(test)]
mod tests {
    use super::markdown;
    use serde_json::json;

    #[test]
    fn rows_become_a_table_and_the_rest_lines() {
        let found = json!({"view": "tasks", "more": true, "tasks": [
            {"task": "a | b\nc", "id": "j1", "status": "done", "worker": null},
            {"task": "x".repeat(100), "id": "j2", "status": "running", "worker": "coder"},
        ]});
        let expected = format!(
            "tasks: 2 tasks\n- more: true\n| id | status | worker | task |\n| --- | --- | --- | --- |\n\
             | j1 | done |  | a \\| b c |\n| j2 | running | coder | {}… |",
            "x".repeat(59)
        );
        assert_eq!(markdown(&found), expected);
    }

    #[test]
    fn a_view_that_is_one_thing_is_told_in_lines() {
        let found = json!({"view": "status", "status": {"jobs": {"queued": 1, "running": 0}, "runner": "running",
            "note": "one\ntwo", "workers": [{"name": "coder", "state": "idle"}]}});
        let mut expected =
            vec!["status: 1 workers", "- jobs: queued 1, running 0", "- runner: running", "note:", "one"];
        expected.extend(["two", "| name | state |", "| --- | --- |", "| coder | idle |"]);
        let text = markdown(&found);
        // The fields of an object come in the order of their names.
        let mut lines: Vec<&str> = text.lines().collect();
        lines.sort_unstable();
        expected.sort_unstable();
        assert_eq!(lines, expected);
    }

    #[test]
    fn nothing_is_said_to_be_nothing() {
        assert_eq!(markdown(&json!({"view": "workers", "workers": [], "left_out": 0})), "workers: 0 workers");
        assert_eq!(
            markdown(&json!({"view": "output", "id": "j1", "text": "one\ntwo"})),
            "output\n- id: j1\ntext:\none\ntwo"
        );
    }
}
