//! What a whole council may cost, before it begins: every round, every member, with a context that grows by what was
//! written. It is compared with a limit, so it rather estimates too high: no round is saved by an early agreement.

use super::{MOST_ROUNDS, Showing};
use crate::{
    Nano, Usage,
    values::money::{Price, round_exact},
};
use serde::Serialize;

/// Far more than any model reads; keeps products of tokens and prices exact.
const MOST_TOKENS: u64 = 1 << 50;

/// One call of one member in the first round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemberEstimate {
    /// The question with all that comes before it.
    pub prompt_tokens: u64,
    pub output_tokens: u64,
    pub price: Price,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CouncilEstimate {
    pub calls: u64,
    pub usage: Usage,
    pub by_round: Vec<Usage>,
    /// Of the members that have a price; `None` when none has.
    pub cost: Option<Nano>,
    /// Members without a price, whose cost is not in `cost`.
    pub unpriced: Vec<usize>,
}

/// Estimates `rounds` rounds and a synthesis by `synthesis`, if there is one. `most_shown` bounds what earlier answers
/// add to one prompt, in tokens.
#[must_use]
pub fn estimate(
    members: &[MemberEstimate],
    synthesis: Option<&MemberEstimate>,
    rounds: u32,
    showing: Showing,
    most_shown: u64,
) -> CouncilEstimate {
    let said = members.iter().fold(0u64, |sum, member| sum.saturating_add(member.output_tokens));
    let shown = |earlier: u32| {
        let answers = match showing {
            Showing::Latest => earlier.min(1),
            Showing::All => earlier,
        };
        said.saturating_mul(u64::from(answers)).min(most_shown)
    };
    let rounds = rounds.clamp(1, MOST_ROUNDS);
    let mut exact = 0i128;
    let mut calls = 0u64;
    let mut called = |member: &MemberEstimate, earlier: u32| {
        let usage = Usage {
            input: member.prompt_tokens.saturating_add(shown(earlier)).min(MOST_TOKENS),
            output: member.output_tokens.min(MOST_TOKENS),
            ..Usage::default()
        };
        exact = exact.saturating_add(member.price.exact(&usage));
        calls = calls.saturating_add(1);
        usage
    };
    let by_round: Vec<Usage> =
        (0..rounds).map(|earlier| members.iter().map(|member| called(member, earlier)).sum()).collect();
    let last: Usage = synthesis.map(|member| called(member, rounds)).unwrap_or_default();
    let all = || members.iter().chain(synthesis);
    let unpriced = all().enumerate().filter(|(_, member)| member.price.is_zero()).map(|(index, _)| index);
    CouncilEstimate {
        calls,
        usage: by_round.iter().copied().chain([last]).sum(),
        by_round,
        cost: all().any(|member| !member.price.is_zero()).then(|| round_exact(exact.min(i128::MAX / 2))),
        unpriced: unpriced.collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_context_grows_with_what_was_said() {
        let price = Price { input: Nano(1_000_000), output: Nano(10_000_000), ..Price::default() };
        let member = |price| MemberEstimate { prompt_tokens: 100, output_tokens: 50, price };
        let members = [member(price), member(price), member(price)];
        let inputs = |showing, cap| -> Vec<u64> {
            estimate(&members, None, 4, showing, cap).by_round.iter().map(|usage| usage.input).collect()
        };
        assert_eq!(inputs(Showing::Latest, u64::MAX), [300, 750, 750, 750]);
        assert_eq!(inputs(Showing::All, u64::MAX), [300, 750, 1200, 1650]);
        assert_eq!(inputs(Showing::All, 200), [300, 750, 900, 900]);
        let whole = estimate(&members, Some(&member(Price::default())), 2, Showing::Latest, u64::MAX);
        assert_eq!((whole.calls, whole.usage.input, whole.usage.output), (7, 1300, 350));
        assert_eq!(whole.cost, Some(Nano(300 + 750 + 10 * 300)), "one nano-dollar a token read, ten a token written");
        assert_eq!(whole.unpriced, [3]);
        let free = estimate(&[member(Price::default())], None, 1, Showing::Latest, 0);
        assert_eq!((free.cost, free.unpriced), (None, vec![0]));
    }

    #[test]
    fn nothing_overflows() {
        let price = Price { input: Nano(i64::MAX), output: Nano(i64::MAX), ..Price::default() };
        let endless = MemberEstimate { prompt_tokens: u64::MAX, output_tokens: u64::MAX, price };
        let whole = estimate(&[endless; 10], Some(&endless), u32::MAX, Showing::All, u64::MAX);
        assert_eq!((whole.calls, whole.cost), (101, Some(Nano(i64::MAX))));
    }
}
