//! What is wrong with a structured answer, in words that its author can be given back.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "fault", rename_all = "snake_case")]
pub enum Fault {
    #[error("{place} is missing")]
    Missing { place: String },
    #[error("{place} is not {expected}")]
    WrongKind { place: String, expected: String },
    #[error("{place} has no text")]
    Blank { place: String },
    #[error("{place} is `{found}` and may be {allowed}")]
    UnknownWord { place: String, found: String, allowed: String },
    #[error("{place} is outside {range}")]
    OutOfRange { place: String, range: String },
    #[error("{place} has more than {most} entries")]
    TooMany { place: String, most: usize },
    #[error("{place} names `{label}`, which is not one of the labels here")]
    UnknownLabel { place: String, label: String },
    #[error("{place} names `{label}` twice")]
    DuplicateLabel { place: String, label: String },
    #[error("{place} leaves out `{label}`")]
    MissingLabel { place: String, label: String },
    #[error("{place} contradicts {other}")]
    Contradiction { place: String, other: String },
}
