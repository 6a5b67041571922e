//! Tokens as OpenCode counts them: `input` without the cached ones, `output` without reasoning.

use serde::{Deserialize, Serialize};
use std::{iter::Sum, ops::Add};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Usage {
    pub input: u64,
    pub output: u64,
    pub reasoning: u64,
    pub cache_read: u64,
    pub cache_write: u64,
}

impl Usage {
    pub const NONE: Self = Self { input: 0, output: 0, reasoning: 0, cache_read: 0, cache_write: 0 };

    #[must_use]
    pub fn total(&self) -> u64 {
        let parts = [self.input, self.output, self.reasoning, self.cache_read, self.cache_write];
        parts.into_iter().fold(0, u64::saturating_add)
    }
}

impl Add for Usage {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            input: self.input.saturating_add(other.input),
            output: self.output.saturating_add(other.output),
            reasoning: self.reasoning.saturating_add(other.reasoning),
            cache_read: self.cache_read.saturating_add(other.cache_read),
            cache_write: self.cache_write.saturating_add(other.cache_write),
        }
    }
}

impl Sum for Usage {
    fn sum<I: Iterator<Item = Self>>(parts: I) -> Self {
        parts.fold(Self::default(), Add::add)
    }
}
