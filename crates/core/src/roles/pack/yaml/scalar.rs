//! Scalars, keys and one-line flow collections.

use super::{Entry, Node, Value, YamlError};

/// What a plain scalar may not begin with.
const INDICATORS: &str = "*&!|>%@`\"'{}[],#";

pub(super) fn wrong<Anything>(line: usize, reason: impl Into<String>) -> Result<Anything, YamlError> {
    Err(YamlError { line, reason: reason.into() })
}

/// The key of `text`, and where its value begins. `None` when there is no key.
pub(in crate::roles::pack) fn split_key(text: &str, line: usize) -> Result<Option<(String, usize)>, YamlError> {
    let end = match text.chars().next() {
        Some('"' | '\'') => match closing_quote(text) {
            Some(end) => end,
            None => return wrong(line, "a quote is not closed on its line"),
        },
        _ => match key_end(text) {
            Some(end) => end,
            None => return Ok(None),
        },
    };
    let rest = &text[end..];
    let colon = rest.len() - rest.trim_start_matches(' ').len();
    if !rest[colon..].starts_with(':') {
        return Ok(None);
    }
    let after = end + colon + 1;
    if text[after..].chars().next().is_some_and(|next| next != ' ') {
        return Ok(None);
    }
    let value = after + (text[after..].len() - text[after..].trim_start_matches(' ').len());
    Ok(Some((key_text(text[..end].trim_end(), line)?, value)))
}

/// Where a plain key ends: before the first colon that is followed by a space or by nothing.
fn key_end(text: &str) -> Option<usize> {
    let plain = &text[..plain_end(text)];
    plain.char_indices().find_map(|(at, letter)| {
        let ends = letter == ':' && plain[at + 1..].chars().next().is_none_or(|next| next == ' ');
        ends.then_some(at)
    })
}

fn key_text(text: &str, line: usize) -> Result<String, YamlError> {
    match scalar(text, line)? {
        Value::Plain(text) | Value::Quoted(text) => Ok(text),
        Value::Null => wrong(line, "a key is empty"),
        Value::List(_) | Value::Map(_) => wrong(line, "a key is no text"),
    }
}

/// Where a plain scalar ends: before a comment, or at the end of the line.
pub(in crate::roles::pack) fn plain_end(text: &str) -> usize {
    let end = if text.starts_with('#') { 0 } else { text.find(" #").unwrap_or(text.len()) };
    text[..end].trim_end().len()
}

/// Just after the quote that closes the one that `text` begins with.
pub(in crate::roles::pack) fn closing_quote(text: &str) -> Option<usize> {
    let quote = text.chars().next()?;
    let mut letters = text.char_indices().skip(1).peekable();
    while let Some((at, letter)) = letters.next() {
        if letter == '\\' && quote == '"' {
            letters.next();
        } else if letter == quote {
            if quote == '\'' && letters.peek().is_some_and(|(_, next)| *next == '\'') {
                letters.next();
                continue;
            }
            return Some(at + quote.len_utf8());
        }
    }
    None
}

/// A value that stands on one line, with perhaps a comment behind it.
pub(super) fn scalar(text: &str, line: usize) -> Result<Value, YamlError> {
    match text.chars().next() {
        None | Some('#') => Ok(Value::Null),
        Some('"' | '\'') => {
            let Some(end) = closing_quote(text) else { return wrong(line, "a quote is not closed on its line") };
            nothing_after(&text[end..], line)?;
            Ok(Value::Quoted(unquote(&text[..end], line)?))
        }
        Some('{' | '[') => {
            let mut flow = Flow { text, at: 0, line };
            let value = flow.value()?;
            nothing_after(&text[flow.at..], line)?;
            Ok(value)
        }
        Some(_) => plain(&text[..plain_end(text)], line),
    }
}

fn nothing_after(rest: &str, line: usize) -> Result<(), YamlError> {
    let trimmed = rest.trim_start_matches(' ');
    if trimmed.is_empty() || (trimmed.starts_with('#') && trimmed.len() < rest.len()) {
        return Ok(());
    }
    wrong(line, format!("unexpected text after a value: {trimmed:?}"))
}

pub(super) fn plain(text: &str, line: usize) -> Result<Value, YamlError> {
    let mut letters = text.chars();
    let first = letters.next();
    if let Some(first) = first {
        let spaced = matches!(first, '-' | '?' | ':') && letters.next().is_none_or(|next| next == ' ');
        if INDICATORS.contains(first) || spaced {
            return wrong(line, format!("text that begins with {first:?} must be quoted"));
        }
    }
    if text.contains(": ") || text.ends_with(':') {
        return wrong(line, "text with a colon must be quoted");
    }
    if text.contains('\t') {
        return wrong(line, "a tab must be quoted");
    }
    Ok(if matches!(text, "" | "~" | "null" | "Null" | "NULL") { Value::Null } else { Value::Plain(text.to_owned()) })
}

