//! What was learned from work that is done: which tier and model does which kind of task well, how sure that is,
//! and what follows from it.

mod drift;
mod explore;
mod follow;
mod outcome;
mod recommend;
mod replay;
mod standing;
mod text;

pub use drift::{Drift, DriftLevel, Move, Moves, drift};
pub use explore::{Exploration, explore};
pub use follow::{Followed, follow};
pub use outcome::{Deadline, Evidence, FailureMode, Verdict};
pub use recommend::{Asked, Recommendation, Recommended, recommend};
pub use replay::{Chosen, Past, Replay, Share, replay};
pub use standing::{Standing, Tally, by_model, by_tier};
pub use text::{remembered, search_terms};

#[cfg(test)]
mod tests;
