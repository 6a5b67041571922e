//! One candidate, the order among several, and why others are none.

use super::{
    Model, Status,
    availability::{Barred, Scope},
    needs::Lack,
};
use crate::ModelRef;
use crate::values::Trigger;
use std::{
    cmp::{Ordering, Reverse},
    fmt,
};

/// Candidates that a decision keeps.
pub(super) const SHOWN: usize = 10;

/// Why a model is not a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Why<'a> {
    NotConnected,
    NoSuchModel,
    NoSuchVariant,
    NoKey,
    NotAllowed,
    Lacks(Lack),
    Tried(Trigger),
    /// Of a tier that is no stronger than the one that was too weak.
    NotStronger,
    /// Than the tier that it would replace because of the budget.
    NotCheaper,
    Exhausted(&'a str),
}

impl fmt::Display for Why<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotConnected => f.write_str("its provider is not connected"),
            Self::NoSuchModel => f.write_str("its provider does not have it"),
            Self::NoSuchVariant => f.write_str("it does not have that variant"),
            Self::NoKey => f.write_str("no key for its provider"),
            Self::NotAllowed => f.write_str("its provider is not allowed"),
            Self::Lacks(lack) => write!(f, "cannot {lack}"),
            Self::Tried(trigger) => write!(f, "was asked already ({trigger})"),
            Self::NotStronger => f.write_str("is of no stronger tier"),
            Self::NotCheaper => f.write_str("is not known to be cheaper"),
            Self::Exhausted(why) => f.write_str(why),
        }
    }
}

/// One candidate.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ranked<'a> {
    pub(super) provider: &'a str,
    pub(super) model: &'a Model,
    pub(super) variant: Option<&'a str>,
    pub(super) score: i64,
    pub(super) barred: Option<Barred<'a>>,
    /// Lower is better: named before scored, with what is wanted before without.
    pub(super) rank: (u16, u16, Status),
}

impl Ranked<'_> {
    pub(super) fn reference(&self) -> ModelRef {
        let mut reference = ModelRef::new(self.provider, self.model.id.clone());
        reference.variant = self.variant.map(str::to_owned);
        reference
    }

    /// A total order, best first. The first two mostly decide, so that the others are seldom looked at.
    pub(super) fn order(&self, other: &Self) -> Ordering {
        self.rank.cmp(&other.rank).then_with(|| other.score.cmp(&self.score)).then_with(|| {
            let rest = |ranked: &Self| {
                let price = ranked.model.price;
                (price.output, price.input)
            };
            rest(self)
                .cmp(&rest(other))
                .then_with(|| other.model.release_date.cmp(&self.model.release_date))
                .then_with(|| (self.provider, &self.model.id).cmp(&(other.provider, &other.model.id)))
        })
    }

    /// Who waits least when all wait: first those that only their provider holds back.
    pub(super) fn patience(&self) -> impl Ord {
        self.barred.map_or((false, 0), |barred| (barred.scope == Scope::Model, barred.bar.until))
    }
}

/// A rank and the points within it, best first.
type Standing = ((u16, u16, Status), Reverse<i64>);

/// How good one must be to be chosen or shown. A candidate that cannot reach this need not be scored in full; while
/// no model is available, every candidate is.
#[derive(Default)]
pub(super) struct Best {
    /// Of all, as many as are shown; the worst comes last.
    shown: Vec<Standing>,
    /// Of those that can be asked now.
    ready: Option<Standing>,
}

impl Best {
    pub(super) fn add(&mut self, ranked: &Ranked<'_>) {
        let standing = (ranked.rank, Reverse(ranked.score));
        if ranked.barred.is_none() && self.ready.is_none_or(|ready| standing < ready) {
            self.ready = Some(standing);
        }
        let place = self.shown.partition_point(|known| *known <= standing);
        if place < SHOWN {
            self.shown.insert(place, standing);
            self.shown.truncate(SHOWN);
        }
    }

    /// Whether a model of this rank can be neither, whatever its name.
    pub(super) fn is_out_of_reach(&self, rank: (u16, u16, Status), most: impl FnOnce() -> i64) -> bool {
        let (Some(last), Some(ready)) = (self.shown.get(SHOWN - 1), self.ready) else { return false };
        let (worst, Reverse(score)) = *last.max(&ready);
        rank > worst || (rank == worst && most() < score)
    }
}

/// The best `count` of them, in order, without putting the others in order.
pub(super) fn first_in_order<'r, 'a>(ranked: &'r mut [Ranked<'a>], count: usize) -> &'r [Ranked<'a>] {
    if ranked.len() > count {
        ranked.select_nth_unstable_by(count - 1, |left, right| left.order(right));
    }
    let count = count.min(ranked.len());
    let best = &mut ranked[..count];
    best.sort_unstable_by(|left, right| left.order(right));
    best
}
