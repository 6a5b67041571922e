//! YAML as agent files use it, over the events of saphyr-parser, read strictly. Every entry keeps its line and the
//! bytes of its value, so that one value can be changed in place, and entries keep their order.
//!
//! Invariant: what is read here means the same to OpenCode. What OpenCode's reader refuses is refused here, and so is
//! what is too unusual to be sure about: anchors, tags, merge keys, and quotes or brackets that are open at the end of
//! their line.

use saphyr_parser::{Event, Parser, ScalarStyle, ScanError, Span, StrInput};
use std::ops::Range;

/// Deeper ones are refused, because each level takes some of the stack.
const DEEPEST: usize = 50;
const ANCHOR: &str = "an anchor or a tag: a text that begins with &, * or ! must be quoted";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// From 1, in the whole file.
    pub line: usize,
    pub value: Value,
    /// Where it is written, in bytes of the text that was read; empty for a value that is left out.
    pub span: Range<usize>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    Null,
    Plain(String),
    Quoted(String),
    List(Vec<Node>),
    Map(Vec<Entry>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub key: String,
    pub line: usize,
    /// A value that is left out is where the key ends.
    pub value: Node,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {reason}")]
pub struct YamlError {
    pub line: usize,
    pub reason: String,
}

/// Reads a document that begins on line `first` of its file.
pub fn parse(text: &str, first: usize) -> Result<Node, YamlError> {
    let is_unprintable = |letter: char| letter.is_control() && !matches!(letter, '\t' | '\n' | '\r');
    if let Some(at) = text.find(is_unprintable) {
        return Err(YamlError { line: first + text[..at].matches('\n').count(), reason: "a control character".into() });
    }
    let offsets = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
    let mut reader = Reader { events: Parser::new_from_str(text), text, first, offsets };
    let mut root = None;
    loop {
        match reader.event()? {
            (Event::Nothing | Event::StreamStart | Event::DocumentStart(false) | Event::DocumentEnd, _) => {}
            (Event::StreamEnd, _) => break,
            (_, span) if root.is_some() => return reader.wrong(span, "a second document"),
            (event, span) => {
                let node = reader.node(event, span, 0)?;
                if text[node.span.start..].starts_with(['{', '[']) {
                    return reader.wrong(span, "a bracket in the place of keys");
                }
                root = Some(node);
            }
        }
    }
    Ok(root.unwrap_or(Node { line: first, value: Value::Null, span: 0..0 }))
}

struct Reader<'t> {
    events: Parser<'t, StrInput<'t>>,
    text: &'t str,
    first: usize,
    /// The byte of each character, since the parser counts characters.
    offsets: Vec<usize>,
}

impl<'t> Reader<'t> {
    fn event(&mut self) -> Result<(Event<'t>, Span), YamlError> {
        let next = self.events.next_event().unwrap_or(Ok((Event::StreamEnd, Span::default())));
        next.map_err(|error: ScanError| YamlError {
            line: self.first + error.marker().line().saturating_sub(1),
            reason: if error.info().contains("anchor") { ANCHOR } else { error.info() }.to_owned(),
        })
    }

    fn line(&self, span: Span) -> usize {
        self.first + span.start.line().saturating_sub(1)
    }

    fn wrong<Anything>(&self, span: Span, reason: impl Into<String>) -> Result<Anything, YamlError> {
        Err(YamlError { line: self.line(span), reason: reason.into() })
    }

    fn bytes(&self, from: Span, to: Span) -> Range<usize> {
        let byte = |index: usize| self.offsets.get(index).copied().unwrap_or(self.text.len());
        byte(from.start.index())..byte(to.end.index()).max(byte(from.start.index()))
    }

    fn node(&mut self, event: Event<'t>, span: Span, depth: usize) -> Result<Node, YamlError> {
        if depth > DEEPEST {
            return self.wrong(span, "too many levels");
        }
        let line = self.line(span);
        match event {
            Event::Scalar(text, style, 0, None) => {
                let value = self.scalar(&text, style, span)?;
                let mut span = self.bytes(span, span);
                // The parser counts the blanks and the comment behind a quoted text to it.
                if let Some(end) = closing_quote(&self.text[span.clone()]) {
                    span.end = span.start + end;
                }
                Ok(Node { line, value, span })
            }
            Event::SequenceStart(0, None) => {
                let mut items = Vec::new();
                loop {
                    match self.event()? {
                        (Event::SequenceEnd, end) => return self.collection(Value::List(items), span, end),
                        (event, span) => items.push(self.node(event, span, depth + 1)?),
                    }
                }
            }
            Event::MappingStart(0, None) => {
                let mut entries = Vec::new();
                loop {
                    match self.event()? {
                        (Event::MappingEnd, end) => return self.collection(Value::Map(entries), span, end),
                        (event, span) => self.entry(event, span, depth, &mut entries)?,
                    }
                }
            }
            Event::Scalar(..) | Event::SequenceStart(..) | Event::MappingStart(..) | Event::Alias(_) => {
                self.wrong(span, ANCHOR)
            }
            Event::Nothing
            | Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(_)
            | Event::DocumentEnd
            | Event::SequenceEnd
            | Event::MappingEnd => self.wrong(span, "a value is missing"),
        }
    }

