//! The fields that a task line may have, and what may be written into each.

use super::{Moment, amount, id::read_id};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Field {
    Assignee,
    Started,
    Reference,
    BlockedBy,
    Blocks,
    /// Written `~4h`, without a name.
    Estimate,
    Actual,
    Logged,
    Completed,
    Model,
    PullRequest,
    Verified,
}

impl Field {
    pub const ALL: [Self; 12] = [
        Self::Assignee,
        Self::Started,
        Self::Reference,
        Self::BlockedBy,
        Self::Blocks,
        Self::Estimate,
        Self::Actual,
        Self::Logged,
        Self::Completed,
        Self::Model,
        Self::PullRequest,
        Self::Verified,
    ];

    /// The text before the value.
    #[must_use]
    pub fn prefix(self) -> &'static str {
        match self {
            Self::Assignee => "assignee:",
            Self::Started => "started:",
            Self::Reference => "ref:",
            Self::BlockedBy => "blocked-by:",
            Self::Blocks => "blocks:",
            Self::Estimate => "~",
            Self::Actual => "actual:",
            Self::Logged => "logged:",
            Self::Completed => "completed:",
            Self::Model => "model:",
            Self::PullRequest => "pr:",
            Self::Verified => "verified:",
        }
    }

    /// Reads a word. Values that people wrote are taken as they are; only an estimate has to look like one, since
    /// `~` also occurs before paths and in prose.
    pub(super) fn read(word: &str) -> Option<(Self, &str)> {
        let (field, value) =
            Self::ALL.into_iter().find_map(|field| word.strip_prefix(field.prefix()).map(|value| (field, value)))?;
        let is_value = match field {
            Self::Estimate => amount(value).is_some(),
            Self::Assignee
            | Self::Started
            | Self::Reference
            | Self::BlockedBy
            | Self::Blocks
            | Self::Actual
            | Self::Logged
            | Self::Completed
            | Self::Model
            | Self::PullRequest
            | Self::Verified => !value.is_empty(),
        };
        is_value.then_some((field, value))
    }

    /// Whether we may write this value: one word that will be read back as it is, of the field's own kind.
    #[must_use]
    pub fn accepts(self, value: &str) -> bool {
        let is_word = !value.is_empty() && !value.contains(|c: char| c.is_whitespace() || c.is_control() || c == '`');
        is_word
            && match self {
                Self::Estimate | Self::Actual => amount(value).is_some(),
                Self::Started | Self::Logged | Self::Completed | Self::Verified => Moment::parse(value).is_some(),
                Self::BlockedBy | Self::Blocks => value.split(',').all(|id| read_id(id).is_some()),
                Self::Assignee | Self::Reference | Self::Model | Self::PullRequest => true,
            }
    }
}
