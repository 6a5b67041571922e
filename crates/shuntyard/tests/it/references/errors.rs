//! `docs/errors.md` lists every error class. What a class means is written there by hand, and so is its exit
//! code, which a test beside the code compares; the rest comes from `core`.

use super::{keep, parts};
use shuntyard_core::ErrorClass;

const FILE: &str = "docs/errors.md";
/// Marks a cell that a person has to write.
const MISSING: &str = "?";

#[test]
fn every_error_class_is_documented() {
    let (_, written, _) = parts(FILE);
    let mut text = String::from("| class | meaning | retryable | exit | hint |\n| --- | --- | --- | --- | --- |\n");
    let mut undescribed = Vec::new();
    for class in ErrorClass::ALL {
        let (meaning, exit) = by_hand(&written, class);
        if meaning == MISSING || exit == MISSING {
            undescribed.push(class.as_str());
        }
        let retryable = if class.retryable() { "yes" } else { "no" };
        text.push_str(&format!("| `{class}` | {meaning} | {retryable} | {exit} | {} |\n", class.hint()));
    }
    keep(FILE, &text);
    assert!(undescribed.is_empty(), "write the meaning and the exit code of {undescribed:?} into {FILE}");
}

/// The meaning and the exit code that the file has for a class.
fn by_hand(written: &str, class: ErrorClass) -> (String, String) {
    let name = format!("| `{class}` |");
    let row = written.lines().find(|line| line.starts_with(&name));
    let cell = |index: usize| {
        let text = row.and_then(|row| row.split('|').nth(index)).unwrap_or_default().trim();
        if text.is_empty() { MISSING.to_owned() } else { text.to_owned() }
    };
    (cell(2), cell(4))
}
