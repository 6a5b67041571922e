//! What an attempt is settled at. Example: a request that was killed in the middle of its answer had reserved $0.015
//! and reported nothing; it is settled at $0.015, marked as unknown, until its session shows the exact figure.
//!
//! Invariant: an attempt whose cost is not known counts as at least what it had reserved, so that no number of crashes
//! together spends more than the limits allow.

use crate::Nano;

/// An amount, and whether it is all of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Amount<T> {
    Exact(T),
    /// More may have been spent.
    AtLeast(T),
}

impl<T: Copy + Ord> Amount<T> {
    #[must_use]
    pub fn new(value: T, is_known: bool) -> Self {
        if is_known { Self::Exact(value) } else { Self::AtLeast(value) }
    }

    #[must_use]
    pub fn value(self) -> T {
        match self {
            Self::Exact(value) | Self::AtLeast(value) => value,
        }
    }

    #[must_use]
    pub fn is_known(self) -> bool {
        matches!(self, Self::Exact(_))
    }

    /// What the first report is settled at. What is not known counts as the reservation, or as more when more is seen.
    #[must_use]
    pub fn settled(self, reserved: Option<T>) -> Self {
        match (self, reserved) {
            (Self::AtLeast(seen), Some(reserved)) => Self::AtLeast(seen.max(reserved)),
            (Self::Exact(_), _) | (_, None) => self,
        }
    }

    /// What a later report makes of it. An exact figure replaces one that was not known, upwards or downwards.
    /// Otherwise the higher one counts: of two exact figures the lower was read too early, and what is seen later was
    /// spent.
    #[must_use]
    pub fn corrected(self, later: Self) -> Self {
        match (self, later) {
            (Self::AtLeast(_), Self::Exact(_)) => later,
            (Self::Exact(before), _) => Self::Exact(before.max(later.value())),
            (Self::AtLeast(before), Self::AtLeast(seen)) => Self::AtLeast(before.max(seen)),
        }
    }
}

/// The requests of a session to its model, as far as the session shows them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Steps {
    /// Those that have ended, billed or refused.
    pub ended: u32,
    /// Those that had begun and were never reported.
    pub cut_off: u32,
    /// What the most expensive of the ended ones cost.
    pub dearest: Nano,
}

/// What a session shows of the one attempt in it whose cost is to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shown {
    /// Of the session with its descendants.
    pub total: Nano,
    pub steps: Steps,
    /// What the other attempts in the session were settled at, and whether all of that is known. `None` when there are
    /// no others.
    pub others: Option<Amount<Nano>>,
    /// Whether anything beyond those was used.
    pub used: bool,
}

impl Shown {
    /// What the attempt cost. The session is believed only when it shows that the request arrived, that nothing was cut
    /// off, and that all other attempts in it are accounted for.
    ///
    /// A step that was cut off is taken to cost as much as the most expensive one before it: it had at least the same
    /// conversation to read.
    #[must_use]
    pub fn cost(&self) -> Amount<Nano> {
        let own = self.total.less(self.others.map_or(Nano::ZERO, Amount::value));
        let arrived = self.used || (self.others.is_none() && self.steps.ended > 0);
        let others_known = self.others.is_none_or(Amount::is_known);
        // Something was used and nothing charged: the model has no price, so its cost is not known.
        let has_price = own > Nano::ZERO || !self.used;
        if arrived && others_known && has_price && self.steps.cut_off == 0 {
            return Amount::Exact(own);
        }
        Amount::AtLeast(with_cut_off(own, self.steps))
    }
}

/// What several attempts in one session cost, of which only the sum is known: `settled` is what each was settled at,
/// and an exact sum is divided in that proportion. Together they are exactly the sum. When the first is settled and the
/// rest is divided anew, nothing changes, so a process that died in between is followed by one that ends the same way.
#[must_use]
pub fn shared(sum: Amount<Nano>, settled: &[Nano]) -> Vec<Amount<Nano>> {
    let Some((last, earlier)) = settled.split_last() else { return Vec::new() };
    let mut shares = Vec::with_capacity(settled.len());
    match sum {
        Amount::Exact(mut rest) => {
            let mut weight: i128 = settled.iter().map(|settled| i128::from(settled.0)).sum();
            for settled in earlier {
                let part = i128::from(rest.0) * i128::from(settled.0) / weight.max(1);
                let part = Nano(i64::try_from(part).unwrap_or(rest.0));
                shares.push(Amount::Exact(part));
                (rest, weight) = (rest.less(part), weight - i128::from(settled.0));
            }
            shares.push(Amount::Exact(rest));
        }
        // What was seen beyond the estimates was spent by one of them.
        Amount::AtLeast(seen) => {
            shares.extend(earlier.iter().map(|settled| Amount::AtLeast(*settled)));
            shares.push(Amount::AtLeast(seen.less(earlier.iter().copied().sum()).max(*last)));
        }
    }
    shares
}

