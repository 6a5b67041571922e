//! Which tier gets a task: the policies that are compared.

use super::world::{Kind, TIERS};
use shuntyard_core::{
    experience::{Asked, Tally, explore, follow, recommend},
    settings::{Config, Patterns},
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Policy {
    Oracle,
    AlwaysTop,
    AlwaysCheapest,
    Table,
    /// The cheapest tier with three outcomes and more than three of four good ones, and nothing more. It tries
    /// neighbours as often as the others do, as it would never see another tier otherwise.
    BareRule,
    /// What Shuntyard does.
    Learned,
    /// The same with one more try in the next stronger tier after a failure.
    LearnedEscalating,
    LearnedWithoutTrying,
}

impl Policy {
    pub const ALL: [Self; 8] = [
        Self::Oracle,
        Self::AlwaysTop,
        Self::AlwaysCheapest,
        Self::BareRule,
        Self::Table,
        Self::LearnedWithoutTrying,
        Self::Learned,
        Self::LearnedEscalating,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Oracle => "oracle",
            Self::AlwaysTop => "always top",
            Self::AlwaysCheapest => "always cheapest",
            Self::Table => "table",
            Self::BareRule => "bare rule, trying",
            Self::Learned => "learned, trying",
            Self::LearnedEscalating => "learned, trying, one escalation",
            Self::LearnedWithoutTrying => "learned, not trying",
        }
    }

    pub fn escalates(self) -> bool {
        self == Self::LearnedEscalating
    }
}

/// Why a tier was chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    Meant,
    /// To gain experience with it.
    Tried,
}

/// What is known when a task comes in.
#[derive(Debug, Clone, Copy)]
pub struct Moment<'a> {
    pub kind: &'a Kind,
    /// Which half of the time it is. Only the oracle may read it.
    pub half: usize,
    pub now: i64,
    pub roll: u32,
    /// The counts of this kind of task.
    pub known: &'a [Tally],
}

#[derive(Debug)]
pub struct Chooser {
    config: Config,
    still: Patterns,
}

impl Chooser {
    /// `config` as one would write it to let it try.
    pub fn new(config: Config) -> Self {
        let still = Patterns { explore_percent: 0, ..config.patterns.clone() };
        Self { config, still }
    }

    pub fn tier(&self, place: usize) -> &str {
        &self.config.tier_order[place]
    }

    /// The index of a tier, and whether it was chosen only to gain experience with it.
    pub fn choose(&self, policy: Policy, moment: &Moment<'_>) -> (usize, Choice) {
        match policy {
            Policy::Oracle => (moment.kind.oracle(moment.half), Choice::Meant),
            Policy::AlwaysTop => (TIERS - 1, Choice::Meant),
            Policy::AlwaysCheapest => (0, Choice::Meant),
            Policy::Table => (moment.kind.table, Choice::Meant),
            Policy::BareRule => self.bare(moment),
            Policy::Learned | Policy::LearnedEscalating => self.learned(&self.config.patterns, moment),
            Policy::LearnedWithoutTrying => self.learned(&self.still, moment),
        }
    }

    fn learned(&self, settings: &Patterns, moment: &Moment<'_>) -> (usize, Choice) {
        let order = &self.config.tier_order;
        let table = &order[moment.kind.table];
        let asked = Asked { settings, tier_order: order, table: Some(table), hard: None, now: moment.now };
        let recommendation = recommend(&asked, moment.known);
        // The choice of a dispatch, not the recommendation of `patterns recommend`.
        let followed = follow(&asked, moment.known, &recommendation);
        let chosen = followed.as_ref().map_or(table, |followed| &followed.tier);
        let tried = explore(settings, order, chosen, &recommendation.tiers, moment.roll);
        let tier = tried.tier.as_deref().unwrap_or(chosen);
        let place = order.iter().position(|other| other == tier).unwrap_or_else(|| panic!("{tier} is in no order"));
        (place, if tried.tier.is_some() { Choice::Tried } else { Choice::Meant })
    }

    fn bare(&self, moment: &Moment<'_>) -> (usize, Choice) {
        let mut counts = [(0, 0); TIERS];
        for (place, tier) in self.config.tier_order.iter().enumerate() {
            for tally in moment.known.iter().filter(|tally| tally.tier == *tier) {
                counts[place].0 += tally.successes;
                counts[place].1 += tally.successes + tally.failures;
            }
        }
        let good = counts.iter().position(|(good, all)| *all >= 3 && good * 4 > all * 3);
        let chosen = good.unwrap_or(moment.kind.table);
        let each = self.config.patterns.explore_percent * 10_000 / 2;
        match moment.roll {
            roll if roll < each => (chosen.saturating_sub(1), Choice::Tried),
            roll if roll < each * 2 => ((chosen + 1).min(TIERS - 1), Choice::Tried),
            _ => (chosen, Choice::Meant),
        }
    }
}
