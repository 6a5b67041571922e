//! The only place that prints. Standard output is the result, standard error carries progress and messages.

use crate::failure::Failure;
use anstream::{eprintln, print, println};
use anstyle::{AnsiColor, Style};
use serde::Serialize;
use std::io::{IsTerminal, Write};

const STRONG: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const RED: Style = AnsiColor::Red.on_default().bold();
const YELLOW: Style = AnsiColor::Yellow.on_default();

/// The output format of a command: one JSON document, or text for people.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Json,
    People,
}

/// The result, as text.
pub fn result(text: &str) {
    println!("{text}");
}

/// A result that need not be text, without a line end of its own. A reader that has gone needs no more of it.
pub fn bytes(bytes: &[u8]) {
    let mut out = std::io::stdout().lock();
    drop(out.write_all(bytes).and_then(|()| out.flush()));
}

/// A line that frames a result.
pub fn frame(text: &str) {
    println!("{STRONG}{text}{STRONG:#}");
}

/// The result, as JSON.
pub fn json(value: &impl Serialize) {
    match serde_json::to_string_pretty(value) {
        Ok(text) => println!("{text}"),
        Err(error) => complain(&format!("the result cannot be written as JSON: {error}")),
    }
}

/// One JSON document of several, each on a line of its own.
pub fn json_line(value: &impl Serialize) {
    match serde_json::to_string(value) {
        Ok(text) => println!("{text}"),
        Err(error) => complain(&format!("the result cannot be written as JSON: {error}")),
    }
}

/// A piece of an answer, as it arrives.
pub fn piece(text: &str) {
    print!("{text}");
    // A broken pipe ends the output, not the run.
    drop(std::io::stdout().flush());
}

/// Prints a message to standard error.
pub fn note(text: &str) {
    eprintln!("{DIM}{text}{DIM:#}");
}

pub fn warn(text: &str) {
    eprintln!("{YELLOW}warning:{YELLOW:#} {text}");
}

pub fn complain(text: &str) {
    eprintln!("{RED}error:{RED:#} {text}");
}

/// A failure in the form that the caller asked for.
pub fn failure(failure: &Failure, format: Format) {
    match format {
        Format::Json => json(&failure.to_json()),
        Format::People => {
            eprintln!("{RED}error:{RED:#} {} {DIM}[{}]{DIM:#}", failure.message, failure.class);
            if !failure.hint.is_empty() {
                eprintln!("{STRONG} next:{STRONG:#} {}", failure.hint);
            }
        }
    }
}

pub fn stdout_is_terminal() -> bool {
    std::io::stdout().is_terminal()
}

pub fn stderr_is_terminal() -> bool {
    std::io::stderr().is_terminal()
}

/// A table with a head, without lines that would carry the meaning.
pub fn table(head: &[&str], rows: &[Vec<String>]) -> String {
    let mut table = comfy_table::Table::new();
    table.load_style(comfy_table::presets::NOTHING).set_header(head);
    table.set_content_arrangement(comfy_table::ContentArrangement::Dynamic);
    // Elsewhere than on a terminal a row is one line, however long.
    if let Ok(size) = rustix::termios::tcgetwinsize(std::io::stdout())
        && size.ws_col > 0
    {
        table.set_width(size.ws_col);
    }
    for row in rows {
        table.add_row(row);
    }
    table.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>().join("\n")
}
