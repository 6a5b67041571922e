//! Statements, lists and pipes, read from left to right.

use super::{Split, Unclear};

/// Words that OpenCode's grammar does not take for commands.
const DECLARATIONS: [&str; 7] = ["export", "declare", "typeset", "readonly", "local", "unset", "unsetenv"];
/// Reserved words that a statement may end at.
const CLOSING: [&str; 8] = ["then", "elif", "else", "fi", "do", "done", "esac", "}"];

/// Where a run of statements ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    OfText,
    Bracket,
    /// At one of these words, which is left to be read.
    Word(&'static [&'static str]),
}

/// Whether a redirection behind a command belongs to it, which it does only for the first of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Position {
    First,
    Later,
}

pub(super) struct Reader<'a> {
    pub(super) text: &'a str,
    pub(super) at: usize,
    /// What is read ends here, which is sooner within backticks.
    pub(super) limit: usize,
    /// With the place of each in the text: an outer command is known only after the inner ones.
    pub(super) asked: Vec<(usize, String)>,
    pub(super) split: Split,
}

impl<'a> Reader<'a> {
    pub fn new(text: &'a str) -> Self {
        Self { text, at: 0, limit: text.len(), asked: Vec::new(), split: Split::default() }
    }

    pub fn finish(mut self) -> Split {
        self.asked.sort_by_key(|(start, _)| *start);
        self.split.asked = self.asked.into_iter().map(|(_, text)| text).collect();
        self.split
    }

