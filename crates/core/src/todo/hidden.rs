//! Lines that show or hide a task without being one: fenced code and HTML comments.

/// What a line stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Block {
    #[default]
    Text,
    Fence {
        mark: char,
        length: usize,
    },
    Comment,
}

impl Block {
    /// Takes the next line, and says whether it is hidden.
    pub fn hides(&mut self, line: &str) -> bool {
        let (after, hidden) = match *self {
            Self::Text => match opened(line) {
                Some(after) => (after, true),
                None => (Self::Text, false),
            },
            Self::Fence { mark, length } => (if closes(line, mark, length) { Self::Text } else { *self }, true),
            Self::Comment => (if line.contains("-->") { Self::Text } else { *self }, true),
        };
        *self = after;
        hidden
    }
}

fn opened(line: &str) -> Option<Block> {
    if let Some(comment) = line.trim_start().strip_prefix("<!--") {
        return Some(if comment.contains("-->") { Block::Text } else { Block::Comment });
    }
    // A fence may be the first thing in a list item or a quote; its end would otherwise be taken for a beginning.
    let fence = line.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '-' | '*' | '+' | '>'));
    let mark = fence.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
    let info = fence.trim_start_matches(mark);
    let length = fence.len() - info.len();
    // With a back-tick behind it, it is code within a line.
    let is_fence = length >= 3 && !(mark == '`' && info.contains('`'));
    is_fence.then_some(Block::Fence { mark, length })
}

fn closes(line: &str, mark: char, length: usize) -> bool {
    let fence = line.trim_matches(|c: char| c.is_whitespace() || c == '>');
    fence.len() >= length && fence.chars().all(|c| c == mark)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_and_comments_are_hidden_and_nothing_else_is() {
        let table = [
            ("a\n```\nb\n```\nc", ".###."),
            ("```rust\nb\n``` not the end\n~~~\n````\nc", "#####."),
            ("~~~\n```\n~~~\nc", "###."),
            ("````\n```\n````\nc", "###."),
            ("- ```sh\n  b\n  ```\n- c", "###."),
            ("> ```\n> b\n> ```\nc", "###."),
            ("``` inline ``` code\nb", ".."),
            ("``\nb", ".."),
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
