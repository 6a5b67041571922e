//! The prompt of a program that does the work of a role: its persona, the task, and the files that the task names.

use super::describe::fenced;

/// A program takes at most 128 KiB in one argument on Linux.
const MOST_BYTES: usize = 120_000;

/// A file that the spec names; without a text when it is not in the commit, or is no text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Named {
    pub path: String,
    pub text: Option<String>,
}

/// Files that do not fit are named, for the program can read them itself. Nothing when the task alone does not fit.
pub(super) fn prompt(persona: &str, task: &str, files: &[Named]) -> Option<String> {
    let mut prompt = format!("{}\n\n{task}\n", persona.trim());
    let mut left_out = String::new();
    // What is left out needs space for its name.
    let names: usize = files.iter().map(|file| file.path.len() + 10).sum();
    let room = MOST_BYTES.checked_sub(prompt.len() + names + 200)?;
    let mut used = 0;
    for file in files {
        let shown = file.text.as_ref().map(|text| format!("\n`{}`:\n\n{}", file.path, fenced(text)));
        match shown.filter(|shown| used + shown.len() <= room) {
            Some(shown) => {
                used += shown.len();
                prompt.push_str(&shown);
            }
            None => left_out.push_str(&format!("- `{}`\n", file.path)),
        }
    }
    if !left_out.is_empty() {
        prompt.push_str(&format!("\nRead these yourself, as far as they are there:\n\n{left_out}"));
    }
    Some(prompt)
}

/// Files that no agent opens.
pub(super) fn is_secret(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name != ".env.example" && (name.ends_with(".env") || name.contains(".env."))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, text: Option<&str>) -> Named {
        Named { path: path.to_owned(), text: text.map(str::to_owned) }
    }

    #[test]
    fn a_prompt_has_the_persona_the_task_and_what_fits_of_the_files() {
        let large = "x".repeat(MOST_BYTES);
        let files = [file("a.rs", Some("fn a() {}\n")), file("large", Some(&large)), file("gone", None)];
        let made = prompt("You work.\n", "Do it.", &files).unwrap();
        let expected = "You work.\n\nDo it.\n\n`a.rs`:\n\n```markdown\nfn a() {}\n```\n\n\
                        Read these yourself, as far as they are there:\n\n- `large`\n- `gone`\n";
        assert_eq!(made, expected);
        assert_eq!(prompt("", &large, &[]), None);
        let many: Vec<Named> = (0..1000).map(|number| file(&format!("{number}"), Some("word\n"))).collect();
        assert!(prompt("", &"y".repeat(100_000), &many).unwrap().len() <= MOST_BYTES);
    }

    #[test]
    fn secrets_are_not_handed_over() {
        for (path, secret) in [
            (".env", true),
            ("app/.env.local", true),
            ("prod.env", true),
            (".env.example", false),
            ("src/env.rs", false),
            ("environment.md", false),
        ] {
            assert_eq!(is_secret(path), secret, "{path}");
        }
    }
}
