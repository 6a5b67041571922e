//! The numbers that the ladder goes by.

/// Times are microseconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rules {
    /// Tries on the same tier after the first, with what was learned.
    pub reinforcements: u32,
    /// How many tiers a task may rise.
    pub rises: u32,
    /// From the weakest to the strongest.
    pub tier_order: Vec<String>,
    /// How long a task rests after a limit, one entry for each time in a row; then the last one again.
    pub rests: Vec<i64>,
    /// How long it rests after trouble that is likely to pass.
    pub trouble_rests: Vec<i64>,
    /// How often in a row a worker may vanish.
    pub losses: u32,
    /// Whether a task that needs a person is looked into first.
    pub diagnose: Diagnose,
}

/// Whether a model looks into what has failed for good.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Diagnose {
    Never,
    /// Once for each task.
    Once,
}

impl Rules {
    #[must_use]
    pub fn tier_above(&self, tier: &str) -> Option<&str> {
        let place = self.tier_order.iter().position(|name| name == tier)?;
        self.tier_order.get(place + 1).map(String::as_str)
    }
}
