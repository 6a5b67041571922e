//! Several models that answer in rounds until they agree or time is up.
//!
//! Labels stay with their members over all rounds, and no member learns which target a label is. Agreement is what the
//! members declare in structure, never a guess from their words, and dissent outlives the synthesis.

mod agreement;
mod answer;
mod estimate;
mod prompt;
mod round;
mod synthesis;
mod transcript;

pub use agreement::standing;
pub use answer::{Answer, parse, schema};
pub use estimate::{CouncilEstimate, MemberEstimate, estimate};
pub use prompt::{CouncilTask, RoundPrompt, round_prompt};
pub use round::{Contribution, Round, Standing, visible};
pub use synthesis::{Dissent, Synthesis, parse_synthesis, synthesis_prompt, synthesis_schema};
pub use transcript::{Affordable, EndedBecause, Next, Transcript, next};

use super::{Anonymous, Pass, Sheet};
use serde::{Deserialize, Serialize};

pub const LEAST_MEMBERS: usize = 2;
pub const MOST_MEMBERS: usize = 10;
/// However much is asked for: the context grows with every round.
pub const MOST_ROUNDS: u32 = 10;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("seat a council of {0}: it takes {LEAST_MEMBERS} to {MOST_MEMBERS} members")]
pub struct CouncilError(usize);

/// Which answers of earlier rounds a member is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Showing {
    /// The last one of each member.
    #[default]
    Latest,
    /// All of every round.
    All,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", default, deny_unknown_fields)]
pub struct Settings {
    pub rounds: u32,
    /// With fewer answers in a round there is no discussion; at least two.
    pub least_answers: usize,
    pub showing: Showing,
    /// For all earlier answers in one prompt together.
    pub characters: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self { rounds: 3, least_answers: LEAST_MEMBERS, showing: Showing::Latest, characters: 60_000 }
    }
}

/// Gives every member its label, for all rounds.
pub fn seat(members: usize, seed: u64) -> Result<Sheet, CouncilError> {
    if !(LEAST_MEMBERS..=MOST_MEMBERS).contains(&members) {
        return Err(CouncilError(members));
    }
    let anonymous = Anonymous::new(members, seed).map_err(|_| CouncilError(members))?;
    Ok(anonymous.sheet(Pass::Forward))
}

#[cfg(test)]
mod tests;
