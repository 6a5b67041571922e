//! A text taken apart into runs of letters and runs of digits, so that `GPT-5`, `gpt5` and `GPT 5` are alike.

#[derive(Debug)]
pub(super) struct Piece<'a> {
    /// In bytes, of the text.
    pub(super) start: usize,
    pub(super) end: usize,
    /// In lower case.
    pub(super) folded: String,
    /// The text between this piece and the one before it.
    pub(super) gap: &'a str,
    /// Whether no letter or digit is directly before it.
    pub(super) starts_word: bool,
    capital: bool,
}

impl Piece<'_> {
    pub(super) fn is_capital(&self) -> bool {
        self.capital
    }

    /// Close enough to belong to one name.
    pub(super) fn is_near(&self) -> bool {
        matches!(self.gap, "" | "-" | "_" | "." | "/" | ":" | "@" | " ")
    }

    /// As a version is written onto a name.
    pub(super) fn is_attached(&self) -> bool {
        matches!(self.gap, "" | "-" | "_" | "." | " ")
    }
}

pub(super) fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut found: Vec<Piece<'_>> = Vec::new();
    let mut last_kind = None;
    for (at, character) in text.char_indices() {
        let kind = character.is_alphanumeric().then(|| character.is_numeric());
        let end = at + character.len_utf8();
        match (kind, found.last_mut()) {
            (None, _) => {}
            (Some(_), Some(piece)) if kind == last_kind => {
                piece.end = end;
                piece.folded.extend(character.to_lowercase());
            }
            (Some(_), last) => {
                let gap = last.map_or(&text[..at], |piece| &text[piece.end..at]);
                found.push(Piece {
                    start: at,
                    end,
                    folded: character.to_lowercase().collect(),
                    gap,
                    starts_word: last_kind.is_none(),
                    capital: character.is_uppercase(),
                });
            }
        }
        last_kind = kind;
    }
    found
}