/// What is known, and what was cut off at the price of the most expensive step.
#[must_use]
pub fn with_cut_off(known: Nano, steps: Steps) -> Nano {
    known.saturating_add(Nano(steps.dearest.0.saturating_mul(i64::from(steps.cut_off))))
}

#[cfg(test)]
mod tests {
    use super::{Amount::*, *};

    #[test]
    fn what_is_not_known_is_settled_at_the_reservation() {
        for (end, reserved, expected) in [
            (Exact(3), Some(10), Exact(3)),
            (Exact(30), Some(10), Exact(30)),
            (AtLeast(3), Some(10), AtLeast(10)),
            (AtLeast(30), Some(10), AtLeast(30)),
            (AtLeast(3), None, AtLeast(3)),
            (Exact(0), Some(10), Exact(0)),
        ] {
            assert_eq!(end.settled(reserved), expected, "{end:?} of {reserved:?}");
        }
    }

    #[test]
    fn an_exact_figure_corrects_once_and_repeats_change_nothing() {
        for (before, later, expected) in [
            (AtLeast(10), Exact(3), Exact(3)),
            (AtLeast(10), Exact(30), Exact(30)),
            (AtLeast(10), AtLeast(3), AtLeast(10)),
            (AtLeast(10), AtLeast(30), AtLeast(30)),
            (Exact(10), Exact(3), Exact(10)),
            (Exact(10), Exact(30), Exact(30)),
            (Exact(10), AtLeast(30), Exact(30)),
            (Exact(10), AtLeast(3), Exact(10)),
        ] {
            let corrected = before.corrected(later);
            assert_eq!(corrected, expected, "{before:?} then {later:?}");
            assert_eq!(corrected.corrected(later), expected, "{before:?} then {later:?} twice");
        }
    }

    #[test]
    fn several_attempts_share_what_their_session_cost() {
        let nano = |values: &[i64]| values.iter().map(|value| Nano(*value)).collect::<Vec<_>>();
        for (sum, settled, expected) in [
            (Exact(Nano(30)), nano(&[20, 20]), vec![Exact(Nano(15)), Exact(Nano(15))]),
            (Exact(Nano(10)), nano(&[20, 10]), vec![Exact(Nano(6)), Exact(Nano(4))]),
            (Exact(Nano(100)), nano(&[20, 30, 10]), vec![Exact(Nano(33)), Exact(Nano(50)), Exact(Nano(17))]),
            (Exact(Nano(5)), nano(&[0, 0]), vec![Exact(Nano(0)), Exact(Nano(5))]),
            (Exact(Nano(7)), nano(&[20]), vec![Exact(Nano(7))]),
            (AtLeast(Nano(30)), nano(&[20, 20]), vec![AtLeast(Nano(20)), AtLeast(Nano(20))]),
            (AtLeast(Nano(50)), nano(&[20, 20]), vec![AtLeast(Nano(20)), AtLeast(Nano(30))]),
            (Exact(Nano(7)), nano(&[]), vec![]),
        ] {
            let shares = shared(sum, &settled);
            assert_eq!(shares, expected, "{sum:?} of {settled:?}");
            // A process that died after the first one is followed by one that sees that as settled.
            if let (Exact(sum), [Exact(first), ..]) = (sum, shares.as_slice()) {
                assert_eq!(shared(Exact(sum.less(*first)), &settled[1..]), shares[1..], "{sum:?} of {settled:?}");
            }
        }
    }

    #[test]
    fn a_session_is_believed_only_when_it_shows_everything() {
        let whole = Shown {
            total: Nano(100),
            steps: Steps { ended: 3, cut_off: 0, dearest: Nano(40) },
            others: None,
            used: true,
        };
        let others = |amount| Shown { others: Some(amount), ..whole };
        let cut_off = |ended, cut_off| Shown { steps: Steps { ended, cut_off, ..whole.steps }, ..whole };
        let refused = Shown { total: Nano::ZERO, used: false, ..whole };
        let table = [
            ("whole", whole, Exact(Nano(100))),
            ("beside others", others(Exact(Nano(70))), Exact(Nano(30))),
            ("beside others that are estimates", others(AtLeast(Nano(70))), AtLeast(Nano(30))),
            ("a step was cut off", cut_off(2, 1), AtLeast(Nano(140))),
            ("a parent's and a child's step were cut off", cut_off(2, 2), AtLeast(Nano(180))),
            (
                "the first step was cut off",
                Shown { steps: Steps { cut_off: 1, ..Steps::default() }, ..refused },
                AtLeast(Nano::ZERO),
            ),
            ("the provider refused it", refused, Exact(Nano::ZERO)),
            ("the prompt never came", Shown { steps: Steps::default(), ..refused }, AtLeast(Nano::ZERO)),
            (
                "the prompt never came after others",
                Shown { total: Nano(70), used: false, ..others(Exact(Nano(70))) },
                AtLeast(Nano::ZERO),
            ),
            ("a model without a price", Shown { total: Nano::ZERO, ..whole }, AtLeast(Nano::ZERO)),
        ];
        for (what, shown, expected) in table {
            assert_eq!(shown.cost(), expected, "{what}");
        }
    }
}
