//! Words, redirections and the punctuation between commands, with quotes removed and known variables replaced.

use crate::work::task::checkout::resolve::{UNKNOWN, WILD};

pub(super) enum Token {
    Word(String),
    /// The file of `>`, `>>` and the like.
    Output(String),
    /// The text of `<<` and `<<<`.
    Input(String),
    /// What `$(…)`, backticks and `<(…)` run.
    Nested(String),
    Open,
    Close,
    Break,
    End,
}

pub(super) struct Lexer {
    text: Vec<char>,
    at: usize,
    /// Found within a word, and given out after it.
    nested: Vec<String>,
    /// The end of the line that texts of `<<` follow, and the end of these texts.
    skip: Option<(usize, usize)>,
}

type Value<'v> = &'v dyn Fn(&str) -> Option<String>;

impl Lexer {
    pub(super) fn new(text: &str) -> Self {
        Self { text: text.chars().collect(), at: 0, nested: Vec::new(), skip: None }
    }

    pub(super) fn next(&mut self, value: Value<'_>) -> Token {
        if let Some(text) = self.nested.pop() {
            return Token::Nested(text);
        }
        loop {
            self.blanks();
            let Some(letter) = self.peek() else { return Token::End };
            match letter {
                '#' => drop(self.take_until(|letter| letter == '\n')),
                '\n' | ';' | '|' => return self.punctuation(Token::Break),
                '(' => return self.punctuation(Token::Open),
                ')' => return self.punctuation(Token::Close),
                '&' => {
                    self.at += 1;
                    if self.peek() != Some('>') {
                        return Token::Break;
                    }
                }
                '<' | '>' => {
                    let token = if letter == '<' { self.input(value) } else { self.output(value) };
                    if let Some(token) = token {
                        return token;
                    }
                }
                _ => {
                    let word = self.word(value);
                    let numbers_a_stream =
                        word.chars().all(|letter| letter.is_ascii_digit()) && matches!(self.peek(), Some('<' | '>'));
                    if !numbers_a_stream {
                        return Token::Word(word);
                    }
                }
            }
        }
    }

    fn peek(&self) -> Option<char> {
        self.text.get(self.at).copied()
    }

    fn advance(&mut self) -> Option<char> {
        let letter = self.peek()?;
        self.at += 1;
        Some(letter)
    }

    fn take(&mut self, letter: char) -> bool {
        let there = self.peek() == Some(letter);
        self.at += usize::from(there);
        there
    }

    /// What comes before such a letter, which stays.
    fn take_until(&mut self, ends: impl Fn(char) -> bool) -> String {
        let taken: String = self.text[self.at..].iter().copied().take_while(|letter| !ends(*letter)).collect();
        self.at += taken.chars().count();
        taken
    }

    fn punctuation(&mut self, token: Token) -> Token {
        let here = self.at;
        self.at += 1;
        if let Some((_, end)) = self.skip.take_if(|(line, _)| *line == here) {
            self.at = end;
        }
        token
    }

    fn blanks(&mut self) {
        loop {
            match (self.peek(), self.text.get(self.at + 1)) {
                (Some(' ' | '\t' | '\r'), _) => self.at += 1,
                (Some('\\'), Some('\n')) => self.at += 2,
                (_, _) => return,
            }
        }
    }

    fn output(&mut self, value: Value<'_>) -> Option<Token> {
        while self.take('>') || self.take('|') {}
        if self.take('(') {
            return Some(Token::Nested(self.bracketed()));
        }
        let stream = self.take('&');
        self.blanks();
        let word = self.word(value);
        let names_a_stream = stream && word.chars().all(|letter| letter.is_ascii_digit() || letter == '-');
        (!names_a_stream).then_some(Token::Output(word))
    }

    fn input(&mut self, value: Value<'_>) -> Option<Token> {
        let mut signs = 0;
        while self.take('<') {
            signs += 1;
        }
        if signs == 1 && self.take('(') {
            return Some(Token::Nested(self.bracketed()));
        }
        if signs == 1 && self.peek() == Some('>') {
            // `<>` opens for both.
            return None;
        }
        while self.take('-') || self.take('&') {}
        self.blanks();
        let word = self.word(value);
        match signs {
            1 => None,
            2 => Some(Token::Input(self.text_until(&word))),
            _ => Some(Token::Input(word)),
        }
    }

