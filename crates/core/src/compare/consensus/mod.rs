//! What several reviewers agree on. Findings are grouped by place and wording, never by keywords, and who did not
//! answer is unknown: it counts for neither side.

mod group;
mod review;
mod sameness;
mod tally;

pub use group::{Found, Group, group};
pub use review::{Finding, Opinion, Review, parse, schema};
pub use sameness::{Sameness, normalised_path};
pub use tally::{Consensus, Counts, Reviewed, Unknown, consensus};

pub(super) use sameness::{Key, is_same_anywhere};

#[cfg(test)]
mod tests;