    fn entry(&mut self, event: Event<'t>, span: Span, depth: usize, to: &mut Vec<Entry>) -> Result<(), YamlError> {
        let read = self.node(event, span, depth + 1)?;
        let line = read.line;
        let key = match read.value {
            Value::Plain(key) if key == "<<" => return self.wrong(span, "a merge key is not understood here"),
            Value::Plain(key) | Value::Quoted(key) => key,
            Value::Null => return self.wrong(span, "a key is empty"),
            Value::List(_) | Value::Map(_) => return self.wrong(span, "a key is no text"),
        };
        // A key that is there twice is an error in YAML.
        if let Some(earlier) = to.iter().find(|known| known.key == key) {
            return self.wrong(span, format!("{key:?} is there twice, first on line {}", earlier.line));
        }
        let (event, span) = self.event()?;
        let mut value = self.node(event, span, depth + 1)?;
        if value.span.is_empty() {
            value.span = read.span.end..read.span.end;
            value.line = line;
        }
        to.push(Entry { key, line, value });
        Ok(())
    }

    fn collection(&self, value: Value, start: Span, end: Span) -> Result<Node, YamlError> {
        let span = self.bytes(start, end);
        let in_brackets = self.text[span.start..].starts_with(['{', '[']);
        if in_brackets && start.start.line() != end.end.line() {
            return self.wrong(start, "a bracket is not closed on its line");
        }
        Ok(Node { line: self.line(start), value, span })
    }

    fn scalar(&self, text: &str, style: ScalarStyle, span: Span) -> Result<Value, YamlError> {
        let goes_on = span.start.line() != span.end.line();
        match style {
            ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted if goes_on => {
                self.wrong(span, "a quote is not closed on its line")
            }
            ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted => Ok(Value::Quoted(text.to_owned())),
            ScalarStyle::Literal | ScalarStyle::Folded => Ok(Value::Quoted(text.trim_end().to_owned())),
            ScalarStyle::Plain if text.contains('\t') => self.wrong(span, "a tab must be quoted"),
            ScalarStyle::Plain if goes_on => Ok(Value::Quoted(text.to_owned())),
            ScalarStyle::Plain if matches!(text, "" | "~" | "null" | "Null" | "NULL") => Ok(Value::Null),
            ScalarStyle::Plain => Ok(Value::Plain(text.to_owned())),
        }
    }
}

/// Just after the quote that closes the one that `text` begins with, if it begins with one.
fn closing_quote(text: &str) -> Option<usize> {
    let quote = text.chars().next().filter(|first| matches!(first, '"' | '\''))?;
    let mut letters = text.char_indices().skip(1).peekable();
    while let Some((at, letter)) = letters.next() {
        if letter == '\\' && quote == '"' {
            letters.next();
        } else if letter == quote && letters.next_if(|(_, next)| quote == '\'' && *next == '\'').is_none() {
            return Some(at + 1);
        }
    }
    None
}

/// Whether YAML takes a plain scalar for text, and not for a number, a truth or nothing.
fn is_string(plain: &str) -> bool {
    let digits = plain.trim_start_matches(['-', '+']);
    let number = digits.starts_with(|letter: char| letter.is_ascii_digit() || letter == '.')
        && (digits.replace('_', "").parse::<f64>().is_ok()
            || (digits.starts_with('0') && digits.chars().all(|letter| letter.is_ascii_alphanumeric())));
    let truth = matches!(plain, "true" | "True" | "TRUE" | "false" | "False" | "FALSE");
    !number && !truth && !matches!(digits, ".inf" | ".Inf" | ".INF" | ".nan" | ".NaN" | ".NAN")
}

impl Node {
    /// The text of a scalar that YAML takes for a string.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Quoted(text) => Some(text),
            Value::Plain(text) if is_string(text) => Some(text),
            Value::Plain(_) | Value::Null | Value::List(_) | Value::Map(_) => None,
        }
    }

    /// `true` and `false` as YAML has them.
    #[must_use]
    pub fn truth(&self) -> Option<bool> {
        match &self.value {
            Value::Plain(text) if matches!(text.as_str(), "true" | "True" | "TRUE") => Some(true),
            Value::Plain(text) if matches!(text.as_str(), "false" | "False" | "FALSE") => Some(false),
            Value::Plain(_) | Value::Quoted(_) | Value::Null | Value::List(_) | Value::Map(_) => None,
        }
    }

    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        match &self.value {
            Value::Map(entries) => entries,
            Value::Null | Value::Plain(_) | Value::Quoted(_) | Value::List(_) => &[],
        }
    }

    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Entry> {
        self.entries().iter().find(|entry| entry.key == key)
    }
}
