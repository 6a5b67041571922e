//! A judge that compares anonymous answers, twice, in both orders.
//!
//! There is a winner only when both passes name the same target. A pass that failed or is invalid gives no verdict
//! at all, and the result states this.

mod combine;
mod prompt;
mod verdict;

pub use combine::{Decision, Edge, Judgement, PassOutcome, combine};
pub use prompt::{JudgePrompt, JudgeTask, prompt};
pub use verdict::{Verdict, parse, schema};

#[cfg(test)]
mod tests;