    /// The text that begins behind the end of this line, or behind the text before it.
    fn text_until(&mut self, end: &str) -> String {
        let line_end = || self.text[self.at..].iter().position(|letter| *letter == '\n').map(|length| self.at + length);
        let Some((line, mut at)) = self.skip.or_else(|| line_end().map(|line| (line, line + 1))) else {
            return String::new();
        };
        let mut text = String::new();
        while at < self.text.len() {
            let line: String = self.text[at..].iter().take_while(|letter| **letter != '\n').collect();
            at = (at + line.chars().count() + 1).min(self.text.len());
            if line.trim_start_matches('\t') == end {
                break;
            }
            text.push_str(&line);
            text.push('\n');
        }
        self.skip = Some((line, at));
        text
    }

    fn word(&mut self, value: Value<'_>) -> String {
        let mut word = String::new();
        // A bracket within a word is an assignment of an array, or the name of a function.
        let ends = |letter: &char| matches!(letter, ' ' | '\t' | '\r' | '\n' | ';' | '&' | '|' | '<' | '>' | '(' | ')');
        while let Some(letter) = self.peek().filter(|letter| !ends(letter)) {
            self.at += 1;
            match letter {
                '\'' => self.raw(&mut word),
                '"' => self.quoted(&mut word, value),
                '\\' => word.extend(self.advance().filter(|letter| *letter != '\n')),
                '$' => self.dollar(&mut word, value),
                '`' => self.backticks(&mut word),
                '*' | '?' => word.push(WILD),
                '[' => self.class(&mut word, ('[', ']')),
                // A place for a name that xargs or find fills in.
                '{' if self.take('}') => word.push(UNKNOWN),
                '{' => self.class(&mut word, ('{', '}')),
                _ => word.push(letter),
            }
        }
        word
    }

    fn raw(&mut self, word: &mut String) {
        word.push_str(&self.take_until(|letter| letter == '\''));
        // The text may end within it.
        self.take('\'');
    }

    /// `[…]` and `{…}` leave a part of the name open; a bracket that is not closed is a letter.
    fn class(&mut self, word: &mut String, (open, close): (char, char)) {
        let start = self.at;
        let inside = self.take_until(|letter| letter == close || letter == '/' || letter.is_whitespace());
        if !inside.is_empty() && self.take(close) {
            word.push(WILD);
        } else {
            self.at = start;
            word.push(open);
        }
    }

    fn quoted(&mut self, word: &mut String, value: Value<'_>) {
        while let Some(letter) = self.advance() {
            match letter {
                '"' => return,
                '\\' => match self.advance() {
                    Some(letter @ ('"' | '\\' | '$' | '`')) => word.push(letter),
                    Some('\n') | None => {}
                    Some(letter) => word.extend(['\\', letter]),
                },
                '$' => self.dollar(word, value),
                '`' => self.backticks(word),
                _ => word.push(letter),
            }
        }
    }

    fn dollar(&mut self, word: &mut String, value: Value<'_>) {
        let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        let known = |name: &str| value(name).unwrap_or_else(|| UNKNOWN.to_string());
        match self.peek() {
            Some('(') => {
                self.at += 1;
                let text = self.bracketed();
                self.nested.push(text);
                word.push(UNKNOWN);
            }
            Some('{') => {
                self.at += 1;
                word.push_str(&known(&self.take_until(|letter| letter == '}')));
                self.take('}');
            }
            // `$'…'` is a quote of its own, which is read next.
            Some('\'' | '"') => {}
            Some('@' | '*' | '#' | '?' | '$' | '!' | '-') => {
                self.at += 1;
                word.push(UNKNOWN);
            }
            Some(letter) if is_name(letter) => word.push_str(&known(&self.take_until(|letter| !is_name(letter)))),
            Some(_) | None => word.push('$'),
        }
    }

    fn backticks(&mut self, word: &mut String) {
        let text = self.take_until(|letter| letter == '`');
        self.take('`');
        self.nested.push(text);
        word.push(UNKNOWN);
    }

    /// The text up to the bracket that closes it.
    fn bracketed(&mut self) -> String {
        let (mut depth, mut quote, mut text) = (1_u32, None, String::new());
        while let Some(letter) = self.advance() {
            match (letter, quote) {
                ('\\', None | Some('"')) => {
                    text.push(letter);
                    text.extend(self.advance());
                    continue;
                }
                ('\'' | '"', None) => quote = Some(letter),
                (_, Some(open)) if open == letter => quote = None,
                ('(', None) => depth += 1,
                (')', None) => depth -= 1,
                (_, _) => {}
            }
            if depth == 0 {
                return text;
            }
            text.push(letter);
        }
        text
    }
}
