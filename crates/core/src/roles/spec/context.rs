//! What `.ai/context.md` decides for a run: whether work may go to another program, and how tests are run.

use super::{
    document::{Document, Kind, Said, plain_title},
    execution::bullet,
};

/// Whether the user lets work go to the program `agy`: a line with this permission, alone or in a list, with or without
/// emphasis. What is in a fenced block or in a comment only mentions it.
#[must_use]
pub fn agy_is_enabled(context: &str) -> bool {
    let document = Document::parse(context);
    let mut said = document.lines.iter().filter(|line| line.kind == Kind::Prose).map(|line| line.seen.trim());
    said.any(|line| {
        let item = bullet(line).unwrap_or(line);
        matches!(item.trim(), "agy: enabled" | "**agy**: enabled" | "**agy:** enabled" | "__agy__: enabled")
    })
}

/// Whether a change of the file lets work go there that was not allowed to before.
#[must_use]
pub fn switches_agy_on(before: &str, after: &str) -> bool {
    agy_is_enabled(after) && !agy_is_enabled(before)
}

/// The commands below `## Test Setup` that run all tests: the first fenced block line by line, or else the first
/// command in back-ticks. Several lines of a block are several commands.
#[must_use]
pub fn test_commands(context: &str) -> Vec<String> {
    let document = Document::parse(context);
    let setup = document.sections(2).find(|section| plain_title(&section.heading.title) == "test setup");
    let said: Vec<Said<'_>> = setup.into_iter().flat_map(|section| section.said()).collect();
    for (at, line) in said.iter().enumerate() {
        if line.is_code {
            let block = said[at..].iter().skip(1).take_while(|line| line.is_code && !is_fence(line.text));
            let commands = block.map(|line| line.text.strip_prefix("$ ").unwrap_or(line.text).trim());
            return commands.filter(|command| !command.starts_with('#')).map(str::to_owned).collect();
        }
        if let Some(command) = quoted(line.text) {
            return vec![command.to_owned()];
        }
    }
    Vec::new()
}

fn is_fence(text: &str) -> bool {
    text.starts_with("```") || text.starts_with("~~~")
}

/// A command in back-ticks that stands alone, after a label, or after a word that introduces one. Other back-ticks are
/// names of files and the like.
fn quoted(line: &str) -> Option<&str> {
    let item = bullet(line).unwrap_or(line);
    let (before, rest) = item.split_once('`')?;
    let (command, _) = rest.split_once('`')?;
    let before = before.trim().trim_end_matches('*').to_lowercase();
    let introduces = before.is_empty() || before.ends_with(':') || before.ends_with("run") || before.ends_with("with");
    let command = command.trim();
    (introduces && !command.is_empty()).then_some(command)
}

#[cfg(test)]
mod tests {
    use super::{agy_is_enabled, switches_agy_on, test_commands};

    #[test]
    fn only_a_change_that_switches_it_on_counts() {
        let (on, off) = ("- agy: enabled\n", "# Context\n");
        for (before, after, switched) in [
            (off, on, true),
            (off, "- agy: enabled <!-- a note -->\n", true),
            (off, "\u{a0}agy: enabled\n", true),
            ("", on, true),
            (on, on, false),
            (on, off, false),
            (off, off, false),
        ] {
            assert_eq!(switches_agy_on(before, after), switched, "{before:?} {after:?}");
        }
    }

    #[test]
    fn only_a_line_that_says_so_lets_work_go_elsewhere() {
        for (context, enabled) in [
            ("agy: enabled\n", true),
            ("# Context\n\n- agy: enabled\n", true),
            ("* agy: enabled", true),
            ("## Workflow\n\n- **agy**: enabled\n", true),
            ("**agy**: enabled\n", true),
            ("- **agy:** enabled\n", true),
            ("- **agy**: disabled\n", false),
            ("- **agy**: enabled by somebody else\n", false),
            ("```\n- **agy**: enabled\n```\n", false),
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

    #[test]
    fn the_test_commands_are_those_for_all_tests() {
        for (setup, commands) in [
            ("- All tests: `make check`\n- One test: `make check ONLY=name`\n", &["make check"][..]),
            ("Tests are in `tests/`.\n\nRun `npm test` before a commit.\n", &["npm test"]),
            ("- **All tests:** `go test ./...`\n", &["go test ./..."]),
            ("```sh\n# all of them\n$ npm ci\nnpm test\n```\n\n`npm run lint`\n", &["npm ci", "npm test"]),
            ("<!-- `rm -r build` -->\nNone yet.\n", &[]),
            ("", &[]),
        ] {
            let context =
                format!("# Project\n\n## Overview\n\n`not this`\n\n## Test Setup\n\n{setup}\n## Rest\n\n`nor this`\n");
            assert_eq!(test_commands(&context), commands, "{setup}");
        }
        assert_eq!(test_commands("# Project\n\nTests: `make`\n"), [""; 0], "only below its own heading");
    }
}
