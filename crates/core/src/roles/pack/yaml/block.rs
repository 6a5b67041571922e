//! Maps and lists by indentation, and scalars that go on over lines.

use super::{
    Entry, Node, Value, YamlError,
    scalar::{add, plain, plain_end, scalar, split_key, wrong},
};

pub(super) fn parse(text: &str, first: usize) -> Result<Node, YamlError> {
    let mut lines = Vec::new();
    for (index, raw) in text.lines().enumerate() {
        let raw = raw.trim_end_matches('\r');
        let content = raw.trim_start_matches(' ');
        let line = Line { number: first + index, indent: raw.len() - content.len(), content: content.trim_end() };
        if content.starts_with('\t') {
            return wrong(line.number, "a tab in the indentation");
        }
        lines.push(line);
    }
    let mut reader = Reader { lines, at: 0 };
    let Some(start) = reader.peek() else { return Ok(Node { line: first, value: Value::Null }) };
    let node = reader.block(start.indent)?;
    match reader.peek() {
        Some(left) => wrong(left.number, "the indentation fits nothing above"),
        None => Ok(node),
    }
}

#[derive(Debug, Clone, Copy)]
struct Line<'a> {
    number: usize,
    indent: usize,
    content: &'a str,
}

struct Reader<'a> {
    lines: Vec<Line<'a>>,
    at: usize,
}

impl<'a> Reader<'a> {
    /// The next line that is neither blank nor a comment.
    fn peek(&mut self) -> Option<Line<'a>> {
        while let Some(line) = self.lines.get(self.at) {
            if !line.content.is_empty() && !line.content.starts_with('#') {
                return Some(*line);
            }
            self.at += 1;
        }
        None
    }

    fn block(&mut self, indent: usize) -> Result<Node, YamlError> {
        match self.peek() {
            Some(line) if is_item(line.content) => self.list(indent),
            Some(_) | None => self.map(indent),
        }
    }

    fn map(&mut self, indent: usize) -> Result<Node, YamlError> {
        let mut entries = Vec::new();
        let mut first = None;
        while let Some(line) = self.peek().filter(|line| line.indent >= indent) {
            if line.indent > indent {
                return wrong(line.number, "the indentation fits nothing above");
            }
            if is_item(line.content) {
                return wrong(line.number, "a list item among keys");
            }
            let Some((key, value)) = split_key(line.content, line.number)? else {
                // The plain rules say more exactly what is wrong with most such lines.
                plain(&line.content[..plain_end(line.content)], line.number)?;
                return wrong(line.number, "a key with a colon is expected");
            };
            first.get_or_insert(line.number);
            self.at += 1;
            let value = Node { line: line.number, value: self.value(&line.content[value..], line.number, indent)? };
            add(&mut entries, Entry { key, line: line.number, value })?;
        }
        Ok(Node { line: first.unwrap_or_default(), value: Value::Map(entries) })
    }

    fn list(&mut self, indent: usize) -> Result<Node, YamlError> {
        let mut items = Vec::new();
        let mut first = None;
        while let Some(line) = self.peek().filter(|line| line.indent == indent && is_item(line.content)) {
            first.get_or_insert(line.number);
            let rest = line.content[1..].trim_start_matches(' ');
            if !rest.starts_with(['{', '[']) && split_key(rest, line.number)?.is_some() {
                // A map that begins behind the dash: read it as if the dash were blanks.
                let inner = line.indent + line.content.len() - rest.len();
                self.lines[self.at] = Line { number: line.number, indent: inner, content: rest };
                items.push(self.map(inner)?);
            } else {
                self.at += 1;
                items.push(Node { line: line.number, value: self.value(rest, line.number, indent)? });
            }
        }
        Ok(Node { line: first.unwrap_or_default(), value: Value::List(items) })
    }

    /// A value whose first line is `text`, behind a key or a dash at `indent`.
    fn value(&mut self, text: &str, line: usize, indent: usize) -> Result<Value, YamlError> {
        let bare = &text[..plain_end(text)];
        if bare.is_empty() {
            return match self.peek() {
                Some(next) if next.indent > indent || (next.indent == indent && is_item(next.content)) => {
                    Ok(self.block(next.indent)?.value)
                }
                Some(_) | None => Ok(Value::Null),
            };
        }
        if bare.starts_with(['|', '>']) {
            if !bare[1..].chars().all(|letter| matches!(letter, '-' | '+')) {
                return wrong(line, "this kind of block text is not understood here");
            }
            return Ok(self.block_text(indent));
        }
        let value = scalar(text, line)?;
        let Value::Plain(first) = value else { return self.ends_here(value, indent) };
        self.folded(first, indent)
    }

    /// Quoted text and collections must not go on, since only one line of them was read.
    fn ends_here(&mut self, value: Value, indent: usize) -> Result<Value, YamlError> {
        match self.peek() {
            Some(next) if next.indent > indent => wrong(next.number, "the indentation fits nothing above"),
            Some(_) | None => Ok(value),
        }
    }

    /// Plain text goes on in lines that are indented further.
    fn folded(&mut self, mut text: String, indent: usize) -> Result<Value, YamlError> {
        let mut goes_on = false;
        while let Some(next) = self.peek().filter(|next| next.indent > indent) {
            let end = plain_end(next.content);
            if next.content[..end].contains(": ") || next.content[..end].ends_with(':') {
                return wrong(next.number, "text with a colon must be quoted");
            }
            text.push(' ');
            text.push_str(&next.content[..end]);
            goes_on = true;
            self.at += 1;
        }
        Ok(if goes_on { Value::Quoted(text) } else { Value::Plain(text) })
    }

    /// The lines of a block scalar, as text. How lines are joined does not matter to anyone here.
    fn block_text(&mut self, indent: usize) -> Value {
        let mut text: Vec<&str> = Vec::new();
        while let Some(line) = self.lines.get(self.at) {
            if line.indent <= indent && !line.content.is_empty() {
                break;
            }
            text.push(line.content);
            self.at += 1;
        }
        Value::Quoted(text.join("\n").trim_end().to_owned())
    }
}

fn is_item(content: &str) -> bool {
    content == "-" || content.starts_with("- ")
}
