//! The descriptions of the settings: the comments above them in the built-in file.

use super::DEFAULTS;

/// A table of the file: the comment above it, and its settings, each with its comment.
#[derive(Debug, Default)]
pub struct Section {
    pub name: String,
    pub about: String,
    pub settings: Vec<(String, String)>,
}

/// The built-in file, read by its lines: a comment belongs to what follows it without an empty line, and goes
/// on to the next setting when that has none of its own. A value that fills several lines is indented.
#[must_use]
pub fn sections() -> Vec<Section> {
    let mut done = Vec::new();
    let mut section = Section::default();
    let (mut comment, mut about) = (String::new(), String::new());
    for line in DEFAULTS.lines().filter(|line| !line.starts_with([' ', ']'])) {
        if let Some(words) = line.strip_prefix('#') {
            comment = format!("{comment} {}", words.trim()).trim().to_owned();
        } else if let Some(name) = line.strip_prefix('[') {
            let name = name.trim_end_matches(']').to_owned();
            let next = Section { name, about: std::mem::take(&mut comment), settings: Vec::new() };
            done.push(std::mem::replace(&mut section, next));
            about.clear();
        } else if line.is_empty() {
            comment.clear();
        } else if let Some((key, _)) = line.split_once(" = ") {
            if !comment.is_empty() {
                about = std::mem::take(&mut comment);
            }
            section.settings.push((key.to_owned(), about.clone()));
        }
    }
    done.push(section);
    done
}
