//! What `.ai/context.md` decides for a run.

use super::document::{Document, Kind};

/// Whether the user lets work go to the program `agy`: a line that says so, alone or in a list. What is in a fenced
/// block or in a comment only speaks of it.
#[must_use]
pub fn agy_is_enabled(context: &str) -> bool {
    let document = Document::parse(context);
    let mut said = document.lines.iter().filter(|line| line.kind == Kind::Prose).map(|line| line.seen.trim());
    said.any(|line| {
        let item = ["- ", "* ", "+ "].iter().find_map(|mark| line.strip_prefix(mark)).unwrap_or(line);
        item.trim() == "agy: enabled"
    })
}

#[cfg(test)]
mod tests {
    use super::agy_is_enabled;

    #[test]
    fn only_a_line_that_says_so_lets_work_go_elsewhere() {
        for (context, enabled) in [
            ("agy: enabled\n", true),
            ("# Context\n\n- agy: enabled\n", true),
            ("* agy: enabled", true),
            ("- agy: disabled\n", false),
            ("", false),
            ("```\nagy: enabled\n```\n", false),
            ("<!--\nagy: enabled\n-->\n", false),
            ("<!-- agy: enabled -->\n", false),
            ("write `agy: enabled` to allow it\n", false),
            ("agy: enabled by somebody else\n", false),
        ] {
            assert_eq!(agy_is_enabled(context), enabled, "{context}");
        }
    }
}
