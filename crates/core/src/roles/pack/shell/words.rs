//! Words with their quotes and substitutions. The commands in substitutions are read as statements of their own.

use super::{
    Unclear,
    reader::{End, Reader},
};

impl Reader<'_> {
    /// Reads a word, if one begins here, and returns it as written.
    pub(super) fn word(&mut self) -> Result<Option<String>, Unclear> {
        let start = self.at;
        while let Some(letter) = self.letter() {
            match letter {
                b' ' | b'\t' | b'\n' | b'\r' | b';' | b'&' | b'|' | b')' => break,
                b'<' | b'>' if self.rest().as_bytes().get(1) == Some(&b'(') => {
                    self.at += 2;
                    self.statements(End::Bracket)?;
                }
                b'<' | b'>' => break,
                b'(' => return Err(Unclear::Construct("a bracket in a word")),
                b'\\' => {
                    self.at += 1;
                    self.any();
                }
                b'\'' => self.raw()?,
                b'"' => self.quoted()?,
                b'$' => self.dollar()?,
                b'`' => self.backticks()?,
                _ => self.any(),
            }
        }
        Ok((self.at > start).then(|| self.text[start..self.at].to_owned()))
    }

    /// Skips one character of any length.
    fn any(&mut self) {
        self.at += self.rest().chars().next().map_or(0, char::len_utf8);
    }

    fn raw(&mut self) -> Result<(), Unclear> {
        let end = self.rest()[1..].find('\'').ok_or(Unclear::Unclosed("a quote"))?;
        self.at += end + 2;
        Ok(())
    }

    fn quoted(&mut self) -> Result<(), Unclear> {
        self.at += 1;
        loop {
            match self.letter().ok_or(Unclear::Unclosed("a quote"))? {
                b'"' => break self.at += 1,
                b'\\' => {
                    self.at += 1;
                    self.any();
                }
                b'$' => self.dollar()?,
                b'`' => self.backticks()?,
                _ => self.any(),
            }
        }
        Ok(())
    }

    fn dollar(&mut self) -> Result<(), Unclear> {
        if self.rest().starts_with("$((") {
            return Err(Unclear::Construct("arithmetic"));
        }
        if self.rest().starts_with("$'") || self.rest().starts_with("$\"") {
            return Err(Unclear::Construct("a quote behind $"));
        }
        if self.take("$(") {
            return self.statements(End::Bracket);
        }
        if self.take("${") {
            return self.expansion();
        }
        self.at += 1;
        Ok(())
    }

    fn expansion(&mut self) -> Result<(), Unclear> {
        loop {
            match self.letter().ok_or(Unclear::Unclosed("a bracket"))? {
                b'}' => break self.at += 1,
                b'$' => self.dollar()?,
                b'`' => self.backticks()?,
                b'"' | b'\'' | b'\\' => return Err(Unclear::Construct("a quote in an expansion")),
                _ => self.any(),
            }
        }
        Ok(())
    }

    fn backticks(&mut self) -> Result<(), Unclear> {
        self.at += 1;
        let end = self.rest().find('`').ok_or(Unclear::Unclosed("a backtick"))?;
        if self.rest()[..end].contains('\\') {
            return Err(Unclear::Construct("a backslash in backticks"));
        }
        let limit = std::mem::replace(&mut self.limit, self.at + end);
        self.statements(End::OfText)?;
        self.limit = limit;
        self.at += 1;
        Ok(())
    }
}
