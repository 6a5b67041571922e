//! Cells of a CSV file, the same for every command that writes one.

use shuntyard_core::Nano;

/// A text that stays in its column, and that a spreadsheet shows as it is instead of evaluating it.
pub fn cell(text: &str) -> String {
    let is_formula = text.starts_with(['=', '+', '-', '@', '\t', '\n', '\r', '＝', '＋', '－', '＠']);
    let text = if is_formula { format!("'{text}") } else { text.to_owned() };
    let needs_quotes = text.contains([',', ';', '"', '\n', '\r', '\t', '\'']);
    if needs_quotes { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
}

/// Dollars with all nine digits.
pub fn dollars(cost: Nano) -> String {
    let sign = if cost.0 < 0 { "-" } else { "" };
    let nano = cost.0.unsigned_abs();
    format!("{sign}{}.{:09}", nano / 1_000_000_000, nano % 1_000_000_000)
}
