//! What an agent did, as far as its calls show: files that a tool changes, and shell commands.

use serde_json::Value;

/// Characters of a command that are looked at.
const COMMAND: usize = 20_000;
/// Tools of OpenCode that change no file by themselves.
const READERS: [&str; 14] = [
    "read",
    "glob",
    "grep",
    "list",
    "ls",
    "lsp",
    "webfetch",
    "websearch",
    "codesearch",
    "todoread",
    "todowrite",
    "task",
    "skill",
    "question",
];
/// Words in the name of a tool of another origin that only reads.
const READING: [&str; 9] = ["read", "get", "list", "search", "find", "view", "show", "stat", "diagnostics"];
/// The files that a patch names.
const PATCHED: [&str; 4] = ["*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "];

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Call {
    /// A tool that changes files was given this path, as the agent wrote it.
    File { tool: String, path: String },
    /// A shell ran this, in the directory that the call names, or else in the workspace.
    Shell { command: String, directory: Option<String> },
}

impl Call {
    /// The calls that one use of a tool amounts to; none for a tool that only reads.
    #[must_use]
    pub fn of_tool(tool: &str, input: &Value) -> Vec<Self> {
        let mut found = Vec::new();
        if !is_reader(tool) {
            collect(tool, input, &mut found);
        }
        found
    }

    #[must_use]
    pub fn of_command(command: &str) -> Self {
        Self::Shell { command: command.chars().take(COMMAND).collect(), directory: None }
    }
}

fn is_reader(tool: &str) -> bool {
    let name = tool.to_ascii_lowercase();
    READERS.contains(&name.as_str()) || name.split(['_', '-', '.']).any(|word| READING.contains(&word))
}

fn collect(tool: &str, input: &Value, found: &mut Vec<Call>) {
    let Value::Object(fields) = input else { return };
    let text = |names: &[&str]| names.iter().find_map(|name| fields.get(*name).and_then(Value::as_str));
    if let Some(command) = text(&["command", "cmd", "script"]) {
        let directory = text(&["workdir", "cwd", "directory"]).map(str::to_owned);
        found.push(Call::Shell { command: command.chars().take(COMMAND).collect(), directory });
        return;
    }
    for (name, value) in fields {
        match value {
            Value::String(text) if names_a_file(name) => found.push(file(tool, text)),
            Value::String(text) if text.contains("*** ") => {
                let named = |line: &str| PATCHED.iter().find_map(|mark| line.strip_prefix(mark).map(str::to_owned));
                found.extend(text.lines().filter_map(named).map(|path| file(tool, path.trim())));
            }
            Value::Array(values) if names_a_file(name) => {
                found.extend(values.iter().filter_map(Value::as_str).map(|path| file(tool, path)));
            }
            Value::Array(values) => values.iter().for_each(|value| collect(tool, value, found)),
            Value::Object(_) => collect(tool, value, found),
            Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

fn names_a_file(field: &str) -> bool {
    let field = field.to_ascii_lowercase();
    ["path", "file", "destination", "target", "directory"].iter().any(|word| field.contains(word))
}

fn file(tool: &str, path: &str) -> Call {
    Call::File { tool: tool.to_owned(), path: path.to_owned() }
}
