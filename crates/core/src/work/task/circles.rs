//! Noticing that an agent does the same thing again and again.

use std::collections::VecDeque;

/// Steps that are remembered.
const WINDOW: usize = 24;
/// The longest pattern that is looked for.
const LONGEST: usize = 4;

/// One thing that an agent did, as far as it can be compared.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Turn(pub String);

/// The latest turns of a run.
#[derive(Debug, Clone)]
pub struct Circles {
    turns: VecDeque<Turn>,
    /// How often the same has to come in a row.
    repeats: usize,
}

impl Circles {
    #[must_use]
    pub fn new(repeats: usize) -> Self {
        Self { turns: VecDeque::new(), repeats: repeats.max(2) }
    }

    /// Takes a turn down. The answer is what repeats, once it has come too often: one turn, or a few that alternate.
    pub fn note(&mut self, turn: Turn) -> Option<String> {
        self.turns.push_back(turn);
        if self.turns.len() > WINDOW.max(self.repeats.saturating_mul(LONGEST)) {
            self.turns.pop_front();
        }
        let newest: Vec<&Turn> = self.turns.iter().rev().collect();
        (1..=LONGEST).find_map(|length| {
            let pattern = newest.get(..length)?;
            let span = newest.get(..self.repeats.saturating_mul(length))?;
            let repeats = span.chunks(length).all(|chunk| chunk == pattern);
            repeats.then(|| pattern.iter().rev().map(|turn| turn.0.as_str()).collect::<Vec<_>>().join(", then "))
        })
    }
}
