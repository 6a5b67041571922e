//! How the attempts of a task follow each other.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Strategy {
    /// The model that is chosen for the task; after failures another attempt there, then stronger tiers.
    #[default]
    Auto,
    /// The cheapest tier first. Every failure of the model goes to the next stronger one.
    Cascade,
    /// One model for every attempt, and no other tier.
    Direct,
    /// The strongest tier from the start.
    Best,
}

impl Strategy {
    pub const ALL: [Self; 4] = [Self::Auto, Self::Cascade, Self::Direct, Self::Best];

    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Cascade => "cascade",
            Self::Direct => "direct",
            Self::Best => "best",
        }
    }

    /// The tier that the first attempt goes to, when the strategy says that; `tiers` are from the weakest to the
    /// strongest.
    #[must_use]
    pub fn first_tier(self, tiers: &[String]) -> Option<&str> {
        match self {
            Self::Auto | Self::Direct => None,
            Self::Cascade => tiers.first(),
            Self::Best => tiers.last(),
        }
        .map(String::as_str)
    }

    /// Whether it says itself which tier the work goes to, so that neither a model nor a tier can be named with it.
    #[must_use]
    pub fn chooses_tier(self) -> bool {
        match self {
            Self::Cascade | Self::Best => true,
            Self::Auto | Self::Direct => false,
        }
    }
}
