//! OpenCode's refusal to work with a configuration file that it cannot read. It answers every request of the
//! directory with it, and quotes the whole file, keys included; only the name and the faults are taken over.

use serde_json::Value;

/// How OpenCode calls such refusals.
const NAMES: [&str; 3] = ["ConfigJsonError", "ConfigInvalidError", "ConfigFrontmatterError"];
/// Where the faults are in a message that quotes the file.
const FAULTS: (&str, &str) = ("--- Errors ---", "--- End ---");
/// More than this of a list of faults does not help.
const MOST: usize = 3;
/// The beginning of the only fault that has a line of its own and no value in it.
const BAD_REFERENCE: &str = "bad file reference: ";

/// The file and what is wrong with it, when a body reports that.
pub(super) fn broken_configuration(body: &Value) -> Option<(String, String)> {
    let name = body["name"].as_str().filter(|name| NAMES.contains(name))?;
    let file = body.pointer("/data/path").and_then(Value::as_str).unwrap_or("its configuration").to_owned();
    let message = body.pointer("/data/message").and_then(Value::as_str);
    let mut faults = message.map(listed).unwrap_or_default();
    faults.extend(body.pointer("/data/issues").and_then(Value::as_array).into_iter().flatten().filter_map(issue));
    if faults.is_empty() {
        faults.push(name.to_owned());
    }
    faults.truncate(MOST);
    Some((file, shuntyard_core::values::redact::redact(&faults.join("; "))))
}

/// The faults with a place, without the lines of the file that are shown below each.
fn listed(message: &str) -> Vec<String> {
    let Some((_, after)) = message.split_once(FAULTS.0) else {
        let known = message.starts_with(BAD_REFERENCE) && !message.contains('\n');
        return if known { vec![message.to_owned()] } else { Vec::new() };
    };
    let faults = after.split_once(FAULTS.1).map_or(after, |(faults, _)| faults);
    faults.lines().filter(|line| !line.starts_with(' ') && line.contains(" at line ")).map(str::to_owned).collect()
}

/// A value that is not as it should be: its place, and what was expected.
fn issue(issue: &Value) -> Option<String> {
    let message = expected(issue["message"].as_str()?);
    let place: Vec<String> = issue["path"].as_array().into_iter().flatten().map(step).collect();
    Some(if place.is_empty() { message.to_owned() } else { format!("{}: {message}", place.join(".")) })
}

/// Only words that cannot have the value itself in them: it may be a key.
fn expected(message: &str) -> &str {
    let wanted = message.strip_prefix("Expected ").and_then(|_| message.split_once(", got ")).map(|(wanted, _)| wanted);
    match wanted {
        Some(wanted) if !wanted.contains('"') => wanted,
        _ if message == "Missing key" => message,
        _ => "is not as it should be",
    }
}

fn step(step: &Value) -> String {
    step.as_str().map_or_else(|| step.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_file_is_named_with_its_faults_and_never_quoted() {
        let quoted = "\n--- JSONC Input ---\n{\"key\": \"plain-words\n\n--- Errors ---\nUnexpectedEndOfString at line 1, \
                      column 9\n   Line 1: {\"key\": \"plain-words\n                    ^\nCloseBraceExpected at line 2, \
                      column 1\n--- End ---";
        let table = [
            (
                json!({"name": "ConfigJsonError", "data": {"path": "/p/opencode.json", "message": quoted}}),
                Some((
                    "/p/opencode.json",
                    "UnexpectedEndOfString at line 1, column 9; CloseBraceExpected at line 2, column 1",
                )),
            ),
            (
                json!({"name": "ConfigInvalidError", "data": {"path": "/p/opencode.json",
                    "issues": [{"message": "Expected string, got 123", "path": ["provider", "x", 0]},
                        {"message": "Missing key", "path": ["command"]}, {"message": "Unexpected key with value \"a key\""}]}}),
                Some((
                    "/p/opencode.json",
                    "provider.x.0: Expected string; command: Missing key; is not as it should be",
                )),
            ),
            (
                json!({"name": "ConfigInvalidError", "data": {"message": "bad file reference: \"{file:./x}\" /x does not exist"}}),
                Some(("its configuration", "bad file reference: \"{file:./x}\" /x does not exist")),
            ),
            (
                json!({"name": "ConfigInvalidError", "data": {"path": "/p", "message": "Invalid data \"a key\""}}),
                Some(("/p", "ConfigInvalidError")),
            ),
            (
                json!({"name": "ConfigInvalidError", "data": {"path": "/p", "message": "some\nlines"}}),
                Some(("/p", "ConfigInvalidError")),
            ),
            (json!({"name": "NotFoundError", "data": {"path": "/p", "message": "x"}}), None),
            (json!("text"), None),
        ];
        for (body, expected) in table {
            let expected = expected.map(|(file, faults)| (file.to_owned(), faults.to_owned()));
            assert_eq!(broken_configuration(&body), expected, "{body}");
        }
    }
}
