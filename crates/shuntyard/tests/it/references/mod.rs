//! The documentation is true of the program: the references in `docs/`, and the project's rules.
//!
//! A generated part is between two markers. `UPDATE_REFERENCES=1 cargo test -p shuntyard --test it references` writes
//! it anew; the text around it is written by hand and stays unchanged.

#![expect(clippy::expect_used, clippy::panic, reason = "a test stops at the first surprise")]

mod command_line;
mod errors;
mod house;
mod imports;
mod layers;
mod routing;
mod settings;
mod texts;
mod vocabulary;

use std::path::{Path, PathBuf};

const BEGIN: &str = "<!-- generated: UPDATE_REFERENCES=1 cargo test -p shuntyard --test it references -->\n";
const END: &str = "<!-- end of the generated part -->\n";

/// The repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository")
}

fn read(file: &str) -> String {
    std::fs::read_to_string(root().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// The text before, in and after the generated part of a file.
fn parts(file: &str) -> (String, String, String) {
    let text = read(file);
    let (before, rest) = text.split_once(BEGIN).unwrap_or_else(|| panic!("{file} has no line {BEGIN}"));
    let (generated, after) = rest.split_once(END).unwrap_or_else(|| panic!("{file} has no line {END}"));
    (before.to_owned(), generated.to_owned(), after.to_owned())
}

/// The generated part of a file is `expected`, or becomes it when that was asked for.
#[track_caller]
fn keep(file: &str, expected: &str) {
    let (before, written, after) = parts(file);
    let expected = format!("\n{}\n\n", expected.trim());
    if written == expected {
        return;
    }
    if std::env::var_os("UPDATE_REFERENCES").is_some() {
        let text = format!("{before}{BEGIN}{expected}{END}{after}");
        std::fs::write(root().join(file), text).expect("the reference is written");
        return;
    }
    let end = String::from("(the end)");
    let mut lines = written.lines().map(str::to_owned).chain([end.clone()]);
    let differs = expected.lines().map(str::to_owned).chain([end]).find_map(|wanted| {
        let found = lines.next().unwrap_or_default();
        (wanted != found).then(|| format!("  written: {found}\n  true:    {wanted}"))
    });
    panic!(
        "{file} is out of date; write it anew with UPDATE_REFERENCES=1 cargo test -p shuntyard --test it references\n{}",
        differs.unwrap_or_default()
    );
}
