//! Words that readers from other projects would not understand, in comments and in the documentation.

use super::{read, root, texts::TEXTS};
use std::path::Path;

/// Metaphors and indefinite pronouns, with the terms to use instead.
const BANNED: [(&str, &str); 15] = [
    ("whoever", "the process or role that acts"),
    ("somebody", "the process or role that acts"),
    ("nobody", "the process or role that acts"),
    ("anybody", "the process or role that acts"),
    ("mend", "fix"),
    ("mends", "fixes"),
    ("mended", "fixed"),
    ("purse", "cost check"),
    ("carry out", "execute"),
    ("carries out", "executes"),
    ("carried out", "executed"),
    ("left alone", "in cooldown, excluded"),
    ("gives way", "is downgraded"),
    ("stands in", "substitutes"),
    ("seen through", "supervised"),
];

/// The banned words in a text, which are whole words of it.
fn banned_in(text: &str) -> Vec<&'static str> {
    let plain: String = text.chars().map(|letter| if letter.is_alphabetic() { letter } else { ' ' }).collect();
    let words: Vec<String> = plain.split_whitespace().map(str::to_lowercase).collect();
    let text = format!(" {} ", words.join(" "));
    BANNED.iter().map(|(word, _)| *word).filter(|word| text.contains(&format!(" {word} "))).collect()
}

fn sources(directory: &Path, found: &mut Vec<String>) {
    for entry in std::fs::read_dir(directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path.strip_prefix(root()).expect("below the root").to_string_lossy().into_owned());
        }
    }
}

#[test]
fn comments_and_documentation_use_standard_terms() {
    let mut files = Vec::new();
    sources(&root().join("crates"), &mut files);
    assert!(files.len() > 500, "the sources were not found");
    let mut problems = Vec::new();
    for file in &files {
        for (index, line) in read(file).lines().enumerate().filter(|(_, line)| line.trim_start().starts_with("//")) {
            problems.extend(banned_in(line).into_iter().map(|word| format!("{file}:{}: {word}", index + 1)));
        }
    }
    // What a program printed is quoted as it is, and changes of the past keep their words.
    for file in TEXTS.iter().filter(|file| **file != "CHANGELOG.md") {
        let text = read(file);
        let prose = text.split("```").step_by(2).flat_map(|part| part.split('`').step_by(2)).collect::<Vec<_>>();
        problems.extend(prose.into_iter().flat_map(banned_in).map(|word| format!("{file}: {word}")));
    }
    assert!(problems.is_empty(), "use the terms in {BANNED:?} instead:\n{}", problems.join("\n"));
}

#[test]
fn banned_words_are_found_as_whole_words() {
    assert_eq!(banned_in("/// Whoever mends it: a mender"), ["whoever", "mends"]);
    assert_eq!(banned_in("is carried\n out"), ["carried out"]);
    assert_eq!(banned_in("recommended"), [""; 0]);
}