    pub fn rest(&self) -> &'a str {
        &self.text[self.at..self.limit]
    }

    pub fn letter(&self) -> Option<u8> {
        self.rest().bytes().next()
    }

    pub fn take(&mut self, text: &str) -> bool {
        let there = self.rest().starts_with(text);
        self.at += if there { text.len() } else { 0 };
        there
    }

    pub(super) fn blanks(&mut self) {
        while self.take(" ") || self.take("\t") || self.take("\\\n") {}
    }

    /// Blanks, line ends and comments.
    fn space(&mut self) {
        loop {
            self.blanks();
            if self.letter() == Some(b'#') {
                self.at += self.rest().find('\n').unwrap_or(self.rest().len());
            } else if !self.take("\n") && !self.take("\r\n") {
                return;
            }
        }
    }

    /// A reserved word at this place, as a word of its own.
    fn reserved(&self, word: &str) -> bool {
        let ends =
            |rest: &str| rest.is_empty() || rest.starts_with([' ', '\t', '\n', ';', ')', '&', '|', '<', '>', '(']);
        self.rest().strip_prefix(word).is_some_and(ends)
    }

    fn keyword(&mut self, word: &'static str) -> Result<(), Unclear> {
        self.space();
        if !self.reserved(word) {
            return Err(Unclear::Unclosed("a statement"));
        }
        self.at += word.len();
        Ok(())
    }

    pub fn statements(&mut self, end: End) -> Result<(), Unclear> {
        loop {
            self.space();
            match end {
                End::OfText if self.rest().is_empty() => return Ok(()),
                End::Bracket if self.take(")") => return Ok(()),
                End::Word(words) if words.iter().any(|word| self.reserved(word)) => return Ok(()),
                End::OfText | End::Bracket | End::Word(_) => {}
            }
            if self.rest().is_empty() {
                return Err(Unclear::Unclosed("a bracket or a statement"));
            }
            if self.rest().starts_with(";;") || CLOSING.iter().any(|word| self.reserved(word)) {
                return Err(Unclear::Construct("a reserved word out of place"));
            }
            self.list()?;
            self.blanks();
            // A lone `;` or `&` ends a statement; a line end and the end of the run do so too.
            if !self.take(";") && !self.take("&") && !self.at_end(end) {
                return Err(Unclear::Construct("this punctuation"));
            }
        }
    }

    fn at_end(&self, end: End) -> bool {
        let closed = match end {
            End::Bracket => self.letter() == Some(b')'),
            End::OfText | End::Word(_) => false,
        };
        closed || self.rest().is_empty() || matches!(self.letter(), Some(b'\n' | b'\r' | b'#'))
    }

    /// Commands with `&&`, `||`, `|` between them.
    fn list(&mut self) -> Result<(), Unclear> {
        let mut position = Position::First;
        loop {
            if self.reserved("!") {
                self.at += 1;
                self.space();
                let odd = matches!(self.letter(), Some(b'<' | b'>' | b'&' | b'0'..=b'9'));
                if odd || self.reserved("!") || DECLARATIONS.iter().any(|word| self.reserved(word)) {
                    return Err(Unclear::Construct("what stands behind !"));
                }
                position = Position::Later;
            }
            self.element(position)?;
            self.blanks();
            if !["&&", "||", "|&", "|"].into_iter().any(|operator| self.take(operator)) {
                return Ok(());
            }
            self.space();
            position = Position::Later;
        }
    }

    fn element(&mut self, position: Position) -> Result<(), Unclear> {
        for unclear in ["case", "select", "function", "coproc"] {
            if self.reserved(unclear) {
                return Err(Unclear::Construct(unclear));
            }
        }
        if self.rest().starts_with("((") {
            return Err(Unclear::Construct("arithmetic"));
        }
        let start = self.at;
        if self.take("(") {
            self.blanks();
            if self.letter() == Some(b')') {
                return Err(Unclear::Construct("an empty bracket"));
            }
            self.statements(End::Bracket)?;
        } else if self.reserved("{") {
            self.at += 1;
            self.statements(End::Word(&["}"]))?;
            self.keyword("}")?;
        } else if self.reserved("if") {
            self.at += 2;
            self.condition()?;
        } else if self.reserved("while") || self.reserved("until") {
            self.at += 5;
            self.statements(End::Word(&["do"]))?;
            self.keyword("do")?;
            self.statements(End::Word(&["done"]))?;
            self.keyword("done")?;
        } else if self.reserved("for") {
            self.at += 3;
            self.words_until_end()?;
            self.take(";");
            self.keyword("do")?;
            self.statements(End::Word(&["done"]))?;
            self.keyword("done")?;
        } else if self.reserved("[[") || self.reserved("[") {
            self.test()?;
        } else if DECLARATIONS.iter().any(|word| self.reserved(word)) {
            self.words_until_end()?;
        } else {
            return self.simple(start, position);
        }
        self.unseen_redirects()
    }

    fn condition(&mut self) -> Result<(), Unclear> {
        loop {
            self.statements(End::Word(&["then"]))?;
            self.keyword("then")?;
            self.statements(End::Word(&["elif", "else", "fi"]))?;
            if self.reserved("elif") {
                self.at += 4;
                continue;
            }
            if self.reserved("else") {
                self.at += 4;
                self.statements(End::Word(&["fi"]))?;
            }
            return self.keyword("fi");
        }
    }

    fn words_until_end(&mut self) -> Result<(), Unclear> {
        loop {
            self.blanks();
            if self.letter() == Some(b'#') || self.word()?.is_none() {
                return Ok(());
            }
        }
    }

    /// A test in brackets is no command to OpenCode; only plain words in it are followed here.
    fn test(&mut self) -> Result<(), Unclear> {
        let close = if self.rest().starts_with("[[") { "]]" } else { "]" };
        loop {
            self.blanks();
            match self.word()? {
                Some(word) if word == close => return Ok(()),
                Some(_) => {}
                None if close == "]]" && (self.take("&&") || self.take("||")) => {}
                None => return Err(Unclear::Construct("this test")),
            }
        }
    }

    fn unseen_redirects(&mut self) -> Result<(), Unclear> {
        self.blanks();
        let start = self.at;
        let mut end = start;
        while self.redirect()? {
            self.words_until_end()?;
            end = self.at;
            self.blanks();
        }
        if end > start {
            self.split.unseen.push(self.text[start..end].trim().to_owned());
        }
        Ok(())
    }

    /// Reads one redirection with its target, if one begins here.
    pub(super) fn redirect(&mut self) -> Result<bool, Unclear> {
        let start = self.at;
        while self.letter().is_some_and(|letter| letter.is_ascii_digit()) {
            self.at += 1;
        }
        if self.rest().starts_with("<<") {
            return Err(Unclear::Construct("a text in place"));
        }
        let process = self.rest().starts_with("<(") || self.rest().starts_with(">(");
        let operators = ["&>>", "&>", ">>", ">&", ">|", "<&", "<>", ">", "<"];
        if process || (self.at > start && self.letter() == Some(b'&')) || !operators.into_iter().any(|it| self.take(it))
        {
            self.at = start;
            return Ok(false);
        }
        self.blanks();
        match self.word()? {
            Some(_) => Ok(true),
            None => Err(Unclear::Construct("a redirection to nothing")),
        }
    }
}
