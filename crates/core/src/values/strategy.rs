//! How the attempts of a task follow each other.

word_enum! {
    #[derive(Default)]
    pub enum Strategy {
        /// The model that is chosen for the task; after failures another attempt there, then stronger tiers.
        #[default]
        Auto = "auto",
        /// The cheapest tier first. Every failure of the model goes to the next stronger one.
        Cascade = "cascade",
        /// One model for every attempt, and no other tier.
        Direct = "direct",
        /// The strongest tier from the start.
        Best = "best",
    }
}

impl Strategy {
    /// The tier that the first attempt goes to, when the strategy names one; `tiers` are from the weakest to the
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

    /// Whether it decides itself which tier the work goes to, so that neither a model nor a tier can be named with it.
    #[must_use]
    pub fn chooses_tier(self) -> bool {
        match self {
            Self::Cascade | Self::Best => true,
            Self::Auto | Self::Direct => false,
        }
    }
}
