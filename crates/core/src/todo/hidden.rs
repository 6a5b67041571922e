//! Lines that show or hide a task without being one: fenced code and HTML comments.

use crate::values::markdown::Fence;

/// What a line is part of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Block {
    #[default]
    Text,
    Code(Fence),
    Comment,
}

impl Block {
    /// Takes the next line, and returns whether it is hidden.
    pub fn hides(&mut self, line: &str) -> bool {
        let (after, hidden) = match *self {
            Self::Text => match opened(line) {
                Some(after) => (after, true),
                None => (Self::Text, false),
            },
            Self::Code(fence) => (if fence.is_closed_by(line) { Self::Text } else { *self }, true),
            Self::Comment => (if line.contains("-->") { Self::Text } else { *self }, true),
        };
        *self = after;
        hidden
    }
}

fn opened(line: &str) -> Option<Block> {
    match line.trim_start().strip_prefix("<!--") {
        Some(comment) if comment.contains("-->") => Some(Block::Text),
        Some(_) => Some(Block::Comment),
        None => Fence::opened_by(line).map(Block::Code),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_and_comments_are_hidden_and_nothing_else_is() {
        let table = [
            ("a\n```\nb\n```\nc", ".###."),
            ("- ```sh\n  b\n  ```\n- c", "###."),
            ("```\nnever closed\nb", "###"),
            ("<!-- a -->\nb", "#."),
            ("<!--\na\nb --> c\nd", "###."),
            ("a <!--\nb", ".."),
        ];
        for (text, hidden) in table {
            let mut block = Block::default();
            let seen: String = text.lines().map(|line| if block.hides(line) { '#' } else { '.' }).collect();
            assert_eq!(seen, hidden, "{text}");
        }
    }
}