fn unquote(quoted: &str, line: usize) -> Result<String, YamlError> {
    let inner = &quoted[1..quoted.len() - 1];
    if quoted.starts_with('\'') {
        return Ok(inner.replace("''", "'"));
    }
    let mut text = String::new();
    let mut letters = inner.chars();
    while let Some(letter) = letters.next() {
        if letter != '\\' {
            text.push(letter);
            continue;
        }
        match letters.next() {
            Some('n') => text.push('\n'),
            Some('t') => text.push('\t'),
            Some('r') => text.push('\r'),
            Some(same @ ('"' | '\\' | '/' | ' ')) => text.push(same),
            Some('u') => {
                let code: String = letters.by_ref().take(4).collect();
                match u32::from_str_radix(&code, 16).ok().and_then(char::from_u32) {
                    Some(letter) => text.push(letter),
                    None => return wrong(line, format!("\\u{code} is no character")),
                }
            }
            Some(other) => return wrong(line, format!("\\{other} is not understood here")),
            None => return wrong(line, "a text ends in a backslash"),
        }
    }
    Ok(text)
}

/// Whether YAML takes a plain scalar for text, and not for a number, a truth or nothing.
pub(super) fn is_string(plain: &str) -> bool {
    let digits = plain.trim_start_matches(['-', '+']);
    let number = digits.starts_with(|letter: char| letter.is_ascii_digit() || letter == '.')
        && (digits.replace('_', "").parse::<f64>().is_ok()
            || (digits.starts_with('0') && digits.chars().all(|letter| letter.is_ascii_alphanumeric())));
    let truth = matches!(plain, "true" | "True" | "TRUE" | "false" | "False" | "FALSE");
    !number && !truth && !matches!(digits, ".inf" | ".Inf" | ".INF" | ".nan" | ".NaN" | ".NAN")
}

/// A collection in brackets.
struct Flow<'a> {
    text: &'a str,
    at: usize,
    line: usize,
}

impl Flow<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn skip_blanks(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start_matches(' ').len();
    }

    fn take(&mut self, letter: char) -> bool {
        self.skip_blanks();
        let there = self.rest().starts_with(letter);
        self.at += if there { letter.len_utf8() } else { 0 };
        there
    }

    fn value(&mut self) -> Result<Value, YamlError> {
        if self.take('{') {
            self.map()
        } else if self.take('[') {
            self.list()
        } else {
            self.single()
        }
    }

    fn single(&mut self) -> Result<Value, YamlError> {
        self.skip_blanks();
        let quoted = self.rest().starts_with(['"', '\'']);
        let end = if quoted {
            closing_quote(self.rest())
        } else {
            let colon = |at: usize| self.rest()[at..].starts_with(':') && self.rest()[at + 1..].starts_with([' ', '}']);
            let ends = |(at, letter): &(usize, char)| matches!(letter, ',' | '{' | '}' | '[' | ']') || colon(*at);
            self.rest().char_indices().find(ends).map(|(at, _)| at)
        };
        let Some(end) = end else { return wrong(self.line, "a bracket or a quote is not closed on its line") };
        let value = scalar(self.rest()[..end].trim_end(), self.line)?;
        self.at += end;
        Ok(value)
    }

    fn list(&mut self) -> Result<Value, YamlError> {
        let mut items = Vec::new();
        while !self.take(']') {
            items.push(Node { line: self.line, value: self.value()? });
            if !self.take(',') && !self.rest().starts_with(']') {
                return wrong(self.line, "a comma or ] is missing");
            }
        }
        Ok(Value::List(items))
    }

    fn map(&mut self) -> Result<Value, YamlError> {
        let mut entries: Vec<Entry> = Vec::new();
        while !self.take('}') {
            let key = match self.single()? {
                Value::Plain(key) | Value::Quoted(key) => key,
                Value::Null | Value::List(_) | Value::Map(_) => return wrong(self.line, "a key is missing"),
            };
            if !self.take(':') {
                return wrong(self.line, format!("{key:?} has no value"));
            }
            let value = Node { line: self.line, value: self.value()? };
            add(&mut entries, Entry { key, line: self.line, value })?;
            if !self.take(',') && !self.rest().starts_with('}') {
                return wrong(self.line, "a comma or } is missing");
            }
        }
        Ok(Value::Map(entries))
    }
}

/// A key that is there twice is an error in YAML.
pub(super) fn add(entries: &mut Vec<Entry>, entry: Entry) -> Result<(), YamlError> {
    if let Some(first) = entries.iter().find(|known| known.key == entry.key) {
        return wrong(entry.line, format!("{:?} is there twice, first on line {}", entry.key, first.line));
    }
    entries.push(entry);
    Ok(())
}
