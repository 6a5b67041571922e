//! `docs/cli.md` holds the help of every command, as the binary prints it.

use super::keep;
use std::process::{Command, Stdio};

#[test]
fn the_command_line_is_documented() {
    let mut text = String::new();
    describe(&[], &mut text);
    for command in ["demo", "doctor", "dispatch", "opencode install", "config show"] {
        assert!(text.contains(&format!("## shuntyard {command}\n")), "{command} was not found in the help");
    }
    keep("docs/cli.md", &text);
}

/// What changes something besides the store: files, processes, remotes, or what OpenCode does. Those that only ask
/// models in text are not among them, and `demo` works in a directory of its own.
const CHANGES: [&str; 31] = [
    "agents configure",
    "batch cancel",
    "batch create",
    "batch pause",
    "batch resume",
    "config set",
    "dispatch",
    "man",
    "opencode install",
    "opencode stop",
    "pack install",
    "pack restore",
    "pack uninstall",
    "patterns export",
    "pulse",
    "review",
    "service install",
    "service uninstall",
    "spec new",
    "spec run",
    "supervise",
    "task add",
    "task cancel",
    "task claim",
    "task reset",
    "task retry",
    "task sync",
    "task unclaim",
    "worker model reset",
    "worker model set",
    "worker stop",
];

#[test]
fn what_changes_something_can_be_tried_without_doing_it() {
    for command in CHANGES {
        let help = help(&command.split(' ').collect::<Vec<_>>());
        assert!(help.contains("--dry-run"), "{command} has no --dry-run");
    }
}

/// Writes down a command and those below it. Hidden ones are not listed, so they are not found.
fn describe(path: &[&str], text: &mut String) {
    let help = help(path);
    let name = [&["shuntyard"], path].concat().join(" ");
    text.push_str(&format!("## {name}\n\n```text\n{}\n```\n\n", help.trim_end()));
    for command in commands(&help) {
        describe(&[path, &[command]].concat(), text);
    }
}

/// The names in the list of commands; lines that only go on with a description are indented further.
fn commands(help: &str) -> Vec<&str> {
    let list = help.split_once("\nCommands:\n").map_or("", |(_, list)| list);
    let list = list.split("\n\n").next().unwrap_or_default();
    let entries = list.lines().filter_map(|line| line.strip_prefix("  ")).filter(|line| !line.starts_with(' '));
    entries.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help").collect()
}

/// Without a terminal and its width, so that the lines break in the same places everywhere.
fn help(path: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_shuntyard"))
        .args(path)
        .arg("--help")
        .env_clear()
        .stdin(Stdio::null())
        .output()
        .expect("the binary runs");
    assert!(output.status.success(), "{path:?} --help failed");
    let text = String::from_utf8(output.stdout).expect("help is text");
    text.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}
