//! Chance that the caller gives: the same seed is the same order and the same boundary, on every machine.

/// Makes what is drawn for one purpose independent of another.
#[derive(Debug, Clone, Copy)]
pub(super) enum Purpose {
    Order = 1,
    Boundary = 2,
}

/// `SplitMix64`: small, well spread, and equal everywhere.
#[derive(Debug)]
pub(super) struct Seeded(u64);

impl Seeded {
    pub(super) fn new(seed: u64, purpose: Purpose) -> Self {
        // Mixed before the purpose is added, so that neighbouring seeds do not share what they draw.
        let mut mixed = Self(Self(seed).next().wrapping_add(purpose as u64));
        Self(mixed.next())
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }

    /// Below `bound`; the unevenness of a 64-bit remainder is far below what two dozen answers could show.
    fn below(&mut self, bound: usize) -> usize {
        let bound = u64::try_from(bound).unwrap_or(u64::MAX).max(1);
        usize::try_from(self.next() % bound).unwrap_or(0)
    }

    pub(super) fn shuffled(&mut self, count: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..count).collect();
        for place in (1..count).rev() {
            let other = self.below(place + 1);
            order.swap(place, other);
        }
        order
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_seed_gives_one_order_and_all_orders_occur() {
        let order = |seed| Seeded::new(seed, Purpose::Order).shuffled(4);
        assert_eq!(order(7), order(7));
        let all: BTreeSet<Vec<usize>> = (0..1000).map(order).collect();
        assert_eq!(all.len(), 24, "every order of four");
        assert_ne!(Seeded::new(7, Purpose::Order).next(), Seeded::new(7, Purpose::Boundary).next());
        assert_eq!(Seeded::new(1, Purpose::Order).shuffled(0), Vec::<usize>::new());
    }
}
