//! The target of each label: a shuffled order for the first pass, and the reversed one for the second, so that
//! each pair of answers is seen in both orders.
//!
//! A label belongs to a place, not to an answer: a judge's preference for the first place or the letter A shows alike.
//! The map from labels to targets stays with us; a judge sees labels only.

use super::{
    Label,
    seeded::{Purpose, Seeded},
};
use serde::{Deserialize, Serialize};

/// Which of the two orders.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pass {
    Forward,
    Reversed,
}

impl Pass {
    pub const BOTH: [Self; 2] = [Self::Forward, Self::Reversed];
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AnonymousError {
    #[error("compare {0} answer(s): it takes at least two")]
    TooFew(usize),
    #[error("compare {0} answers: there are labels for {most} at most", most = Label::MOST)]
    TooMany(usize),
}

/// An order of the targets that only the seed knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Anonymous {
    order: Vec<usize>,
}

impl Anonymous {
    pub fn new(count: usize, seed: u64) -> Result<Self, AnonymousError> {
        match count {
            0 | 1 => Err(AnonymousError::TooFew(count)),
            _ if count > Label::MOST => Err(AnonymousError::TooMany(count)),
            _ => Ok(Self { order: Seeded::new(seed, Purpose::Order).shuffled(count) }),
        }
    }

    #[must_use]
    pub fn sheet(&self, pass: Pass) -> Sheet {
        let mut targets = self.order.clone();
        if pass == Pass::Reversed {
            targets.reverse();
        }
        Sheet { pass, targets }
    }
}

/// The target of each label of one pass. It is written into reports, and never into a prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sheet {
    pub pass: Pass,
    /// By place: the first has label A.
    targets: Vec<usize>,
}

impl Sheet {
    #[must_use]
    pub fn len(&self) -> usize {
        self.targets.len()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.targets.is_empty()
    }

    #[must_use]
    pub fn labels(&self) -> Vec<Label> {
        Label::first(self.targets.len()).collect()
    }

    /// Each label with its target, in the order in which they are shown.
    pub fn places(&self) -> impl Iterator<Item = (Label, usize)> {
        Label::first(self.targets.len()).zip(self.targets.iter().copied())
    }

    #[must_use]
    pub fn target(&self, label: Label) -> Option<usize> {
        self.targets.get(label.position()).copied()
    }

    #[must_use]
    pub fn label(&self, target: usize) -> Option<Label> {
        self.targets.iter().position(|other| *other == target).and_then(Label::at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn one_answer_is_no_comparison() {
        assert_eq!(Anonymous::new(1, 0), Err(AnonymousError::TooFew(1)));
        assert_eq!(Anonymous::new(27, 0), Err(AnonymousError::TooMany(27)));
        assert_eq!(AnonymousError::TooMany(27).to_string(), "compare 27 answers: there are labels for 26 at most");
    }

    proptest! {
        #[test]
        fn every_pair_is_seen_in_both_orders(count in 2usize..=26, seed: u64) {
            let anonymous = Anonymous::new(count, seed).unwrap();
            let [forward, reversed] = Pass::BOTH.map(|pass| anonymous.sheet(pass));
            for sheet in [&forward, &reversed] {
                for target in 0..count {
                    prop_assert_eq!(sheet.label(target).and_then(|label| sheet.target(label)), Some(target));
                }
                prop_assert_eq!(sheet.label(count), None);
            }
            for one in 0..count {
                for other in (0..count).filter(|other| *other != one) {
                    prop_assert_ne!(
                        forward.label(one) < forward.label(other),
                        reversed.label(one) < reversed.label(other)
                    );
                }
            }
        }
    }
}
