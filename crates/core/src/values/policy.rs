//! What a request may ask of a choice: for how long it holds, and how far into the budget it may go.

use serde::{Deserialize, Serialize};

/// How long the choice stands for a worker that lives on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModelPolicy {
    /// For this prompt.
    #[default]
    Dynamic,
    /// Until it is reset.
    Sticky,
    /// For the next message of a worker, whatever that is, and for no other.
    Next,
}

/// How much a request may ask of the budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Urgency {
    #[default]
    Normal,
    /// Keeps its tier although the budget is running low; stops where all stop.
    Critical,
    /// Goes on past the stop line, because the caller asked for it.
    PastTheStop,
}
