//! One simple command: assignments, a name, arguments and redirections, and what of it OpenCode asks for.

use super::{
    Unclear, paths,
    reader::{Position, Reader},
};

impl Reader<'_> {
    pub(super) fn simple(&mut self, start: usize, position: Position) -> Result<(), Unclear> {
        let mut words: Vec<String> = Vec::new();
        let mut assigned = false;
        let (mut body_end, mut redirected, mut before_name) = (start, false, 0);
        loop {
            self.blanks();
            let before = self.at;
            if self.letter() == Some(b'#') {
                break;
            }
            if self.take("<<<") {
                self.blanks();
                if redirected || words.is_empty() || self.word()?.is_none() {
                    return Err(Unclear::Construct("<<< at this place"));
                }
                body_end = self.at;
            } else if self.redirect()? {
                redirected = true;
                before_name += usize::from(words.is_empty());
            } else if let Some(word) = self.word()? {
                let assignment = words.is_empty() && is_assignment(&word);
                if words.is_empty() && !assignment && word.contains(['=', '[']) {
                    return Err(Unclear::Construct("a name with = or ["));
                }
                // Redirections before the name are part of the command's own text.
                redirected &= !words.is_empty() || assignment;
                assigned |= assignment;
                if !redirected {
                    body_end = self.at;
                    words.extend((!assignment).then_some(word));
                }
            }
            if self.at == before {
                break;
            }
        }
        let end = self.text[..self.at].trim_end_matches([' ', '\t']).len();
        self.add(start, body_end, end, Found { words, assigned, redirected, before_name, position })
    }

    fn add(&mut self, start: usize, body_end: usize, end: usize, found: Found) -> Result<(), Unclear> {
        let Found { words, assigned, redirected, before_name, position } = found;
        if start >= end {
            return Err(Unclear::Construct("this punctuation"));
        }
        let hidden = |from: usize| self.text[from..end].trim().to_owned();
        if words.is_empty() {
            match (assigned, redirected) {
                (true, false) => {}
                (false, _) if before_name > 1 => return Err(Unclear::Construct("several redirections alone")),
                (false, _) => self.split.unseen.push(hidden(start)),
                (true, true) => return Err(Unclear::Construct("a redirection behind an assignment")),
            }
            return Ok(());
        }
        if before_name > 1 && assigned {
            return Err(Unclear::Construct("an assignment among redirections"));
        }
        if before_name > 1 && redirected && position == Position::First {
            // OpenCode's grammar takes the name and its arguments for more targets of the redirections.
            self.split.unseen.push(hidden(start));
            return Ok(());
        }
        self.split.paths.extend(paths::of(&words));
        let moves = paths::MOVES.contains(&words[0].as_str());
        if redirected && (moves || position == Position::Later) {
            self.split.unseen.push(hidden(body_end));
        }
        if !moves {
            let shown = if position == Position::First { end } else { body_end };
            self.asked.push((start, self.text[start..shown].trim().to_owned()));
        }
        Ok(())
    }
}

struct Found {
    words: Vec<String>,
    assigned: bool,
    redirected: bool,
    /// Redirections in front of the name.
    before_name: usize,
    position: Position,
}

/// `NAME=…`, `NAME+=…`. An array is beyond this reader, which stops at its bracket.
fn is_assignment(word: &str) -> bool {
    let Some((name, _)) = word.split_once('=') else { return false };
    let name = name.strip_suffix('+').unwrap_or(name);
    name.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '_')
        && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}
