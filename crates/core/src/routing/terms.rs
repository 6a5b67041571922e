//! On what terms a choice is made: which models were asked already, which may substitute, and whether any is spared.

use super::Tried;
use crate::{ModelRef, values::money::Price};

/// What a choice may take, beyond the question itself.
#[derive(Debug, Clone, Copy)]
pub(super) struct Terms<'a> {
    pub(super) tried: &'a [Tried],
    /// Models that are too weak as substitutes, and the strength that a substitute must exceed.
    pub(super) weaker: &'a [ModelRef],
    pub(super) stronger_than: i64,
    pub(super) stand_ins: StandIns<'a>,
    pub(super) waiting: Waiting,
    pub(super) low: Low,
    pub(super) downgrade: GivingWay,
}

impl Terms<'_> {
    /// For a request that has asked no model yet.
    pub(super) const FIRST: Terms<'static> = Terms {
        tried: &[],
        weaker: &[],
        stronger_than: -1,
        stand_ins: StandIns::Allowed,
        waiting: Waiting::Allowed,
        low: Low::Allowed,
        downgrade: GivingWay::Allowed,
    };
}

/// Whether a model that a tier does not list may be taken for it when none of its own can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StandIns<'a> {
    Allowed,
    Refused,
    /// Only what is known to be cheaper than each of these, and of no tier that is downgraded itself: the budget is the
    /// reason. With its text, when it excludes the tier's own models.
    Cheaper {
        than: &'a [Price],
        because: Option<&'a str>,
    },
}

/// Whether a cheaper tier may be taken when the budget keeps the models of a tier away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum GivingWay {
    Allowed,
    /// It would lead back to where the work comes from.
    Refused,
}

/// Whether a provider whose budget is running low may be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Low {
    Allowed,
    Refused,
}

/// Whether a model that is cooling down may be asked when all others are too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Waiting {
    Allowed,
    Refused,
}
